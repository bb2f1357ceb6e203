"""A text with its error spans marked: as plain text, as a web page, and as a figure."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING

import regex
from rich.cells import cell_len

from nlgauge.core.printable import printable as visible
from nlgauge.core.spans import MAJOR, MINOR, Span
from nlgauge.figures import matplotlib_setup
from nlgauge.figures.fonts import families
from nlgauge.figures.labels import heading, printable
from nlgauge.figures.web_page import fill_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FILLS = {MINOR: "#fde7b0", MAJOR: "#f6b3a6"}
_LINES = {MINOR: "#b37400", MAJOR: "#b3261e"}
_STYLES = {MINOR: "\x1b[33;4m", MAJOR: "\x1b[31;1;4m"}
_MAX_COLUMNS = 72  # per line of the figure
_CELL, _LINE = 0.0765, 0.24  # inches
_MONOSPACE = "DejaVu Sans Mono"  # included in matplotlib
_RIGHT_TO_LEFT = regex.compile(r"\P{bc=L}*?[\p{bc=R}\p{bc=AL}]")  # in the first letter
_LEFT_TO_RIGHT = regex.compile(r"\p{bc=L}(?:[^\p{bc=R}\p{bc=AL}]*[\p{bc=L}\d])?")  # words in a row


def parts(text: str, spans: Sequence[Span]) -> Iterator[tuple[str, str | None]]:
    """Yield the pieces of a text with their severity; major takes precedence over minor."""
    ends = {0, len(text), *(end for span in spans for end in (span.start, span.end))}
    for start, end in pairwise(sorted(ends)):
        severities = {span.severity for span in spans if span.start <= start and end <= span.end}
        yield text[start:end], (MINOR if severities == {MINOR} else MAJOR) if severities else None


def marked_text(text: str, spans: Sequence[Span], *, colour: bool = False) -> str:
    """Return the text with [errors](severity) in brackets, and in colour for a terminal."""
    pieces = []
    for piece, severity in parts(text, spans):
        visible_text = visible(piece, keep="\n\t")
        if severity is None:
            pieces.append(visible_text)
            continue
        style, end = (_STYLES[severity], "\x1b[0m") if colour else ("", "")
        pieces.append(f"[{style}{visible_text}{end}]({severity})")
    return "".join(pieces)


def page(
    text: str,
    spans: Sequence[Span],
    *,
    title: str | None = None,
    summary: str = "",
    signature: str = "",
) -> str:
    """Return a self-contained web page with the errors highlighted; no scripts."""
    marked = "".join(
        f'<mark class="{severity}" title="{severity} error">{escape(visible(piece))}</mark>'
        if severity
        else escape(visible(piece, keep="\n"))
        for piece, severity in parts(text, spans)
    )
    return fill_page(
        "marked_text.html",
        heading=escape(printable(title or "Predicted errors")),
        text=marked,
        summary=escape(visible(summary)),
        signature=escape(visible(signature)),
    )


def draw_marked_text(text: str, spans: Sequence[Span], *, title: str | None = None) -> "Figure":
    """Return a drawing of the text with the errors on a coloured background."""
    lines = _lines(text, spans)
    width = max((start + cell_len(piece) for line in lines for start, piece, _ in line), default=1)
    size = (max(width, 20) * _CELL + 0.3, len(lines) * _LINE + (0.6 if title else 0.35))
    with matplotlib_setup.panels(1, 1, size, font_size=9) as (figure, (axes,)):
        from matplotlib.patches import Patch, Rectangle

        fonts = [_MONOSPACE, *families()]
        for row, line in enumerate(lines):
            for start, piece, severity in line:
                cells = cell_len(piece)
                if severity:
                    box = Rectangle((start, row), cells, 0.9, lw=0, fc=_FILLS[severity])
                    axes.add_patch(box).set_label(severity)
                    axes.plot([start, start + cells], [row + 0.9] * 2, color=_LINES[severity], lw=1)
                for at, letters in _place_letters(piece):
                    axes.text(start + at, row + 0.68, letters, family=fonts, va="baseline")
        axes.set(xlim=(0, max(width, 20)), ylim=(len(lines), 0))
        axes.set_axis_off()
        drawn = {severity for line in lines for _, _, severity in line}
        patches = [
            Patch(fc=_FILLS[each], ec=_LINES[each], label=f"{each} error")
            for each in (MINOR, MAJOR)
            if each in drawn
        ]
        if patches:
            matplotlib_setup.legend_below(figure, patches)
        if title:
            figure.suptitle(heading(title))
    return figure


_Placed = tuple[int, str, str | None]  # the first column, the piece, and its severity


def _lines(text: str, spans: Sequence[Span]) -> list[list[_Placed]]:
    """Return the pieces of every line, broken at spaces or, in long words, anywhere.

    If the first letter belongs to a script written from right to left, so do the lines.
    """
    lines: list[list[_Placed]] = [[]]
    column = 0
    for piece, severity in parts(text, spans):
        for run in regex.findall(r"\n|[^\S\n]+|\S+", piece):
            # A word in a script without spaces may be longer than a line.
            chunks = [run] if cell_len(run) <= _MAX_COLUMNS // 3 else regex.findall(r"\X", run)
            for chunk in chunks:
                letters = visible(chunk)
                # A comma may exceed the limit, so that it is not alone in a line.
                limit = _MAX_COLUMNS + 3 * (cell_len(letters) < 3)
                if chunk == "\n" or column + cell_len(letters) > limit:
                    lines.append([])
                    column = 0
                    if not chunk.strip():
                        continue
                lines[-1].append((column, letters, severity))
                column += cell_len(letters)
    if not _RIGHT_TO_LEFT.match(text):
        return lines
    width = max(start + cell_len(piece) for line in lines for start, piece, _ in line)
    return [_mirror(line, width) for line in lines]


def _mirror(line: Sequence[_Placed], width: int) -> list[_Placed]:
    """Return the pieces from right to left; words written from left to right keep their order."""
    places = list(accumulate((len(piece) for _, piece, _ in line), initial=0))[:-1]
    text = "".join(piece for _, piece, _ in line)
    runs = [found.span() for found in _LEFT_TO_RIGHT.finditer(text) if found.start() in places]
    mirrored = []
    for _, group in groupby(
        zip(places, line, strict=True),
        key=lambda each: next((run for run in runs if run[0] <= each[0] < run[1]), each[0]),
    ):
        pieces = [placed for _, placed in group]
        left, right = pieces[0][0], pieces[-1][0] + cell_len(pieces[-1][1])
        for start, piece, severity in pieces:
            mirrored.append((width - right + start - left, piece, severity))
    return mirrored


def _place_letters(piece: str) -> Iterator[tuple[int, str]]:
    """Yield letters to draw and their column; letters in other fonts are drawn one by one.

    Words written from right to left are drawn as a whole, since their letters may be joined.
    """
    if piece.isascii() or _RIGHT_TO_LEFT.match(piece):
        yield 0, piece
        return
    column = 0
    for cluster in regex.findall(r"\X", piece):
        yield column, cluster
        column += cell_len(cluster)
