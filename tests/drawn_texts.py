"""Texts of a drawn figure that overlap."""

from typing import Any


def overlapping_texts(figure: Any) -> list[tuple[str, str]]:
    """Return the pairs of visible texts whose boxes overlap."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure).draw()
    boxes = []
    for axes in figure.axes:
        low, high = axes.get_xlim()
        ticks = [tick for tick in axes.get_xticklabels() if low <= tick.get_position()[0] <= high]
        texts = [*axes.texts, *ticks, *axes.get_yticklabels(), axes.title]
        boxes += [
            (text.get_text(), text.get_window_extent().shrunk(0.9, 0.9))
            for text in texts
            if text.get_text() and text.get_visible()
        ]
    return [
        (one, other)
        for i, (one, box) in enumerate(boxes)
        for other, second in boxes[:i]
        if box.overlaps(second)
    ]
