"""Set-up of matplotlib: fonts and sizes, grids of panels, and files."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from nlgauge.core.errors import FileError, MissingExtra
from nlgauge.figures.fonts import choose_fonts, families, note_on
from nlgauge.figures.labels import heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FONT = 7.0
COLUMN_SIZE = (3.3, 2.1)  # inches; a column of a two-column paper
PANELS_PER_ROW = 3
_LINE_INCHES = 0.14  # height of a line of a title or a legend
_HANDLE_INCHES = 0.45  # width of a line or marker of a legend, with the spaces around it


@contextmanager
def panels(
    count: int, across: int, size: tuple[float, float], *, font_size: float = FONT, **grid: Any
) -> "Iterator[tuple[Figure, list[Axes]]]":
    """Yield a figure of ``count`` panels, ``across`` in a row, drawn with small text."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("a drawing", "matplotlib", "plots") from None
    style: dict[Any, Any] = {
        "font.family": families(),
        "axes.titlesize": font_size + 1,
        "axes.linewidth": 0.5,
        "text.parse_math": False,  # labels may contain dollar signs
    }
    sizes = ("font.size", "axes.labelsize", "xtick.labelsize", "ytick.labelsize")
    with mpl.rc_context(style | dict.fromkeys(sizes, font_size)):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(-(-count // across), across, squeeze=False, **grid).ravel()
        for unused in axes[count:]:
            unused.set_axis_off()
        yield figure, list(axes[:count])
        # Titles of several lines make the figure higher, not its panels lower.
        rows = axes.reshape(-1, across)
        extra = sum(max(panel.get_title().count("\n") for panel in row) for row in rows)
        figure.set_figheight(figure.get_figheight() + extra * _LINE_INCHES)


def text_inches(labels: Iterable[str], font_size: float = FONT) -> float:
    """Return the approximate width of the longest label."""
    return 0.6 * font_size / 72 * max(map(cell_len, labels))


def wrap_title(text: str, inches: float, font_size: float = FONT) -> str:
    """Return a title in lines that fit a width."""
    letters = max(int(inches / text_inches("x", font_size + 1)), 12)
    return "\n".join(
        fill(heading(line), letters, break_on_hyphens=False) for line in text.splitlines()
    )


def turn_long_ticks(axes: Any, labels: Sequence[str], inches: float) -> None:
    """Turn the labels of the x axis if they are wider than the distance between ticks."""
    width = text_inches(labels)
    if width > 0.9 * inches:
        axes.tick_params("x", rotation=90)
        if axes.get_subplotspec().is_first_col():
            axes.figure.set_figheight(axes.figure.get_figheight() + width)


def plain_axes(axes: "Axes", *hidden: str, grid: str | None = None) -> None:
    """Hide the sides ``hidden`` of the frame, and draw pale grid lines of one direction."""
    axes.spines[list(hidden)].set_visible(False)
    if grid is not None:
        axes.grid(axis=grid, color="#dddddd", linewidth=0.5)  # type: ignore[arg-type]
        axes.set_axisbelow(True)


def legend_below(figure: "Figure", handles: Sequence[Any], **options: Any) -> None:
    """Add a legend below the panels, in as many columns as fit the width of the figure."""
    widths = [_HANDLE_INCHES + text_inches([str(handle.get_label())]) for handle in handles]
    for rows in range(1, len(handles) + 1):
        columns = [max(widths[start : start + rows]) for start in range(0, len(widths), rows)]
        if sum(columns) <= figure.get_figwidth():
            break
    figure.set_figheight(figure.get_figheight() + (rows - 1) * _LINE_INCHES)
    figure.legend(
        handles=handles, loc="outside lower center", ncols=len(columns), frameon=False, **options
    )


def to_svg(figure: "Figure") -> str:
    """Return the figure as an SVG element for a web page."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "figure.svg"
        save(figure, path)
        content = path.read_text("utf-8")
    return content[content.index("<svg") :]


def save(figure: "Figure", path: Path) -> tuple[str, ...]:
    """Write the figure in the format of the file's ending; equal figures give equal files.

    Returns a note if the file shows boxes for characters that no installed font has. Text is kept
    as text: selectable in SVG, TrueType in PDF, as publishers require.
    """
    import matplotlib as mpl

    missing = "" if path.suffix == ".svg" else choose_fonts(figure)
    style: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "nlgauge", "pdf.fonttype": 42}
    dates = {".svg": "Date", ".pdf": "CreationDate"}
    undated = {dates[path.suffix]: None} if path.suffix in dates else None
    with mpl.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        try:
            figure.savefig(path, dpi=200, bbox_inches="tight", pad_inches=0.04, metadata=undated)
        except OSError as error:
            raise FileError(f"cannot write {str(path)!r}: {error.strerror}") from error
    return (note_on(missing, path.name),) if missing else ()
