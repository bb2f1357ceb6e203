"""Random rows for tests of tables and of runs in parts; equal seeds give equal rows."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

_TEXT = """the a cat dog sat on mat red blue house tree runs jumps over under and with big small
old new man woman river 12 3.5 naïve über 東京 don't well-known , . !"""
_WORDS = _TEXT.split()


def generate_rows(
    segments: int, *, systems: Sequence[str] = ("A", "B"), references: int = 2, seed: int = 0
) -> list[dict[str, Any]]:
    """Return a row per system and segment; a candidate is a reference with one word changed."""
    draw = random.Random(seed)
    rows = []
    for number in range(segments):
        texts = [" ".join(draw.choices(_WORDS, k=draw.randint(3, 9))) for _ in range(references)]
        for system in systems:
            words = texts[0].split()
            words[draw.randrange(len(words))] = draw.choice(_WORDS)
            row = {"system": system, "id": f"s{number}", "candidate": " ".join(words)}
            rows.append({**row, "references": texts})
    return rows


def write_jsonl(path: Path, rows: Iterable[Any]) -> Path:
    """Write one JSON object per line and return the path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files below a folder by relative path."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}
