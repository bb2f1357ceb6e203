"""Tables of studies from plain values."""

from __future__ import annotations

import math

import pytest

from nlgauge.report.differences import side_by_side, wrapped
from nlgauge.report.formats import html, text, tsv
from nlgauge.report.study_tables import (
    agreement_tables,
    comparison_table,
    long_table,
    matrix_table,
    p_table,
    p_text,
    ranking_table,
    sweep_table,
    williams_table,
)
from nlgauge.report.table import Column, Table


def row(metric: str, value: float | None, level: str = "segment", criterion: str = "da") -> dict:
    return {
        "metric": metric,
        "criterion": criterion,
        "level": level,
        "coefficient": "pearson",
        "value": value,
        "n": 500,
    }


def test_agreement_names_only_what_varies() -> None:
    (table,) = agreement_tables([row("bleu", 0.5), row("chrf", None)], footer=["signature"])
    assert table.headings == ["metric", "pearson ↑"]
    assert table.footer == ("human: da; segment level; pearson; 500 points", "signature")
    assert text(table).splitlines()[3].split() == ["chrf"]
    (table,) = agreement_tables([row("bleu", 0.5), row("bleu", 0.7, "system")])
    assert table.headings == ["metric", "segment ↑", "system ↑"]


def test_agreement_has_a_table_per_level_if_criteria_vary_too() -> None:
    rows = [row("bleu", 0.5, level, name) for level in ("segment", "text") for name in "ab"]
    first, second = agreement_tables(rows, footer=["signature"])
    assert first.headings == second.headings == ["metric", "a ↑", "b ↑"]
    assert first.footer[0].startswith("segment level")
    assert second.footer[1:] == ("signature",)


def test_intervals_get_a_column() -> None:
    rows = [{**row("bleu", 0.5), "low": 0.4, "high": 0.6, "confidence": 0.9, "resampled": "inputs"}]
    (table,) = agreement_tables(rows)
    assert table.headings[2] == "90%"
    assert table.rows[0] == ("bleu", 0.5, "[0.400, 0.600]")


def test_matrices_leave_the_diagonal_empty_and_p_only_what_matters() -> None:
    values = matrix_table("r", ["a", "b"], [[1.0, 0.5], [0.5, 1.0]])
    assert values.rows == (("a", None, 0.5), ("b", 0.5, None))
    p = p_table(["a", "b"], [[math.nan, 0.049], [0.051, math.nan]])
    assert p.rows == (("a", None, ".049"), ("b", None, None))
    assert [p_text(value) for value in (0.0001, 0.02, 1.0, math.nan)] == [
        "<.001",
        ".020",
        "1.000",
        "",
    ]


def test_williams_shows_p_and_counts_significant_wins() -> None:
    table = williams_table(["a", "b"], [0.7, 0.5], [[math.nan, 0.021], [0.979, math.nan]])
    assert text(table).splitlines()[2].split() == ["a", "0.700*", ".021", "1"]
    assert table.rows[1][-1] == 0


def test_the_coefficient_of_a_test_is_named() -> None:
    table = williams_table(
        ["a", "b"], [0.7, 0.5], [[math.nan, 0.1], [1.0, math.nan]], coefficient="kendall_b"
    )
    assert table.headings[1] == "kendall_b ↑"
    assert table.footer[0].startswith(
        "p, one-sided: a small p is evidence that the row's metric has a higher "
        "kendall_b with people than the column's"
    )


def test_a_sweep_shows_the_test_of_the_chosen_value_only() -> None:
    rows = [
        {"layer": 1, "weights": "idf", "tune": 0.5, "test": None},
        {"layer": 2, "weights": "idf", "tune": 0.75, "test": 0.625},
        {"layer": 0.5, "weights": "idf", "tune": None, "test": None},
    ]
    lines = text(sweep_table(["layer", "weights"], rows, footer=["said"])).splitlines()
    assert lines[0].split() == ["layer", "weights", "tune", "↑", "test"]
    assert [line.split() for line in lines[2:5]] == [
        ["1", "idf", "0.500"],
        ["2", "idf", "0.750*", "0.625"],
        ["0.5", "idf"],
    ]
    assert lines[-1] == "said"


def test_a_ranking_counts_its_pairs() -> None:
    counts = {"concordant": 7, "discordant": 3, "ties": 1, "pairs_missing": 0}
    (row,) = ranking_table([{"metric": "bleu", "tau": 0.4, **counts}]).rows
    assert row == ("bleu", 0.4, 7, 3, 1, 0)
    ends = {"low": 0.1, "high": 0.6, "confidence": 0.95}
    table = ranking_table([{"metric": "bleu", "tau": None, **ends, **counts}])
    assert table.headings[2] == "95%"
    assert table.rows[0][1:3] == (None, "[0.100, 0.600]")


def test_comparison_leaves_the_baseline_untested() -> None:
    names = ("system", "value", "difference", "low", "high", "p_uncorrected", "p_holm", "cluster")
    base = ("A", 20.0, None, None, None, None, None, 2)
    other = ("B", 25.0, 5.0, 2.0, 8.0, 0.01, 0.02, 1)
    rows = [dict(zip(names, row, strict=True)) for row in (base, other)]
    table = comparison_table("bleu", "higher", rows)
    assert table.rows[0] == ("A", 20.0, None, None, None, None, 2)
    assert table.rows[1] == ("B", 25.0, 5.0, "[2.00, 8.00]", ".010", ".020", 1)


@pytest.mark.parametrize(
    ("p", "shown"),
    [(0.0504, ".050"), (0.05, ".050"), (50 / 1001, ".04995"), (0.0494, ".049"), (0.0001, "<.001")],
)
def test_rounding_never_moves_p_across_the_level(p, shown) -> None:
    assert p_text(p) == shown


def test_long_table_keeps_every_digit() -> None:
    assert tsv(long_table([{"a": "x", "b": 0.123456789012}])).splitlines()[1] == "x\t0.123456789012"


def test_html_escapes_and_stays_ascii() -> None:
    table = Table((Column("<s>"), Column("bleu", 1, "higher")), (("é&", 2.0), ("b", 1.0)), ("f<",))
    shown = html(table)
    assert shown.isascii()
    assert "<th>&lt;s&gt;</th>" in shown
    assert "<td>&#233;&amp;</td>" in shown
    assert "<b>2.0</b>" in shown
    assert shown.endswith("<p>f&lt;</p>")


def test_texts_stand_side_by_side_in_any_script() -> None:
    example = {
        "metric": "chrf",
        "segment": "7",
        "system": "B",
        "baseline": "A",
        "difference": -3.0,
        "value": 1.0,
        "baseline_value": 4.0,
        "candidate": "短い" * 20,
        "baseline_candidate": "",
        "references": ("a reference",),
    }
    lines = side_by_side([example], width=60).splitlines()
    assert lines[0] == "segment 7: chrf -3.00"
    assert lines[1] == "reference: a reference"
    assert len({line.index("│") for line in lines[2:]}) == 1
    assert len(lines) == 2 + 1 + 3


def test_wrapping_cuts_only_words_that_are_too_long() -> None:
    assert wrapped("one two three", 7) == ["one two", "three"]
    assert wrapped("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert wrapped("", 5) == [""]
