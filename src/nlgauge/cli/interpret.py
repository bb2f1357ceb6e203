"""nlgauge interpret: what a score difference means to people."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from nlgauge.cli import arguments
from nlgauge.cli.arguments import argument, figure_option, option, resamples_option, seed_option
from nlgauge.cli.option_groups import given_options, with_option_groups
from nlgauge.cli.study_options import MetricStudyOptions
from nlgauge.cli.titles import metric_titles, with_titles
from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from nlgauge.report.table import Table
    from nlgauge.study import Calibration, Interpretation

# Options that only apply when a calibration is fitted.
_FITTING = (
    *("human", "without", "kind", "part", "references", "columns", "no_header", "fit", "ties"),
    *("scores", "distances", "scores_from", "missing", "count", "seed"),
)


@dataclass(frozen=True, kw_only=True)
class InterpretOptions(MetricStudyOptions):
    """Judged texts or calibrations."""

    data: Path = argument(
        ...,
        "DATA",
        "File or folder of judged texts, or a file of calibrations (.json).",
    )
    digits: int | None = arguments.decimals_option(None)  # type: ignore[assignment]


@with_option_groups
def interpret_command(
    context: typer.Context,
    options: InterpretOptions,
    difference: list[float] | None = option(
        None,
        "Score of A minus score of B, in the metric's units [default: typical differences].",
        metavar="NUMBER...",
    ),
    comparison: Path | None = option(
        None, "Result of `nlgauge compare -f json` to interpret.", metavar="FILE"
    ),
    signature: str | None = option(
        None, "Signature of the scores; calibrations with another signature are rejected."
    ),
    level: list[str] | None = option(
        None,
        "text (outputs for one input), system, or segment (any two outputs); may be repeated "
        "[default: text, and system with at least 3 judged systems; segment with one system].",
        metavar="LEVEL",
        callback=arguments.check_level,
    ),
    fit: Literal["isotonic", "logistic"] = option(
        "isotonic", "Curve: any increasing function, or a logistic function."
    ),
    ties: Literal["half", "drop"] = option(
        "half", "Pairs that people rate equal: count half for each side, or exclude them."
    ),
    count: int = resamples_option("bootstrap resamples"),
    seed: int = seed_option("the bootstrap"),
    figure: Path | None = figure_option("probability by difference"),
) -> None:
    """Estimate how often people agree with a score difference.

    Examples:

    nlgauge interpret judged.jsonl -m chrf --difference .5 1 2 5

    nlgauge interpret judged.jsonl -m bleu chrf -o calibrations.json

    nlgauge interpret calibrations.json -m chrf --level system --difference 1.3

    nlgauge interpret calibrations.json --comparison compared.json

    Given judged texts, the command fits the probability that people prefer A to B as a function of
    the difference of their scores; the JSON output (-o FILE.json) stores the fit with the signature
    of the metric and the name of the data. Given such a file, nothing is fitted. A negative
    difference means that the score of B is higher, which for distances such as TER means that A is
    better.
    """
    from nlgauge.data.files import read_json
    from nlgauge.study import (
        fit_preferences,
        interpret,
        interpret_comparison,
        read_calibrations,
        select_calibrations,
    )

    if comparison is not None and difference:
        raise UsageError("--comparison contains the differences; leave out --difference")
    calibrations = read_calibrations(str(options.data))
    if calibrations is None:
        study = options.study()
        name = " ".join(filter(None, [options.data.name, options.part]))
        named: dict[str, Any] = {"human": options.human, "levels": level, "count": count}
        calibrations = fit_preferences(study, name, fit=fit, ties=ties, seed=seed, **named)
        notes = study.notes
    else:
        if refused := given_options(context, _FITTING):
            raise UsageError(
                f"{options.data} contains fitted calibrations; leave out {', '.join(refused)}, or "
                "name judged texts"
            )
        calibrations = select_calibrations(calibrations, options.metric or (), level or ())
        notes = ()
    if signature is not None:
        for each in calibrations:
            each.check(signature)
    if comparison is None:
        result = interpret(calibrations, difference or (), notes)
        rows = [entry.to_dict() for entry in result.entries]
    else:
        result, systems = interpret_comparison(calibrations, read_json(str(comparison)))
        compared = zip(systems, result.entries, strict=True)
        rows = [{"system": system, **entry.to_dict()} for system, entry in compared]
    labels = [each for each in result.signatures if not each.startswith(("stored:", "human:"))]
    titles = metric_titles(labels)
    options.write(
        {**result.to_dict(), "preferences": rows},
        rows,
        [_table(result, each, rows, titles, options.digits) for each in result.calibrations],
        figures={figure: lambda: _draw(result, titles)},
        notes=result.notes,
    )


def _table(
    result: "Interpretation",
    fitted: "Calibration",
    rows: "Sequence[Mapping[str, Any]]",
    titles: "Mapping[str, str]",
    width: int | None,
) -> "Table":
    from nlgauge.report.study_tables import preference_table

    own = [
        row for row, entry in zip(rows, result.entries, strict=True) if entry.calibration is fitted
    ]
    named = ["system"] * ("system" in rows[0]) + ["metric", "level"]
    over = "systems" if fitted.level == "system" else "inputs"
    footer = [
        f"{fitted.pairs:,} pairs of {fitted.data}, human: {fitted.criterion}; people agree with "
        f"{fitted.agreement:.0%} of all; {fitted.fit}, bootstrap over {over}",
        fitted.signature,
    ]
    digits = fitted.digits if width is None else width
    return preference_table(with_titles(own, titles), named, digits=digits, footer=footer)


def _draw(result: "Interpretation", titles: "Mapping[str, str]") -> "Figure":
    from nlgauge.figures.functions import Function, Panel, functions

    several = len({each.criterion for each in result.calibrations}) > 1
    panels = []
    for each in result.calibrations:
        curve = each.curve
        name = titles.get(each.metric, each.metric)
        drawn = Function(name, curve.differences, curve.probabilities, curve.low, curve.high)
        title = f"{name}, {each.level} level" + f", {each.criterion}" * several
        panels.append(Panel(title, f"improvement in {name}", [drawn]))
    return functions(panels, ylabel="people prefer A", limits=(0.5, 1.0))
