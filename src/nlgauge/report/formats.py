"""Formats of a table: text, CSV, TSV, Markdown, LaTeX and HTML.

The texts of a table are printable, so these functions only escape the markup of their format. CSV
and TSV contain the unformatted values.
"""

import csv as csv_module
import re
from collections.abc import Callable
from html import escape

from rich.cells import cell_len

from nlgauge.report.table import Table, Value

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_LATEX: dict[str, str | int | None] = {mark: f"\\{mark}" for mark in "&%$#_{}"}
_LATEX |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
_LATEX |= {"↑": r"$\uparrow$", "↓": r"$\downarrow$", '"': r"{\char34}"}  # babel's active quote
_LATEX |= {mark: f"${mark}$" for mark in "<>|"}  # missing in old fonts
_MARKDOWN = re.compile(r"[\\`*\[\]|]|(?<![^\W_])_|_(?![^\W_])|([<>&~$])")  # not lazy_emd's _
_NUMBERS = re.compile(r"[\d\s.,<\[\]-]*")
_NUMBER = re.compile(r"[-+]?[\d.,]+(e[-+]?\d+)?", re.IGNORECASE)
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # characters that start a formula in spreadsheets


def markdown_text(text: str) -> str:
    """Escape a printable text for Markdown, so that it is shown literally."""
    if _NUMBERS.fullmatch(text):
        return text
    # Not every dialect supports \<, so some characters are written as entities.
    return _MARKDOWN.sub(lambda at: f"&#{ord(at[0])};" if at[1] else f"\\{at[0]}", text)


def markdown_code(text: str) -> str:
    """Return a printable text as Markdown code, delimited by enough backticks."""
    marks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " * (marks != "`" or not text)
    return f"{marks}{space}{text}{space}{marks}"


def latex_text(text: str) -> str:
    """Escape a printable text for LaTeX."""
    return text.translate(str.maketrans(_LATEX))


def text(table: Table, *, bold: bool = False) -> str:
    """Return aligned columns, the best value of each column in bold or starred.

    Widths are columns of a terminal: wide characters (Chinese, emoji) take two, combining marks
    none.
    """
    best = table.best()
    starred = set() if bold else {j for _, j in best}  # all their cells are padded, to align
    cells = [
        [cell + (" *"[(i, j) in best] if j in starred else "") for j, cell in enumerate(row)]
        for i, row in enumerate(table.texts())
    ]
    widths = [max(map(cell_len, column)) for column in zip(table.headings, *cells, strict=True)]
    numeric = [table.numeric(j) for j in range(len(widths))]
    padded = [
        [_pad(cell, widths[j], align_right=numeric[j]) for j, cell in enumerate(row)]
        for row in [table.headings, *cells]
    ]
    if bold:
        for i, j in best:
            padded[i + 1][j] = _BOLD + padded[i + 1][j] + _PLAIN
    lines = ["  ".join(row).rstrip() for row in padded]
    lines.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join([*lines, "", *table.notes] if table.footer else lines)


def _pad(cell: str, width: int, *, align_right: bool) -> str:
    space = " " * (width - cell_len(cell))
    return space + cell if align_right else cell + space


def csv(table: Table, *, delimiter: str = ",", safe: bool = False) -> str:
    """Return delimited values with full precision and bare column names.

    If ``safe``, an apostrophe precedes texts that a spreadsheet would compute as a formula.
    """
    lines = _Lines()
    writer = csv_module.writer(lines, delimiter=delimiter, quoting=2 if safe else 0)
    for row in [tuple(column.name for column in table.columns), *table.rows]:
        cells = map(_escape_formula, row) if safe else row
        writer.writerow(["" if value is None else value for value in cells])
    joined = "\n".join(line.removesuffix("\r\n") for line in lines)
    return joined.encode("utf-8", "backslashreplace").decode()  # files cannot contain surrogates


class _Lines(list[str]):
    """A stream of lines; they end in CR LF, so that the writer quotes cells with either mark."""

    write = list.append


def _escape_formula(value: Value) -> Value:
    formula = isinstance(value, str) and value.startswith(_FORMULA) and not _NUMBER.fullmatch(value)
    return f"'{value}" if formula else value


def tsv(table: Table, *, safe: bool = False) -> str:
    """Return tab-separated values with full precision and bare column names."""
    return csv(table, delimiter="\t", safe=safe)


def markdown(table: Table) -> str:
    """Return a Markdown table, the best value of each column in bold."""
    heading, *rows = _mark_best(table, markdown_text, "**{}**")
    rule = ["---:" if table.numeric(j) else ":---" for j in range(len(heading))]
    lines = ["| " + " | ".join(row) + " |" for row in [heading, rule, *rows]]
    if table.footer:
        lines += ["", *(f"- {markdown_code(line)}" for line in table.notes)]
    return "\n".join(lines)


def latex(table: Table) -> str:
    """Return a booktabs tabular, the best value of each column in bold."""
    rows = _mark_best(table, latex_text, r"\textbf{{{}}}")
    layout = "".join("r" if table.numeric(j) else "l" for j in range(len(table.columns)))
    # The command \\ or \midrule before a row would read a first [ or * as its argument.
    starts = ("{}" * row[0].startswith(("[", "*")) for row in rows)
    heading, *body = (next(starts) + " & ".join(row) + r" \\" for row in rows)
    lines = [rf"\begin{{tabular}}{{{layout}}}", r"\toprule", heading, r"\midrule"]
    lines += [*body, r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, *(f"% {line}" for line in table.notes)])


def html(table: Table) -> str:
    """Return an HTML table in ASCII, the best value of each column in bold."""
    heading, *rows = _mark_best(table, escape, "<b>{}</b>")

    def line(cells: list[str], tag: str) -> str:
        heads = (tag + " style='text-align:right'" * table.numeric(j) for j in range(len(cells)))
        joined = (f"<{head}>{cell}</{tag}>" for head, cell in zip(heads, cells, strict=True))
        return f"<tr>{''.join(joined)}</tr>"

    lines = ["<table>", f"<thead>{line(heading, 'th')}</thead>", "<tbody>"]
    lines += [*(line(row, "td") for row in rows), "</tbody>", "</table>"]
    lines += [f"<p>{escape(note)}</p>" for note in table.notes]
    return "\n".join(lines).encode("ascii", "xmlcharrefreplace").decode()


def _mark_best(table: Table, quote: Callable[[str], str], mark: str) -> list[list[str]]:
    """Return the headings and rows as escaped text, ``mark`` around the best values."""
    best = table.best()
    rows = [
        [mark.format(quote(cell)) if (i, j) in best else quote(cell) for j, cell in enumerate(row)]
        for i, row in enumerate(table.texts())
    ]
    return [[quote(heading) for heading in table.headings], *rows]


FORMATS: dict[str, Callable[..., str]] = {"csv": csv, "tsv": tsv, "markdown": markdown}
FORMATS |= {"latex": latex, "html": html}
