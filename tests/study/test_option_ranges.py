"""Ranges of option values, such as 0..3 and .01..10:log4."""

from __future__ import annotations

import pytest

from nlgauge.core.errors import OptionError
from nlgauge.study.option_ranges import is_geometric, read_values


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("0..3", (0, 1, 2, 3)),
        (".5..3", (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0)),
        ("-1..2:7", (-1, -0.5, 0, 0.5, 1, 1.5, 2)),
        ("0..6:4", (0, 2, 4, 6)),
        (".01..10:log4", (0.01, 0.1, 1.0, 10.0)),
        (".1, 1,inf", (0.1, 1, float("inf"))),
        ("1..3,best,2", (1, 2, 3, "best")),
        ("uniform,idf", ("uniform", "idf")),
        ("0.1..0.3:3", (0.1, 0.2, 0.3)),
    ],
)
def test_ranges_are_expanded(word: str, values: tuple) -> None:
    assert read_values(word) == values
    assert [type(value) for value in read_values(word)] == [type(value) for value in values]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("3..1", "ends at 1 but starts at 3"),
        ("1..1", "ends at 1 but starts at 1"),
        ("a..b", "is not a range"),
        ("0..inf", "is not a range"),
        ("1..", "is not a range"),
        ("1:..2", "is not a range"),
        ("0..1:x", "requests 'x' values"),
        ("0..1:1", "from 2 to 1,000"),
        ("0..1:log3", "equal factors need a start above 0"),
        ("1,,2", "has no value before or after a comma"),
        ("0..1000000", "more than the 1,000 values"),
        ("0..999,1000..1500", "stands for 1,501 values"),
    ],
)
def test_invalid_ranges_are_refused(word: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_values(word)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0.1, 1, 10), True),
        ((10, 1, 0.1), True),
        ((1, 2, 3), False),
        ((1, 2), False),
        ((0, 1, 10), False),
        ((1, 10, float("inf")), False),
        (("a", 1, 10), False),
        ((1.0, 1.1, 1.21), False),
    ],
)
def test_geometric_ranges_are_detected(values: tuple, expected: bool) -> None:
    assert is_geometric(values) is expected
