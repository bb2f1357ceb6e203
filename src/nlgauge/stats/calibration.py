"""The probability that people prefer one of two outputs, given the difference of their scores.

A pair has the difference x > 0 of a metric's scores and the preference of people for the output
with the higher score: 1, 0, or 1/2 for a tie. The probability p(x) increases with x, and
p(-x) = 1 - p(x) because the order of the two outputs is arbitrary. So p(0) = 1/2, and p(x) is at
least 1/2 for positive x. Pairs with equal scores are not informative and are left out.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Bools, Floats, Ints
from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.coefficients import merge_ties
from nlgauge.stats.intervals import resample_weights
from nlgauge.stats.levels import choose_level
from nlgauge.stats.pair_sampling import draw_pairs
from nlgauge.stats.pair_statistics import columns_at, differences
from nlgauge.stats.validation import Seed, as_floats, check_share, common_cells, resample

Fit = Literal["isotonic", "logistic"]
Ties = Literal["half", "drop"]

MOST_PAIRS = 200_000
"""Maximum number of pairs across inputs; if there are more, a sample is drawn."""

_MAX_GROUPS = 200  # of pairs with similar differences, which a curve has as knots


@dataclass(frozen=True, eq=False)
class ScorePairs:
    """Pairs of outputs or systems: score differences, preferences and resampling units."""

    differences: Floats
    """Positive differences of scores."""
    preferences: Floats
    """1 if people prefer the one with the higher score, 0 if the other one, 1/2 for a tie."""
    units: Ints
    """The two inputs (equal at the text level) or systems of every pair, which are resampled."""
    metric_ties: int
    """Pairs with equal scores, which are left out."""
    human_ties: int
    """Pairs that people rate equal, among those with different scores."""

    def __len__(self) -> int:
        return self.differences.size

    @property
    def agreement(self) -> float:
        """Share of pairs in which people prefer the one with the higher score."""
        return float(self.preferences.mean()) if len(self) else float("nan")

    def without_ties(self) -> "ScorePairs":
        """Return the pairs of which people prefer one."""
        keep = self.preferences != 0.5
        columns = self.differences[keep], self.preferences[keep], self.units[keep]
        return ScorePairs(*columns, self.metric_ties, self.human_ties)


def score_pairs(
    metric: ArrayLike,
    human: ArrayLike,
    level: str = "text",
    *,
    most: int = MOST_PAIRS,
    seed: Seed = 0,
) -> ScorePairs:
    """Return the pairs of a metric's scores and human judgements, higher is better for both.

    Parameters
    ----------
    metric, human : array_like, systems x inputs; cells that both fill are used
    level : "text" (two outputs for one input), "segment" (any two outputs) or "system" (the means
        of two systems)
    most, seed : largest number of pairs of "segment", which are drawn at random if there are more

    Returns
    -------
    ScorePairs

    Raises
    ------
    DataError
        If there is no pair with different scores.

    Examples
    --------
    >>> found = score_pairs([[3, 1], [1, 1]], [[90, 20], [40, 50]])
    >>> found.differences, found.preferences, found.metric_ties
    (array([2.]), array([1.]), 1)
    """
    x, y = common_cells(metric=metric, human=human)
    level = choose_level(level)
    if level not in ("text", "segment", "system"):
        raise OptionError(
            f"pairs are compared at the text, segment or system level, not at the {level} level."
        )
    x, y, _ = columns_at(x, y, level)
    if level == "segment":
        system, unit = np.nonzero(np.isfinite(x))
        if unit.size < 2:
            raise DataError("1 judged output makes no pair; at least 2 are needed.")
        pairs = draw_pairs(unit.size, most, seed)
        first, second = pairs.T
        x, y = x[system, unit][:, None], y[system, unit][:, None]
        comparable = np.ones((len(pairs), 1), dtype=np.bool_)
        units = unit[pairs]
    else:
        first, second = np.triu_indices(x.shape[0], 1)
        comparable = np.isfinite(x[first]) & np.isfinite(x[second])
        row, column = np.nonzero(comparable)
        units = np.stack([first[row], second[row]] if level == "system" else [column, column], 1)
    dx, dy = differences(x, first, second)[comparable], differences(y, first, second)[comparable]
    different = dx != 0
    if not different.any():
        raise DataError(_no_pairs_message(level, dx.size))
    preference = (1 + np.sign(dx) * np.sign(dy)) / 2
    ties = int((dy[different] == 0).sum())
    columns = np.abs(dx[different]), preference[different], units[different]
    return ScorePairs(*columns, int((~different).sum()), ties)


def _no_pairs_message(level: str, equal: int) -> str:
    needed = {"text": "two judged outputs for one input", "system": "two judged systems"}
    requirement = needed.get(level, "two judged outputs")
    if equal:
        return f"all {equal:,} pairs at the {level} level have equal scores: nothing to calibrate."
    hint = "; use level='segment' (--level segment)" if level == "text" else ""
    return f"there is no pair at the {level} level, which needs {requirement}{hint}."


def fit_isotonic(values: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Return the non-decreasing sequence nearest to the values in weighted squared error.

    Pool adjacent violators: a value smaller than the one before it is pooled with it, until the
    means of all blocks increase.

    Parameters
    ----------
    values : array_like, in the order of the predictor; those of equal predictors averaged
    weights : array_like, positive; equal by default

    Returns
    -------
    ndarray

    Raises
    ------
    ShapeError or DataError
        For another number of weights, and for weights that are not positive.

    Examples
    --------
    >>> fit_isotonic([1, 3, 2, 4])
    array([1. , 2.5, 2.5, 4. ])
    """
    y = as_floats(values, "values")
    w: Floats = np.ones(y.shape) if weights is None else as_floats(weights, "weights")
    if y.ndim != 1 or w.shape != y.shape:
        raise ShapeError(f"values of shape {y.shape} need as many weights, not {w.shape}.")
    if not ((w > 0).all() and np.isfinite(y).all()):
        raise DataError("isotonic regression needs finite values and positive weights.")
    blocks: list[tuple[float, float, int]] = []  # mean, weight, number of values
    for mean, weight in zip(y.tolist(), w.tolist(), strict=True):
        block = mean, weight, 1
        while blocks and blocks[-1][0] >= block[0]:
            before = blocks.pop()
            total = before[1] + block[1]
            pooled = (before[0] * before[1] + block[0] * block[1]) / total
            block = pooled, total, before[2] + block[2]
        blocks.append(block)
    return np.repeat([block[0] for block in blocks], [block[2] for block in blocks])


