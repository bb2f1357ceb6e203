"""Tests whether one metric agrees with people better than another.

Williams's test is exact for Pearson's r of jointly normal scores; the permutation tests hold for
any coefficient and level. All are directed: a small p means that the FIRST metric is better, and
the p of the reverse hypothesis is another number (one minus it for Williams's test).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Bools, Floats
from nlgauge.core.errors import DataError, OptionError
from nlgauge.stats.coefficients import TOLERANCE, pearson
from nlgauge.stats.levels import Which, choose_level, correlation_of, points
from nlgauge.stats.named_coefficients import choose_coefficient
from nlgauge.stats.validation import (
    Over,
    Seed,
    check_over,
    common_cells,
    p_value,
    require_scipy,
    resample,
)

Alternative = Literal["greater", "less", "two-sided"]


@dataclass(frozen=True)
class Williams:
    """Williams's t test that r12 exceeds r13; see `williams`."""

    t: float
    df: int
    p: float
    r12: float
    r13: float
    r23: float
    n: int


def williams(r12: float, r13: float, r23: float, n: int) -> Williams:
    """Return the one-sided test of r12 > r13 for two correlations that share a variable.

        t = (r12 - r13) sqrt((n-1)(1+r23)) / sqrt(2 K (n-1)/(n-3) + (r12+r13)^2/4 (1-r23)^3)
        K = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23,   t ~ Student with n - 3 df

    Signs are kept (no |r|, no |t|): r12 < r13 gives p > .5. Old versions of R's psych::r.test used
    n - 2 degrees of freedom; n - 3 is Williams 1959.

    Parameters
    ----------
    r12, r13, r23 : Pearson's r of people and first metric, people and second metric, both metrics
    n : int, points, at least 4

    Returns
    -------
    Williams

    Raises
    ------
    DataError
        For fewer points, and for correlations that no data can have together.

    Examples
    --------
    >>> round(williams(0.8, 0.5, 0.6, 40).p, 4)
    0.001
    """
    t = williams_statistic(r12, r13, r23, n)
    require_scipy("Williams's test")
    from scipy.stats import t as student

    return Williams(t, n - 3, float(student.sf(t, n - 3)), r12, r13, r23, n)


def williams_statistic(r12: float, r13: float, r23: float, n: int) -> float:
    """Return the t of `williams`, 0 if the two metrics are equal up to scale."""
    for name, r in (("r12", r12), ("r13", r13), ("r23", r23)):
        if not -1 <= r <= 1:
            raise DataError(f"{name} is {r}; a correlation lies between -1 and 1 (is it defined?).")
    if n < 4:
        raise DataError(f"Williams's test needs at least 4 points (n - 3 df), but n is {n}.")
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    if k < -TOLERANCE:
        raise DataError(
            f"no data has the correlations r12={r12:.6g}, r13={r13:.6g}, r23={r23:.6g} "
            f"(their determinant is {k:.6g} < 0); take all three from the same points."
        )
    variance = 2 * max(k, 0.0) * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    if variance <= TOLERANCE**2:
        return 0.0
    return float((r12 - r13) * np.sqrt((n - 1) * (1 + r23)) / np.sqrt(variance))


def williams_test(
    first: ArrayLike, second: ArrayLike, human: ArrayLike, level: str = "segment"
) -> Williams:
    """Return Williams's test on the cells that three system x input matrices share.

    Parameters
    ----------
    first, second, human : array_like, scores of two metrics, and judgements
    level : "segment" (points are cells) or "system"; for the text level and other coefficients
        than Pearson's r use `permutation_test`

    Returns
    -------
    Williams

    Raises
    ------
    DataError
        If a correlation is undefined: constant values, or too few points.

    Examples
    --------
    >>> round(williams_test([1, 2, 3, 4, 6], [2, 1, 4, 3, 3], [1, 2, 3, 5, 6]).p, 3)
    0.061
    """
    a, b, people = common_cells(first=first, second=second, human=human)
    level = choose_level(level)
    x, z = points(a, people, level)
    y, _ = points(b, people, level)
    correlations = pearson(z, x), pearson(z, y), pearson(x, y)
    if not np.isfinite(correlations).all():
        named = {"first metric": x, "second metric": y, "human": z}
        constant = [name for name, v in named.items() if not np.isfinite(pearson(v, v))]
        raise DataError(
            f"Pearson's r is undefined over the {z.size} common points, because these are "
            f"constant or fewer than two: {', '.join(constant)}."
        )
    return williams(*correlations, z.size)


