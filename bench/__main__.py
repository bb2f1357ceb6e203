"""Run suites and print a table with ratios to the first row of each."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from bench.suites import SUITES
from nlgauge.report.inks import text
from nlgauge.report.table import Column, Table


def main() -> None:
    """Time the suites that were named, or all that can run."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("suites", nargs="*", choices=[*SUITES, []], help="which suites")
    parser.add_argument("--pairs", type=int, default=250)
    parser.add_argument("--json", type=Path, help="also write the numbers to a file")
    options = parser.parse_args()
    written = {}
    default = [name for name in SUITES if name != "infolm" or os.environ.get("NLGAUGE_MODEL")]
    for name in options.suites or default:
        timings = SUITES[name](options.pairs)
        floor = timings[0].seconds
        columns = (Column(name), Column("ms", 1), Column("pairs/s", 1), Column("ratio", 2))
        rows = [(t.name, t.seconds * 1000, t.pace, t.seconds / floor) for t in timings]
        print(text(Table(columns, tuple(rows))), end="\n\n", flush=True)
        written[name] = [vars(timing) for timing in timings]
    if options.json:
        options.json.write_text(json.dumps(written, indent=2) + "\n", "utf-8")


main()
