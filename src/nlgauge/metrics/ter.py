"""TER: word edits and phrase shifts per word of the reference, computed by sacrebleu.

Snover et al. (2006): TER = 100 edits / average length of the references, where an edit inserts,
deletes or replaces a word or moves a phrase; with several references the fewest edits count.
Lower is better, from 0 (identical) without an upper end.

Empty texts keep sacrebleu's numbers: 100 where one side is empty, and 0 where both are, the one
case in which a text with nothing to compare is not given the worst value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from sacrebleu.metrics.ter import TER

from nlgauge.core.metric import distance
from nlgauge.core.options import option
from nlgauge.metrics._sacrebleu import SacrebleuMetric, case_option


@dataclass(frozen=True)
class Ter(SacrebleuMetric):
    """Translation edit rate."""

    language_options: ClassVar[Mapping[str, Mapping[str, str | bool]]] = {
        code: {"normalized": True, "asian_support": True} for code in ("zh", "ja")
    }
    paper: ClassVar[str] = (
        "Snover et al. (2006), A Study of Translation Edit Rate with Targeted Human Annotation"
    )
    empty_note: ClassVar[str] = (
        "candidate or references are empty; sacrebleu counts 100 if one side is, 0 if both are"
    )
    scale = distance(math.inf, void=100.0)

    normalized: bool = option(False, "Tokenize punctuation and decode XML characters first.")
    no_punct: bool = option(False, "Remove punctuation.")
    asian_support: bool = option(
        False, "With normalized or no_punct, treat CJK characters and marks one by one."
    )
    case_sensitive: bool = option(False, "Keep upper and lower case apart.")

    def build(self) -> Any:
        """sacrebleu's TER."""
        return TER(
            normalized=self.normalized,
            no_punct=self.no_punct,
            asian_support=self.asian_support,
            case_sensitive=self.case_sensitive,
        )

    @classmethod
    def rebuild(cls, keys: Mapping[str, str]) -> Self:
        """The metric of sacrebleu's keys: case, norm, punct, asian."""
        return cls(
            normalized=keys["norm"] == "yes",
            no_punct=keys["punct"] == "no",
            asian_support=keys["asian"] == "yes",
            case_sensitive=not case_option(keys),
        )
