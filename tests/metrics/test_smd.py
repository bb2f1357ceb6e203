"""SMD by hand, as a special case of MoverScore, and as in MoverScore's web service."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from conftest import needs_embedded
from nlgauge import align, metric, score
from nlgauge.core.errors import OptionError
from nlgauge.encode import open_encoder
from tolerances import l1_tolerance

TEXTS = "the cat sat on the mat", "a dog and a cat slept"


@pytest.fixture
def model(write_vectors: Callable[[str], str]) -> str:
    return write_vectors("x 2 0\ny 0 5\nz -1 0\n木 0 1\n")


def _smd(candidate: str, reference: str, options: str) -> float:
    return score([candidate], [reference], metrics=f"smd:{options}")[f"smd:{options}"].value


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        ("x", "y", math.sqrt(2)),
        ("x", "z", 2.0),
        ("x y", "y x x y", 0.0),
        ("x y", "x", 2 * math.sin(math.pi / 8)),
        ("木", "x", math.sqrt(2)),
        # unit vectors are averaged: (2, 1) / 3 against (1, 0)
        ("x x y", "x", math.sqrt(2 - 4 / math.sqrt(5))),
    ],
)
def test_by_hand(model: str, candidate: str, reference: str, expected: float) -> None:
    assert _smd(candidate, reference, f"model={model}") == pytest.approx(expected, abs=1e-9)
    (scores,) = score([candidate], [reference], metrics=f"smd:model={model}").values()
    assert scores.components["similarity"] == pytest.approx(1 / (1 + expected))


def test_idf_weighs_the_mean(model: str) -> None:
    plain, weighted = f"smd:model={model}", f"smd:model={model},weights=idf"
    scores = score(["x y", "x"], ["x y y", "x z"], metrics=[plain, weighted])
    assert scores[plain].segments[0] == pytest.approx(math.sqrt(2 - 6 / math.sqrt(10)))
    # x is in both references and weighs nothing, so only y is left, and nothing of the second
    assert scores[weighted].segments[0] == pytest.approx(0, abs=1e-9)
    assert scores[weighted].segments[1] == scores[weighted].scale.void


@pytest.mark.parametrize("aggregate", ["concat", "mean", "pmeans"])
def test_is_moverscore_with_the_text_as_one_ngram(aggregate: str) -> None:
    options = f"model=hashing,layers=1-3,aggregate={aggregate}"
    (mover,) = score(TEXTS[:1], TEXTS[1:], metrics=f"mover:{options},ngram=1000").values()
    assert _smd(*TEXTS, options) == pytest.approx(mover.value, abs=1e-9)


def test_options_change_the_result() -> None:
    variants = ["layers=1-3", "layers=3", "layers=1-3,aggregate=mean", "layers=1-3,special=drop"]
    variants += ["layers=1-3,aggregate=pmeans", "compat=mover-web"]
    values = {round(_smd(*TEXTS, f"model=hashing,{options}"), 9) for options in variants}
    assert len(values) == len(variants)


def _web(model: str, layers: tuple[int, ...], texts: tuple[str, ...]) -> float:
    """Minus the L1 distance of the unit means of the tokens' power means, written out."""
    means = []
    for cloud in open_encoder(model).encode(texts, layers):
        states = cloud.points.astype(float)
        states /= np.linalg.norm(states, axis=2, keepdims=True)
        tokens = np.concatenate(
            [states.min(axis=0), states.mean(axis=0), states.max(axis=0)], axis=1
        )
        means.append(tokens.mean(axis=0) / np.linalg.norm(tokens.mean(axis=0)))
    return -float(np.abs(means[0] - means[1]).sum())


@pytest.mark.parametrize(
    ("model", "layers"),
    [("hashing", (1, 2, 3, 4)), pytest.param("embedded", (2, 3, 4, 5, 6), marks=needs_embedded)],
)
def test_web_service(model: str, layers: tuple[int, ...]) -> None:
    spec = f"smd:compat=mover-web,model={model}"
    (scores,) = score(TEXTS[:1], TEXTS[1:], metrics=spec).values()
    near = l1_tolerance(3 * 384)  # three power means of the embedded model's states
    assert scores.value == pytest.approx(_web(model, layers, TEXTS), abs=near)
    assert scores.components["distance"] == pytest.approx(-scores.value)
    assert scores.metric.layers == "+".join(map(str, layers))
    assert scores.metric.aggregate == "pmeans"
    assert scores.scale.direction == "higher"
    (same,) = score(TEXTS, TEXTS, metrics=spec).values()
    np.testing.assert_allclose(same.segments, 0, atol=1e-9)


def test_web_service_on_static_vectors_and_void_texts(model: str) -> None:
    spec = f"smd:compat=mover-web,model={model}"
    (scores,) = score(["x", "", "x"], ["y", "x", "unheard"], metrics=spec).values()
    # one layer thrice, at unit length: |1/sqrt 3| in each of six coordinates
    assert scores.segments[0] == pytest.approx(-6 / math.sqrt(3))
    np.testing.assert_array_equal(scores.segments[1:], [scores.scale.void] * 2)
    assert scores.segments[0] > scores.scale.void


@pytest.mark.parametrize("other", ["weights=idf", "special=drop", "aggregate=mean"])
def test_web_service_takes_no_other_options(other: str) -> None:
    with pytest.raises(OptionError, match=r"compat='mover-web'.*leave one of them out"):
        metric(f"smd:compat=mover-web,{other}")


def test_the_alignment_is_text_to_text(model: str) -> None:
    plan = align("x y", "z", metric=f"smd:model={model}")
    assert (plan.candidate_tokens, plan.reference_tokens) == (("x y",), ("z",))
    np.testing.assert_array_equal(plan.coupling, [[1.0]])
