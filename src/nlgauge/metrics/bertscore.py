"""BERTScore: greedy matching of contextual token vectors.

    P = sum_i a_i max_j S_ij,  R = sum_j b_j max_i S_ij,  F = PR / (alpha P + (1 - alpha) R)

with S the cosines between candidate tokens i and reference tokens j. Higher is better; P and R lie
in [-1, 1], F in [0, 1]. Special tokens take no part, where bert-score lets them be matched
(``compat="bert_score"``). Of several references the one with the best F counts, with its P and R.

``baseline`` rescales each component, ``(x - b) / (1 - b)``, by a row of a bert-score TSV file
(columns LAYER, P, R, F); rescaled values may be negative.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from nlgauge.core.cloud import Floats
from nlgauge.core.errors import FileError, OptionError
from nlgauge.core.metric import Scale, similarity
from nlgauge.core.need import Weighting
from nlgauge.core.options import option
from nlgauge.metrics._greedy import GreedyMetric
from nlgauge.metrics._points import Points


@dataclass(frozen=True)
class BertScore(GreedyMetric):
    """Greedy matching of contextual token vectors."""

    paper: ClassVar[str] = "Zhang et al. 2020, BERTScore (ICLR), equations 1-3"

    baseline: str | None = option(None, "TSV file of baselines to rescale with.")
    compat: str | None = option(
        None,
        "bert_score: special tokens may be matched, each component has its own best reference.",
        choices=("bert_score",),
    )

    @property
    def scale(self) -> Scale:
        """F in [0, 1], unbounded below once rescaled."""
        return similarity() if self.baseline is None else Scale("higher", -np.inf, 1.0, void=0.0)

    @property
    def weighting(self) -> Weighting:
        """Special tokens are left out, or silent as in bert-score."""
        return replace(super().weighting, special="silent" if self.compat else "drop")

    def compare(self, candidates: Sequence[Points], references: Sequence[Points]) -> Floats:
        """F, P and R of every pair, rescaled if asked for."""
        return self._rescale(super().compare(candidates, references))

    def _rescale(self, values: Floats) -> Floats:
        if self.baseline is None:
            return values
        base = _baseline(self.baseline, int(self.layer))
        return np.asarray((values - base) / (1 - base))

    def _reduce(self, pairs: Floats) -> Floats:
        if self.compat == "bert_score" and self.over_references == "best":
            return np.asarray(pairs.max(axis=0))
        return super()._reduce(pairs)


@cache
def _baseline(path: str, layer: int) -> Floats:
    """The row of a bert-score baseline file for a layer, in our order F, P, R."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream, dialect="excel"))
    except OSError as error:
        raise FileError(f"baseline file {path!r} cannot be read: {error.strerror}") from error
    for row in rows:
        try:
            if int(row["LAYER"]) == layer:
                return np.array([float(row[key]) for key in ("F", "P", "R")])
        except (KeyError, TypeError, ValueError):
            raise FileError(
                f"baseline file {path!r} must have the columns LAYER,P,R,F with numbers"
            ) from None
    raise OptionError(f"baseline file {path!r} has no row for layer {layer}")
