"""daRR: relative rankings derived from direct assessments, and WMT's Kendall-like tau.

At WMT 2017-2019 two outputs for one segment became a ranked pair if their mean assessments differ
by 25 points or more (of 100). tau = (C - D) / (C + D) over these pairs; ties of the metric are
discordant (Ma et al. 2018).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Bools, Ints
from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.coefficients import TOLERANCE
from nlgauge.stats.intervals import Interval, bootstrap
from nlgauge.stats.validation import Seed, as_matrix

THRESHOLD = 25.0


@dataclass(frozen=True, eq=False)
class RankedPairs:
    """Pairs of systems (rows) on one segment (column): people rate `better` above `worse`."""

    segment: Ints
    better: Ints
    worse: Ints

    def __post_init__(self) -> None:
        if not len(self.segment) == len(self.better) == len(self.worse):
            raise ShapeError(
                f"{len(self.segment)} segments, {len(self.better)} better and {len(self.worse)} "
                "worse systems do not make pairs; the three must be equally long."
            )

    def __len__(self) -> int:
        return len(self.segment)


@dataclass(frozen=True)
class KendallLike:
    """WMT's Kendall-like tau and its counts."""

    value: float
    concordant: int
    discordant: int
    """Pairs ordered the wrong way, ties included."""
    ties: int
    """Discordant pairs that the metric tied."""
    pairs_missing: int
    """Pairs without two metric scores, which are left out."""


def pairs_from_scores(human: ArrayLike, threshold: float = THRESHOLD) -> RankedPairs:
    """Return all pairs of systems on one segment whose judgements differ by the threshold or more.

    Parameters
    ----------
    human : array_like, systems x segments, mean direct assessments from 0 to 100 (not z-scores),
        without human references, as at WMT
    threshold : float, inclusive, also for differences that are just below it because of rounding

    Returns
    -------
    RankedPairs

    Examples
    --------
    >>> len(pairs_from_scores([[80, 50], [50, 60]]))
    1
    """
    if not threshold > 0:
        raise OptionError(f"threshold is {threshold}; pairs must differ by more than 0 points.")
    columns = as_matrix(human, "human").T
    margins = columns[:, :, None] - columns[:, None, :]
    return RankedPairs(*np.nonzero(margins >= threshold * (1 - TOLERANCE)))


def pairs_from_names(
    rows: Iterable[tuple[str, str, str]], systems: Sequence[str], segments: Sequence[str]
) -> RankedPairs:
    """Return the pairs of rows (segment id, better system, worse system) as WMT publishes them."""
    listed = [(str(segment), str(better), str(worse)) for segment, better, worse in rows]
    row = {name: i for i, name in enumerate(systems)}
    column = {name: i for i, name in enumerate(segments)}
    lost_systems = {name for pair in listed for name in pair[1:]} - set(row)
    lost_segments = {pair[0] for pair in listed} - set(column)
    if lost_systems or lost_segments:
        example = sorted(lost_systems or lost_segments)[0]
        raise DataError(
            f"the {len(listed)} pairs name {len(lost_systems)} systems and {len(lost_segments)} "
            f"segments that are not in the matrix (for example {example!r}); "
            "score them or leave their pairs out."
        )
    equal = [pair for pair in listed if pair[1] == pair[2]]
    if equal:
        raise DataError(
            f"{len(equal)} pairs compare a system with itself, the first is {equal[0]}."
        )
    table = [(column[s], row[better], row[worse]) for s, better, worse in listed]
    return RankedPairs(*np.array(table, dtype=np.int64).reshape(-1, 3).T)


def kendall_like(metric: ArrayLike, pairs: RankedPairs) -> KendallLike:
    """Return (C - D) / (C + D) of a metric over ranked pairs, its ties discordant.

    Parameters
    ----------
    metric : array_like, systems x segments, higher is better
    pairs : RankedPairs, indices into the matrix

    Returns
    -------
    KendallLike, with the value NaN if no pair has two metric scores

    Examples
    --------
    >>> pairs = pairs_from_scores([[80, 50, 10], [50, 80, 90]])
    >>> kendall_like([[3, 1, 2], [1, 1, 4]], pairs).value
    0.3333333333333333
    """
    scored, ordered, tied = _judge_pairs(metric, pairs)
    total, concordant = int(scored.sum()), int(ordered.sum())
    discordant = total - concordant
    value = (concordant - discordant) / total if total else float("nan")
    return KendallLike(value, concordant, discordant, int(tied.sum()), len(pairs) - total)


def bootstrap_kendall_like(
    metric: ArrayLike,
    pairs: RankedPairs,
    *,
    count: int = 1000,
    confidence: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """Return the Kendall-like tau and its bootstrap interval over the segments with scored pairs.

    Pairs of one segment share outputs and are not independent, so segments are drawn, each with all
    of its pairs. Parameters are those of `kendall_like` and `bootstrap`.

    Returns
    -------
    Interval

    Examples
    --------
    >>> pairs = pairs_from_scores([[80, 50, 10], [50, 80, 90]])
    >>> bootstrap_kendall_like([[3, 1, 2], [1, 1, 4]], pairs).high
    1.0
    """
    scored, ordered, _ = _judge_pairs(metric, pairs)
    if not scored.any():
        raise DataError(
            f"none of the {len(pairs)} pairs has two metric scores, so there is nothing to resample"
        )
    _, segment = np.unique(pairs.segment[scored], return_inverse=True)
    total = np.bincount(segment).astype(np.float64)
    concordant = np.bincount(segment, weights=ordered[scored])
    rows = np.stack([2 * concordant - total, total], axis=1)
    return bootstrap(
        rows, lambda sums: float(sums[0] / sums[1]), count=count, confidence=confidence, seed=seed
    )


def _judge_pairs(metric: ArrayLike, pairs: RankedPairs) -> tuple[Bools, Bools, Bools]:
    """Return for each pair whether it is scored, ordered as by people, and tied."""
    scores = as_matrix(metric, "metric")
    if len(pairs):
        system, segment = int(max(pairs.better.max(), pairs.worse.max())), int(pairs.segment.max())
        if system >= scores.shape[0] or segment >= scores.shape[1]:
            raise ShapeError(
                f"the pairs reach system {system} and segment {segment} (counted from 0), but the "
                f"metric has {scores.shape[0]} systems and {scores.shape[1]} segments; is it "
                "transposed?"
            )
    better, worse = scores[pairs.better, pairs.segment], scores[pairs.worse, pairs.segment]
    slack = TOLERANCE * np.maximum(np.abs(better), np.abs(worse))
    # NaN compares false, so an unscored pair is neither ordered nor tied.
    ordered = better - worse > slack
    tied = np.abs(better - worse) <= slack
    return np.isfinite(better) & np.isfinite(worse), ordered, tied
