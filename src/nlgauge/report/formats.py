"""The inks a table can be written in: text, TSV, Markdown, LaTeX and HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from html import escape

from nlgauge.report.table import Table, widths

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_LATEX = str.maketrans(
    {
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
    }
)


def text(table: Table, *, bold: bool = False) -> str:
    """Aligned columns; the best of each column in bold, or starred where there is no bold."""
    best = table.best()
    shown = table.texts()
    if not bold:
        marked = {j for _, j in best}  # a starred column reserves room, so that numbers align
        shown = [
            [
                cell + ("*" if (i, j) in best else " ") if j in marked else cell
                for j, cell in enumerate(row)
            ]
            for i, row in enumerate(shown)
        ]
    room = widths(table.headings, shown)
    flush = [str.rjust if table.numeric(j) else str.ljust for j in range(len(room))]
    lines = ["  ".join(flush[j](name, room[j]) for j, name in enumerate(table.headings)).rstrip()]
    lines.append("  ".join("─" * width for width in room))
    for i, row in enumerate(shown):
        cells = [flush[j](cell, room[j]) for j, cell in enumerate(row)]
        if bold:
            cells = [_BOLD + c + _PLAIN if (i, j) in best else c for j, c in enumerate(cells)]
        lines.append("  ".join(cells).rstrip())
    if table.footer:
        lines += ["", *table.footer]
    return "\n".join(lines)


def tsv(table: Table) -> str:
    """Tab-separated values with full precision and bare column names."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter="\t", lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows([["" if value is None else value for value in row] for row in table.rows])
    return stream.getvalue().rstrip("\n")


def markdown(table: Table) -> str:
    """A Markdown table, the best of each column in bold."""
    best = table.best()
    rows = [
        [f"**{cell}**" if (i, j) in best else cell for j, cell in enumerate(row)]
        for i, row in enumerate(table.texts())
    ]
    cells = [[cell.replace("|", r"\|") for cell in row] for row in [table.headings, *rows]]
    rule = ["---:" if table.numeric(j) else ":---" for j in range(len(table.columns))]
    lines = ["| " + " | ".join(row) + " |" for row in [cells[0], rule, *cells[1:]]]
    if table.footer:
        lines += ["", *(f"- `{line}`" for line in table.footer)]
    return "\n".join(lines)


def latex(table: Table) -> str:
    """A booktabs tabular, the best of each column in bold."""
    best = table.best()
    rows = []
    for i, row in enumerate(table.texts()):
        cells = [cell.translate(_LATEX) for cell in row]
        rows.append([rf"\textbf{{{c}}}" if (i, j) in best else c for j, c in enumerate(cells)])
    layout = "".join("r" if table.numeric(j) else "l" for j in range(len(table.columns)))
    heading = [name.translate(_LATEX) for name in table.headings]
    body = [" & ".join(row) + r" \\" for row in rows]
    lines = [rf"\begin{{tabular}}{{{layout}}}", r"\toprule", " & ".join(heading) + r" \\"]
    lines += [r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, *(f"% {line}" for line in table.footer)])


def html(table: Table) -> str:
    """An HTML table in plain ASCII, at home in any page, the best of each column in bold."""
    best = table.best()
    sides = [
        " style='text-align:right'" if table.numeric(j) else "" for j in range(len(table.columns))
    ]
    heading = "".join(f"<th{sides[j]}>{escape(h)}</th>" for j, h in enumerate(table.headings))
    lines = ["<table>", f"<thead><tr>{heading}</tr></thead>", "<tbody>"]
    for i, row in enumerate(table.texts()):
        cells = [f"<b>{escape(c)}</b>" if (i, j) in best else escape(c) for j, c in enumerate(row)]
        filled = "".join(f"<td{side}>{c}</td>" for side, c in zip(sides, cells, strict=True))
        lines.append(f"<tr>{filled}</tr>")
    lines += ["</tbody>", "</table>", *(f"<p>{escape(line)}</p>" for line in table.footer)]
    return "\n".join(lines).encode("ascii", "xmlcharrefreplace").decode()


INKS: dict[str, Callable[[Table], str]] = {
    "text": text,
    "tsv": tsv,
    "markdown": markdown,
    "latex": latex,
    "html": html,
}
