"""Parts hold every row once, keep segments together, and are named by their content."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from nlgauge.data.input_ranges import Place
from nlgauge.data.text_rows import Rejected, Row
from nlgauge.scale.parts import Part, cut_parts, form_part


def _row(i: int, system: str = "A", text: str = "x", reference: str = "r") -> Row:
    return Row(f"f, line {i}", system, str(i), text, (reference,))


def _parts(rows: Sequence[Row | Rejected], size: int) -> list[Part]:
    """Parts of rows that have a line each."""
    stream = ((Place(i, (i,)), row) for i, row in enumerate(rows))
    return [form_part(i, batch) for i, (_, batch) in enumerate(cut_parts(stream, size))]


def test_every_row_is_in_one_part() -> None:
    rows = [_row(i) if i % 5 else Rejected(f"line {i}", "bad") for i in range(23)]
    parts = _parts(rows, 4)
    assert [part.number for part in parts] == list(range(6))
    assert [len(part.rows) + len(part.rejected) for part in parts] == [4, 4, 4, 4, 4, 3]
    assert [row for part in parts for row in part.rows] == [r for r in rows if isinstance(r, Row)]
    assert sum(len(part.rejected) for part in parts) == 5
    assert _parts([], 4) == []


def test_rows_of_one_segment_stay_together_within_bounds() -> None:
    rows = [_row(i // 3, system) for i, system in enumerate("ABC" * 5)]
    assert [len(part.rows) for part in _parts(rows, 4)] == [6, 6, 3]
    endless = [_row(1, f"system {i}") for i in range(100)]
    assert max(len(part.rows) for part in _parts(endless, 4)) == 16


def test_long_texts_make_short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nlgauge.scale.parts._MAX_CHARACTERS", 1000)
    parts = _parts([_row(i, text="y" * 400) for i in range(10)], 100)
    assert [len(part.rows) for part in parts] == [3, 3, 3, 1]


def test_parts_begin_where_the_line_of_their_first_row_begins() -> None:
    stream = [(Place(i // 3, (10 * (i // 3),)), _row(i)) for i in range(12)]
    cut = [(place.line, place.offsets, len(batch)) for place, batch in cut_parts(stream, 4)]
    assert cut == [(0, (0,), 6), (2, (20,), 6)]  # three rows of a line stay together
    (whole,) = cut_parts(((Place(0, (0,)), _row(i)) for i in range(50)), 4)
    assert len(whole[1]) == 50


def test_a_repeated_row_is_rejected_after_the_others() -> None:
    batch = [_row(0), _row(1), Rejected("f, line 2", "bad"), _row(0)]
    part = form_part(7, batch, repeated={3})
    assert (part.number, [row.id for row in part.rows]) == (7, ["0", "1"])
    assert [row.place for row in part.rejected] == ["f, line 2", "f, line 0"]
    assert "segment id '0' occurs before for system 'A'" in part.rejected[1].reason


def test_names_depend_on_the_content_and_not_the_position() -> None:
    (part,) = _parts([_row(0), Rejected("f, line 2", "bad")], 9)
    (moved,) = _parts(
        [dataclasses.replace(_row(0), place="elsewhere"), Rejected("elsewhere", "bad")], 9
    )
    assert part.name == moved.name
    assert part.name.startswith("part-000000-")
    for other in (_row(0, "B"), _row(1), _row(0, text="z"), _row(0, reference="s")):
        (changed,) = _parts([other, Rejected("f, line 2", "bad")], 9)
        assert changed.name != part.name
    (well,) = _parts([_row(0)], 9)
    assert well.name != part.name


def test_the_first_row_of_every_segment_is_marked() -> None:
    batch = [Rejected("f, line 0", "bad"), _row(0), _row(0, "B"), _row(1), _row(1, "B"), _row(2)]
    part = form_part(0, batch, repeated={3}, known_segments={2, 3})
    assert [part.rows[i].id for i in sorted(part.new_segments)] == ["0", "1", "2"]
    assert not form_part(0, batch).new_segments
