"""nlgauge reproduce: a paper's data in, its tables rebuilt beside the published numbers out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import arguments, studies

_EPILOG = """Examples:

nlgauge reproduce bary --data data -o bary/

nlgauge reproduce lazy_emd --data data -o lazy_emd/ --model roberta-large --download

Recipes and the files they look for under --data, gzipped or not:

bary: wmt15_da/{cs,de,ru,fi}-en.jsonl (BaryScore, Table 1).

benchmark: wmt15_da/fi-en.jsonl (Text Similarity as An Evaluation Measure).

lazy_emd: wmt18_darr/<pair>.jsonl and wmt18_darr/pairs/<pair>.darr.tsv (Lazy-EMD, Table 2).

The folder gets tables (.md, .tex), heat maps (.svg, .png) and summary.json."""


def reproduce_command(
    recipe: Annotated[str, typer.Argument(metavar="RECIPE", help="bary, benchmark or lazy_emd.")],
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="The folder of data.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="Where the results go.")
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="Of the embedding metrics [default: NLGAUGE_MODEL, else embedded]."
        ),
    ] = None,
    device: arguments.Device = "auto",
    batch_tokens: arguments.BatchTokens = 2048,
    download: arguments.Download = False,
    quiet: arguments.Quiet = False,
) -> None:
    """Rebuild a paper's tables, ours beside the published numbers."""
    from nlgauge.cli.progress import progress_bar  # noqa: PLC0415
    from nlgauge.core.errors import UsageError  # noqa: PLC0415
    from nlgauge.recipes import choose_recipe, reproduce  # noqa: PLC0415

    choose_recipe(recipe)
    if output.is_file():
        raise UsageError(f"{str(output)!r} is a file; -o names the folder for the results")
    if download:
        os.environ["NLGAUGE_DOWNLOAD"] = "1"
    from nlgauge.recipes.recipe import Setting  # noqa: PLC0415
    from nlgauge.report.inks import text  # noqa: PLC0415

    with progress_bar(quiet=quiet) as progress:
        rebuilt = reproduce(recipe, data, Setting(model, device, batch_tokens, progress))
    written, undrawn = rebuilt.write(output)
    main_tables = next(iter(rebuilt.tables.values()))
    shown = [f"{section.title}\n\n{text(section.table)}" for section in main_tables]
    print("\n\n".join([*shown, "\n".join(rebuilt.about)]))
    listed = ", ".join(path.name for path in written)
    studies.tell([*rebuilt.remarks, *undrawn, f"{output} holds {listed}."], quiet=quiet)


reproduce_command.__doc__ = f"{reproduce_command.__doc__}\n\n{_EPILOG}"
