import json
from pathlib import Path

import numpy as np
import pytest

from nlgauge import metric, score
from nlgauge.core.errors import OptionError

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "character.json").read_text("utf-8"))
MOVED = "readme2"  # where the published script prices a move differently
PAIRS = {name: pair for name, pair in GOLDEN["pairs"].items() if name != MOVED}


def _character(candidates, references, **options):
    built = metric("character", **options)
    return score(candidates, references, metrics=built)[built.label()]


def test_equal_to_the_published_script():
    candidates, references = (list(side) for side in zip(*PAIRS.values(), strict=True))
    expected = [GOLDEN["values"][name] for name in PAIRS]
    np.testing.assert_allclose(_character(candidates, references).segments, expected, atol=1e-12)


def test_a_move_costs_the_average_word_length_of_its_phrase():
    # The script charges 7 here, because it works the price out from what ended up displaced.
    candidate, reference = GOLDEN["pairs"][MOVED]
    assert candidate.startswith("this week the saudis denied")
    ours = _character([candidate], [reference]).value * len(candidate)
    assert ours == pytest.approx(23)
    assert GOLDEN["values"][MOVED] * len(candidate) == pytest.approx(26)


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
