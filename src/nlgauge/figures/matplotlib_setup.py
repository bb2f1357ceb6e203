"""The one way to matplotlib: found or its extra named, fonts and sizes set, files written."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlgauge.core.errors import FileError, MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Asked in this order for characters that the default font lacks; only installed ones are named,
# because matplotlib warns of every other.
_FALLBACKS = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "WenQuanYi Zen Hei",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Arial Unicode MS",
    "Noto Emoji",
    "Segoe UI Symbol",
)


@contextmanager
def style(font_size: float = 8) -> Iterator[None]:
    """The look of all drawings while a figure is made: small letters, thin lines, fonts found."""
    try:
        import matplotlib as mpl
        from matplotlib import font_manager
    except ImportError:
        raise MissingExtra("a drawing", "matplotlib", "plots") from None
    installed = {entry.name for entry in font_manager.fontManager.ttflist}
    look: dict[Any, Any] = {
        "font.family": ["DejaVu Sans", *(name for name in _FALLBACKS if name in installed)],
        "font.size": font_size,
        "axes.titlesize": font_size + 1,
        "axes.labelsize": font_size,
        "xtick.labelsize": font_size,
        "ytick.labelsize": font_size,
        "axes.linewidth": 0.5,
        "text.parse_math": False,  # a token may hold dollar signs
    }
    with mpl.rc_context(look):
        yield


def save(figure: Figure, path: Path) -> None:
    """Write the figure in the format of the file's ending; equal figures give equal files.

    Letters stay letters: in SVG they can be selected and take the reader's fonts, in PDF they are
    TrueType, as publishers ask.
    """
    import matplotlib as mpl

    look: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "nlgauge", "pdf.fonttype": 42}
    dates = {".svg": "Date", ".pdf": "CreationDate"}
    undated = {dates[path.suffix]: None} if path.suffix in dates else None
    with mpl.rc_context(look), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        try:
            figure.savefig(path, dpi=200, bbox_inches="tight", pad_inches=0.04, metadata=undated)
        except OSError as error:
            raise FileError(f"cannot write {str(path)!r}: {error.strerror}") from error
