"""Windows keep every token once, each where it has most context."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.encode.windows import Window, windows


@settings(deadline=None)
@given(length=st.integers(0, 900), limit=st.integers(1, 300))
def test_every_token_is_kept_once_from_where_it_has_most_context(length: int, limit: int) -> None:
    found = windows(length, limit)
    kept = [token for w in found for token in range(w.keep_start, w.keep_stop)]
    assert kept == list(range(length))
    for window in found:
        assert window.stop - window.start == min(length, limit)
        for token in (window.keep_start, window.keep_stop - 1):
            if window.keep_start < window.keep_stop:
                here = _context(token, window, length)
                assert here >= max(_context(token, other, length) for other in found) - 1


def _context(token: int, window: Window, length: int) -> int:
    """Distance to the nearer edge of the window that is not an edge of the text."""
    if not window.start <= token < window.stop:
        return -1
    left = token - window.start if window.start else length
    right = window.stop - 1 - token if window.stop < length else length
    return min(left, right)


def test_short_text_is_one_window() -> None:
    assert windows(5, 10) == [Window(0, 5, 0, 5)]
    assert windows(0, 10) == [Window(0, 0, 0, 0)]
