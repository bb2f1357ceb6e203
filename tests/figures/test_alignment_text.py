"""A plan in plain text."""

import numpy as np

from nlgauge.core.plan import Plan
from nlgauge.figures.alignment_text import alignment_text

COUPLING = np.array([[0.5, 0.0, 0.0], [0.05, 0.15, 0.3]])
COST = np.array([[0.25, 1.0, 1.0], [1.5, 0.5, 0.61]])
PLAN = Plan(
    0.5,
    COUPLING,
    COST,
    COUPLING.sum(axis=1),
    COUPLING.sum(axis=0),
    1.0,
    1,
    True,
    0.5,
    candidate_tokens=("a", "你好"),
    reference_tokens=("the", "##ly", "man"),
)


def test_flows_a_grid_and_the_totals() -> None:
    assert alignment_text(PLAN, title="Two", signature="wmd|x:1").splitlines() == [
        "Two",
        "",
        "   a → the   .500 of .500, cost .250",
        "你好 → man   .300 of .500, cost .610",
        "你好 → ##ly  .150 of .500, cost .500",
        "你好 → the   .050 of .500, cost 1.500",
        "",
        "       #",
        "     t # m",
        "     h l a",
        "     e y n",
        "   a ██· ·",
        "你好 ░░▒▒▓▓",
        "",
        "value 0.5000, objective 0.5000, mass 1.0000",
        "wmd|x:1",
    ]


def test_one_kind_alone() -> None:
    assert "→" not in alignment_text(PLAN, "heatmap")
    assert "█" not in alignment_text(PLAN, "flow")


def test_a_grid_wider_than_the_terminal_is_left_out_with_a_note() -> None:
    text = alignment_text(PLAN, width=10)
    assert "█" not in text
    assert "(the grid needs 11 columns, but there are 10: write a file with -o)" in text
    assert "█" in alignment_text(PLAN, width=11)


def test_of_a_dense_plan_the_strongest_flows_are_listed() -> None:
    even = np.full(20, 0.05)
    dense = Plan(1.0, np.full((20, 20), 1 / 400), np.ones((20, 20)), even, even, 1.0, 1, True, 1.0)
    lines = alignment_text(dense, "flow").splitlines()
    assert sum("→" in line for line in lines) == 40
    assert "and 360 weaker flows" in lines


def test_a_plan_without_flows_has_a_note() -> None:
    still = Plan(
        0.0, np.zeros((2, 3)), COST, COUPLING.sum(axis=1), COUPLING.sum(axis=0), 0.0, 1, True, 0.5
    )
    assert "nothing is moved" in alignment_text(still)


def test_control_characters_in_tokens_are_escaped() -> None:
    hostile = PLAN.named(("\x1b[2J", "b"), ("x\ny", "\r", "z"))
    text = alignment_text(hostile, title="\x1b]0;t\x07", signature="s\x9b")
    assert not {"\x1b", "\x9b"} & set(text)
    assert "\r" not in text
    assert "\\x1b[2J → x\\ny" in text