def fit_logistic(differences: ArrayLike, preferences: ArrayLike, weights: ArrayLike) -> Floats:
    """Return the maximum likelihood slopes b >= 0 of p(x) = 1 / (1 + exp(-b x)).

    There is no intercept, because p(0) = 1/2. The slope is infinite if every preference is 1.

    Parameters
    ----------
    differences : array_like, n positive numbers
    preferences, weights : array_like, k x n: k fits at once

    Returns
    -------
    ndarray of k slopes; NaN for a fit without weight

    Examples
    --------
    >>> round(float(np.exp(fit_logistic([1], [[0.75]], [[4]]))[0]), 6)
    3.0
    """
    x = as_floats(differences, "differences")
    y = np.atleast_2d(as_floats(preferences, "preferences"))
    w = np.atleast_2d(as_floats(weights, "weights"))
    if x.ndim != 1 or not x.size or y.shape != w.shape or y.shape[1:] != x.shape:
        raise ShapeError(
            f"differences of shape {x.shape} need rows of as many preferences and weights, not "
            f"{y.shape} and {w.shape}."
        )
    pull = w * x / x.max()

    def rising(slope: Floats) -> Bools:
        """Whether the likelihood increases with the slope (of differences over the largest)."""
        gap = y - 1 / (1 + np.exp(-np.minimum(slope[:, None] * x / x.max(), 700)))
        return np.asarray((pull * gap).sum(axis=1) > 0)

    slope = np.full(len(y), np.nan)
    weighted = w.sum(axis=1) > 0
    low, high = np.zeros(len(y)), np.ones(len(y))
    largest = 1e6
    while (growing := rising(high) & (high < largest)).any():
        low, high = np.where(growing, high, low), np.where(growing, 2 * high, high)
    for _ in range(60):
        middle = (low + high) / 2
        up = rising(middle)
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    separated = ((y == 1) | (w == 0)).all(axis=1)
    slope[weighted] = np.where(separated, np.inf, (low + high) / 2 / x.max())[weighted]
    return slope


@dataclass(frozen=True, eq=False)
class Curve:
    """Probabilities at increasing differences, interpolated linearly, and their intervals.

    The first knot is (0, 1/2). Beyond the last knot the probability is constant. At 0 it is 1/2
    without an interval.
    """

    differences: Floats
    probabilities: Floats
    low: Floats
    high: Floats

    def at(self, difference: float) -> tuple[float, float, float]:
        """Return the probability that people prefer A if A's score is higher by this, and limits.

        A negative difference gives the probability of the reverse.
        """
        if not np.isfinite(difference):
            raise OptionError(f"the difference is {difference}; give a finite number.")
        if difference == 0:
            return 0.5, 0.5, 0.5
        value, low, high = (
            float(np.interp(abs(difference), self.differences, values))
            for values in (self.probabilities, self.low, self.high)
        )
        return (value, low, high) if difference >= 0 else (1 - value, 1 - high, 1 - low)

    def covers(self, difference: float) -> bool:
        """Return whether the data has differences as large as this."""
        return bool(abs(difference) <= self.differences[-1])


