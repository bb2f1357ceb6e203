"""nlgauge score: texts in, a table of scores out."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import arguments, parts, remote, score_output
from nlgauge.cli.output import deliver

if TYPE_CHECKING:
    from nlgauge.report.score_tables import Totals

_EPILOG = """Examples:

nlgauge score -c out.txt -r ref.txt -m bleu chrf

nlgauge score -c sysA.txt sysB.txt -r ref1.txt ref2.txt -m bertscore:layer=4 --format markdown

zcat rows.jsonl.gz | nlgauge score -c - --input jsonl -m rouge:variant=2 --segments -o rows.tsv

nlgauge score -c out.zh.txt -r ref.zh.txt -m bleu ter --lang zh

nlgauge score -c out.txt -r ref.txt -m bertscore --server http://127.0.0.1:8000

nlgauge score -c shards/ -m bleu chrf --confidence --parts out/ --workers 8

A table (.jsonl, .tsv, .csv, .parquet, also .gz and .zst), or a folder of tables, brings its
columns: candidate, references (or reference), and where it has them id, system, source. Options of
a metric follow its name after a colon; `nlgauge metrics` lists them."""


class InputFormat(StrEnum):
    """How candidates are read."""

    TEXT = "text"
    JSONL = "jsonl"
    TSV = "tsv"
    CSV = "csv"
    PARQUET = "parquet"


def score_command(
    context: typer.Context,
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
    confidence: Annotated[
        bool, typer.Option("--confidence", help="95% bootstrap intervals over segments.")
    ] = False,
    paired: Annotated[
        arguments.Test | None,
        typer.Option("--paired", help="Test every system against the first."),
    ] = None,
    resamples: Annotated[int, typer.Option(min=1, help="Of intervals and tests.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of intervals and tests.")] = 0,
    format: Annotated[
        score_output.Format | None,
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
    lang: arguments.Language = None,
    device: arguments.Device = "auto",
    batch_tokens: arguments.BatchTokens = 2048,
    download: arguments.Download = False,
    cache: arguments.Cache = None,
    quiet: arguments.Quiet = False,
    folder: parts.Parts = None,
    part_rows: parts.PartRows = 10_000,
    part_format: parts.Written = parts.PartFormat.JSONL,
    on_error: parts.Errors = parts.OnError.STOP,
    engine: parts.Engine = parts.EngineName.LOCAL,
    workers: parts.Workers = 1,
    address: parts.Address = None,
    server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Have a server (nlgauge serve) do the work."),
    ] = None,
    token: Annotated[
        str | None, typer.Option(envvar="NLGAUGE_TOKEN", help="Of that server.")
    ] = None,
) -> None:
    """Score candidates against references."""
    from nlgauge.cli.progress import progress_bar
    from nlgauge.data.files import read_lines
    from nlgauge.data.systems import read_systems
    from nlgauge.scoring import Scorer

    if server is not None:
        remote.refuse_local(context)
    runtime = arguments.make_runtime(device, batch_tokens, download, cache, lang, quiet=quiet)
    metrics, sets = metric or ["bleu"], references or []
    level = 0.95 if confidence else None
    ink = score_output.Ink(
        format or score_output.format_of(output),
        digits,
        to_file=output is not None,
        inputs={"candidates": candidates, "references": sets},
    )
    board: Totals
    if folder is not None:
        parts.check_compatible(
            {
                "--segments": segments,
                "--idf-corpus": idf_corpus is not None,
                "--paired": paired is not None,
            }
        )
        run = parts.make_run(
            candidates,
            sets,
            metrics,
            folder,
            wanted=input_format,
            part_rows=part_rows,
            segments=part_format.value,
            on_error=on_error.value,
            confidence=level,
            resamples=resamples,
            seed=seed,
            engine=engine.value,
            workers=workers,
            address=address,
            runtime=runtime,
        )
        board = parts.execute(run, quiet=quiet)
        written = score_output.write_totals(board, ink, confidence=level)
    else:
        parts.check_parts_given(context)
        scorer: Scorer | remote.Distant
        if server is not None:
            scorer = remote.Distant(metrics, server, token)
        else:
            scorer = Scorer(metrics, runtime=runtime)
            if idf_corpus is not None:
                scorer = scorer.fit(read_lines(idf_corpus))
        corpus = read_systems(candidates, sets, wanted=input_format)
        with progress_bar(quiet=quiet) as progress:
            board = scorer.score_corpus(corpus, progress=progress)
        if segments:
            written = score_output.write_segments(board, ink)
        else:
            totals = score_output.resample(board, resamples, seed) if confidence else board
            test = score_output.compare(corpus, board, paired, resamples, seed) if paired else None
            written = score_output.write_totals(totals, ink, confidence=level, comparison=test)
    deliver(written, output)
    if not quiet:
        score_output.warn(board)


score_command.__doc__ = f"{score_command.__doc__}\n\n{_EPILOG}"
