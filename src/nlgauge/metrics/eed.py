"""EED: extended edit distance of characters, in which jumps between words are cheap.

Stanchev, Wang, Ney (2019): EED = min(1, (e + a j + r v) / (|reference| + r v)), where e are the
character edits, j the jumps (allowed at blanks of the reference) and v the candidate characters
passed more than once or never. Defaults are the published ones: a = 2, r = 0.3, deletion 0.2,
insertion and substitution 1. Lower is better, 0 (identical) to 1; an empty text gets 1.

The published script and torchmetrics also count the place before the first character as never
passed, so that identical texts get more than 0; ``compat=torchmetrics`` does the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nlgauge.core.cloud import Floats, Ints
from nlgauge.core.metric import PairMetric, Side, distance
from nlgauge.core.options import option

_MARK = re.compile("([.!?,])")
UNIT = 10**6  # costs are whole millionths: sums of 0.2 must tie exactly where they are equal


@dataclass(frozen=True)
class Eed(PairMetric):
    """Extended edit distance."""

    paper: ClassVar[str] = (
        "Stanchev, Wang, Ney (2019), EED: Extended Edit Distance Measure for Machine Translation"
    )
    scale = distance(1.0)

    jump: float = option(2.0, "Cost of a jump to another place of the candidate (alpha).", low=0.0)
    coverage: float = option(0.3, "Cost of a character passed twice or never (rho).", low=0.0)
    deletion: float = option(0.2, "Cost of skipping a character of the candidate.", low=0.0)
    insertion: float = option(1.0, "Cost of a character that the candidate lacks.", low=0.0)
    compat: str = option(
        "none", "Count coverage as this package does.", choices=("none", "torchmetrics")
    )

    def prepare(self, item: str, side: Side) -> str | None:
        """The text with blanks around it and before its punctuation."""
        if super().prepare(item, side) is None:
            return None
        return " " + " ".join(_MARK.sub(r" \1", item).split()) + " "

    def compare(self, candidates: Sequence[str], references: Sequence[str]) -> Floats:
        """The distance of every pair."""
        pairs = zip(candidates, references, strict=True)
        return np.array([[self._distance(*pair)] for pair in pairs])

    def _distance(self, candidate: str, reference: str) -> float:
        edits, visits = self._walk(_codes(candidate), _codes(reference))
        if self.compat == "none":
            visits = visits[1:]  # the place before the first character is no character
        penalty = self.coverage * float(np.where(visits == 0, 1, visits - 1).sum())
        return min(1.0, (edits / UNIT + penalty) / (len(reference) + penalty))

    def _walk(self, candidate: Ints, reference: Ints) -> tuple[int, Ints]:
        """The cost of the cheapest path, and how often it was cheapest to stand at each place.

        A row of the alignment grid at a time. Within a row, costs follow
        row[i] = min(row[i], row[i - 1] + deletion), which is a running minimum of row[i] - i
        deletions.
        """
        jump, deletion, insertion = (
            round(cost * UNIT) for cost in (self.jump, self.deletion, self.insertion)
        )
        slope = deletion * np.arange(len(candidate) + 1)
        visits = np.zeros(len(candidate) + 1, dtype=np.int64)
        row = np.full(len(candidate) + 1, UNIT)
        row[0] = 0
        for letter in reference:
            following = row + insertion
            following[0] = row[0] + UNIT
            np.minimum(following[1:], row[:-1] + UNIT * (candidate != letter), out=following[1:])
            row = np.minimum.accumulate(following - slope) + slope
            cheapest = int(row.argmin())
            visits[cheapest] += 1
            if letter == ord(" "):
                np.minimum(row, row[cheapest] + jump, out=row)
        return int(row[-1]), visits


def _codes(text: str) -> Ints:
    return np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
