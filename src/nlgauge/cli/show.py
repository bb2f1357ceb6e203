"""nlgauge show: two texts in, a picture of who was matched with whom out."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import arguments
from nlgauge.cli.output import deliver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nlgauge.core.plan import Plan

_EPILOG = """Examples:

nlgauge show -c "A guy stands on a boat" -r "A man sits in a canoe"

nlgauge show -c "A guy stands on a boat" -r "A man sits in a canoe" "A man in a boat" -o plan.svg

nlgauge show -c "un bateau" -r "un canoë" -m wmd:special=drop --kind heatmap -o plan.html

The ending of -o decides what is written: .svg, .png or .pdf (a figure), .html (a page), .json (all
numbers) or .txt. Of several references the one that counted is shown. A text that starts with a
dash is given as --candidate="- so" or --reference="- so"."""

_FIGURES = (".svg", ".png", ".pdf")
_ENDINGS = (*_FIGURES, ".html", ".json", ".txt")


class Kind(StrEnum):
    """What is drawn: bands between tokens, a grid of costs, or both."""

    FLOW = "flow"
    HEATMAP = "heatmap"
    BOTH = "both"


def show_command(
    candidate: Annotated[
        list[str],
        typer.Option(
            "-c", "--candidate", "--candidates", metavar="TEXT", help="The candidate itself."
        ),
    ],
    reference: Annotated[
        list[str],
        typer.Option(
            "-r", "--reference", "--references", metavar="TEXT...", help="References themselves."
        ),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "-m", "--metric", metavar="NAME[:OPTION=VALUE,...]", help="Metric [default: mover]."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to a file instead of stdout.")
    ] = None,
    kind: Annotated[Kind, typer.Option("--kind", "-k", help="Bands, a grid, or both.")] = Kind.BOTH,
    title: Annotated[str | None, typer.Option(help="A line above the drawing.")] = None,
    cache: arguments.Cache = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No warnings.")] = False,
) -> None:
    """Show which token was matched with which, how much of it, and at what cost."""
    from nlgauge.scoring import score

    _check_ending(output)
    runtime = arguments.make_runtime(cache=cache, quiet=quiet)
    text = _only(candidate, "candidate")
    (scores,) = score([text], [reference], metrics=_chosen(metric), runtime=runtime).values()
    plan, signature = scores.plan(0), str(scores.signature)
    _deliver(plan, output, kind=kind, title=title, signature=signature)
    if not quiet:
        for warning in scores.warnings:
            print(f"note: {scores.label}: {warning}", file=sys.stderr)


show_command.__doc__ = f"{show_command.__doc__}\n\n{_EPILOG}"


def _check_ending(output: Path | None) -> None:
    from nlgauge.core.errors import UsageError

    if output is not None and output.suffix not in _ENDINGS:
        known = ", ".join(_ENDINGS)
        raise UsageError(f"cannot tell what to write to {str(output)!r}: known endings are {known}")


def _chosen(metrics: Sequence[str] | None) -> str:
    return _only(metrics, "metric") if metrics else "mover"


def _only(given: Sequence[str], what: str) -> str:
    from nlgauge.core.errors import UsageError

    if len(given) > 1:
        raise UsageError(
            f"one {what} is shown at a time, but {len(given)} were given; "
            "put quotation marks around a text of several words"
        )
    return given[0]


def _deliver(
    plan: Plan, output: Path | None, *, kind: Kind, title: str | None, signature: str
) -> None:
    if output is not None and output.suffix in _FIGURES:
        from nlgauge.figures.alignment import DRAWINGS
        from nlgauge.figures.matplotlib_setup import save

        save(DRAWINGS[kind.value](plan, title=title), output)
        return
    ending = ".txt" if output is None else output.suffix
    deliver(_written(plan, ending, kind=kind, title=title, signature=signature), output)


def _written(plan: Plan, ending: str, *, kind: Kind, title: str | None, signature: str) -> str:
    import json
    import shutil

    from nlgauge.figures.alignment_html import page
    from nlgauge.report.alignment import alignment

    if ending == ".json":
        return json.dumps(plan.to_dict(), ensure_ascii=False, indent=2)
    if ending == ".html":
        return page(plan, kind.value, title=title, signature=signature)
    width = shutil.get_terminal_size().columns
    return alignment(plan, kind.value, width=width, title=title, signature=signature)
