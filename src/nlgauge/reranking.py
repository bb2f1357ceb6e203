"""Choosing among several candidates of one input: by references, or by each other.

Minimum Bayes risk decoding (Kumar and Byrne 2004) takes the candidate that is on average most like
all the others, under any metric. Every text is encoded once, however many pairs it takes part in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nlgauge.core.cloud import Floats
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.core.scores import Scores
from nlgauge.scoring import Progress, Scorer

Combine = Literal["rank", "mean"]


@dataclass(frozen=True, eq=False)
class Choice:
    """The candidates of one input with what speaks for each of them: higher is better."""

    candidates: tuple[str, ...]
    utilities: Floats

    @property
    def order(self) -> tuple[int, ...]:
        """The places of the candidates from best to worst; of equals the first comes first."""
        return tuple(int(i) for i in np.argsort(-self.utilities, kind="stable"))

    @property
    def best(self) -> str:
        """The candidate to take."""
        return self.candidates[self.order[0]]


def mbr(
    candidates: Sequence[Sequence[str]],
    *,
    scorer: Scorer,
    combine: Combine = "rank",
    progress: Progress | None = None,
) -> list[Choice]:
    """The candidates of every input, each judged by its mean score against all the others.

    Equal candidates speak for each other. A candidate alone is judged against itself.
    """
    _check(candidates)
    pairs = [
        [(i, other) for i in range(len(texts)) for j, other in enumerate(texts) if j != i]
        or [(0, texts[0])]
        for texts in candidates
    ]
    return _choose(candidates, pairs, scorer, combine, progress)


def rerank(
    candidates: Sequence[Sequence[str]],
    references: Sequence[str | Sequence[str]],
    *,
    scorer: Scorer,
    combine: Combine = "rank",
    progress: Progress | None = None,
) -> list[Choice]:
    """The candidates of every input, each judged against the input's references."""
    _check(candidates)
    if len(references) != len(candidates):
        raise ShapeError(
            f"{len(candidates)} lists of candidates but {len(references)} references; "
            "there must be one entry each"
        )
    pairs = [
        [(i, group) for i in range(len(texts))]
        for texts, group in zip(candidates, references, strict=True)
    ]
    return _choose(candidates, pairs, scorer, combine, progress)


Pairs = Sequence[Sequence[tuple[int, str | Sequence[str]]]]
"""For every input: which of its candidates is compared, and with what."""


def _choose(
    candidates: Sequence[Sequence[str]],
    pairs: Pairs,
    scorer: Scorer,
    combine: Combine,
    progress: Progress | None,
) -> list[Choice]:
    if combine not in ("rank", "mean"):
        raise OptionError(f"combine is {combine!r}; metrics are combined by 'rank' or by 'mean'")
    (found,) = scorer.score_corpus(_corpus(candidates, pairs), progress=progress).values()
    per_metric = [list(_utilities(candidates, pairs, scores)) for scores in found.values()]
    combined = _mean if combine == "mean" or len(per_metric) == 1 else _mean_rank
    return [
        Choice(tuple(texts), combined([utilities[i] for utilities in per_metric]))
        for i, texts in enumerate(candidates)
    ]


def _corpus(candidates: Sequence[Sequence[str]], pairs: Pairs) -> Corpus:
    """A row for each comparison, the rows of one input under one id, so that they stay together."""
    rows = [
        (str(number), texts[place], against)
        for number, (texts, compared) in enumerate(zip(candidates, pairs, strict=True))
        for place, against in compared
    ]
    checked = Corpus.of([text for _, text, _ in rows], [against for *_, against in rows])
    return Corpus(
        checked.candidates, checked.references, checked.systems, tuple(name for name, *_ in rows)
    )


def _utilities(
    candidates: Sequence[Sequence[str]], pairs: Pairs, scores: Scores
) -> Iterator[Floats]:
    """The mean oriented score of every candidate, input by input."""
    oriented = scores.scale.sign * scores.segments
    start = 0
    for texts, compared in zip(candidates, pairs, strict=True):
        places = np.array([place for place, _ in compared])
        values = oriented[start : start + len(compared)]
        counts = np.bincount(places, minlength=len(texts))
        yield np.bincount(places, weights=values, minlength=len(texts)) / counts
        start += len(compared)


def _mean(utilities: Sequence[Floats]) -> Floats:
    return np.asarray(np.mean(utilities, axis=0))


def _mean_rank(utilities: Sequence[Floats]) -> Floats:
    """Minus the mean rank over metrics, so that scales do not matter; ties share their rank."""
    ranks = []
    for values in utilities:
        above = (values[None, :] > values[:, None]).sum(axis=1)
        equal = (values[None, :] == values[:, None]).sum(axis=1)
        ranks.append(above + (equal + 1) / 2)
    return -_mean(ranks)


def _check(candidates: Sequence[Sequence[str]]) -> None:
    if isinstance(candidates, str) or not candidates:
        raise ShapeError("candidates must be a list with a list of texts for each input")
    for i, texts in enumerate(candidates):
        if isinstance(texts, str):
            raise ShapeError(
                f"candidates[{i}] is one text; give the list of candidates of each input"
            )
        if not texts:
            raise DataError(f"candidates[{i}] is empty; there is nothing to choose from")
