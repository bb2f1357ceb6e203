"""One table in every format."""

from __future__ import annotations

import math

from nlgauge.report.formats import latex, markdown, text, tsv
from nlgauge.report.table import Column, Table

TABLE = Table(
    (Column("system"), Column("bleu", 2, "higher"), Column("ter", 1, "lower")),
    (("A_1", 20.004, 50.0), ("B|2", 20.0, math.nan), ("C", 19.0, 61.25)),
    ("bleu|nrefs:1",),
)


def test_text_stars_the_best_as_shown_and_aligns() -> None:
    assert text(TABLE).splitlines() == [
        "system  bleu ↑  ter ↓",
        "──────  ──────  ─────",
        "A_1     20.00*  50.0*",
        "B|2     20.00*",
        "C       19.00   61.2",
        "",
        "bleu|nrefs:1",
    ]


def test_text_counts_columns_of_a_terminal_not_characters() -> None:
    names = (("系统一", 1.0), ("cafe\u0301", 22.0), ("한 A", 3.0))
    assert text(Table((Column("系统"), Column("分数", 1)), names)).splitlines() == [
        "系统    分数",
        "──────  ────",
        "系统一   1.0",
        "cafe\u0301    22.0",
        "한 A     3.0",
    ]


def test_titles_are_for_readers_and_names_for_programs() -> None:
    table = Table((Column("chrf:word_order=2", 1, "higher", "chrF++"),), ((1.0,),))
    assert text(table).splitlines()[0] == "chrF++ ↑"
    assert markdown(table).startswith("| chrF++ ↑ |")
    assert tsv(table).splitlines()[0] == "chrf:word_order=2"


def test_text_in_a_terminal_is_bold() -> None:
    assert "\x1b[1m 20.00\x1b[0m" in text(TABLE, bold=True)
    assert "*" not in text(TABLE, bold=True)


def test_tsv_keeps_all_digits() -> None:
    assert tsv(TABLE).splitlines()[:2] == ["system\tbleu\tter", "A_1\t20.004\t50.0"]


def test_markdown_and_latex_escape_what_they_must() -> None:
    assert markdown(TABLE).splitlines()[3] == r"| B\|2 | **20.00** |  |"
    assert r"A\_1 & \textbf{20.00} & \textbf{50.0} \\" in latex(TABLE)
    assert r"bleu $\uparrow$" in latex(TABLE)


def test_a_single_row_has_no_best() -> None:
    assert "*" not in text(Table(TABLE.columns, TABLE.rows[:1]))
