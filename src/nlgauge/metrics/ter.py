"""TER: word edits and phrase shifts per word of the reference, computed by sacrebleu.

Snover et al. (2006): TER = 100 edits / average length of the references, where an edit inserts,
deletes or replaces a word or moves a phrase; with several references the fewest edits count.
Lower is better, from 0 (identical) without an upper bound.

Empty texts get sacrebleu's scores: 100 if one side is empty, and 0 (not the worst value) if both
are.

sacrebleu tries to move every phrase that the texts share. On one core, a pair of unrelated texts
with 100 words each takes 3 s, with 200 words 7 s, and with 400 words 12 s; texts that share phrases
take a third of that. Segments longer than 150 words give a LongTextWarning.

``Scores.details`` are the edits and the (average) length of the references in words of the corpus:
sacrebleu's ``num_edits`` and ``ref_length``.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from sacrebleu.metrics.ter import TER

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import LongTextWarning
from nlgauge.core.metric import Rows, distance
from nlgauge.core.options import option
from nlgauge.metrics._sacrebleu import SacrebleuMetric

_LONG_WORDS = 150


@dataclass(frozen=True)
class Ter(SacrebleuMetric):
    """Translation edit rate."""

    title = "TER"
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

    def rows(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Rows:
        """Return sacrebleu's statistics; warn about segments that take seconds or minutes."""
        for text, group in zip(candidates, references, strict=False):
            if (
                _count_words(text) > _LONG_WORDS
                and max(map(_count_words, group), default=0) > _LONG_WORDS
            ):
                warnings.warn(
                    f"ter: a segment has more than {_LONG_WORDS} words; sacrebleu, which tries "
                    "every move of a phrase, takes about 5 s for each such segment and 12 s for "
                    "one of 400 words: score sentences, or use chrf",
                    LongTextWarning,
                    stacklevel=2,
                )
                break
        return super().rows(candidates, references)

    def parts_of(self, score: Any, totals: Floats) -> dict[str, float]:
        """Return the number of edits and the length of the references in words."""
        length = float(score.ref_length)  # a fraction if references of a segment differ in length
        is_integer = length.is_integer()
        return {"edits": score.num_edits, "reference_length": int(length) if is_integer else length}

    @classmethod
    def rebuild(cls, keys: Mapping[str, str]) -> Self:
        """Return the metric of sacrebleu's keys: case, norm, punct, asian."""
        return cls(
            normalized=keys["norm"] == "yes",
            no_punct=keys["punct"] == "no",
            asian_support=keys["asian"] == "yes",
            case_sensitive=keys["case"] != "lc",
        )


def _count_words(text: str) -> int:
    return len(text.split())
