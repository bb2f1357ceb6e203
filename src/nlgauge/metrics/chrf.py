"""chrF and chrF++: F-score of character n-grams (and word n-grams), computed by sacrebleu.

Popović (2015, 2017): chrF = 100 (1 + b²) P R / (b² P + R) with P and R averaged over character
n-grams of 1 to 6 and, for chrF++ (``word_order=2``), word n-grams of 1 and 2; b = 2. With several
references, the one with the best F is used. Higher is better, 0 to 100; identical texts get 100, an
empty candidate or reference 0.

``Scores.details`` are the precision and recall of the corpus in percent, averaged over the orders
for which both sides have n-grams. Their F-score is the value; with ``eps_smoothing``, the value is
the mean of the F-scores of the orders instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sacrebleu.metrics.chrf import CHRF

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import Aliases, similarity
from nlgauge.core.options import format_value, option
from nlgauge.metrics._sacrebleu import SacrebleuMetric


@dataclass(frozen=True)
class Chrf(SacrebleuMetric):
    """Character n-gram F-score."""

    paper = "Popović 2015, chrF: character n-gram F-score for automatic MT evaluation (WMT)"
    aliases: ClassVar[Aliases] = {
        "chrf++": {"word_order": "2"},
        **{f"chrf{beta}": {"beta": str(beta)} for beta in (1, 2, 3)},
        **{f"chrf{beta}++": {"beta": str(beta), "word_order": "2"} for beta in (1, 2, 3)},
    }
    sacrebleu_class = CHRF
    scale = similarity(0.0, 100.0)

    char_order: int = option(6, "Longest character n-grams.", low=0, high=100)
    word_order: int = option(0, "Longest word n-grams; 2 is chrF++.", low=0, high=100)
    beta: float = option(2.0, "Weight of recall against precision.", low=0.0, high=1e6)
    lowercase: bool = option(False, "Lowercase both sides.")
    whitespace: bool = option(False, "Include spaces in character n-grams.")
    eps_smoothing: bool = option(False, "Smooth orders without n-grams, as chrF++.py does.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.char_order + self.word_order == 0:
            raise OptionError("options char_order=0, word_order=0: raise one of them")

    @property
    def title(self) -> str:
        """chrF, chrF++ with word pairs, or chrF3 with another beta."""
        return f"chrF{'' if self.beta == 2 else format_value(self.beta)}{'+' * self.word_order}"

    def parts_of(self, score: Any, totals: Floats) -> dict[str, float]:
        """Return precision and recall in percent, averaged over the orders with n-grams."""
        candidates, references, matches = totals.reshape(-1, 3).T
        counted = (candidates > 0) & (references > 0)
        if not counted.any():
            return {"precision": 0.0, "recall": 0.0}
        totals_by_name = {"precision": candidates, "recall": references}
        return {
            name: 100 * float(np.mean(matches[counted] / total[counted]))
            for name, total in totals_by_name.items()
        }

    def extra_keys(self) -> dict[str, str]:
        """Return beta, which sacrebleu puts into the metric's name (chrF2)."""
        return {} if self.beta == 2 else {"beta": format_value(float(self.beta))}

    @classmethod
    def rebuild(cls, keys: Mapping[str, str]) -> Self:
        """Return the metric of sacrebleu's keys: case, eff, nc, nw, space."""
        return cls(
            char_order=int(keys["nc"]),
            word_order=int(keys["nw"]),
            beta=float(keys.get("beta", 2)),
            lowercase=keys["case"] == "lc",
            whitespace=keys["space"] == "yes",
            eps_smoothing=keys["eff"] == "no",
        )
