"""Draw docs/images/agreement-and-cost.svg from agreement_and_cost.csv, and write its table.

The column ``r`` is the mean of correlations with human scores on WMT15; a test compares it with the
tables of README.md and docs/choosing.md. ``--measure`` fills the column ``cpu_ms``: CPU
milliseconds per pair on one thread, the model loaded before.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
NUMBERS = Path(__file__).with_suffix(".csv")
FIGURE = PROJECT / "docs" / "images" / "agreement-and-cost.svg"
PAGE = PROJECT / "docs" / "benchmark.md"
START, END = "<!-- table: start -->", "<!-- table: end -->"
COLOURS = {
    "no model": "#0072b2",
    "word vectors": "#b8860b",
    "embedded model": "#00795f",
    "larger model": "#b5490a",
}
PAIRS = {"infolm": 12}
"""Pairs that are timed with slow metrics; 200 with all others, 50 with a larger model."""

LABELS = {"embedded model": 40.0, "larger model": 260.0}
"""Where the labels of a family start on the axis of costs, if its points are close together."""

LINE = {"arrowstyle": "-", "color": "#999999", "linewidth": 0.4, "shrinkB": 2}
"""Lines from labels to points."""

RAISED = {"character": 0.011}
"""Labels that would cover another point are moved up."""


def rows() -> list[dict[str, str]]:
    """Return the table."""
    with NUMBERS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def measure() -> None:
    """Time every metric and write the table again."""
    sys.path.insert(0, str(PROJECT))
    from bench.texts import pairs

    import nlgauge

    table = rows()
    for row in table:
        name = row["metric"]
        count = PAIRS.get(name, 50 if "mpnet" in name else 200)
        candidates, references = pairs(count)
        scorer = nlgauge.Scorer(name, runtime=nlgauge.Runtime(threads=1))
        scorer.score(candidates[:2], references[:2])
        spent = []
        for _ in range(1 if count < 200 else 2):
            start = time.process_time()
            scorer.score(candidates, references)
            spent.append(time.process_time() - start)
        row["cpu_ms"] = f"{min(spent) / len(candidates) * 1000:.3g}"
        print(name, row["cpu_ms"], file=sys.stderr)
    with NUMBERS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


def draw(table: list[dict[str, str]]) -> Any:
    """Return the figure."""
    from nlgauge.figures.matplotlib_setup import legend_below, panels, plain_axes

    with panels(1, 1, (6.6, 5.2)) as (figure, (axes,)):
        handles = []
        for family, colour in COLOURS.items():
            own = [row for row in table if row["family"] == family]
            cost, r = ([float(row[key]) for row in own] for key in ("cpu_ms", "r"))
            handles.append(axes.scatter(cost, r, s=16, color=colour, label=family, zorder=3))
            heights = spread(r) if family in LABELS else r
            for x, y, row, height in zip(cost, r, own, heights, strict=True):
                label = row["label"]
                place = (max(x * 1.18, LABELS.get(family, 0)), height + RAISED.get(label, 0))
                axes.annotate(
                    *(label, (x, y), place),
                    **{"va": "center", "color": colour, "arrowprops": LINE},
                )
        axes.set_xscale("log")
        axes.set_xlim(right=max(float(row["cpu_ms"]) for row in table) * 6)
        axes.set_xlabel("CPU milliseconds per pair, one thread")
        axes.set_ylabel("segment-level Pearson r, mean of WMT15 cs, de, fi, ru to English")
        plain_axes(axes, "top", "right", grid="both")
        legend_below(figure, handles, len(handles))
    return figure


def spread(heights: list[float], gap: float = 0.0115) -> list[float]:
    """Return the heights of labels: the given ones, in falling order, moved ``gap`` apart."""
    placed: list[float] = []
    for height in heights:
        placed.append(min(height, placed[-1] - gap) if placed else height)
    return placed


def markdown(table: list[dict[str, str]]) -> str:
    """Return the table of the page."""
    lines = ["| metric | needs | r | CPU ms per pair |", "|---|---|--:|--:|"]
    for row in table:
        metric = f"[`{row['metric']}`](metrics/{row['metric'].partition(':')[0]}.md)"
        lines.append(f"| {metric} | {row['family']} | {row['r']} | {row['cpu_ms']} |")
    return "\n".join(lines)


def main() -> None:
    """Draw the figure and replace the table in the page, after measuring with --measure."""
    if "--measure" in sys.argv[1:]:
        measure()
    table = rows()
    from nlgauge.figures.matplotlib_setup import save

    save(draw(table), FIGURE)
    before, _, rest = PAGE.read_text("utf-8").partition(START)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{START}\n\n{markdown(table)}\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
