"""nlgauge explain and nlgauge verify: what signatures tell, and results recomputed from them."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import arguments
from nlgauge.cli.option_groups import RuntimeOptions, with_option_groups
from nlgauge.cli.output import OutputOptions, Result, to_json

Signature = Annotated[str, typer.Argument(metavar="SIGNATURE", show_default=False)]


def explain_command(
    first: Signature, second: Signature, format: arguments.TextOrJson = "text"
) -> None:
    """Explain the differences between two signatures.

    Quote the signatures: nlgauge explain 'bleu|nrefs:1|...' 'bleu|nrefs:2|...'
    """
    from nlgauge.reproducibility import explain

    found = explain(first, second)
    if format == "json":
        print(to_json([asdict(each) for each in found], indent=2))
    elif found:
        print("\n".join(map(str, found)))
    else:
        print("no difference: the signatures are equal, so the texts must differ")


@with_option_groups
def verify_command(
    to: OutputOptions,
    options: RuntimeOptions,
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="File written by `nlgauge score -f json`.")
    ],
    candidates: Annotated[
        list[str] | None,
        typer.Option(
            *("-c", "--candidates"),
            metavar="FILE...",
            help="Candidate texts [default: the files named in RESULTS].",
        ),
    ] = None,
    references: arguments.ReferenceFiles = None,
    tolerance: Annotated[float, typer.Option(min=0, help="Relative tolerance.")] = 1e-6,
    allow_external: Annotated[
        list[str] | None,
        typer.Option(metavar="COMMAND", help="Program that signatures in RESULTS may run."),
    ] = None,
) -> None:
    """Recompute every score of a results file; exit with code 1 if one differs."""
    from nlgauge.data.systems import read_systems
    from nlgauge.report.table import Column, Table
    from nlgauge.reproducibility import Results, files_of

    stored = Results.read(results)
    files = (candidates, references or []) if candidates else files_of(stored.inputs)
    corpus = read_systems(*files)
    with options.running() as running:
        found = stored.replay(
            corpus, tolerance=tolerance, allow_external=allow_external or (), **running
        )
    rows = [{**asdict(each), "holds": each.holds} for each in found]
    digits = 6 if to.digits is None else to.digits
    names = ("system", "metric", "stored", "made", "")
    cells = [
        (each.system, each.metric, each.stored, each.made, "" if each.holds else "differs")
        for each in found
    ]
    table = Table(tuple(Column(name, digits) for name in names), tuple(cells))
    notes = dict.fromkeys(str(difference) for each in found for difference in each.differences)
    result = Result(
        content=lambda: rows,
        rows=lambda: rows,
        tables=lambda: [table],
        long=lambda: [table],
        notes=list(notes),
    )
    to.write(result, quiet=options.quiet)
    if not all(each.holds for each in found):
        raise typer.Exit(1)
