"""The texts of the timings: WMT15 if it is next to the project, else the shipped example."""

import json
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


def pairs(count: int) -> tuple[list[str], list[str]]:
    """Return at most ``count`` candidates and references."""
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
