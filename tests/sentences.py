"""Made-up rows for tests of streams: many, small, and the same every time."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

_TEXT = """the a cat dog sat on mat red blue house tree runs jumps over under and with big small
old new man woman river 12 3.5 naïve über 東京 don't well-known , . !"""
_WORDS = _TEXT.split()


def made_rows(
    segments: int, *, systems: Sequence[str] = ("A", "B"), references: int = 2, seed: int = 0
) -> list[dict[str, Any]]:
    """Rows of every system on every segment, candidates near their references."""
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
    """The file with a JSON object a line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def results(folder: Path) -> dict[str, bytes]:
    """The bytes of all results of a run by name."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}
