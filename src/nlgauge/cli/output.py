"""The path from a result to its output: a format or a figure, and notes on stderr."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from nlgauge.cli import arguments
from nlgauge.core.errors import FileError, UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.report.table import Table


Format = Literal["text", "json", "jsonl", "csv", "tsv", "markdown", "latex", "html"]

_ENDINGS: dict[str, Format] = {".txt": "text", ".json": "json", ".jsonl": "jsonl", ".csv": "csv"}
_ENDINGS |= {".tsv": "tsv", ".md": "markdown", ".tex": "latex", ".html": "html"}


@dataclass(frozen=True)
class Result:
    """What a command found, in the forms that formats need; each is built on demand."""

    content: Callable[[], Any]
    """All of it, for JSON."""
    rows: Callable[[], Sequence[Mapping[str, Any]]]
    """A mapping for each line of JSON Lines."""
    tables: "Callable[[], Sequence[Table]]"
    long: "Callable[[], Sequence[Table]] | None" = None
    """Tables for CSV and TSV; by default one of the rows."""
    text: str = ""
    """A paragraph below the tables, in text only."""
    figures: "Mapping[Path | None, Callable[[], Figure]]" = field(default_factory=dict)
    """Figures by file; None for a figure that was not asked for."""
    notes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Format, file and precision of a table."""

    format: Annotated[
        Format | None,
        typer.Option(
            "--format", "-f", help="Output format [default: by the ending of -o, else text]."
        ),
    ] = None
    output: arguments.Output = None
    digits: Annotated[int | None, arguments.DECIMALS] = None

    draws_output: ClassVar[bool] = False
    """Whether -o may name a figure."""

    def __post_init__(self) -> None:
        """Raise an error, before any work is done, if the output cannot be written."""
        if self._is_figure and not self.draws_output:
            name = self.output.name if self.output else ""
            raise UsageError(f"{str(self.output)!r} names a figure; write it with --figure {name}")
        if self.output is not None and self.output.suffix and self.format is None:
            known = (*arguments.FIGURES * self.draws_output, *_ENDINGS)
            check_ending(self.output, known, "; or choose a format with -f")

    @property
    def _is_figure(self) -> bool:
        return self.output is not None and self.output.suffix in arguments.FIGURES

    @property
    def chosen(self) -> Format:
        """The format of -f, else of the ending of -o, else text."""
        return self.format or _ENDINGS.get(self.output.suffix if self.output else "", "text")

    def write(self, result: Result, *, quiet: bool) -> None:
        """Write the result and its figures, and print its notes unless ``quiet``."""
        from nlgauge.figures.matplotlib_setup import save

        if not self._is_figure:
            write_text(self._render(result), self.output)
        for path, draw in result.figures.items():
            for file in (path, self.output if self._is_figure else None):
                if file is not None:
                    save(draw(), file)
        print_notes(result.notes, quiet=quiet)

    def _render(self, result: Result) -> str:
        from nlgauge.report.formats import FORMATS, text
        from nlgauge.report.study_tables import long_table

        format = self.chosen
        if format == "json":
            return to_json(result.content(), indent=2)
        if format == "jsonl":
            return "\n".join(map(to_json, result.rows()))
        if format == "text":
            bold = self.output is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
            parts = [text(table, bold=bold) for table in result.tables()]
            return "\n\n".join([*parts, *([result.text] if result.text else [])])
        tables = result.tables
        if format in ("csv", "tsv"):
            tables = result.long or (lambda: [long_table(result.rows())])
        return "\n\n".join(map(FORMATS[format], tables()))


def to_json(content: Any, indent: int | None = None) -> str:
    """Return the content as JSON, with null for what is undefined."""
    import json

    from nlgauge.core.jsonable import to_jsonable

    return json.dumps(to_jsonable(content), ensure_ascii=False, indent=indent, allow_nan=False)


def check_ending(path: Path, known: Iterable[str], hint: str = "") -> None:
    """Raise an error for a file name whose ending is not one of ``known``."""
    if path.suffix not in known:
        raise UsageError(
            f"cannot tell what to write to {str(path)!r}: known endings are "
            f"{', '.join(known)}{hint}"
        )


def write_text(text: str, output: Path | None) -> None:
    """Print the text, or write it to the file."""
    if output is None:
        print(text)
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot write {str(output)!r}: {error.strerror}") from error


def print_notes(notes: Iterable[str], *, quiet: bool = False) -> None:
    """Print notes on stderr unless ``quiet``."""
    for note in () if quiet else notes:
        print(f"note: {note}", file=sys.stderr)
