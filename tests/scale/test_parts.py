"""Parts hold every row once, keep segments together, and are named by their content."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from nlgauge.data.systems import Rejected, Row
from nlgauge.scale.parts import IdSet, split_into_parts


def _row(i: int, system: str = "A", text: str = "x", reference: str = "r") -> Row:
    return Row(f"f, line {i}", system, str(i), text, (reference,))


def test_every_row_is_in_one_part() -> None:
    rows = [_row(i) if i % 5 else Rejected(f"line {i}", "bad") for i in range(23)]
    parts = list(split_into_parts(rows, 4))
    assert [part.number for part in parts] == list(range(6))
    assert [len(part.rows) + len(part.rejected) for part in parts] == [4, 4, 4, 4, 4, 3]
    assert [row for part in parts for row in part.rows] == [r for r in rows if isinstance(r, Row)]
    assert sum(len(part.rejected) for part in parts) == 5
    assert list(split_into_parts([], 4)) == []


def test_rows_of_one_segment_stay_together_within_bounds() -> None:
    rows = [_row(i // 3, system) for i, system in enumerate("ABC" * 5)]
    assert [len(part.rows) for part in split_into_parts(rows, 4)] == [6, 6, 3]
    endless = [_row(1, f"system {i}") for i in range(100)]
    assert max(len(part.rows) for part in split_into_parts(endless, 4)) == 16


def test_long_texts_make_short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nlgauge.scale.parts._MAX_CHARACTERS", 1000)
    parts = list(split_into_parts([_row(i, text="y" * 400) for i in range(10)], 100))
    assert [len(part.rows) for part in parts] == [3, 3, 3, 1]


def test_an_id_met_before_is_rejected_in_whatever_part_it_was_met() -> None:
    rows = [_row(0), _row(1), _row(0, "B"), _row(2), _row(0), _row(0, "B"), _row(1)]
    for size in (1, 2, 3, 10):
        parts = list(split_into_parts(rows, size))
        assert sum(len(part.rows) for part in parts) == 4
        rejected = [row for part in parts for row in part.rejected]
        assert [row.place for row in rejected] == ["f, line 0", "f, line 0", "f, line 1"]
        assert "segment id '0' occurs before for system 'A'" in rejected[0].reason


def test_names_follow_the_content_and_not_the_place() -> None:
    (part,) = split_into_parts([_row(0), Rejected("f, line 2", "bad")], 9)
    (moved,) = split_into_parts(
        [dataclasses.replace(_row(0), place="elsewhere"), Rejected("elsewhere", "bad")], 9
    )
    assert part.name == moved.name
    assert part.name.startswith("part-000000-")
    for other in (_row(0, "B"), _row(1), _row(0, text="z"), _row(0, reference="s")):
        (changed,) = split_into_parts([other, Rejected("f, line 2", "bad")], 9)
        assert changed.name != part.name
    (well,) = split_into_parts([_row(0)], 9)
    assert well.name != part.name


def test_the_first_row_of_every_segment_is_marked() -> None:
    rows = [_row(0), _row(0, "B"), _row(1), _row(1, "B", reference="other"), _row(0, "C")]
    new = [
        (part.number, i)
        for part in split_into_parts(rows, 2, mark_new_segments=True)
        for i in sorted(part.new_segments)
    ]
    assert new == [(0, 0), (1, 0), (1, 1)]
    assert all(not part.new_segments for part in split_into_parts(rows, 2))


def test_seen_agrees_with_a_set() -> None:
    draw = np.random.default_rng(0)
    seen, known = IdSet(), set()
    for size in [1, 0, 5, 300, 2, 1000, 7, 1000, 1000, 30]:
        names = draw.integers(0, 2000, size).tolist()
        expected = []
        for name in names:
            expected.append(name not in known)
            known.add(name)
        assert seen.add(names).tolist() == expected
    lengths = [len(run) for run in seen._arrays]
    assert sum(lengths) == len(known)
    assert all(one >= 2 * other for one, other in pairwise(lengths))
