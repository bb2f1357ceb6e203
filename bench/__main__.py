"""Run suites and print a table with ratios to the first row of each."""

import argparse
import json
from pathlib import Path

from bench.machine import machine
from bench.plot import draw
from bench.suites import SUITES
from bench.tables import print_table
from bench.timing import Timing


def main() -> None:
    """Time the suites that were named, or all that can run."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("suites", nargs="*", choices=[*SUITES, []], help="which suites")
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--out", type=Path, help="also write the numbers to this JSON file")
    parser.add_argument("--plot", type=Path, help="also draw them to this PNG or SVG file")
    options = parser.parse_args()
    facts = machine()
    print(", ".join(f"{key} {value}" for key, value in facts.items()), end="\n\n")
    made = {}
    for name in options.suites or SUITES:
        made[name] = SUITES[name](options.pairs)
        _print_timings(name, made[name])
    if options.out:
        rows = {name: [vars(timing) for timing in timings] for name, timings in made.items()}
        content = json.dumps({"machine": facts, "suites": rows}, indent=2)
        options.out.write_text(content + "\n", "utf-8")
    if options.plot:
        draw(made, options.plot)


def _print_timings(name: str, timings: list[Timing]) -> None:
    """Print the fastest times, and per pair as multiples of the first row."""
    first = timings[0]
    rows = []
    for t in timings:
        ratio = t.seconds / t.pairs / (first.seconds / first.pairs)
        cpu = t.cpu / t.pairs / (first.cpu / first.pairs) if t.cpu and first.cpu else None
        rows.append((t.name, t.pairs, t.seconds * 1000, t.pace, ratio, t.cpu, cpu, t.peak))
    decimals = {name: 0, "pairs": 0, "ms": 1, "pairs/s": 1, "ratio": 2, "cpu s": 2, "cpu ratio": 2}
    if any(t.peak is not None for t in timings):
        decimals["peak MB"] = 0
    print_table(decimals, (row[: len(decimals)] for row in rows))


main()
