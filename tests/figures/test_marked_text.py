"""Texts with marked errors: all of the text is shown, in any script, and nothing becomes code."""

from xml.etree import ElementTree

import pytest

from nlgauge.core.spans import Span
from nlgauge.figures.marked_text import draw_marked_text, marked_text, page, parts

TEXTS = [
    "A cat <b>sat</b> & $x$.",
    "我在東京タワー" * 20,
    "שלום עולם 😀",
    "a\n\nb  c",
    "",
    "x" * 200,
]


@pytest.mark.parametrize("text", TEXTS)
def test_pieces_are_the_text(text: str) -> None:
    spans = [Span(0, len(text) // 2, "minor"), Span(len(text) // 3, len(text), "major")]
    found = list(parts(text, [span for span in spans if span.start < span.end]))
    assert "".join(piece for piece, _ in found) == text
    root = ElementTree.fromstring(page(text, []).partition("<!DOCTYPE html>")[2])
    (shown,) = (node for node in root.iter("p") if node.get("class") == "text")
    assert "".join(shown.itertext()) == text


def test_overlapping_errors_are_major_where_one_is() -> None:
    spans = [Span(0, 4, "minor"), Span(2, 6, "critical"), Span(3, 5, "minor")]
    assert list(parts("abcdefgh", spans)) == [
        ("ab", "minor"),
        ("c", "major"),
        ("d", "major"),
        ("e", "major"),
        ("f", "major"),
        ("gh", None),
    ]


def test_colours_are_for_terminals_and_controls_are_escaped() -> None:
    spans = [Span(2, 5, "minor")]
    assert marked_text("a c\x1bt", spans[:0]) == "a c\\x1bt"
    assert marked_text("a cat", spans) == "a [cat](minor)"
    assert marked_text("a cat", spans, colour=True) == "a [\x1b[33;4mcat\x1b[0m](minor)"


@pytest.mark.parametrize("text", TEXTS)
def test_the_drawing_has_all_letters_and_a_box_for_each_error(text: str) -> None:
    pytest.importorskip("matplotlib")
    spans = [Span(0, min(3, len(text)), "minor")] if text else []
    figure = draw_marked_text(text, spans, title="Errors")
    (axes,) = figure.axes
    drawn = "".join(each.get_text() for each in axes.texts)
    assert drawn.replace(" ", "") == "".join(text.split())
    assert bool(axes.patches) == bool(spans)


@pytest.mark.parametrize("text", ["שלום עולם", "مرحبا بالعالم"])
def test_scripts_from_right_to_left_are_drawn_in_their_direction(text: str) -> None:
    pytest.importorskip("matplotlib")
    (axes,) = draw_marked_text(text, [Span(0, 4, "minor")]).axes
    first, *_, last = axes.texts
    assert text.startswith(first.get_text()), "letters of a word may be joined"
    assert first.get_position()[0] > last.get_position()[0]
    assert "DejaVu Sans" in first.get_fontfamily(), "DejaVu Sans Mono has no Hebrew letters"


def test_latin_words_keep_their_order_in_a_text_from_right_to_left() -> None:
    pytest.importorskip("matplotlib")
    text = "קניתי iPhone 15 Pro היום"
    (axes,) = draw_marked_text(text, [Span(text.index("hone"), text.index(" Pro"), "major")]).axes
    words = sorted((each.get_position()[0], each.get_text()) for each in axes.texts)
    shown = [word for _, word in words if word.strip()]
    assert shown == ["היום", "iP", "hone", "15", "Pro", "קניתי"]
