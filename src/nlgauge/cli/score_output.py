"""How a board of scores is written for people and programs, and what is said beside it."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlgauge.cli import arguments
from nlgauge.cli.output import in_bold

if TYPE_CHECKING:
    from nlgauge.core.corpus import Corpus
    from nlgauge.core.totals import Tally
    from nlgauge.report.score_tables import Board, Totals
    from nlgauge.report.table import Table
    from nlgauge.study import Comparison


class Format(StrEnum):
    """The inks of the result."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    TSV = "tsv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    HTML = "html"


def format_of(output: Path | None) -> Format:
    """The format that a file's name asks for, else text."""
    endings = {".json": Format.JSON, ".jsonl": Format.JSONL, ".tsv": Format.TSV}
    endings |= {".md": Format.MARKDOWN, ".tex": Format.LATEX, ".html": Format.HTML}
    return endings.get(output.suffix, Format.TEXT) if output else Format.TEXT


@dataclass(frozen=True)
class Ink:
    """How numbers are written, whether to a file or a terminal, and which files they are of."""

    format: Format
    digits: int | None
    to_file: bool
    inputs: Mapping[str, Sequence[str]]

    def write_json(self, scores: Sequence[Mapping[str, Any]]) -> str:
        """Scores as JSON that ``nlgauge verify`` can make anew."""
        import json

        content = {"scores": scores, "inputs": self.inputs}
        return json.dumps(content, ensure_ascii=False, indent=2)

    def write(self, table: Table) -> str:
        """A table in its format."""
        from nlgauge.report.formats import INKS, text

        if self.format is Format.TEXT:
            return text(table, bold=in_bold(to_file=self.to_file))
        return INKS[self.format](table)


def resample(board: Board, resamples: int, seed: int) -> dict[str, dict[str, Tally]]:
    """The corpus scores with bootstrap resamples, ready for intervals."""
    return {
        system: {label: each.resample(resamples, seed=seed) for label, each in scores.items()}
        for system, scores in board.items()
    }


def compare(
    corpus: Corpus, board: Board, test: arguments.Test, resamples: int, seed: int
) -> Comparison:
    """Every system tested against the first, under every metric."""
    from nlgauge.study import compare_scored

    return compare_scored(corpus, board, method=test.value, count=resamples, seed=seed)


def write_totals(
    board: Totals,
    ink: Ink,
    *,
    confidence: float | None = None,
    comparison: Comparison | None = None,
) -> str:
    """Corpus scores in the format asked for, with intervals if the board was resampled.

    A comparison adds the p-value of every system against the first.
    """
    import json

    from nlgauge.core.scores import Scores
    from nlgauge.report.score_tables import scoreboard

    tested = (
        {(each.system, each.metric): each.p for each in comparison.entries} if comparison else None
    )
    content = []
    for system, scores_of in board.items():
        for label, scores in scores_of.items():
            tally = scores.tally if isinstance(scores, Scores) else scores
            entry = tally.to_dict(confidence=confidence)
            content.append(entry if tested is None else {**entry, "p": tested[system, label]})
    if ink.format is Format.JSON:
        return ink.write_json(content)
    if ink.format is Format.JSONL:
        return "\n".join(json.dumps(line, ensure_ascii=False) for line in content)
    table = scoreboard(board, digits=ink.digits, confidence=confidence, p_values=tested)
    if comparison is not None:
        table = dataclasses.replace(table, footer=(*table.footer, comparison.method_note))
    return ink.write(table)


def write_segments(board: Board, ink: Ink) -> str:
    """Scores of every segment in the format asked for."""
    import json

    from nlgauge.report.score_tables import segment_board

    every = [scores for of_system in board.values() for scores in of_system.values()]
    if ink.format is Format.JSON:
        content = [scores.to_dict() for scores in every]
        return ink.write_json(content)
    if ink.format is Format.JSONL:
        lines = [
            {"system": scores.system, "metric": scores.label, **row}
            for scores in every
            for row in scores.to_dict()["segments"]
        ]
        return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    table = segment_board(board, digits=ink.digits, components=ink.format is Format.TSV)
    return ink.write(table)


def warn(board: Totals) -> None:
    """Say the warnings of all scores on stderr, each once for a system."""
    for system, scores_of in board.items():
        said: dict[str, list[str]] = {}
        for label, scores in scores_of.items():
            for warning in scores.warnings:
                said.setdefault(warning, []).append(label)
        for warning, labels in said.items():
            print(f"note: {system}, {', '.join(labels)}: {warning}", file=sys.stderr)
