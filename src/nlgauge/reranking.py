"""Selection of candidates: reranking, and minimum Bayes risk decoding (Kumar and Byrne 2004)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, OptionError, ShapeError, UsageError
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress, Scorer, Spec

Combine = Literal["rank", "mean"]
Pairs = Sequence[Sequence[tuple[int, str | Sequence[str]]]]
"""For every input, pairs of the index of a candidate and its reference or references."""


@dataclass(frozen=True, eq=False)
class Choice:
    """The candidates of one input with their utilities: higher is better."""

    candidates: tuple[str, ...]
    utilities: Floats

    @property
    def order(self) -> tuple[int, ...]:
        """The indices of the candidates from best to worst; ties keep the input order."""
        return tuple(int(i) for i in np.argsort(-self.utilities, kind="stable"))

    @property
    def best(self) -> str:
        """The best candidate."""
        return self.candidates[self.order[0]]


def mbr(
    candidates: Sequence[Sequence[str]],
    *,
    sources: Sequence[str] | None = None,
    metrics: Spec | Sequence[Spec] | None = None,
    scorer: Scorer | None = None,
    combine: Combine = "rank",
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> list[Choice]:
    """Return the candidates of every input with their mean scores against all others.

    Parameters
    ----------
    candidates
        A list of texts for each input. A single candidate is scored against itself.
    sources
        The source text of each input, for metrics that read it.
    metrics, runtime
        As in `nlgauge.score`; by default bertscore.
    scorer
        A scorer in place of ``metrics`` and ``runtime``, for several calls.
    combine
        How to combine several metrics: by mean rank or by mean score.
    progress
        Called with the numbers of finished and of all comparisons.

    Returns
    -------
    list of Choice
        One for each input.

    Raises
    ------
    ShapeError or DataError
        If ``candidates`` is not a list of non-empty lists of texts.

    Examples
    --------
    >>> mbr([["a cat sat", "a cat", "dogs"]], metrics="chrf")[0].best
    'a cat sat'
    """
    _check(candidates)
    used_scorer = _make_scorer(scorer, metrics, runtime)
    pairs = [
        [(i, other) for i in range(len(texts)) for j, other in enumerate(texts) if j != i]
        or [(0, texts[0])]
        for texts in candidates
    ]
    return _choose(candidates, pairs, sources, used_scorer, combine, progress)


def rerank(
    candidates: Sequence[Sequence[str]],
    references: Sequence[str | Sequence[str]],
    *,
    sources: Sequence[str] | None = None,
    metrics: Spec | Sequence[Spec] | None = None,
    scorer: Scorer | None = None,
    combine: Combine = "rank",
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> list[Choice]:
    """Return the candidates of every input with their scores against its references.

    Parameters
    ----------
    candidates, sources, metrics, scorer, combine, runtime, progress
        As for :func:`mbr`.
    references
        A text or a list of texts for each input.

    Returns
    -------
    list of Choice
        One for each input.

    Examples
    --------
    >>> rerank([["a dog", "a cat"]], ["the cat"], metrics="chrf")[0].best
    'a cat'
    """
    _check(candidates)
    used_scorer = _make_scorer(scorer, metrics, runtime)
    if len(references) != len(candidates):
        raise ShapeError(
            f"{len(candidates)} lists of candidates but {len(references)} references; "
            "there must be one entry each"
        )
    inputs = zip(candidates, references, strict=True)
    pairs = [[(i, group) for i in range(len(texts))] for texts, group in inputs]
    return _choose(candidates, pairs, sources, used_scorer, combine, progress)


def _make_scorer(
    scorer: Scorer | None, metrics: Spec | Sequence[Spec] | None, runtime: Runtime
) -> Scorer:
    if scorer is None:
        return Scorer("bertscore" if metrics is None else metrics, runtime=runtime)
    if metrics is not None or runtime != DEFAULT:
        raise UsageError(
            "a scorer has its own metrics and runtime; pass either scorer or metrics and runtime"
        )
    return scorer


def _choose(
    candidates: Sequence[Sequence[str]],
    pairs: Pairs,
    sources: Sequence[str] | None,
    scorer: Scorer,
    combine: Combine,
    progress: Progress | None,
) -> list[Choice]:
    if combine not in ("rank", "mean"):
        raise OptionError(f"combine is {combine!r}; metrics are combined by 'rank' or by 'mean'")
    rows = [(n, i, group) for n, compared in enumerate(pairs) for i, group in compared]
    if sources is not None and len(sources) != len(candidates):
        lengths = f"{len(candidates)} lists of candidates but {len(sources)} sources"
        raise ShapeError(f"{lengths}; there must be one entry each")
    corpus = Corpus.of(
        [candidates[n][i] for n, i, _ in rows],
        [group for *_, group in rows],
        sources=None if sources is None else [sources[n] for n, *_ in rows],
    )
    # Comparisons of one input share an id, so that they are scored together.
    corpus = replace(corpus, ids=tuple(str(n) for n, *_ in rows))
    (results,) = scorer.score_corpus(corpus, progress=progress).values()
    starts = np.cumsum([0, *map(len, candidates)])
    owners = np.array([starts[n] + i for n, i, _ in rows])
    counts = np.bincount(owners)
    sums = [np.bincount(owners, each.scale.sign * each.segments) for each in results.values()]
    by_metric: list[list[Floats]] = [np.split(total / counts, starts[1:-1]) for total in sums]
    if combine == "rank" and len(by_metric) > 1:
        by_metric = [[-_ranks(values) for values in utilities] for utilities in by_metric]
    return [
        Choice(tuple(texts), np.asarray(np.mean(utilities, axis=0)))
        for texts, *utilities in zip(candidates, *by_metric, strict=True)
    ]


def _ranks(values: Floats) -> Floats:
    """Return ranks from 1 for the highest value; ties share their mean rank."""
    above = (values[None, :] > values[:, None]).sum(axis=1)
    equal = (values[None, :] == values[:, None]).sum(axis=1)
    return np.asarray(above + (equal + 1) / 2)


def _check(candidates: Sequence[Sequence[str]]) -> None:
    if isinstance(candidates, str) or not candidates:
        raise ShapeError("candidates must be a list with a list of texts for each input")
    for i, texts in enumerate(candidates):
        if isinstance(texts, str):
            message = f"candidates[{i}] is one text; give the list of candidates of each input"
            raise ShapeError(message)
        if not texts:
            raise DataError(f"candidates[{i}] is empty; there is nothing to choose from")