@dataclass(frozen=True)
class Permutation:
    """A permutation test of the difference of two metrics' correlations with people."""

    first: float
    second: float
    difference: float
    p: float
    over: str
    alternative: str
    level: str
    coefficient: str
    count: int
    """Permutations with a defined difference; p = (1 + as extreme) / (1 + count)."""
    undefined: int
    cells: int
    cells_dropped: int
    """Cells that not all three of the matrices fill."""
    p_reverse: float
    """The p of the reverse hypothesis from the same permutations; equal to p if two-sided."""


def _standardised(values: Floats) -> Floats:
    """Return scores with mean 0 and deviation 1, so that cells of two metrics are exchangeable."""
    spread = float(np.nanstd(values))
    return (values - np.nanmean(values)) / (spread if spread > 0 else 1.0)


def _swaps(size: int, shape: tuple[int, ...], over: str, rng: np.random.Generator) -> Bools:
    """Return which cells are swapped: whole rows, whole columns, or the exclusive or of both."""
    rows = rng.integers(0, 2, size=(size, shape[0], 1), dtype=np.int8).astype(np.bool_)
    columns = rng.integers(0, 2, size=(size, 1, shape[1]), dtype=np.int8).astype(np.bool_)
    if over == "systems":
        return rows
    return columns if over == "inputs" else rows ^ columns


def permutation_test(
    first: ArrayLike,
    second: ArrayLike,
    human: ArrayLike,
    level: str = "segment",
    coefficient: Which = "pearson",
    *,
    over: Over = "both",
    alternative: Alternative = "greater",
    count: int = 1000,
    seed: Seed = 0,
) -> Permutation:
    """Return the test of "the first metric correlates with people better than the second".

    PERM-SYSTEMS, PERM-INPUTS and PERM-BOTH of Deutsch et al. 2021: if the metrics are equally good,
    their standardised scores are exchangeable for whole systems (rows), inputs (columns) or both.
    p = (1 + #{permuted difference >= observed}) / (1 + count).

    Parameters
    ----------
    first, second, human : array_like, systems x inputs; cells that all three fill are used
    level, coefficient : as in `correlate`
    over : "both", "inputs" or "systems", what is swapped between the metrics
    alternative : "greater", "less" (the first correlates worse) or "two-sided"
    count, seed : permutations and their seed

    Returns
    -------
    Permutation

    Examples
    --------
    >>> people = [[1, 2, 3, 4], [2, 4, 4, 7], [3, 5, 6, 9]]
    >>> permutation_test(people, people, people).p
    1.0
    """
    if alternative not in ("greater", "less", "two-sided"):
        known = "'greater', 'less' or 'two-sided'"
        raise OptionError(f"alternative is {alternative!r}; it is {known}.")
    a, b, people = common_cells(first=first, second=second, human=human)
    check_over(over, *a.shape)
    correlation = correlation_of(level, coefficient)
    a, b = _standardised(a), _standardised(b)
    r1, r2 = (float(r) for r in correlation(np.stack([a, b]), people[None]))

    def draw(size: int, rng: np.random.Generator) -> Floats:
        swap = _swaps(size, a.shape, over, rng)
        swapped = np.where(swap, b, a), np.where(swap, a, b)
        one, other = (correlation(metric, people[None]) for metric in swapped)
        return one - other

    null = resample(draw, count, seed, a.size)
    null = null[np.isfinite(null)]
    nulls, differences = (null, -null), (r1 - r2, r2 - r1)
    if alternative == "less":
        nulls, differences = nulls[::-1], differences[::-1]
    elif alternative == "two-sided":
        nulls, differences = (np.abs(null),) * 2, (abs(r1 - r2),) * 2
    p, p_reverse = map(p_value, nulls, differences, (TOLERANCE,) * 2)
    cells = int(np.isfinite(people).sum())
    names = over, alternative, choose_level(level), choose_coefficient(coefficient).name
    sizes = null.size, count - null.size, cells, a.size - cells
    return Permutation(r1, r2, r1 - r2, p, *names, *sizes, p_reverse)


def holm(p_values: ArrayLike) -> Floats:
    """Return p-values adjusted for multiple tests (Holm 1979, step-down).

    Sorted p_(1) <= ... <= p_(m): adjusted_(i) = max over j <= i of min(1, (m - j + 1) p_(j)).

    Parameters
    ----------
    p_values : array_like; NaN stays NaN and does not count as a test

    Returns
    -------
    ndarray of the same shape

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    tested = np.isfinite(p)
    if ((p[tested] < 0) | (p[tested] > 1)).any():
        raise DataError(
            f"p-values range from {np.nanmin(p):.6g} to {np.nanmax(p):.6g}, not 0 to 1."
        )
    flat = p[tested]
    order = np.argsort(flat, kind="stable")
    steps = np.minimum(1.0, (flat.size - np.arange(flat.size)) * flat[order])
    flat[order] = np.maximum.accumulate(steps)
    result = np.full(p.shape, np.nan)
    result[tested] = flat
    return result
