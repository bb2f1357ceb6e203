"""A bar for every timing of a suite, as multiples of its first row."""

from pathlib import Path

from bench.timing import Timing


def draw(suites: dict[str, list[Timing]], path: Path) -> None:
    """Write one panel for each suite to a PNG or SVG file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    heights = [0.8 + 0.3 * len(timings) for timings in suites.values()]
    figure, panels = plt.subplots(
        len(suites),
        1,
        figsize=(8, sum(heights)),
        height_ratios=heights,
        squeeze=False,
        layout="constrained",
    )
    for panel, (name, timings) in zip(panels[:, 0], suites.items(), strict=True):
        floor = timings[0].seconds / timings[0].pairs
        ratios = [t.seconds / t.pairs / floor for t in timings]
        bars = panel.barh([t.name for t in timings], ratios, color="#4c78a8")
        panel.bar_label(bars, [f"{ratio:.3g}" for ratio in ratios], padding=3)
        panel.set_xscale("log")
        panel.margins(x=0.15)
        panel.invert_yaxis()
        panel.set_title(f"{name}: time per pair, as a multiple of the first row", loc="left")
        panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)
