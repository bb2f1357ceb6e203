"""EED: extended edit distance of characters, with jumps between words.

Stanchev, Wang, Ney (2019): EED = min(1, (e + a j + r v) / (|reference| + r v)), where e are the
character edits, j the jumps (allowed at spaces of the reference) and v the candidate characters
visited more than once or never. Defaults are the published ones: a = 2, r = 0.3, deletion 0.2,
insertion and substitution 1. Lower is better, 0 (identical) to 1; an empty text gets 1.

``compat=torchmetrics`` reproduces torchmetrics and the Python function eed_python in the authors'
repository: they count the position before the first character as never visited, so that identical
texts get more than 0, and rounding errors decide between equally cheap positions. The authors'
compiled tool, which EED.py runs, does not count that position, but stores the minimum cost of a row
as an integer; it cannot be reproduced.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from nlgauge.core.arrays import Floats, Ints
from nlgauge.core.metric import PairMetric, Side, distance
from nlgauge.core.options import option

_MARK = re.compile("([.!?,])")
# torchmetrics joins separated numbers and some abbreviations, and drops a letter after the titles.
_JOINED = (
    (re.compile(r"(\d) ([.,]) (\d)"), r"\1\2\3"),
    (re.compile(r"(Dr|Jr|Prof|Rev|Gen|Mr|Mt|Mrs|Ms) ."), r"\1."),
    *((re.compile(rf"{a} \. {b} \."), f"{a}.{b}.") for a, b in ("eg", "ie", "US")),
)
UNIT = (
    1e6  # costs are stored as integers, so that equal sums of costs such as 0.2 are exactly equal
)


@dataclass(frozen=True)
class Eed(PairMetric):
    """Extended edit distance."""

    title = "EED"
    paper = "Stanchev et al. 2019, EED: Extended Edit Distance Measure for MT (WMT)"
    scale = distance(1.0)

    jump: float = option(
        2.0, "Cost of a jump to another candidate position (alpha).", low=0.0, high=1e6
    )
    coverage: float = option(
        0.3, "Cost of a character visited twice or never (rho).", low=0.0, high=1e6
    )
    deletion: float = option(0.2, "Cost of deleting a candidate character.", low=0.0, high=1e6)
    insertion: float = option(1.0, "Cost of inserting a reference character.", low=0.0, high=1e6)
    compat: str = option("none", "Package to reproduce.", choices=("none", "torchmetrics"))

    def prepare(self, item: str, side: Side) -> str | None:
        """Return the text with spaces around it and before its punctuation."""
        if super().prepare(item, side) is None:
            return None
        if self.compat == "none":
            return " " + " ".join(_MARK.sub(r" \1", item).split()) + " "
        text = re.sub(r"\s+", " ", _MARK.sub(r" \1", item.rstrip()))
        for pattern, joined in _JOINED:
            text = pattern.sub(joined, text)
        return f" {text} "

    def compare(self, candidates: Sequence[str], references: Sequence[str]) -> Floats:
        """Return the distance of every pair."""
        return np.array([[value] for value in map(self._distance, candidates, references)])

    def _distance(self, candidate: str, reference: str) -> float:
        edits, visits = self._align(_codes(candidate), _codes(reference))
        if self.compat == "none":
            visits = visits[1:]  # without the position before the first character
        penalty = self.coverage * float(np.where(visits == 0, 1, visits - 1).sum())
        return min(1.0, (edits + penalty) / (len(reference) + penalty))

    def _align(self, candidate: Ints, reference: Ints) -> tuple[float, Ints]:
        """Return the cost of the cheapest path, and how often each position is the cheapest."""
        costs = self.jump, self.deletion, self.insertion
        exact = self.compat == "none"
        unit = UNIT if exact else 1.0
        jump, deletion, insertion = (round(cost * UNIT) if exact else cost for cost in costs)
        slope = deletion * np.arange(len(candidate) + 1)
        visits = np.zeros(len(candidate) + 1, dtype=np.int64)
        row = np.full(len(candidate) + 1, unit)
        row[0] = 0
        for letter in reference:
            following = row + insertion
            following[0] = row[0] + unit
            np.minimum(following[1:], row[:-1] + unit * (candidate != letter), out=following[1:])
            if exact:
                # min(row[i], row[i - 1] + deletion) is a running minimum of row[i] - i deletions
                row = np.minimum.accumulate(following - slope) + slope
            else:
                row = np.array(_delete(following.tolist(), deletion))
            cheapest = int(row.argmin())
            visits[cheapest] += 1
            if letter == ord(" "):
                np.minimum(row, row[cheapest] + jump, out=row)
        return float(row[-1]) / unit, visits


def _delete(row: list[float], deletion: float) -> list[float]:
    """Return the costs if characters can be deleted, with costs added one by one."""
    return list(accumulate(row, lambda previous, cost: min(previous + deletion, cost)))


def _codes(text: str) -> Ints:
    return np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
