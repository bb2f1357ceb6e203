"""nlgauge explain and nlgauge verify: compare signatures, and recompute results from them."""

from dataclasses import asdict
from pathlib import Path

import typer

from nlgauge.cli import arguments
from nlgauge.cli.arguments import argument, option
from nlgauge.cli.option_groups import with_option_groups
from nlgauge.cli.output import RunOptions, to_json
from nlgauge.core.printable import printable


def explain_command(
    first: str = argument(..., "SIGNATURE", None),
    second: str = argument(..., "SIGNATURE", None),
    format: arguments.TextOrJson = arguments.TEXT_OR_JSON,
) -> None:
    """Explain the differences between two signatures.

    Quote the signatures: nlgauge explain 'bleu|nrefs:1|...' 'bleu|nrefs:2|...'
    """
    from nlgauge.reproducibility import explain

    differences = explain(first, second)
    if format == "json":
        print(to_json([asdict(each) for each in differences], indent=2))
    elif differences:
        print("\n".join(printable(str(each)) for each in differences))
    else:
        print("no difference: the signatures are equal, so the texts must differ")


@with_option_groups
def verify_command(
    options: RunOptions,
    results: Path = argument(..., "RESULTS", "File written by `nlgauge score -f json`."),
    candidates: list[str] | None = option(
        None,
        "Candidate texts [default: the files named in RESULTS].",
        *("-c", "--candidates"),
        metavar="FILE...",
    ),
    references: list[str] | None = arguments.REFERENCES,
    sources: str | None = arguments.SOURCES,
    tolerance: float = option(1e-6, "Relative tolerance.", min=0),
    allow_external: list[str] | None = option(
        None, "Program that signatures in RESULTS may run.", metavar="COMMAND"
    ),
) -> None:
    """Recompute every score of a results file.

    The exit code is 1 if a score differs.
    """
    from nlgauge.data.systems import read_systems
    from nlgauge.report.table import Column, Table
    from nlgauge.reproducibility import Results, files_of

    stored = Results.read(results)
    files = files_of(stored.inputs, candidates, references)
    corpus = read_systems(**files | ({"sources": sources} if sources else {}))
    with options.running() as running:
        replayed = stored.replay(
            corpus, tolerance=tolerance, allow_external=allow_external or (), **running
        )
    rows = [{**asdict(each), "holds": each.holds} for each in replayed]
    digits = 6 if options.digits is None else options.digits
    cells = [
        (each.system, each.metric, each.stored, each.made, "equal" if each.holds else "differs")
        for each in replayed
    ]
    names = ("system", "metric", "stored", "recomputed", "result")
    tables = [Table(tuple(Column(name, digits) for name in names), tuple(cells))]
    notes = dict.fromkeys(str(difference) for each in replayed for difference in each.differences)
    options.write(rows, rows, tables, long=tables, notes=notes)
    if not all(each.holds for each in replayed):
        raise typer.Exit(1)
