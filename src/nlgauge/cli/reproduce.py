"""nlgauge reproduce: a paper's data in, its tables rebuilt beside the published numbers out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import arguments, study_output

_EPILOG = """Examples:

nlgauge reproduce bary --data data -o bary/

nlgauge reproduce lazy_emd --data data -o lazy_emd/ --model roberta-large --download

nlgauge reproduce infolm --data data -o infolm/ --model bert-base-uncased --inputs 20

Recipes and the files they look for under --data, gzipped or not; what is missing is left out:

bary: wmt15_da/{cs,de,ru,fi}-en.jsonl, wmt16_da/{cs,de,ru,fi,ro,tr}-en.jsonl,
webnlg2020/en.jsonl, realsumm/realsumm.jsonl, realsumm/stored_metric_scores.jsonl.

benchmark: wmt15_da/fi-en.jsonl (Text Similarity as An Evaluation Measure).

infolm: webnlg2020/en.jsonl, realsumm/realsumm.jsonl. A masked language model is slow, so it takes
samples of 40 inputs and 10 documents unless --inputs says otherwise.

lazy_emd: {wmt18,wmt19}_darr/<pair>.jsonl and {wmt18,wmt19}_darr/pairs/<pair>.darr.tsv.

mover: wmt17_da/<pair>.jsonl (else wmt15_da stands in), novikova2017/{bagel,sfhotel}.jsonl, the
folders tac2008 and tac2009.

The folder gets tables (.md, .tex), figures (.svg, .png) and summary.json."""


def reproduce_command(
    recipe: Annotated[
        str,
        typer.Argument(metavar="RECIPE", help="bary, benchmark, infolm, lazy_emd or mover."),
    ],
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="The folder of data.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="Where the results go.")
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="Of the metrics that run one [default: NLGAUGE_MODEL, else embedded]."
        ),
    ] = None,
    inputs: Annotated[
        int | None,
        typer.Option(
            "--inputs", min=2, help="At most so many inputs of a data set, evenly spaced."
        ),
    ] = None,
    device: arguments.Device = "auto",
    batch_tokens: arguments.BatchTokens = 2048,
    download: arguments.Download = False,
    cache: arguments.Cache = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Rebuild a paper's tables, ours beside the published numbers."""
    from nlgauge.cli.progress import progress_bar
    from nlgauge.core.errors import UsageError
    from nlgauge.recipes import choose_recipe, reproduce

    choose_recipe(recipe)
    if output.is_file():
        raise UsageError(f"{str(output)!r} is a file; -o names the folder for the results")
    runtime = arguments.make_runtime(device, batch_tokens, download, cache, quiet=quiet)
    from nlgauge.recipes.recipe import Settings
    from nlgauge.report.formats import text

    with progress_bar(quiet=quiet) as progress:
        rebuilt = reproduce(recipe, data, Settings(model, runtime, progress, inputs))
    written, undrawn = rebuilt.write(output)
    sections = [section for table in rebuilt.tables.values() for section in table]
    shown = [f"{section.title}\n\n{text(section.table)}" for section in sections]
    print("\n\n".join([*shown, "\n".join(rebuilt.about)]))
    listed = ", ".join(path.name for path in written)
    study_output.tell([*rebuilt.notes, *undrawn, f"{output} holds {listed}."], quiet=quiet)


reproduce_command.__doc__ = f"{reproduce_command.__doc__}\n\n{_EPILOG}"
