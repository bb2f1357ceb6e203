"""How often `align` encodes and solves: once for each pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import nlgauge
from nlgauge.encode.hashing import HashingEncoder
from nlgauge.measure import transport

CANDIDATE, REFERENCES = "a guy on a boat", ["a man in a canoe", "a guy in a boat"]


class Counts:
    """Calls of the encoder, texts encoded, and transport problems solved."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = self.texts = self.solves = 0
        encode, solve = HashingEncoder.encode, transport.match_many

        def counted_encode(
            encoder: HashingEncoder, texts: Sequence[str], layers: Sequence[int]
        ) -> Any:
            self.calls += 1
            self.texts += len(texts)
            return encode(encoder, texts, layers)

        def counted_solve(costs: Sequence[Any], *weights: Any, **options: Any) -> Any:
            self.solves += len(costs)
            return solve(costs, *weights, **options)

        monkeypatch.setattr(HashingEncoder, "encode", counted_encode)
        monkeypatch.setattr("nlgauge.metrics._transport.match_many", counted_solve)


@pytest.mark.parametrize("metric", ["wmd", "mover", "bary", "lazy_emd"])
@pytest.mark.parametrize("count", [1, 2])
def test_one_encoding_and_one_solution_for_each_reference(
    metric: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Counts(monkeypatch)
    nlgauge.align(CANDIDATE, REFERENCES[:count], metric=f"{metric}:model=hashing")
    assert (seen.calls, seen.texts, seen.solves) == (1, 1 + count, count)


def test_several_layers_share_one_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Counts(monkeypatch)
    specs = [f"mover:model=hashing,layers={layers}" for layers in ("1", "2", "1+2")]
    found = nlgauge.Scorer(specs).align(CANDIDATE, REFERENCES[0])
    assert list(found) == specs
    assert (seen.calls, seen.texts, seen.solves) == (1, 2, 3)


@pytest.mark.parametrize(
    "spec",
    [
        *("wmd", "bary", "bary:epsilon=0.1", "mover:compat=mover-v1", "lazy_emd", "bertscore"),
        *("mover:over_references=mean", "wmd:weights=idf", "smd", "wmdo"),
    ],
)
def test_an_alignment_carries_the_scores_of_scoring(spec: str) -> None:
    name, _, options = spec.partition(":")
    scorer = nlgauge.Scorer(f"{name}:model=hashing" + (f",{options}" if options else ""))
    references = ["nothing like it", *REFERENCES, ""]
    (found,) = scorer.align(CANDIDATE, references).values()
    (scores,) = scorer.score([CANDIDATE], [references]).values()
    assert found.scores.statistics == pytest.approx(scores.statistics, rel=1e-12)
    assert found.scores.notes == scores.notes
    assert str(found.scores.signature) == str(scores.signature)
    alone = [scorer.fitted([references]).score([CANDIDATE], [each]) for each in references]
    values = [next(iter(each.values())).segments[0] for each in alone]
    best = max(values) if scores.scale.sign > 0 else min(values)
    assert values[found.reference] == pytest.approx(best, rel=1e-12)
    assert (scores.plan(0).coupling == found.plan.coupling).all()
