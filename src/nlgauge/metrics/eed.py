"""EED: extended edit distance of characters, with jumps between words.

Stanchev, Wang, Ney (2019): EED = min(1, (e + a j + r v) / (|reference| + r v)), where e are the
character edits, j the jumps (allowed at spaces of the reference) and v the candidate characters
visited more than once or never. Defaults are the published ones: a = 2, r = 0.3, deletion 0.2,
insertion and substitution 1. Lower is better, 0 (identical) to 1; an empty text gets 1.

The published script and torchmetrics also count the position before the first character as never
visited, so that identical texts get more than 0; ``compat=torchmetrics`` reproduces this.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Floats, Ints
from nlgauge.core.metric import PairMetric, Side, distance
from nlgauge.core.options import option

_MARK = re.compile("([.!?,])")
UNIT = 10**6  # costs are integers, so that equal sums of costs such as 0.2 tie exactly


@dataclass(frozen=True)
class Eed(PairMetric):
    """Extended edit distance."""

    title = "EED"
    paper = "Stanchev et al. 2019, EED: Extended Edit Distance Measure for MT (WMT)"
    scale = distance(1.0)

    jump: float = option(2.0, "Cost of a jump to another candidate position (alpha).", low=0.0)
    coverage: float = option(0.3, "Cost of a character visited twice or never (rho).", low=0.0)
    deletion: float = option(0.2, "Cost of deleting a candidate character.", low=0.0)
    insertion: float = option(1.0, "Cost of inserting a reference character.", low=0.0)
    compat: str = option("none", "Package to reproduce.", choices=("none", "torchmetrics"))

    def prepare(self, item: str, side: Side) -> str | None:
        """Return the text with spaces around it and before its punctuation."""
        if super().prepare(item, side) is None:
            return None
        return " " + " ".join(_MARK.sub(r" \1", item).split()) + " "

    def compare(self, candidates: Sequence[str], references: Sequence[str]) -> Floats:
        """Return the distance of every pair."""
        return np.array([[value] for value in map(self._distance, candidates, references)])

    def _distance(self, candidate: str, reference: str) -> float:
        edits, visits = self._align(_codes(candidate), _codes(reference))
        if self.compat == "none":
            visits = visits[1:]  # without the position before the first character
        penalty = self.coverage * float(np.where(visits == 0, 1, visits - 1).sum())
        return min(1.0, (edits / UNIT + penalty) / (len(reference) + penalty))

    def _align(self, candidate: Ints, reference: Ints) -> tuple[int, Ints]:
        """Return the cost of the cheapest path, and how often each position is the cheapest."""
        costs = self.jump, self.deletion, self.insertion
        jump, deletion, insertion = (round(cost * UNIT) for cost in costs)
        slope = deletion * np.arange(len(candidate) + 1)
        visits = np.zeros(len(candidate) + 1, dtype=np.int64)
        row = np.full(len(candidate) + 1, UNIT)
        row[0] = 0
        for letter in reference:
            following = row + insertion
            following[0] = row[0] + UNIT
            np.minimum(following[1:], row[:-1] + UNIT * (candidate != letter), out=following[1:])
            # min(row[i], row[i - 1] + deletion) is a running minimum of row[i] - i deletions
            row = np.minimum.accumulate(following - slope) + slope
            cheapest = int(row.argmin())
            visits[cheapest] += 1
            if letter == ord(" "):
                np.minimum(row, row[cheapest] + jump, out=row)
        return int(row[-1]), visits


def _codes(text: str) -> Ints:
    return np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
