"""TER: word edits and phrase shifts per word of the reference, computed by sacrebleu.

Snover et al. (2006): TER = 100 edits / average length of the references, where an edit inserts,
deletes or replaces a word or moves a phrase; with several references the fewest edits count.
Lower is better, from 0 (identical) without an upper bound.

Empty texts get sacrebleu's scores: 100 if one side is empty, 0 if both are, the only void text that
does not get the worst value.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from sacrebleu.metrics.ter import TER

from nlgauge.core.metric import distance
from nlgauge.core.options import option
from nlgauge.metrics._sacrebleu import SacrebleuMetric


@dataclass(frozen=True)
class Ter(SacrebleuMetric):
    """Translation edit rate."""

    language_options: ClassVar[Mapping[str, Mapping[str, str | bool]]] = {
        code: {"normalized": True, "asian_support": True} for code in ("zh", "ja")
    }
    paper = "Snover et al. 2006, A Study of Translation Edit Rate (AMTA)"
    empty_note = "candidate or references are empty; TER is 100 if one side is, 0 if both are"
    sacrebleu_class = TER
    scale = distance(math.inf, void=100.0)
    isolated = True

    normalized: bool = option(False, "Tokenize punctuation and decode XML characters first.")
    no_punct: bool = option(False, "Remove punctuation.")
    asian_support: bool = option(
        False, "With normalized or no_punct, split CJK characters and marks."
    )
    case_sensitive: bool = option(False, "Distinguish upper and lower case.")

    @classmethod
    def rebuild(cls, keys: Mapping[str, str]) -> Self:
        """Return the metric of sacrebleu's keys: case, norm, punct, asian."""
        return cls(
            normalized=keys["norm"] == "yes",
            no_punct=keys["punct"] == "no",
            asian_support=keys["asian"] == "yes",
            case_sensitive=keys["case"] != "lc",
        )
