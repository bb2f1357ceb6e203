"""nlgauge score: texts in, a table of scores out."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import arguments
from nlgauge.cli.delivery import deliver, in_bold

if TYPE_CHECKING:
    from nlgauge.report.scoreboard import Board

_EPILOG = """Examples:

nlgauge score -c out.txt -r ref.txt -m bleu chrf

nlgauge score -c sysA.txt sysB.txt -r ref1.txt ref2.txt -m bertscore:layer=4 --format markdown

zcat rows.jsonl.gz | nlgauge score -c - --input jsonl -m rouge:variant=2 --segments -o rows.tsv

A table (.jsonl, .tsv, .csv, also .gz) brings its columns: candidate, references (or reference),
and where it has them id, system, source. Options of a metric follow its name after a colon;
`nlgauge metrics` lists them."""


class Format(StrEnum):
    """The inks of the result."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    TSV = "tsv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    HTML = "html"


class InputFormat(StrEnum):
    """How candidates are read."""

    TEXT = "text"
    JSONL = "jsonl"
    TSV = "tsv"
    CSV = "csv"


def score_command(
    candidates: arguments.Candidates,
    references: arguments.ReferenceFiles = None,
    metric: arguments.Metrics = None,
    input_format: Annotated[
        InputFormat | None,
        typer.Option("--input", help="Format of the candidates [default: by file name]."),
    ] = None,
    segments: Annotated[
        bool, typer.Option("--segments", help="Scores of every segment instead of the corpus.")
    ] = False,
    format: Annotated[
        Format | None,
        typer.Option("--format", "-f", help="[default: by the name of -o, else text]"),
    ] = None,
    output: arguments.Output = None,
    digits: Annotated[
        int | None, typer.Option("-w", "--width", min=0, max=15, help="Decimals of the numbers.")
    ] = None,
    idf_corpus: Annotated[
        str | None,
        typer.Option(help="Text file to fit idf and n-gram tables on instead of the references."),
    ] = None,
    device: arguments.Device = "auto",
    batch_tokens: arguments.BatchTokens = 2048,
    download: arguments.Download = False,
    quiet: arguments.Quiet = False,
) -> None:
    """Score candidates against references."""
    from nlgauge.cli.progress import progress_bar  # noqa: PLC0415
    from nlgauge.data.files import read_lines  # noqa: PLC0415
    from nlgauge.data.systems import read_systems  # noqa: PLC0415
    from nlgauge.scoring import Scorer  # noqa: PLC0415

    if download:
        os.environ["NLGAUGE_DOWNLOAD"] = "1"
    corpus = read_systems(candidates, references or [], wanted=input_format)
    scorer = Scorer(metric or ["bleu"], device=device, batch_tokens=batch_tokens)
    if idf_corpus is not None:
        scorer = scorer.fit(read_lines(idf_corpus))
    with progress_bar(quiet=quiet) as progress:
        board = scorer.score_corpus(corpus, progress=progress)
    chosen = format or _format_of(output)
    written = _write(board, chosen, segments=segments, digits=digits, to_file=output is not None)
    deliver(written, output)
    if not quiet:
        _warn(board)


score_command.__doc__ = f"{score_command.__doc__}\n\n{_EPILOG}"


def _format_of(output: Path | None) -> Format:
    endings = {".json": Format.JSON, ".jsonl": Format.JSONL, ".tsv": Format.TSV}
    endings |= {".md": Format.MARKDOWN, ".tex": Format.LATEX, ".html": Format.HTML}
    return endings.get(output.suffix, Format.TEXT) if output else Format.TEXT


def _write(
    board: Board, format: Format, *, segments: bool, digits: int | None, to_file: bool
) -> str:
    import json  # noqa: PLC0415

    from nlgauge.report.inks import INKS, text  # noqa: PLC0415
    from nlgauge.report.scoreboard import scoreboard, segment_board  # noqa: PLC0415

    every = [scores for of_system in board.values() for scores in of_system.values()]
    if format is Format.JSON:
        content = [scores.to_dict(segments=segments) for scores in every]
        return json.dumps({"scores": content}, ensure_ascii=False, indent=2)
    if format is Format.JSONL:
        lines = [scores.to_dict(segments=False) for scores in every]
        if segments:
            lines = [
                {"system": s.system, "metric": s.label, **row}
                for s in every
                for row in s.to_dict()["segments"]
            ]
        return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    table = scoreboard(board, digits=digits)
    if segments:
        table = segment_board(board, digits=digits, components=format is Format.TSV)
    if format is Format.TEXT:
        return text(table, bold=in_bold(to_file=to_file))
    return INKS[format](table)


def _warn(board: Board) -> None:
    for system, scores_of in board.items():
        said: dict[str, list[str]] = {}
        for label, scores in scores_of.items():
            for warning in scores.warnings:
                said.setdefault(warning, []).append(label)
        for warning, labels in said.items():
            print(f"note: {system}, {', '.join(labels)}: {warning}", file=sys.stderr)
