"""The ensemble is the weighted mean of its members on a common scale."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge import Scorer, metric, score
from nlgauge.core.errors import OptionError, UnknownMetric

CANDIDATES = ["the cat sat on the mat", "a dog ran", "", "exactly this"]
REFERENCES = ["a cat sat on a mat", "the dog was running", "not empty", "exactly this"]


def _score(spec: str) -> np.ndarray:
    return score(CANDIDATES, REFERENCES, metrics=[spec])[spec].segments


def test_bounded_members_are_mapped_to_their_range() -> None:
    spec = "ensemble:metrics=chrf+rouge:variant=1+bertscore:model=hashing;layer=2,weights=1+2+5"
    chrf, rouge = _score("chrf") / 100, _score("rouge:variant=1")
    bert = _score("bertscore:model=hashing,layer=2")
    np.testing.assert_allclose(_score(spec), (chrf + 2 * rouge + 5 * bert) / 8, atol=1e-12)


def test_a_distance_is_negated() -> None:
    distances = _score("wmd:model=hashing")
    ensemble = _score("ensemble:metrics=wmd:model=hashing")
    np.testing.assert_allclose(ensemble, 1 - distances / 2, atol=1e-12)


def test_members_are_named_beside_the_mean_and_in_the_signature() -> None:
    spec = "ensemble:metrics=chrf+bertscore:model=hashing;weights=idf"
    (scores,) = score(CANDIDATES, REFERENCES, metrics=spec).values()
    assert list(scores.components) == ["score", "1.chrf", "2.bertscore"]
    assert "layer=" in scores.signature["metrics"]
    assert len(scores.signature["2.idf_sha_reference"]) == 12
    replayed = Scorer(str(scores.signature)).score(CANDIDATES, REFERENCES)
    (again,) = replayed.values()
    assert again.value == scores.value
    assert str(again.signature) == str(scores.signature)


def test_notes_of_members_are_kept() -> None:
    (scores,) = score(CANDIDATES, REFERENCES, metrics="ensemble:metrics=wmd:model=hashing").values()
    assert any("nothing to compare" in warning for warning in scores.warnings)


@pytest.mark.parametrize(
    ("spec", "kind", "message"),
    [
        ("ensemble:metrics=chrf+nope", UnknownMetric, "no metric 'nope'"),
        ("ensemble:metrics=chrf+ter", OptionError, "ter has no bounded range"),
        ("ensemble:metrics=chrf+bleu,weights=1", OptionError, "2 members, but weights='1' has 1"),
        ("ensemble:metrics=chrf,weights=x", OptionError, "numbers joined by \\+"),
        ("ensemble:metrics=chrf+bleu,weights=0+0", OptionError, "one above"),
        ("ensemble:metrics=chrf+bleu,weights=nan+1", OptionError, "weights must be 0 or above"),
    ],
)
def test_invalid_specs_are_refused(spec: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        score(["a"], ["a"], metrics=spec)


@pytest.mark.parametrize("members", ["chrf+ensemble", "chrf+ensemble:metrics=wmd:model=hashing"])
def test_ensembles_of_ensembles_are_refused(members: str) -> None:
    with pytest.raises(OptionError, match="cannot be a member of another"):
        metric("ensemble", metrics=members)


@pytest.mark.parametrize(
    "members",
    [
        "chrf+gauge:model=hashing",  # joins layers by default
        "bertscore:model=hashing;layer=1+2+rouge:variant=1",
        "chrf++ + bleu:max_ngram_order=2;weights=0.5+0.5",
    ],
)
def test_members_may_join_layers(members: str) -> None:
    (scores,) = score(CANDIDATES, REFERENCES, metrics=f"ensemble:metrics={members}").values()
    assert len(scores.components) == 3
    (again,) = Scorer(str(scores.signature)).score(CANDIDATES, REFERENCES).values()
    assert again.components == scores.components
