"""InfoLM: divergence between the predictions of a masked language model for two texts.

    p(.|x) = sum_k g_k softmax(logits([x]^k) / T),   InfoLM = I[p(.|reference), p(.|candidate)]

Every token k is masked in turn; g are uniform or idf weights. I is a divergence of distributions
over the vocabulary: ``fisher_rao`` (the default, in [0, 1]), ``kl``, ``alpha``, ``renyi``,
``gamma`` (the paper's beta), ``ab``, ``l1``, ``l2``, ``linf`` or ``jensen_shannon``. All are 0 for
equal distributions and positive otherwise; the paper's Table 1 has the wrong sign for alpha and
lacks two factors of ab. Lower is better; an empty text gets 100 with unbounded measures.

Two texts of one token each are equal after masking, so they cannot be compared: if they differ,
they get the worst value and a note. A token that the model does not know is not masked, because
every word in its place would get the same prediction; instead it gets a distribution that depends
on its string and hardly overlaps with others. ``compat`` reproduces published code: negative kl and
alpha, fisher_rao up to pi, idf of each side (``nlg_eval`` compares candidate with reference,
``torchmetrics`` reference with candidate, but without its wrong pairing). The embedded model is
described in encode/data/minilm-mlm.md; the paper's model is bert-base-uncased.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import OptionError
from nlgauge.core.histogram import Histogram
from nlgauge.core.metric import PairMetric, Rows, Scale, distance
from nlgauge.core.options import option
from nlgauge.core.requirements import ModelCard, Need, Weighting
from nlgauge.measure.divergence import MEASURES, divergence
from nlgauge.metrics._cloud_metric import long_texts

UNDETERMINED_NOTE = "two one-token texts cannot be distinguished, given the worst value"
_UNBOUNDED_VOID = 100.0
_PRESETS: dict[str, dict[str, tuple[float | None, float | None]]] = {  # alpha, beta; section 5
    "extractive": {"alpha": (0.75, None), "gamma": (None, 0.5), "ab": (0.5, 0.25)},
    "abstractive": {"alpha": (3, None), "gamma": (None, 0.5), "ab": (3, 0.25)},
    "data2text": {"alpha": (0.75, None), "gamma": (None, 3), "ab": (3, 0.25)},
}


@dataclass(frozen=True)
class InfoLm(PairMetric):
    """Divergence between the predictions of a masked language model for two texts."""

    title = "InfoLM"
    paper = "Colombo et al. 2022, InfoLM (AAAI), equation 3 and Table 1"
    isolated = True

    model: str | None = option(
        None, "Name or folder of a masked language model; none uses NLGAUGE_MODEL, else embedded."
    )
    measure: str = option("fisher_rao", "Divergence of distributions.", choices=tuple(MEASURES))
    alpha: float | None = option(None, "First parameter of alpha, renyi and ab.")
    beta: float | None = option(None, "Second parameter of ab, parameter of gamma.")
    preset: str | None = option(None, "Alpha and beta of the paper.", choices=tuple(_PRESETS))
    temperature: float = option(1.0, "Temperature of the softmax.", low=0.01, high=1e6)
    weights: str = option("uniform", "Mass of a token.", choices=("uniform", "idf"))
    direction: str = option("ref-cand", "Order of arguments.", choices=("ref-cand", "cand-ref"))
    symmetrised: bool = option(False, "Average both directions.")
    whole_words: bool = option(False, "Mask all pieces of a word at once.")
    long_text: str = long_texts()
    compat: str | None = option(
        None, "Published code to reproduce.", choices=("nlg_eval", "torchmetrics")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.compat and self.direction != "ref-cand":
            raise OptionError(
                f"compat={self.compat} sets direction itself; leave out direction={self.direction}"
            )
        if self.preset and (self.alpha is not None or self.beta is not None):
            raise OptionError(f"preset={self.preset} sets alpha and beta; leave out either")
        MEASURES[self.measure].resolve(**self.parameters)

    @property
    def parameters(self) -> dict[str, float | None]:
        """Alpha and beta of the options, or of the preset for the measure."""
        alpha, beta = self.alpha, self.beta
        if self.preset:
            alpha, beta = _PRESETS[self.preset].get(self.measure, (None, None))
        return {"alpha": alpha, "beta": beta}

    @property
    def scale(self) -> Scale:
        """The range of the measure, negated where the published code is negative."""
        high = MEASURES[self.measure].upper(**self.parameters) * abs(self._factor)
        void = high if math.isfinite(high) else _UNBOUNDED_VOID
        if self._factor < 0:
            return Scale("higher", -high, 0.0, void=-void)
        return distance(high, void=void)

    @property
    def needs(self) -> Need:
        """Histograms of the predictions for all tokens except special ones."""
        return Need(
            kind="histograms",
            model=self.model,
            weighting=Weighting(
                scheme="idf" if self.weights == "idf" else "uniform",
                sides="separate" if self.compat and self.weights == "idf" else "shared",
                unknown="model" if self.compat else "string",
            ),
            long_text=self.long_text,
            temperature=self.temperature,
            whole_words=self.whole_words,
        )

    def bind(self, card: ModelCard) -> Self:
        """Return the metric with the name of its model."""
        return replace(self, model=card.name)

    def compare(self, candidates: Sequence[Histogram], references: Sequence[Histogram]) -> Floats:
        """Return the divergence of every pair."""
        swapped = self.compat == "nlg_eval" or self.direction == "cand-ref"
        first, second = (candidates, references) if swapped else (references, candidates)
        options: Any = {"symmetrised": self.symmetrised, **self.parameters}
        values = [
            divergence(self.measure, p.log_probabilities, q.log_probabilities, **options)
            for p, q in zip(first, second, strict=True)
        ]
        undetermined = [*map(_is_undetermined, candidates, references)]
        return np.where(undetermined, self.scale.void, self._factor * np.asarray(values))[:, None]

    def rows(self, candidates: Sequence[Any], references: Sequence[Sequence[Any]]) -> Rows:
        """Return the comparison of every candidate, with a note for undetermined pairs."""
        rows = super().rows(candidates, references)
        pairs = zip(candidates, references, strict=True)
        undetermined = [
            any(_is_undetermined(text, other) for other in group) for text, group in pairs
        ]
        return Rows(rows.statistics, {**rows.notes, UNDETERMINED_NOTE: np.array(undetermined)})

    @property
    def _factor(self) -> float:
        """The factor of the published code."""
        if self.compat is None:
            return 1.0
        return {"kl": -1.0, "alpha": -1.0, "fisher_rao": math.pi}.get(self.measure, 1.0)


def _is_undetermined(candidate: Histogram, reference: Histogram) -> bool:
    """Whether two different texts have one token each."""
    void = candidate.void or reference.void
    single = len(candidate.ids) == len(reference.ids) == 1 and not void
    return single and bool(candidate.ids[0] != reference.ids[0])
