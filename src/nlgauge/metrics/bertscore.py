"""BERTScore: greedy matching of contextual token vectors.

    P = sum_i a_i max_j S_ij,  R = sum_j b_j max_i S_ij,  F = PR / (alpha P + (1 - alpha) R)

with S the cosines between candidate tokens i and reference tokens j. Higher is better; P and R lie
in [-1, 1], F in [0, 1]. Special tokens are dropped; bert-score allows matches with them
(``compat="bert_score"``, which also strips texts, puts a space before them for RoBERTa and GPT-2,
and truncates long ones). With several references, the one with the best F is used.

``ngram`` compares the means of n consecutive tokens instead of tokens. ``layer=3+4+6`` joins layers
(a cosine is then the mean over layers). ``temperature`` T above 0 replaces the maximum by the mean
under a softmax: P = sum_ij a_i w_ij S_ij with w_ij proportional to b_j exp(S_ij / T), R likewise,
both divided by the geometric mean of this value of each text with itself.

``baseline`` rescales each component to ``(x - b) / (1 - b)``, so that unrelated texts get about 0.
It is ``shipped`` (for any layer of the embedded model; bert-score's ``rescale_with_baseline``), a
number b for all components, a file of ``nlgauge rescale fit`` (valid for its model and layer only),
or a bert-score TSV file (columns LAYER, P, R, F). Rescaled values may be negative; an empty text
gets the rescaled 0, -b / (1 - b).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import Scale, similarity
from nlgauge.core.options import option
from nlgauge.core.requirements import ModelCard
from nlgauge.metrics._baseline import Baselines, is_possible, read_baseline
from nlgauge.metrics._cloud_metric import Points, Published, ngrams
from nlgauge.metrics._greedy import GreedyMetric


@dataclass(frozen=True)
class BertScore(GreedyMetric):
    """Greedy matching of contextual token vectors."""

    title = "BERTScore"
    paper = "Zhang et al. 2020, BERTScore (ICLR), equations 1-3"
    published: ClassVar = {
        "bert_score": Published({"special": "silent"}, long_text="truncate", strip=True)
    }

    ngram: int = ngrams()
    baseline: float | str | None = option(
        None,
        "Score of unrelated texts: shipped (embedded model), a number, or a file of nlgauge "
        "rescale fit or bert-score.",
    )
    compat: str | None = option(
        None,
        "bert_score: special tokens can be matched; each component takes its best reference.",
        choices=tuple(published),
    )
    file_values: Baselines | None = field(default=None, kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.baseline, int | float) and not is_possible(self.baseline):
            raise OptionError(
                f"option baseline={self.baseline:g}: must be at least -1 and below 1, the score of "
                "identical texts"
            )

    @property
    def scale(self) -> Scale:
        """F in [0, 1]; the lower end is the rescaled 0, unknown before a file is read."""
        if self.baseline is None:
            return similarity()
        unread = isinstance(self.baseline, str) and self.file_values is None
        return similarity(-np.inf if unread else self.void_row[0])

    @property
    def void_row(self) -> tuple[float, ...]:
        """The rescaled 0 of every component."""
        return tuple(self._rescale(np.zeros(3)).tolist())

    def bind(self, card: ModelCard) -> Self:
        """Return the metric with its model, its layer, and the baseline of both."""
        bound = super().bind(card)
        if not isinstance(self.baseline, str):
            return bound
        return replace(bound, file_values=read_baseline(self.baseline, bound, card))

    def facts(self) -> dict[str, str]:
        """Return the digest of the baseline file."""
        return {} if self.file_values is None else {"baseline_sha": self.file_values.digest}

    def compare(self, candidates: Sequence[Points], references: Sequence[Points]) -> Floats:
        """Return F, P and R of every pair, rescaled if there is a baseline."""
        return self._rescale(super().compare(candidates, references))

    def _rescale(self, values: Floats) -> Floats:
        base: Any = self.baseline if self.file_values is None else np.array(self.file_values.values)
        if base is None or isinstance(base, str):
            return values
        return np.asarray((values - base) / (1 - base))

    def _reduce(self, pairs: Floats) -> Floats:
        if self.compat and self.over_references == "best":
            return np.asarray(pairs.max(axis=0))
        return super()._reduce(pairs)
