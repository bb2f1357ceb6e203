"""nlgauge rescale: texts of one language in, the baseline that rescales a metric out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import arguments, study_output
from nlgauge.cli.output import deliver

if TYPE_CHECKING:
    from nlgauge.core.baseline import Baseline
    from nlgauge.report.table import Table

app = typer.Typer(
    help="Fit the baselines that spread a metric's values out.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_EPILOG = """Examples:

nlgauge rescale fit news.txt -m bertscore -o baseline.json

nlgauge rescale fit judged.jsonl -m bertscore:model=my/model,layer=9 --pairs 50000 -o baseline.json

nlgauge score -c out.txt -r ref.txt -m bertscore:baseline=baseline.json

TEXTS is a text file with a sentence per line, or a table whose column `text`, or the first of whose
references, is taken. Sentences are paired at random, never with themselves or their like. The file
is for this model and layer, and is refused with another."""


@app.command("fit")
def fit_command(
    texts: Annotated[
        str, typer.Argument(metavar="TEXTS", help="Unrelated texts of one language; - is stdin.")
    ],
    metric: Annotated[
        str, typer.Option("-m", "--metric", metavar="NAME[:OPTION=VALUE,...]", help="The metric.")
    ] = "bertscore",
    pairs: Annotated[int, typer.Option(min=3, help="Pairs drawn, at most.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the pairs.")] = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the baseline to this JSON file.")
    ] = None,
    digits: Annotated[int, typer.Option("-w", "--width", min=0, max=15, help="Decimals.")] = 4,
    device: arguments.Device = "auto",
    batch_tokens: arguments.BatchTokens = 2048,
    download: arguments.Download = False,
    cache: arguments.Cache = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Fit what a metric gives unrelated texts, so that it can call that 0."""
    from nlgauge.cli.progress import progress_bar
    from nlgauge.data.monolingual import read_texts
    from nlgauge.report.formats import text
    from nlgauge.study import fit_baseline

    runtime = arguments.make_runtime(device, batch_tokens, download, cache, quiet=quiet)
    sentences = read_texts(texts)
    with progress_bar(quiet=quiet) as progress:
        found = fit_baseline(
            *(sentences, metric),
            pairs=pairs,
            seed=seed,
            runtime=runtime,
            progress=progress,
        )
    if output is not None:
        deliver(found.to_json(), output)
    print(text(_table(found, digits)))
    study_output.tell(found.notes, quiet=quiet)


fit_command.__doc__ = f"{fit_command.__doc__}\n\n{_EPILOG}"


def _table(found: Baseline, digits: int) -> Table:
    from nlgauge.report.table import Column, Table

    columns = (Column(found.metric), Column("baseline", digits), Column("standard error", digits))
    rows = tuple((name, mean, found.standard_error[name]) for name, mean in found.mean.items())
    settings = ", ".join(f"{name}={value}" for name, value in found.settings.items())
    return Table(
        columns,
        rows,
        (
            f"{found.pairs:,} pairs of {found.texts:,} texts; seed {found.seed}",
            f"model {found.model} ({found.model_sha}), {settings}",
        ),
    )