def calibrate(
    pairs: ScorePairs,
    fit: Fit = "isotonic",
    *,
    confidence: float = 0.95,
    count: int = 1000,
    seed: Seed = 0,
) -> Curve:
    """Return the probability of human preference by score difference, and bootstrap intervals.

    Pairs are sorted by difference and, if there are many, averaged in groups of similar ones. Every
    resample draws inputs or systems with replacement; the weight of a pair is the product of the
    counts of its two inputs or systems. If people agree with all pairs above some difference, so do
    all resamples; there the lower limit is at most the exact limit for the k inputs or systems of
    these pairs, as if they were independent: ((1 - confidence) / 2)^(1/k).

    Parameters
    ----------
    pairs : ScorePairs
    fit : "isotonic" (any increasing curve) or "logistic" (1 / (1 + exp(-b x)), which has less
        variance if there are few pairs)
    confidence, count, seed : coverage of the pointwise intervals, resamples and seed

    Returns
    -------
    Curve, whose limits are NaN if no resample has a pair

    Examples
    --------
    >>> pairs = score_pairs([[3, 1, 5], [1, 2, 4]], [[90, 20, 30], [40, 50, 20]])
    >>> round(calibrate(pairs, count=100).at(1.5)[0], 2)
    1.0
    """
    if fit not in get_args(Fit):
        raise OptionError(f"fit is {fit!r}; it is {' or '.join(map(repr, get_args(Fit)))}.")
    check_share("confidence", confidence, ".95")
    if not len(pairs):
        raise DataError("there is no pair of which people prefer one; use ties='half'.")
    gaps = merge_ties(pairs.differences)
    order = np.argsort(gaps, kind="stable")
    x, y, units = gaps[order], pairs.preferences[order], pairs.units[order]
    starts = _group_starts(x)
    sizes = np.diff([*starts, x.size])
    centres = np.add.reduceat(x, starts) / sizes
    knots = centres if fit == "isotonic" else np.linspace(0, x[-1], _MAX_GROUPS + 1)[1:]
    _, unit = np.unique(units, return_inverse=True)
    first, second = unit.reshape(units.shape).T
    same_unit = first == second
    estimate = _isotonic_curves if fit == "isotonic" else _logistic_curves

    def curves(weights: Floats) -> Floats:
        """Return the fitted probabilities at the knots for rows of weights of pairs."""
        total = np.add.reduceat(weights, starts, axis=1)
        won = np.add.reduceat(weights * y, starts, axis=1)
        return estimate(centres, won, total, knots)

    def draw(size: int, rng: np.random.Generator) -> Floats:
        resampled = resample_weights(int(unit.max()) + 1, size, rng)
        return curves(resampled[:, first] * np.where(same_unit, 1.0, resampled[:, second]))

    value = curves(np.ones((1, x.size)))[0]
    resampled = resample(draw, count, seed, x.size)
    resampled = resampled[np.isfinite(resampled).all(axis=1)]
    tail = (1 - confidence) / 2
    limits = np.full((2, knots.size), np.nan)
    if len(resampled):
        limits = np.quantile(resampled, [tail, 1 - tail], axis=0)
    limits[0] = np.minimum(limits[0], _exact_limits(knots, x, y, unit.reshape(units.shape), tail))
    # Below the smallest difference, the probability is only known to be at most that of this one.
    first_knot = (0.5, 0.5, limits[1, 0])
    padded = map(np.append, first_knot, (value, *limits))
    return Curve(np.append(0.0, knots), *padded)


def _exact_limits(knots: Floats, x: Floats, y: Floats, units: Ints, tail: float) -> Floats:
    """Return the lower limit where all pairs with larger differences agree, and 1 elsewhere."""
    start = x[y < 1].max(initial=0.0)
    count = np.unique(units[x > start]).size
    limit = max(tail ** (1 / count), 0.5) if count else 1.0
    return np.where(knots > start, limit, 1.0)


def _group_starts(x: Floats) -> Ints:
    """Return where groups of sorted differences start; equal differences are in one group."""
    starts = np.flatnonzero(np.concatenate([[True], x[1:] > x[:-1]]))
    if starts.size > _MAX_GROUPS:
        _, first = np.unique(starts * _MAX_GROUPS // x.size, return_index=True)
        starts = starts[first]
    return np.asarray(starts)


def _isotonic_curves(centres: Floats, won: Floats, total: Floats, knots: Floats) -> Floats:
    """Return isotonic fits; groups without weight are interpolated between their neighbours."""
    curves = np.full((len(total), knots.size), np.nan)
    for row, (wins, weights) in enumerate(zip(won, total, strict=True)):
        weighted = weights > 0
        if weighted.any():
            fitted = fit_isotonic(wins[weighted] / weights[weighted], weights[weighted])
            places = np.concatenate([[0.0], centres[weighted]])
            curves[row] = np.interp(knots, places, np.maximum([0.5, *fitted], 0.5))
    return curves


def _logistic_curves(centres: Floats, won: Floats, total: Floats, knots: Floats) -> Floats:
    """Return logistic fits, NaN without weight.

    If every pair agrees, the slope is infinite, and the curve is the isotonic one.
    """
    shares = won / np.where(total > 0, total, 1.0)
    slopes = fit_logistic(centres, shares, total)
    separated = np.isinf(slopes)
    finite = np.where(separated, 0.0, slopes)[:, None]
    curves = 1 / (1 + np.exp(-np.minimum(finite * knots, 700)))
    curves[separated] = _isotonic_curves(centres, won[separated], total[separated], knots)
    return np.asarray(curves)
