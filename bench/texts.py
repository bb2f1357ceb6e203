"""The pairs that are timed: WMT15 if it lies beside the project, else the shipped example."""

from __future__ import annotations

import json
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


def pairs(count: int) -> tuple[list[str], list[str]]:
    """Candidates and references, as many as asked for or as there are."""
    path = PROJECT.parent / "shared" / "data" / "wmt15_da" / "de-en.jsonl"
    if path.exists():
        rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
        candidates = [row["candidate"] for row in rows]
        references = [row["references"][0] for row in rows]
    else:
        lines = {
            name: (PROJECT / "examples" / f"{name}.txt").read_text("utf-8").splitlines()
            for name in ("fluent", "literal", "hasty", "reference.a")
        }
        candidates = lines["fluent"] + lines["literal"] + lines["hasty"]
        references = lines["reference.a"] * 3
    return candidates[:count], references[:count]
