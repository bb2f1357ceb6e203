"""How the verbs of studies deliver results and notes: formats, figures, and what is refused."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli.output import in_bold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.figure import Figure

    from nlgauge.report.table import Table

FIGURES = (".svg", ".png", ".pdf")


class Format(StrEnum):
    """The inks of a result."""

    TEXT = "text"
    JSON = "json"
    TSV = "tsv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    HTML = "html"


_ENDINGS = {".json": Format.JSON, ".tsv": Format.TSV, ".md": Format.MARKDOWN}
_ENDINGS |= {".tex": Format.LATEX, ".html": Format.HTML, ".txt": Format.TEXT}

Chosen = Annotated[
    Format | None, typer.Option("--format", "-f", help="[default: by the name of -o, else text]")
]


def check(levels: Iterable[str], coefficients: Iterable[str]) -> None:
    """Refuse an unknown level or coefficient before any work is done."""
    from nlgauge.study import choose_coefficient, choose_level

    for level in levels:
        choose_level(level)
    for coefficient in coefficients:
        choose_coefficient(coefficient)


def only_figure(path: Path | None) -> None:
    """Refuse a figure's file name whose ending is none of a figure, before any work is done."""
    from nlgauge.core.errors import UsageError

    if path is not None and path.suffix not in FIGURES:
        raise UsageError(
            f"cannot draw to {str(path)!r}: a figure's name ends in {', '.join(FIGURES)}"
        )


def format_of(output: Path | None, chosen: Format | None, *, drawn: bool = False) -> Format:
    """The format asked for, or that of the file's ending; refuses a figure's ending for a table."""
    from nlgauge.core.errors import UsageError

    if output is not None and output.suffix in FIGURES and not drawn:
        raise UsageError(f"{str(output)!r} names a figure; write it with --figure {output.name}")
    if chosen is not None:
        return chosen
    return _ENDINGS.get(output.suffix, Format.TEXT) if output else Format.TEXT


def written(
    format: Format, content: Any, long: Sequence[Table], tables: Sequence[Table], *, to_file: bool
) -> str:
    """The result in its ink: ``content`` as JSON, ``long`` as TSV, ``tables`` for people."""
    import json

    from nlgauge.report.formats import INKS, text

    if format is Format.JSON:
        return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
    if format is Format.TEXT:
        bold = in_bold(to_file=to_file)
        return "\n\n".join(text(table, bold=bold) for table in tables)
    return "\n\n".join(INKS[format](table) for table in (long if format is Format.TSV else tables))


def draw(figure: Figure, path: Path) -> None:
    """Write the figure."""
    from nlgauge.figures.matplotlib_setup import save

    save(figure, path)


def tell(remarks: Iterable[str], *, quiet: bool) -> None:
    """Say notes on stderr."""
    if not quiet:
        for remark in remarks:
            print(f"note: {remark}", file=sys.stderr)
