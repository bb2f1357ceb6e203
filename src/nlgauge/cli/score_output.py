"""Output of nlgauge score: scores of a corpus or of its segments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nlgauge.cli.arguments import option
from nlgauge.cli.output import RunOptions

if TYPE_CHECKING:
    from nlgauge.core.totals import CorpusScore
    from nlgauge.report.score_tables import SystemScores, Totals
    from nlgauge.study import Comparison

Inputs = Mapping[str, Sequence[str]]  # the files that were scored


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(RunOptions):
    """How models run, and how scores are written."""

    verbose: bool = option(
        False,
        "Also show details such as precisions, lengths and edits (always included in JSON).",
        *("-v", "--verbose"),
    )


def resample(
    scores: "SystemScores", resamples: int, seed: int
) -> "dict[str, dict[str, CorpusScore]]":
    """Return the corpus scores with bootstrap resamples, for intervals."""
    return {
        system: {label: each.resample(resamples, seed=seed) for label, each in by_metric.items()}
        for system, by_metric in scores.items()
    }


def write_corpus(
    options: ScoreOptions,
    totals: "Totals",
    *,
    inputs: Inputs,
    confidence: float | None,
    comparison: "Comparison | None" = None,
) -> None:
    """Write corpus scores, with p-values against the first system if they were compared."""
    from nlgauge.core.scores import Scores
    from nlgauge.report.score_tables import detail_tables, system_keys, system_table

    p_values = None
    if comparison is not None:
        p_values = {(each.system, each.metric): each.p_holm for each in comparison.entries}
    rows = [
        (scores.corpus_score if isinstance(scores, Scores) else scores).to_dict(
            confidence=confidence
        )
        | ({} if p_values is None else {"p": p_values[system, label]})
        for system, by_metric in totals.items()
        for label, scores in by_metric.items()
    ]
    table = system_table(totals, digits=options.digits, confidence=confidence, p_values=p_values)
    if comparison is not None:
        table = replace(table, footer=(*table.footer, comparison.method_note))
    behind = detail_tables(totals, digits=options.digits) if options.verbose else []
    keys = system_keys(totals, confidence=confidence, p_values=p_values, details=options.verbose)
    content = {"scores": rows, "inputs": inputs}
    options.write(content, rows, [table, *behind], long=[keys], notes=_warnings(totals))


def write_segments(options: RunOptions, scores: "SystemScores", inputs: Inputs) -> None:
    """Write scores of every segment; only the chosen format is built."""
    from nlgauge.report.score_tables import segment_table

    every = [each for by_metric in scores.values() for each in by_metric.values()]
    options.write(
        lambda: {"scores": [each.to_dict() for each in every], "inputs": inputs},
        (
            {"system": each.system, "metric": each.label, **row}
            for each in every
            for row in each.to_dict()["segments"]
        ),
        (segment_table(scores, digits=options.digits) for _ in range(1)),
        long=(segment_table(scores, digits=options.digits, components=True) for _ in range(1)),
        notes=_warnings(scores),
    )


def _warnings(totals: "Totals") -> list[str]:
    """Return the warnings of all scores, without repetitions for a system."""
    notes = []
    for system, by_metric in totals.items():
        labels: dict[str, list[str]] = {}
        for label, scores in by_metric.items():
            for warning in scores.warnings:
                labels.setdefault(warning, []).append(label)
        notes += [f"{system}, {', '.join(names)}: {text}" for text, names in labels.items()]
    return notes
