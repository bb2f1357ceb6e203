"""nlgauge score: scores of candidate texts against references."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import typer

from nlgauge.cli import arguments, score_output
from nlgauge.cli.arguments import option, resamples_option, seed_option
from nlgauge.cli.option_groups import (
    InputOptions,
    given_options,
    refuse_without,
    with_option_groups,
)
from nlgauge.cli.output import print_notes
from nlgauge.cli.parts import PartsOptions
from nlgauge.cli.score_output import ScoreOptions
from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from nlgauge.runtime import Runtime

# Options that the server sets or does not support.
_LOCAL = (
    *("idf_corpus", "lang", "folder"),
    *("device", "batch_tokens", "precision", "threads", "download", "cache"),
)
_RESAMPLING = ("resamples", "seed")
_OF_CORPORA = ("confidence", "paired", *_RESAMPLING)


def default_metrics(runtime: "Runtime", server: str | None, *, quiet: bool) -> list[str]:
    """Return the metrics of a command without ``-m``; note how to get the recommended one."""
    from nlgauge import scoring

    if server is not None:  # the server may have other models
        return ["bleu", "chrf"]
    metrics = list(scoring.default_metrics(runtime))
    if "gauge" not in metrics:
        missing = "gauge, the recommended metric, needs a model for the language of the texts: "
        ways = "pip install 'nlgauge[embedded]' for English, or -m gauge:model=NAME (--download)"
        print_notes([missing + ways], quiet=quiet)
    return metrics


@dataclass(frozen=True, kw_only=True)
class ScoreInputOptions(InputOptions):
    """Texts of systems, with other default metrics."""

    metric: list[str] | None = arguments.SCORE_METRICS


@with_option_groups
def score_command(
    context: typer.Context,
    options: ScoreOptions,
    parts: PartsOptions,
    texts: ScoreInputOptions,
    segments: bool = option(False, "Print scores of segments instead of the corpus.", "--segments"),
    confidence: bool = arguments.CONFIDENCE,
    paired: arguments.PairedTest | None = option(
        None, "Paired test of every system against the first.", "--paired"
    ),
    resamples: int = resamples_option("resamples of intervals and tests"),
    seed: int = seed_option("intervals and tests"),
    idf_corpus: str | None = option(
        None,
        "Text file to fit idf and n-gram tables on, instead of the references.",
        metavar="FILE",
    ),
    server: str | None = option(None, "Score on a server (see nlgauge serve).", metavar="URL"),
    token: str | None = option(
        None, "Bearer token of the server.", envvar="NLGAUGE_TOKEN", metavar="TOKEN"
    ),
) -> None:
    """Score candidates against references.

    Examples:

    nlgauge score -c out.txt -r ref.txt

    nlgauge score -c sysA.txt sysB.txt -r ref1.txt ref2.txt -m bertscore:layer=4 --format markdown

    zcat rows.jsonl.gz | nlgauge score -c - --input jsonl -m rouge:variant=2 --segments -o rows.tsv

    nlgauge score -c out.zh.txt -r ref.zh.txt -m bleu ter --lang zh

    nlgauge score -c out.txt -r ref.txt -m bertscore --server http://127.0.0.1:8000

    nlgauge score -c shards/ -m bleu chrf --confidence --parts out/ --workers 8

    nlgauge score -c out.tsv --columns candidate=answer,reference=gold -m bleu

    nlgauge score -c wide.csv --system-columns A,B --columns reference=gold -m bleu

    A table (.jsonl, .json, .tsv, .csv, .parquet, also .gz and .zst) or a folder of tables has the
    columns candidate, references (or reference, or reference1, reference2, ...), and optionally id,
    system and source; --columns maps other names. Options of a metric follow its name after a
    colon; `nlgauge metrics NAME` lists them.
    """
    from nlgauge.cli.progress import progress_bar
    from nlgauge.data.files import read_lines
    from nlgauge.metrics import metric
    from nlgauge.scoring import Scorer

    for given in given_options(context, _LOCAL) if server is not None else ():
        raise UsageError(f"{given} cannot be combined with --server; leave it out")
    parts.check(context)
    for given in given_options(context, _OF_CORPORA) if segments else ():
        raise UsageError(f"{given} is for corpus scores, so it excludes --segments; leave one out")
    tested = confidence or paired is not None
    refuse_without(context, _RESAMPLING, "--confidence or --paired", present=tested)
    refuse_without(context, ("token",), "--server", present=server is not None)
    runtime = options.runtime
    metrics = texts.metric or default_metrics(runtime, server, quiet=options.quiet)
    level = 0.95 if confidence else None
    inputs = texts.record()
    write_corpus = partial(score_output.write_corpus, options, inputs=inputs, confidence=level)
    if parts.folder is not None:
        drawn = {"confidence": level, "resamples": resamples, "seed": seed, "runtime": runtime}
        write_corpus(parts.score(texts.files(), metrics, quiet=options.quiet, **drawn))
        return
    for spec in metrics if server is None else ():
        metric(spec)  # raises errors before long files are read
    corpus = texts.read()  # before models are loaded
    if server is None:
        scorer = Scorer(metrics, runtime=runtime)
        if idf_corpus is not None:
            scorer = scorer.fitted(read_lines(idf_corpus))
        score_corpus = scorer.score_corpus
    else:
        from nlgauge.service.client import Client

        score_corpus = partial(Client(server, token=token).score_corpus, metrics=metrics)
    with progress_bar(quiet=options.quiet) as progress:
        scores = score_corpus(corpus, progress=progress)
    if segments:
        score_output.write_segments(options, scores, inputs)
        return
    comparison = None
    if paired:
        from nlgauge.study import compare_scored

        comparison = compare_scored(corpus, scores, method=paired, count=resamples, seed=seed)
    totals = score_output.resample(scores, resamples, seed) if confidence else scores
    write_corpus(totals, comparison=comparison)
