"""Layers of known and unknown models."""

from __future__ import annotations

import pytest

from nlgauge.core.errors import OptionError
from nlgauge.core.requirements import ModelCard
from nlgauge.encode import registry
from nlgauge.encode.registry import (
    best_layers,
    languages_of,
    measured_presets,
    model_for,
    presets_of,
)


def test_known_models_have_their_published_layer() -> None:
    assert best_layers("roberta-large", 24) == (
        {"greedy": (17,), "transport": (20, 21, 22, 23, 24), "barycenter": (20, 21, 22, 23, 24)},
        True,
    )
    layers, known = best_layers("embedded", 6)
    assert known
    assert layers == {"greedy": (4,), "transport": (3, 4, 6), "barycenter": (2, 3, 4, 5, 6)}


def test_unknown_models_take_three_quarters_of_their_depth() -> None:
    layers, known = best_layers("my/model", 12)
    assert not known
    assert layers["greedy"] == (9,)
    assert best_layers("my/model", 1)[0]["transport"] == (1,)


def test_presets_are_measured_or_follow_the_depth() -> None:
    assert presets_of("embedded", 6) == {"layers": "3+4+6", "ngram": 3}
    assert presets_of("mpnet", 12) == {"layers": "6+7+8+12", "ngram": 3}
    assert presets_of("my/model", 12) == {"layers": "6+8+12", "ngram": 3}
    assert presets_of("my/model", 24)["layers"] == "12+16+24"
    assert presets_of("my/model", 1)["layers"] == "1"
    assert presets_of("words.txt", 0) == {"layers": "0", "ngram": 1}


def test_languages_have_models() -> None:
    assert model_for("en") == "roberta-large"
    assert model_for("xx") == "bert-base-multilingual-cased"


def test_models_of_one_language_are_known() -> None:
    assert languages_of("embedded") == languages_of("glove") == ("en",)
    assert languages_of("bert-base-multilingual-cased") == languages_of("my/model") == ()


def test_presets_are_those_of_the_registry(monkeypatch) -> None:
    monkeypatch.setattr(registry, "_registry", lambda: {"presets": {"mpnet": {"ngram": 3}}})
    assert measured_presets("mpnet") == {"ngram": 3}
    assert measured_presets("my/model") == {}


CARD = ModelCard("m", "0", depth=6, dimension=8, layers={"greedy": (4,)})


@pytest.mark.parametrize(
    ("wanted", "layers"),
    [
        ("best", (4,)),
        ("all", (1, 2, 3, 4, 5, 6)),
        ("last5", (2, 3, 4, 5, 6)),
        ("last", (6,)),
        (4, (4,)),
        ("-1", (6,)),
        ("0", (0,)),
        ("3+4+6", (3, 4, 6)),
        ("2-4", (2, 3, 4)),
        ("-1+-2", (6, 5)),
    ],
)
def test_every_notation_of_layers_is_read(wanted: str | int, layers: tuple[int, ...]) -> None:
    assert CARD.choose(wanted, match="greedy") == layers


@pytest.mark.parametrize("wanted", ["7", "-8", "last9", "4-2", "two", "", "3+"])
def test_layers_that_do_not_exist_are_refused(wanted: str) -> None:
    with pytest.raises(OptionError, match="layers="):
        CARD.choose(wanted, match="greedy")
