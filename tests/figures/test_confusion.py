"""Confusion matrices: their numbers and labels."""

import pytest

pytest.importorskip("matplotlib")

from drawn_texts import overlapping_texts
from nlgauge.figures.confusion import confusion


@pytest.mark.parametrize("labels", [("no", "yes"), tuple("12345"), ("$a$", "", "x" * 60)])
def test_every_count_is_written(labels: tuple[str, ...]) -> None:
    n = len(labels)
    counts = [[1000 * i + j for j in range(n)] for i in range(n)]
    (axes,) = confusion(labels, counts, across="model", down="people").axes
    assert [text.get_text() for text in axes.texts] == [f"{c:,}" for row in counts for c in row]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("model", "people")
    shown = [tick.get_text() for tick in axes.get_xticklabels()]
    assert shown == [tick.get_text() for tick in axes.get_yticklabels()]
    assert all(shown)
    assert max(map(len, shown)) <= 24


def test_a_matrix_of_zeros() -> None:
    (axes,) = confusion(["a", "b"], [[0, 0], [0, 0]], across="model", down="people").axes
    assert [text.get_text() for text in axes.texts] == ["0"] * 4


def test_large_counts_fit_their_cells() -> None:
    counts = [[123_456_789] * 6] * 6
    assert overlapping_texts(confusion("abcdef", counts, across="model", down="people")) == []
