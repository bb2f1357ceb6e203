"""Output of results: tables, JSON and figures, and notes on stderr."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from nlgauge.cli import arguments
from nlgauge.cli.option_groups import RuntimeOptions
from nlgauge.core.errors import FileError, UsageError
from nlgauge.core.printable import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nlgauge.report.table import Table


Format = Literal["text", "json", "jsonl", "csv", "tsv", "markdown", "latex", "html"]

_ENDINGS: dict[str, Format] = {".txt": "text", ".json": "json", ".jsonl": "jsonl", ".csv": "csv"}
_ENDINGS |= {".tsv": "tsv", ".md": "markdown", ".tex": "latex", ".html": "html"}


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Format, file and precision of a table."""

    format: Format | None = arguments.option(
        None, "Output format [default: by the ending of -o, else text].", "--format", "-f"
    )
    output: Path | None = arguments.OUTPUT
    digits: int | None = arguments.decimals_option(None)
    safe_csv: bool = arguments.option(
        False, "Put an apostrophe before formulas in CSV and TSV.", "--safe-csv"
    )

    draws_output: ClassVar[bool] = False
    """Whether -o may name a figure."""

    def __post_init__(self) -> None:
        """Raise an error, before any work is done, if the output cannot be written."""
        if self._is_figure and not self.draws_output:
            name = self.output.name if self.output else ""
            raise UsageError(
                f"{str(self.output)!r} names a figure, but here -o writes {', '.join(_ENDINGS)}; "
                f"if this command draws a figure, write it with --figure {name}"
            )
        figures = dict.fromkeys(arguments.FIGURES * self.draws_output, "figure")
        check_output(self.output, self.format, {**figures, **_ENDINGS})
        if self.safe_csv and self.chosen not in ("csv", "tsv"):
            needed = "-f csv or -f tsv; add one, or leave out --safe-csv"
            raise UsageError(f"--safe-csv has no effect without {needed}")

    @property
    def _is_figure(self) -> bool:
        return _ending(self.output) in arguments.FIGURES

    @property
    def chosen(self) -> Format:
        """The format of -f, else of the ending of -o, else text."""
        return self.format or _ENDINGS.get(_ending(self.output), "text")


@dataclass(frozen=True, kw_only=True)
class ReportOptions(OutputOptions):
    """Output options, including --quiet."""

    quiet: bool = arguments.QUIET

    def write(
        self,
        content: Any,
        rows: Iterable[Mapping[str, Any]],
        tables: "Iterable[Table]",
        *,
        long: "Iterable[Table] | None" = None,
        text: str = "",
        figures: "Mapping[Path | None, Callable[[], Figure]] | None" = None,
        notes: Iterable[str] = (),
    ) -> None:
        """Write a result and its figures, and print its notes.

        ``content`` is for JSON, or a function that returns it; ``rows`` are for JSON Lines, and
        ``tables`` for the other formats. CSV and TSV take ``long``, by default a table of the rows.
        ``text`` is a paragraph below the tables. Figures whose path is None are not drawn.
        """
        from nlgauge.figures.matplotlib_setup import save
        from nlgauge.report import formats
        from nlgauge.report.study_tables import long_table

        format = self.chosen
        bold = self.output is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
        parts: Iterable[str]
        if format == "json":
            parts = [to_json(content() if callable(content) else content, indent=2)]
        elif format == "jsonl":
            parts = ["\n".join(map(to_json, rows))]
        elif format == "text":
            parts = [*(formats.text(table, bold=bold) for table in tables), *filter(None, [text])]
        elif format in ("csv", "tsv"):
            to_csv = partial(formats.FORMATS[format], safe=self.safe_csv)
            parts = map(to_csv, long or [long_table(list(rows))])
        else:
            parts = map(formats.FORMATS[format], tables)
        if not self._is_figure:
            write_text("\n\n".join(parts), self.output, styled=bold and format == "text")
        drawn: list[str] = []
        for path, draw in (figures or {}).items():
            for file in (path, self.output if self._is_figure else None):
                if file is not None:
                    drawn += save(draw(), file)
        print_notes([*notes, *drawn], quiet=self.quiet)


@dataclass(frozen=True, kw_only=True)
class RunOptions(RuntimeOptions, ReportOptions):
    """How models run, and how the result is written."""


def to_json(content: Any, indent: int | None = None) -> str:
    """Return the content as JSON: undefined numbers are null, invisible characters are escaped."""
    import json

    from nlgauge.core.jsonable import to_jsonable

    plain = to_jsonable(content)
    text = json.dumps(plain, ensure_ascii=False, indent=indent, allow_nan=False)
    return printable(text, keep="\n", escape=lambda character: json.dumps(character)[1:-1])


def check_output(output: Path | None, format: str | None, endings: Mapping[str, str]) -> None:
    """Raise an error if -o cannot be written, or its ending is unknown or contradicts -f.

    A name without an ending, such as /dev/stdout, may have any format; with -f, so may a name with
    an unknown ending.
    """
    if output is None:
        return
    arguments.check_writable(output)
    if not output.suffix:
        return
    named = endings.get(_ending(output))
    if format is None:
        check_ending(output, endings, "; or choose a format with -f")
    elif named not in (None, format):
        raise UsageError(
            f"-f {format} contradicts the ending of {str(output)!r}, which is for {named}; leave "
            "out -f, or change the name"
        )


def _ending(path: Path | None) -> str:
    return path.suffix if path else ""


def check_ending(path: Path, known: Iterable[str], hint: str = "") -> None:
    """Raise an error for a file whose ending is not one of ``known``, or that cannot be written."""
    arguments.check_writable(path)
    if _ending(path) not in known:
        raise UsageError(
            f"unknown format of {str(path)!r}: known endings are {', '.join(known)}{hint}"
        )


def write_text(text: str, output: Path | None, *, styled: bool = False) -> None:
    """Print or save the text; control characters are escaped on a terminal unless ``styled``."""
    if output is None:
        plain = sys.stdout.isatty() and not styled
        print(printable(text, keep="\n\t") if plain else text)
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot write {str(output)!r}: {error.strerror}") from error


def print_notes(notes: Iterable[str], *, quiet: bool = False) -> None:
    """Print notes on stderr unless ``quiet``."""
    for note in () if quiet else notes:
        print_message(f"note: {note}")


def print_message(message: str) -> None:
    """Print a line on stderr; if that fails, discard it and all later ones: results matter more."""
    try:
        print(printable(message), file=sys.stderr, flush=True)
    except OSError:  # the reader, such as tee, has exited, or the disk of a log file is full
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
