"""Extended edit distance against torchmetrics and its definition in fractions."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from conftest import golden
from metrics.conftest import score_with
from nlgauge import metric
from nlgauge.core.errors import OptionError

GOLDEN = golden("eed")
CANDIDATES, REFERENCES = (list(side) for side in zip(*GOLDEN["pairs"].values(), strict=True))


_eed = partial(score_with, "eed")


@pytest.mark.parametrize(("costs", "deletion"), [("published", 0.2), ("dyadic", 0.25)])
def test_compat_equals_torchmetrics(costs, deletion):
    ours = _eed(CANDIDATES, REFERENCES, compat="torchmetrics", deletion=deletion).segments
    np.testing.assert_allclose(ours, list(GOLDEN[costs].values()), atol=1e-6)


def _by_definition(candidate, reference):
    """The grid cell by cell in exact fractions."""
    size, blank = len(candidate), Fraction(2)
    row = [Fraction(int(i > 0)) for i in range(size + 1)]
    visits = [0] * (size + 1)
    for letter in reference:
        new = [row[0] + 1]
        for i in range(1, size + 1):
            kept = row[i - 1] + (candidate[i - 1] != letter)
            new.append(min(new[-1] + Fraction(1, 5), kept, row[i] + 1))
        place = new.index(min(new))
        visits[place] += 1
        if letter == " ":
            new = [min(cost, new[place] + blank) for cost in new]
        row = new
    penalty = Fraction(3, 10) * sum(v - 1 if v else 1 for v in visits[1:])
    return float(min(1, (row[-1] + penalty) / (len(reference) + penalty)))


def test_default_costs_equal_the_definition_in_fractions():
    chosen = [i for i, text in enumerate(REFERENCES) if text.replace(" ", "").isalpha()][:12]
    chosen = [i for i in chosen if CANDIDATES[i].replace(" ", "").isalpha()]
    assert len(chosen) >= 3
    for i in chosen:
        candidate, reference = (" ".join(side[i].split()) for side in (CANDIDATES, REFERENCES))
        expected = _by_definition(f" {candidate} ", f" {reference} ")
        assert _eed([CANDIDATES[i]], [REFERENCES[i]]).value == pytest.approx(expected, abs=1e-12)


def test_identical_is_zero_but_not_in_the_published_script():
    assert _eed(["the cat sat"], ["the cat sat"]).value == 0
    compat = _eed(["the cat sat"], ["the cat sat"], compat="torchmetrics").value
    assert compat == pytest.approx(0.3 / 13.3)


def test_a_jump_is_cheaper_than_rewriting():
    moved = _eed(["on the mat the black cat sat"], ["the black cat sat on the mat"])
    assert (
        moved.value < _eed(["in my bag one white dog ran"], ["the black cat sat on the mat"]).value
    )
    expensive = metric("eed", jump=50.0)
    pair = ["on the mat the black cat sat"], [["the black cat sat on the mat"]]
    assert expensive.rows(*pair).statistics[0, 0] > moved.value


@pytest.mark.parametrize("option", ["coverage", "deletion", "insertion"])
def test_options_change_results(option):
    pair = ["the cat the cat sat"], ["a cat was sitting there"]
    assert _eed(*pair).value != _eed(*pair, **{option: 0.77}).value


def test_ragged_references_empty_texts_and_round_trip():
    ragged = _eed(["a b", "x"], [["zzz", "a b"], "x"])
    assert ragged.segments.tolist() == [0, 0]
    void = _eed(["", "a", " "], ["a", "", " "])
    assert void.segments.tolist() == [1, 1, 1]
    assert sum(void.notes.values()) == 3
    built = metric("eed:jump=1.5,compat=torchmetrics,over_references=mean")
    assert type(built).rebuild(built.describe()) == built
    with pytest.raises(OptionError, match="within"):
        metric("eed", deletion=-0.1)


def test_scripts_and_sizes():
    texts = ["👍 👎 🇩🇪", "שלום עולם", "今天天气很好", "สวัสดี", "a"]
    assert _eed(texts, texts).segments.tolist() == [0] * 5
    assert 0 < _eed(["今天天气很好"], ["今天天气不好"]).value < 1
    long = " ".join("abcdefghij"[i * i % 10] for i in range(10_000))
    # One substitution; the new letter is never passed and its neighbour twice.
    assert _eed([long[:-1] + "z"], [long]).value == pytest.approx(1.6 / 20_001.6)
