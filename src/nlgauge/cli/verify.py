"""nlgauge verify: results made anew from their signatures and compared."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import arguments


class Format(StrEnum):
    """The inks of the answer."""

    TEXT = "text"
    JSON = "json"


def verify_command(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="What `nlgauge score -f json` wrote.")
    ],
    candidates: Annotated[
        list[str] | None,
        typer.Option(
            "-c", "--candidates", metavar="FILE...", help="[default: those named in RESULTS]"
        ),
    ] = None,
    references: arguments.ReferenceFiles = None,
    tolerance: Annotated[float, typer.Option(min=0, help="Relative to the number.")] = 1e-6,
    format: Annotated[Format, typer.Option("--format", "-f")] = Format.TEXT,
    device: arguments.Device = "auto",
    quiet: arguments.Quiet = False,
) -> None:
    """Make every number of a results file anew; exit code 1 if one does not come out the same."""
    import dataclasses
    import json

    from nlgauge.cli.progress import progress_bar
    from nlgauge.data.systems import read_systems
    from nlgauge.report.formats import text
    from nlgauge.report.table import Column, Table
    from nlgauge.reproducibility import Results, files_of

    stored = Results.read(results)
    files = (candidates, references or []) if candidates else files_of(stored.inputs)
    runtime = arguments.make_runtime(device, quiet=quiet)
    corpus = read_systems(*files)
    with progress_bar(quiet=quiet) as progress:
        found = stored.replay(corpus, tolerance=tolerance, runtime=runtime, progress=progress)
    if format is Format.JSON:
        content = [{**dataclasses.asdict(each), "holds": each.holds} for each in found]
        print(json.dumps(content, indent=2))
    else:
        columns = tuple(Column(name, 6) for name in ("system", "metric", "stored", "made", ""))
        rows = tuple(
            (each.system, each.metric, each.stored, each.made, "" if each.holds else "differs")
            for each in found
        )
        print(text(Table(columns, rows), bold=False))
    said = {str(difference): None for each in found for difference in each.differences}
    if not quiet:
        for sentence in said:
            print(f"note: {sentence}", file=sys.stderr)
    if not all(each.holds for each in found):
        raise typer.Exit(1)
