"""Results of nlgauge score: scores of a corpus or of its segments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nlgauge.cli.output import Result

if TYPE_CHECKING:
    from nlgauge.core.totals import CorpusScore
    from nlgauge.report.score_tables import SystemScores, Totals
    from nlgauge.report.table import Table
    from nlgauge.study import Comparison


@dataclass(frozen=True)
class Form:
    """Decimals, confidence level of intervals, and the files that were scored."""

    digits: int | None
    confidence: float | None
    inputs: Mapping[str, Sequence[str]]


def resample(
    scores: "SystemScores", resamples: int, seed: int
) -> "dict[str, dict[str, CorpusScore]]":
    """Return the corpus scores with bootstrap resamples, for intervals."""
    return {
        system: {label: each.resample(resamples, seed=seed) for label, each in by_metric.items()}
        for system, by_metric in scores.items()
    }


def corpus_result(totals: "Totals", form: Form, comparison: "Comparison | None" = None) -> Result:
    """Return corpus scores, with p-values against the first system if they were compared."""
    from nlgauge.report.score_tables import system_table

    p_values = None
    if comparison is not None:
        p_values = {(each.system, each.metric): each.p for each in comparison.entries}

    def rows() -> list[dict[str, Any]]:
        from nlgauge.core.scores import Scores

        return [
            (scores.corpus_score if isinstance(scores, Scores) else scores).to_dict(
                confidence=form.confidence
            )
            | ({} if p_values is None else {"p": p_values[system, label]})
            for system, by_metric in totals.items()
            for label, scores in by_metric.items()
        ]

    def tables() -> "list[Table]":
        table = system_table(
            totals, digits=form.digits, confidence=form.confidence, p_values=p_values
        )
        footer = table.footer if comparison is None else (*table.footer, comparison.method_note)
        return [replace(table, footer=footer)]

    return Result(
        content=lambda: {"scores": rows(), "inputs": form.inputs},
        rows=rows,
        tables=tables,
        long=tables,
        notes=_warnings(totals),
    )


def segments_result(scores: "SystemScores", form: Form) -> Result:
    """Return scores of every segment."""
    from nlgauge.report.score_tables import segment_table

    every = [each for by_metric in scores.values() for each in by_metric.values()]
    return Result(
        content=lambda: {"scores": [each.to_dict() for each in every], "inputs": form.inputs},
        rows=lambda: [
            {"system": each.system, "metric": each.label, **row}
            for each in every
            for row in each.to_dict()["segments"]
        ],
        tables=lambda: [segment_table(scores, digits=form.digits)],
        long=lambda: [segment_table(scores, digits=form.digits, components=True)],
        notes=_warnings(scores),
    )


def _warnings(totals: "Totals") -> list[str]:
    """Return the warnings of all scores, each once for a system."""
    notes = []
    for system, by_metric in totals.items():
        labels: dict[str, list[str]] = {}
        for label, scores in by_metric.items():
            for warning in scores.warnings:
                labels.setdefault(warning, []).append(label)
        notes += [f"{system}, {', '.join(names)}: {text}" for text, names in labels.items()]
    return notes
