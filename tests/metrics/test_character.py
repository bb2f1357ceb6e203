"""CharacTER against the package cer and by hand."""

from functools import partial

import numpy as np
import pytest

from conftest import golden
from metrics.conftest import score_with
from nlgauge import metric
from nlgauge.core.errors import OptionError

GOLDEN = golden("character")


_character = partial(score_with, "character")


def test_equal_to_the_package_cer():
    pairs, values = GOLDEN["pairs"], GOLDEN["values"]
    candidates, references = (list(side) for side in zip(*pairs.values(), strict=True))
    expected = [values[name] for name in pairs]
    np.testing.assert_allclose(_character(candidates, references).segments, expected, atol=1e-12)


def test_the_cost_of_moves_uses_the_words_before_and_after_all_moves():
    # 4 for "this week", and 3 for "the", because another "the" is further right; 19 edits
    candidate, reference = GOLDEN["pairs"]["readme2"]
    assert _character([candidate], [reference]).value * len(candidate) == pytest.approx(26)


def test_of_equal_moves_the_words_that_sort_last_win():
    # the same pair twice with one word renamed: another of two equally good moves is made
    assert _character(["c c a b"], ["a c b c"]).value == pytest.approx(3 / 7)
    assert _character(["c c z b"], ["z c b c"]).value == pytest.approx(1 / 7)


def test_one_move_more_where_the_rates_per_word_round_up():
    # 5/6 - (5/6 - 2/6) > 2/6 in floating point, so a move without gain follows; else 5 / 9
    assert _character(["e c c b a"], ["c b d e c c"]).value == pytest.approx(6 / 9)


def test_by_hand():
    moved = _character(["de fgh abc"], ["abc de fgh"])
    assert moved.value == pytest.approx(min(3, 2.5) / 10)
    assert _character(["de fgh abc"], ["abc de fgh"], longest=2).value == pytest.approx(0.8)
    assert _character(["a"], ["abcdefgh"]).value == 1


def test_case_references_empty_texts_and_round_trip():
    assert _character(["The Cat"], ["the cat"]).value == pytest.approx(2 / 7)
    assert _character(["The Cat"], ["the cat"], lowercase=True).value == 0
    ragged = _character(["a b", "x"], [["zzz", "a b"], "x"])
    assert ragged.segments.tolist() == [0, 0]
    void = _character(["", "a", " "], ["a", "", " "])
    assert void.segments.tolist() == [1, 1, 1]
    assert sum(void.notes.values()) == 3
    built = metric("character:lowercase=yes,longest=10")
    assert type(built).rebuild(built.describe()) == built
    with pytest.raises(OptionError, match="within"):
        metric("character", longest=-1)


def test_scripts_and_sizes():
    texts = ["👍 👎 🇩🇪", "שלום עולם", "今天天气很好", "สวัสดี", "a"]
    assert _character(texts, texts).segments.tolist() == [0] * 5
    assert _character(["今天天气很好"], ["今天天气不好"]).value == pytest.approx(1 / 6)
    long = " ".join("abcdefghij"[i * i % 10] for i in range(10_000))
    assert _character([long[:-1] + "z"], [long]).value == pytest.approx(1 / len(long))
