"""BERTScore: greedy matching of contextual token vectors.

    P = sum_i a_i max_j S_ij,  R = sum_j b_j max_i S_ij,  F = PR / (alpha P + (1 - alpha) R)

with S the cosines between candidate tokens i and reference tokens j. Higher is better; P and R lie
in [-1, 1], F in [0, 1]. Special tokens take no part, where bert-score lets them be matched
(``compat="bert_score"``). Of several references the one with the best F counts, with its P and R.

``baseline`` rescales each component, ``(x - b) / (1 - b)``, so that unrelated texts get about 0. It
is a number b for all three, a file that ``nlgauge rescale fit`` wrote, which is refused with
another model or layer, or a bert-score TSV file (columns LAYER, P, R, F). Rescaled values may be
negative; an empty text gets what 0 becomes, -b / (1 - b).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from nlgauge.core.cloud import Floats
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import Scale, similarity
from nlgauge.core.options import option
from nlgauge.core.requirements import ModelCard, Weighting
from nlgauge.metrics._baseline import Base, is_possible, read_base
from nlgauge.metrics._greedy import GreedyMetric
from nlgauge.metrics._points import Points


@dataclass(frozen=True)
class BertScore(GreedyMetric):
    """Greedy matching of contextual token vectors."""

    paper: ClassVar[str] = "Zhang et al. 2020, BERTScore (ICLR), equations 1-3"

    baseline: float | str | None = option(
        None, "What unrelated texts get: a number, or a file of nlgauge rescale fit or bert-score."
    )
    compat: str | None = option(
        None,
        "bert_score: special tokens may be matched, each component has its own best reference.",
        choices=("bert_score",),
    )
    base: Base | None = field(default=None, kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.baseline, int | float) and not is_possible(self.baseline):
            raise OptionError(
                f"option baseline={self.baseline:g}: must lie from -1 to below 1, which identical "
                "texts get"
            )

    @property
    def scale(self) -> Scale:
        """F in [0, 1]; rescaled, the worst is below 0, how far a file says once it is read."""
        if self.baseline is None:
            return similarity()
        unread = isinstance(self.baseline, str) and self.base is None
        worst = -np.inf if unread else self.void_row[0]
        return Scale("higher", worst, 1.0, void=worst)

    @property
    def void_row(self) -> tuple[float, ...]:
        """What 0 becomes in every component."""
        return tuple(self._rescale(np.zeros(3)).tolist())

    @property
    def weighting(self) -> Weighting:
        """Special tokens are left out, or silent as in bert-score."""
        return replace(super().weighting, special="silent" if self.compat else "drop")

    def bind(self, card: ModelCard) -> Self:
        """The metric with its model, its layer, and a baseline that was made for both."""
        bound = super().bind(card)
        if not isinstance(self.baseline, str):
            return bound
        return replace(bound, base=read_base(self.baseline, bound, card))

    def facts(self) -> dict[str, str]:
        """The digest of the file of baselines, whatever its name."""
        return {} if self.base is None else {"baseline_sha": self.base.digest}

    def compare(self, candidates: Sequence[Points], references: Sequence[Points]) -> Floats:
        """F, P and R of every pair, rescaled if asked for."""
        return self._rescale(super().compare(candidates, references))

    def _rescale(self, values: Floats) -> Floats:
        given = None if isinstance(self.baseline, str) else self.baseline
        base = given if self.base is None else np.array(self.base.values)
        return values if base is None else np.asarray((values - base) / (1 - base))

    def _reduce(self, pairs: Floats) -> Floats:
        if self.compat == "bert_score" and self.over_references == "best":
            return np.asarray(pairs.max(axis=0))
        return super()._reduce(pairs)
