"""nlgauge plan: how many segments or judged outputs an evaluation needs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nlgauge.cli.arguments import command_group, figure_option, option
from nlgauge.cli.compare import CompareInputs
from nlgauge.cli.option_groups import with_option_groups
from nlgauge.cli.output import RunOptions
from nlgauge.cli.study_options import MetricStudyOptions
from nlgauge.cli.titles import comparison_titles, metric_titles
from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.report.table import Table
    from nlgauge.study.pilots import AnyPilot, SamplePlan

app = command_group("plan", "Plan sample sizes from a pilot.")

_POWER = option(0.8, "Required power: the probability of detecting the difference.")
_SIZES = option(
    None, "Sample sizes to show [default: some around the required one].", metavar="N..."
)
_ALPHA = option(0.05, "Significance level of the two-sided test.")


@app.command("systems")
@with_option_groups
def systems_command(
    options: RunOptions,
    inputs: CompareInputs,
    difference: list[float] | None = option(
        None,
        "Difference to detect, in the metric's units; one for all metrics, or one for each "
        "[default: the pilot's].",
        metavar="NUMBER...",
    ),
    power: float = _POWER,
    alpha: float = _ALPHA,
    sizes: list[int] | None = _SIZES,
    figure: Path | None = figure_option("power by number of segments"),
) -> None:
    """Plan the number of segments for a comparison of systems.

    Examples:

    nlgauge plan systems -c baseline.txt new.txt -r ref.txt -m chrf --difference 1

    nlgauge plan systems -c a.txt b.txt -r ref.txt -m bleu --power .9 --cluster documents.txt

    nlgauge plan systems results.csv --scores small,large --cluster prompt --difference .02

    The files are a pilot, in the formats of `nlgauge compare`: outputs or stored scores of at least
    two systems for the same segments. Every system is compared with the first. Power is the
    probability that a paired, two-sided test detects a difference of this size. The smallest
    detectable difference for a number of segments does not depend on the difference in the pilot.
    For metrics that are not means of segment scores, such as BLEU, the contribution of each segment
    to the corpus score is used. Segments of one document or prompt are not independent: specify
    them with --cluster.
    """
    from nlgauge.study import compare, plan_systems

    with options.running() as running:
        # Only the scores are used, so one trial of the cheapest test is enough.
        given = inputs.read_arguments()
        pilot = compare(**given, method="randomisation", count=1, **running)
    result = plan_systems(pilot, difference=difference, power=power, alpha=alpha, sizes=sizes or ())
    titles = comparison_titles(pilot)
    tables = [_system_table(result, pilot, titles, options.digits) for pilot in result.pilots]
    _write(options, result, tables, titles, "segments", figure)


def _system_table(
    result: "SamplePlan", pilot: Any, titles: Mapping[str, str], width: int | None
) -> "Table":
    from nlgauge.report.study_tables import interval, power_table

    title, digits = titles[pilot.metric], pilot.digits if width is None else width
    low, high = pilot.interval
    ends = interval(low, high, digits)
    footer = [
        f"{title}, {pilot.system} against {pilot.baseline}: {_needed(pilot, 'segments')} for "
        f"a difference of {abs(pilot.difference):.{digits}f}; two-sided, alpha "
        f"{pilot.target.alpha:g}, paired",
        f"pilot: {pilot.size:,} segments, difference {pilot.pilot.difference:+.{digits}f} "
        f"{ends}, standard deviation {pilot.pilot.deviation:.{digits}f}",
    ]
    if pilot.pilot.clusters < pilot.size:
        footer[-1] += (
            f"; {pilot.pilot.clusters:,} clusters, design effect {pilot.pilot.design_effect:.2f}"
        )
    rows = [{**row, "metric": title} for row in result.of(pilot)]
    footer.append(result.signatures[pilot.metric])
    return power_table(
        rows,
        ["metric", "system"],
        "segments",
        power=result.target.power,
        digits=digits,
        footer=footer,
    )


@app.command("metrics")
@with_option_groups
def metrics_command(
    options: MetricStudyOptions,
    level: Literal["segment", "system"] = option("segment", "What is judged."),
    power: float = _POWER,
    alpha: float = _ALPHA,
    sizes: list[int] | None = _SIZES,
    figure: Path | None = figure_option("power by number of judged outputs"),
) -> None:
    """Plan the number of judged outputs for a comparison of metrics.

    Examples:

    nlgauge plan metrics judged.jsonl -m bleu chrf

    nlgauge plan metrics judged.jsonl -m chrf bertscore --power .9 --figure power.pdf

    DATA is a pilot: judged outputs in the formats of `nlgauge correlate`. For every pair of
    metrics, the table shows the power of a two-sided Williams's test to detect the difference of
    their correlations with people, if the true correlations are those of the pilot. The test
    assumes that outputs are independent.
    """
    from nlgauge.report.study_tables import power_table
    from nlgauge.study import plan_metrics

    options.require_two("a plan")
    study = options.study()
    criteria = study.criteria(options.human)
    if len(criteria) > 1:
        raise UsageError(
            f"a plan is for one criterion, but there are {len(criteria)} ({', '.join(criteria)}); "
            "name one with --human"
        )
    result = plan_metrics(
        study, criteria[0], level=level, power=power, alpha=alpha, sizes=sizes or ()
    )
    titles = metric_titles(options.metrics)
    unit = "outputs" if level == "segment" else "systems"
    tables = []
    for pilot in result.pilots:
        entry = pilot.to_dict()
        first, second = (titles.get(entry[key], entry[key]) for key in ("first", "second"))
        footer = (
            f"{first} and {second}: {_needed(pilot, unit)} to tell {entry['r_first']:.3f} and "
            f"{entry['r_second']:.3f} apart; Williams's test, two-sided, alpha {alpha:g}",
            f"pilot: {pilot.size:,} {unit}, human: {criteria[0]}, {level} level, correlation of "
            f"the metrics {entry['r_metrics']:.3f}",
        )
        rows = [{**row, "first": first, "second": second} for row in result.of(pilot)]
        tables.append(
            power_table(
                rows, ["first", "second"], unit, power=power, digits=options.digits, footer=footer
            )
        )
    _write(options, result, tables, titles, f"judged {unit}", figure)


def _needed(pilot: "AnyPilot", unit: str) -> str:
    size = "no number of" if pilot.needed is None else f"{pilot.needed:,}"
    return f"{size} {unit} give power {pilot.target.power:g}"


def _write(
    options: RunOptions,
    result: "SamplePlan",
    tables: "Sequence[Table]",
    titles: Mapping[str, str],
    unit: str,
    figure: Path | None,
) -> None:
    content = result.to_dict()
    options.write(
        content,
        content["sizes"],
        tables,
        figures={figure: lambda: _draw(result, titles, unit)},
        notes=result.notes,
    )


def _draw(result: "SamplePlan", titles: Mapping[str, str], unit: str) -> "Figure":
    from nlgauge.figures.functions import Function, Panel, functions

    sizes, curves = result.curves()
    drawn = []
    for pilot, powers in zip(result.pilots, curves, strict=True):
        mark = None if pilot.needed is None else (pilot.needed, pilot.power_at(pilot.needed))
        drawn.append(Function(pilot.titled(titles), sizes, powers, mark=mark))
    panel = Panel("", f"number of {unit}", drawn)
    return functions([panel], ylabel="power", levels=[result.target.power], logarithmic=True)
