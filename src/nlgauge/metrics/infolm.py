"""InfoLM: what a masked language model expects in the places of two texts, compared.

    p(.|x) = sum_k g_k softmax(logits([x]^k) / T),   InfoLM = I[p(.|reference), p(.|candidate)]

Every token k is masked in turn; g are uniform or idf weights. I is a divergence of distributions
over the vocabulary: ``fisher_rao`` (the default, in [0, 1]), ``kl``, ``alpha``, ``renyi``,
``gamma`` (the paper's beta), ``ab``, ``l1``, ``l2``, ``linf`` or ``jensen_shannon``. All are at
least 0 and 0 for equal distributions: the paper's Table 1 has the sign of alpha reversed and two
factors of ab missing. Lower is better; unbounded measures give an empty text 100.

Two different texts of one token each leave the same empty frame behind, so nothing can be said of
them; they get the worst value and a note. ``compat`` gives the published codes' numbers: negative
kl and alpha, fisher_rao up to pi, each side's own idf (``nlg_eval`` compares candidate with
reference, ``torchmetrics`` reference with candidate, here without its wrong pairing). The embedded
model's card is encode/data/minilm-mlm.md; the paper's model is bert-base-uncased.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Self

import numpy as np

from nlgauge.core.cloud import Floats
from nlgauge.core.errors import OptionError
from nlgauge.core.histogram import Histogram
from nlgauge.core.metric import PairMetric, Rows, Scale
from nlgauge.core.options import option
from nlgauge.core.requirements import ModelCard, Need, Weighting
from nlgauge.measure.divergence import MEASURES, divergence

UNDETERMINED_NOTE = "two one-token texts cannot be told apart, given the worst value"
_UNBOUNDED_VOID = 100.0
Parameters = tuple[float | None, float | None]
_PRESETS: dict[str, dict[str, Parameters]] = {  # alpha and beta of section 5 of the paper
    "extractive": {"alpha": (0.75, None), "gamma": (None, 0.5), "ab": (0.5, 0.25)},
    "abstractive": {"alpha": (3, None), "gamma": (None, 0.5), "ab": (3, 0.25)},
    "data2text": {"alpha": (0.75, None), "gamma": (None, 3), "ab": (3, 0.25)},
}


@dataclass(frozen=True)
class InfoLm(PairMetric):
    """A divergence of what a masked language model expects in the places of two texts."""

    paper: ClassVar[str] = "Colombo et al. 2022, InfoLM (AAAI), equation 3 and Table 1"

    model: str | None = option(
        None, "Masked language model, by name or folder; none takes NLGAUGE_MODEL, else embedded."
    )
    measure: str = option("fisher_rao", "How distributions are compared.", choices=tuple(MEASURES))
    alpha: float | None = option(None, "First parameter of alpha, renyi and ab.")
    beta: float | None = option(None, "Second parameter of ab, parameter of gamma.")
    preset: str | None = option(None, "The paper's alpha and beta.", choices=tuple(_PRESETS))
    temperature: float = option(1.0, "Divides the logits.", low=0.01)
    weights: str = option("uniform", "Mass of a token.", choices=("uniform", "idf"))
    direction: str = option(
        "ref-cand", "Which distribution comes first.", choices=("ref-cand", "cand-ref")
    )
    symmetrised: bool = option(False, "Mean of both directions.")
    whole_words: bool = option(False, "Mask all pieces of a word at once.")
    long_text: str = option(
        "window",
        "A text longer than the model: overlapping windows, cut off, or refused.",
        choices=("window", "truncate", "error"),
    )
    compat: str | None = option(
        None, "The numbers of a public implementation.", choices=("nlg_eval", "torchmetrics")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.preset and (self.alpha is not None or self.beta is not None):
            raise OptionError(f"preset={self.preset} sets alpha and beta; leave one or the other")
        MEASURES[self.measure].resolve(*self.parameters)

    @property
    def parameters(self) -> Parameters:
        """Alpha and beta as given, or as the preset has them for the measure."""
        if self.preset:
            return _PRESETS[self.preset].get(self.measure, (None, None))
        return self.alpha, self.beta

    @property
    def scale(self) -> Scale:
        """The range of the measure, turned round where a published code is."""
        alpha, beta = self.parameters
        high = MEASURES[self.measure].upper(alpha=alpha, beta=beta) * abs(self._factor)
        void = high if math.isfinite(high) else _UNBOUNDED_VOID
        if self._factor < 0:
            return Scale("higher", -high, 0.0, void=-void)
        return Scale("lower", 0.0, high, void=void)

    @property
    def needs(self) -> Need:
        """Histograms of what is expected in the places of all tokens but the special ones."""
        weighting = Weighting(scheme="idf" if self.weights == "idf" else "uniform")
        return Need(
            kind="histograms",
            model=self.model,
            weighting=replace(weighting, sides="separate") if self.compat else weighting,
            long_text=self.long_text,
            temperature=self.temperature,
            whole_words=self.whole_words,
        )

    def bind(self, card: ModelCard) -> Self:
        """The metric with its model named."""
        return replace(self, model=card.name)

    def compare(self, candidates: Sequence[Histogram], references: Sequence[Histogram]) -> Floats:
        """The divergence of every pair."""
        backwards = self.compat == "nlg_eval" or (not self.compat and self.direction == "cand-ref")
        first, second = (candidates, references) if backwards else (references, candidates)
        alpha, beta = self.parameters
        distance = partial(
            divergence, self.measure, alpha=alpha, beta=beta, symmetrised=self.symmetrised
        )
        pairs = zip(first, second, strict=True)  # one by one: a batch would copy all of them again
        found = [distance(p.log_probabilities, q.log_probabilities) for p, q in pairs]
        values = self._factor * np.asarray(found)
        alike = [_same_frame(c, r) for c, r in zip(candidates, references, strict=True)]
        return np.where(alike, self.scale.void, values)[:, None]

    def rows(
        self, candidates: Sequence[Histogram], references: Sequence[Sequence[Histogram]]
    ) -> Rows:
        """The best (or mean) comparison over references, with a note on undetermined ones."""
        made = super().rows(candidates, references)
        alike = [
            any(_same_frame(candidate, reference) for reference in group)
            for candidate, group in zip(candidates, references, strict=True)
        ]
        return Rows(made.statistics, {**made.notes, UNDETERMINED_NOTE: np.array(alike)})

    @property
    def _factor(self) -> float:
        """What the published codes multiply a measure by."""
        if self.compat is None:
            return 1.0
        return {"kl": -1.0, "alpha": -1.0, "fisher_rao": math.pi}.get(self.measure, 1.0)


def _same_frame(candidate: Histogram, reference: Histogram) -> bool:
    """Whether two different texts are one masked token each."""
    return len(candidate.ids) == len(reference.ids) == 1 and candidate.ids[0] != reference.ids[0]
