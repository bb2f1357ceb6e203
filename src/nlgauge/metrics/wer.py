"""WER, MER and WIL: word error rates, as in speech recognition; CER: character error rate.

With H hits, S substitutions, D deletions and I insertions that turn the reference into the
candidate (Levenshtein), summed over the corpus:

    WER = (S + D + I) / (H + S + D)         errors per word of the reference
    MER = (S + D + I) / (H + S + D + I)     share of matches that are errors
    WIL = 1 - H² / ((H + S + D) (H + S + I))

Morris, Maier, Green (2004) define MER and WIL. Lower is better, 0 (identical) to 1, and above 1 for
WER if there are many insertions. With several references, the one with the lowest value is used. An
empty candidate or reference gets 1; in a corpus, its words count as deletions or insertions.

Words are separated by spaces; ``unit=characters`` is CER, including spaces within the text. MER and
WIL depend on the alignment; among alignments with the fewest errors, the one of jiwer is used.

``Scores.details`` are the four counts.
"""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.metric import VOID_NOTE, Aliases, Metric, Rows, Scale, distance
from nlgauge.core.options import option
from nlgauge.text.edits import Edits, count_edits

_CHARACTERS: Mapping[str, str | bool] = {"unit": "characters"}


@dataclass(frozen=True)
class Wer(Metric):
    """Word error rate, match error rate or word information lost."""

    paper = "Morris et al. 2004, From WER and RIL to MER and WIL (Interspeech)"
    more_references_never_hurt = True
    aliases: ClassVar[Aliases] = {
        **{name: {"variant": "mer"} for name in ("mer", "matcherrorrate")},
        **{name: {"variant": "wil"} for name in ("wil", "wordinfolost")},
        **{name: {"unit": "characters"} for name in ("cer", "charerrorrate")},
        "worderrorrate": {},
    }
    language_options: ClassVar[Mapping[str, Mapping[str, str | bool]]] = dict.fromkeys(
        ("zh", "ja", "th", "lo", "km", "my", "bo"), _CHARACTERS
    )

    variant: str = option(
        "wer",
        "Errors per word of the reference, per match (mer), or word information lost (wil).",
        choices=("wer", "mer", "wil"),
    )
    unit: str = option("words", "Unit of the comparison.", choices=("words", "characters"))
    lowercase: bool = option(False, "Lowercase both sides.")
    punctuation: bool = option(True, "Keep punctuation marks.")

    @property
    def title(self) -> str:
        """WER, MER, WIL or CER."""
        if self.unit == "characters":
            return {"wer": "CER"}.get(self.variant, f"{self.variant.upper()} of characters")
        return self.variant.upper()

    @property
    def scale(self) -> Scale:
        """From 0 to 1, or without an upper bound for WER."""
        return distance(math.inf if self.variant == "wer" else 1.0, void=1.0)

    def rows(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Rows:
        """Return hits, substitutions, deletions and insertions of every segment."""
        best_edits, empty = [], []
        for candidate, group in zip(candidates, references, strict=True):
            output, targets = self._items(candidate), [*map(self._items, group)]
            edits = np.array([count_edits(target, output) for target in targets], dtype=np.float64)
            best_edits.append(edits[self._rates(edits).argmin()])
            empty.append(not output or not all(targets))
        return Rows(np.array(best_edits), {VOID_NOTE: np.array(empty, dtype=bool)})

    def finish(self, totals: Floats, counts: Floats) -> Floats:
        """Return the rate of each sum of counts."""
        return self._rates(totals)[:, None]

    def details(self, totals: Floats) -> dict[str, float]:
        """Return the counts of hits and errors."""
        return dict(zip(Edits._fields, map(int, totals), strict=True))

    def _rates(self, edits: Floats) -> Floats:
        hits, substitutions, deletions, insertions = edits.T
        errors = substitutions + deletions + insertions
        reference, candidate = hits + substitutions + deletions, hits + substitutions + insertions
        if self.variant == "wil":
            matched, total = hits * hits, reference * candidate
            return np.where(total > 0, 1 - matched / np.where(total > 0, total, 1), 1.0)
        total = reference if self.variant == "wer" else hits + errors
        return np.where(total > 0, errors / np.where(total > 0, total, 1), 1.0)

    def _items(self, text: str) -> Sequence[str]:
        line = text.lower() if self.lowercase else text
        if not self.punctuation:
            line = "".join(c for c in line if not unicodedata.category(c).startswith("P"))
        return line.strip() if self.unit == "characters" else line.split()
