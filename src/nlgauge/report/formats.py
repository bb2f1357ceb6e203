"""Formats of a table: text, CSV, TSV, Markdown, LaTeX and HTML."""

import csv as csv_module
import io
from collections.abc import Callable
from html import escape

from nlgauge.report.table import Table

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_LATEX: dict[str, str | int | None] = {mark: f"\\{mark}" for mark in "&%$#_{}"}
_LATEX |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
_LATEX |= {"↑": r"$\uparrow$", "↓": r"$\downarrow$"}


def text(table: Table, *, bold: bool = False) -> str:
    """Return aligned columns, the best value of each column in bold or starred."""
    best = table.best()
    starred = set() if bold else {j for _, j in best}  # all their cells are padded, to align
    cells = [
        [cell + (" *"[(i, j) in best] if j in starred else "") for j, cell in enumerate(row)]
        for i, row in enumerate(table.texts())
    ]
    widths = [max(map(len, column)) for column in zip(table.headings, *cells, strict=True)]
    align = [str.rjust if table.numeric(j) else str.ljust for j in range(len(widths))]
    padded = [
        [align[j](cell, widths[j]) for j, cell in enumerate(row)]
        for row in [table.headings, *cells]
    ]
    if bold:
        for i, j in best:
            padded[i + 1][j] = _BOLD + padded[i + 1][j] + _PLAIN
    lines = ["  ".join(row).rstrip() for row in padded]
    lines.insert(1, "  ".join("─" * width for width in widths))
    if table.footer:
        lines += ["", *table.footer]
    return "\n".join(lines)


def csv(table: Table, *, delimiter: str = ",") -> str:
    """Return delimited values with full precision and bare column names."""
    stream = io.StringIO()
    writer = csv_module.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows([["" if value is None else value for value in row] for row in table.rows])
    return stream.getvalue().rstrip("\n")


def tsv(table: Table) -> str:
    """Return tab-separated values with full precision and bare column names."""
    return csv(table, delimiter="\t")


def markdown(table: Table) -> str:
    """Return a Markdown table, the best value of each column in bold."""
    heading, *rows = _marked(table, lambda cell: cell.replace("|", r"\|"), "**{}**")
    rule = ["---:" if table.numeric(j) else ":---" for j in range(len(heading))]
    lines = ["| " + " | ".join(row) + " |" for row in [heading, rule, *rows]]
    if table.footer:
        lines += ["", *(f"- `{line}`" for line in table.footer)]
    return "\n".join(lines)


def latex(table: Table) -> str:
    """Return a booktabs tabular, the best value of each column in bold."""
    rows = _marked(table, lambda cell: cell.translate(str.maketrans(_LATEX)), r"\textbf{{{}}}")
    layout = "".join("r" if table.numeric(j) else "l" for j in range(len(table.columns)))
    heading, *body = [" & ".join(row) + r" \\" for row in rows]
    lines = [rf"\begin{{tabular}}{{{layout}}}", r"\toprule", heading, r"\midrule"]
    lines += [*body, r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, *(f"% {line}" for line in table.footer)])


def html(table: Table) -> str:
    """Return an HTML table in ASCII, the best value of each column in bold."""
    heading, *rows = _marked(table, escape, "<b>{}</b>")

    def line(cells: list[str], tag: str) -> str:
        heads = (tag + " style='text-align:right'" * table.numeric(j) for j in range(len(cells)))
        joined = (f"<{head}>{cell}</{tag}>" for head, cell in zip(heads, cells, strict=True))
        return f"<tr>{''.join(joined)}</tr>"

    lines = ["<table>", f"<thead>{line(heading, 'th')}</thead>", "<tbody>"]
    lines += [*(line(row, "td") for row in rows), "</tbody>", "</table>"]
    lines += [f"<p>{escape(note)}</p>" for note in table.footer]
    return "\n".join(lines).encode("ascii", "xmlcharrefreplace").decode()


def _marked(table: Table, quote: Callable[[str], str], mark: str) -> list[list[str]]:
    """Return the headings and rows as escaped text, ``mark`` around the best values."""
    best = table.best()
    rows = [
        [mark.format(quote(cell)) if (i, j) in best else quote(cell) for j, cell in enumerate(row)]
        for i, row in enumerate(table.texts())
    ]
    return [[quote(heading) for heading in table.headings], *rows]


FORMATS: dict[str, Callable[[Table], str]] = {"text": text, "csv": csv, "tsv": tsv}
FORMATS |= {"markdown": markdown, "latex": latex, "html": html}
