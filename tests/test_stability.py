"""Scores of the embedded models, stored once: within a major version they do not change.

After an intended change, which CHANGELOG.md names, ``python tests/test_stability.py``
writes the file again.
"""

import json
from pathlib import Path

import pytest

import nlgauge
from tolerances import COSINE, log_probability_tolerance

STORED = Path(__file__).parent / "golden" / "stability.json"
EXAMPLES = Path(__file__).parent.parent / "examples"
METRICS = ("gauge", "bertscore", "yisi", "wmd", "mover", "smd", "lazy_emd", "bary", "sms", "infolm")
PAIRS = 4
# Sums of distances, and the square of distances of up to 2 (bary), amplify the noise of a cosine.
TOLERANCE = dict.fromkeys(METRICS, 8 * COSINE) | {
    "infolm": log_probability_tolerance(largest_logit=40, temperature=0.25)
}


def _scores() -> dict[str, list[float]]:
    texts = [
        (EXAMPLES / name).read_text("utf-8").splitlines()[:PAIRS]
        for name in ("literal.txt", "reference.a.txt")
    ]
    found = nlgauge.score(*texts, metrics=METRICS)
    return {name: found[name].segments.tolist() for name in METRICS}


@pytest.fixture(scope="module")
def scores() -> dict[str, list[float]]:
    return _scores()


@pytest.mark.parametrize("metric", METRICS)
def test_scores_are_those_of_the_first_release(metric: str, scores: dict[str, list[float]]) -> None:
    stored = json.loads(STORED.read_text("utf-8"))
    assert len(stored["scores"][metric]) == PAIRS
    assert scores[metric] == pytest.approx(stored["scores"][metric], abs=TOLERANCE[metric])


def test_stored_scores_are_of_this_major_version() -> None:
    stored = json.loads(STORED.read_text("utf-8"))
    assert stored["version"].split(".")[0] == nlgauge.__version__.split(".")[0]


if __name__ == "__main__":
    content = {"version": nlgauge.__version__, "scores": _scores()}
    STORED.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
