"""WMD by hand and against linear programming."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import linprog

from conftest import needs_embedded
from nlgauge import align, score
from nlgauge.encode import open_encoder

ANGLES = {"east": 0, "northeast": 45, "north": 90, "west": 180, "北": 90, "东": 0}
CHORD = {45: 2 * math.sin(math.pi / 8), 90: math.sqrt(2), 180: 2.0}


@pytest.fixture
def model(write_vectors: Callable[[str], str]) -> str:
    """Vectors in known directions; their different lengths have no influence."""
    turns = {word: math.radians(angle) for word, angle in ANGLES.items()}
    lines = [
        f"{word} {(i + 1) * math.cos(turn):.9f} {(i + 1) * math.sin(turn):.9f}\n"
        for i, (word, turn) in enumerate(turns.items())
    ]
    return write_vectors("".join(lines))


def _wmd(candidate: str, reference: str, options: str) -> float:
    (scores,) = score([candidate], [reference], metrics=f"wmd:{options}").values()
    distance, similarity = scores.components["distance"], scores.components["similarity"]
    assert similarity == pytest.approx(1 / (1 + distance))
    return distance


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        ("east", "north", CHORD[90]),
        ("east", "west", CHORD[180]),
        ("east north", "north east", 0.0),
        ("east east", "east", 0.0),
        ("east north", "northeast", CHORD[45]),
        ("east", "east north", CHORD[90] / 2),
        ("east north west", "east east north", CHORD[180] / 3),
        ("北", "东", CHORD[90]),
        ("北东", "东北", 0.0),
    ],
)
def test_by_hand(model: str, candidate: str, reference: str, expected: float) -> None:
    assert _wmd(candidate, reference, f"model={model}") == pytest.approx(expected, abs=1e-6)
    assert _wmd(reference, candidate, f"model={model}") == pytest.approx(expected, abs=1e-6)


def _by_linear_programming(cost: np.ndarray) -> float:
    n, m = cost.shape
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    masses = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
    return linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=masses).fun


@pytest.mark.parametrize("special", ["keep", "drop"])
def test_equals_linear_programming(special: str) -> None:
    texts = ["the cat sat on the mat and slept", "a dog and the cat were sleeping"]
    clouds = open_encoder("hashing").encode(texts, (2,))
    kept = slice(None) if special == "keep" else slice(1, -1)
    left, right = (cloud.points[0, kept].astype(float) for cloud in clouds)
    left, right = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (left, right))
    expected = _by_linear_programming(np.linalg.norm(left[:, None] - right, axis=2))
    ours = _wmd(*texts, f"model=hashing,layer=2,special={special}")
    assert ours == pytest.approx(expected, abs=1e-6)


def test_idf_moves_the_mass_to_rare_words(model: str) -> None:
    candidates, references = ["east north"] * 2, ["east northeast", "east west"]
    plain, weighted = f"wmd:model={model}", f"wmd:model={model},weights=idf"
    scores = score(candidates, references, metrics=[plain, weighted])
    assert scores[plain].segments[0] == pytest.approx(CHORD[45] / 2, abs=1e-6)
    # east is in every reference and weighs nothing, so north moves with all of the mass
    assert scores[weighted].segments[0] == pytest.approx(CHORD[45], abs=1e-6)


def test_the_alignment_has_the_flow_of_every_word(model: str) -> None:
    plan = align("east west", "north east west", metric=f"wmd:model={model}")
    assert plan.candidate_tokens == ("east", "west")
    np.testing.assert_allclose(plan.marginal_a, [1 / 2, 1 / 2])
    np.testing.assert_allclose(plan.marginal_b, [1 / 3] * 3)
    assert plan.coupling[0, 1] == pytest.approx(1 / 3)
    assert plan.coupling[1, 2] == pytest.approx(1 / 3)


@needs_embedded
def test_layers_and_special_tokens_matter_in_context() -> None:
    texts = "The weather is cold today.", "It is freezing today."
    values = {_wmd(*texts, options) for options in ("layer=4", "layer=6", "special=drop")}
    assert len(values) == 3
