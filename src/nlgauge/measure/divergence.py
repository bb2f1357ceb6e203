"""Divergences between two discrete distributions, for InfoLM; p is the reference, q the candidate.

    kl              sum p ln(p/q)
    alpha           (sum p^a q^(1-a) - 1) / (a (a-1))
    renyi           ln(sum p^a q^(1-a)) / (a-1)
    gamma           ab with alpha = 1; the InfoLM paper calls it the beta divergence
    ab              ln(sum p^s) / (b s) + ln(sum q^s) / (a s) - ln(sum p^a q^b) / (a b),  s = a + b
    l1, l2, linf    norms of p - q
    fisher_rao      (2 / pi) arccos(sum sqrt(p q))
    jensen_shannon  (KL(p | m) + KL(q | m)) / 2,  m = (p + q) / 2

The first five are one sum. Let P ~ p^s and Q ~ q^s be normalised (the escort distributions) and
y = (ln P - ln Q) / s. Then sum P^(a/s) Q^(b/s) = 1 - a b D with

    D = sum_i Q_i y_i^2 exp[0, a y_i, s y_i]

where exp[.,.,.] is a divided difference of exp. Every term is at least 0 and smooth in a, b and s,
so the analytic limits (a, b or s = 0) need no threshold: KL is a = 1, b = 0. With s = 1, D is the
alpha divergence; -ln(1 - a b D) / (a b) is ab, and a times that, for s = 1, is renyi.

The published formulas for alpha (sign) and ab (a factor 1/alpha) are wrong and corrected here.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, OptionError, ShapeError

DEFAULT = 0.5  # the default alpha and beta
NORMALISED = 1e-6  # how far the logarithm of a total may be from 0
SNAP = 1e-100  # parameters nearer to 0 are 0, since quotients by them would overflow

# e2(z) = (exp(z) - 1 - z) / z^2 = sum z^k / (k+2)!, to 1e-17 for |z| <= 1/2
_SERIES = tuple(1 / math.factorial(k + 2) for k in range(14))


# Of two vectors of normalised log-probabilities, alpha and beta.
_Formula: TypeAlias = Callable[[Floats, Floats, float, float], float]


@dataclass(frozen=True)
class Measure:
    """Name, formula, parameters and range of a measure; its lower bound is 0."""

    name: str
    formula: _Formula
    parameters: tuple[str, ...] = ()
    symmetric: bool = False
    bound: float = math.inf

    def upper(self, *, alpha: float | None = None, beta: float | None = None) -> float:
        """Return the largest possible value; disjoint distributions attain a finite one."""
        a, _ = self.resolve(alpha, beta)
        if self.name == "alpha" and 0 < a < 1:
            return 1 / (a * (1 - a))
        return self.bound

    def resolve(self, alpha: float | None, beta: float | None) -> tuple[float, float]:
        """Return both parameters, checked and with defaults filled in; unused ones are 0."""
        a, b = self._parameter("alpha", alpha), self._parameter("beta", beta)
        if self.name == "renyi" and a < 0:
            raise OptionError(
                f"renyi needs alpha of at least 0, got {alpha}: below 0 it is not a divergence."
            )
        return a, b

    def _parameter(self, name: str, value: float | None) -> float:
        if name in self.parameters:
            value = DEFAULT if value is None else value
            if not math.isfinite(value):
                raise OptionError(f"{name} must be a finite number, got {value}.")
            return 0.0 if abs(value) < SNAP else float(value)
        if value is not None:
            names = " and ".join(self.parameters) or "no parameters"
            raise OptionError(f"{self.name} takes {names}, got {name} = {value}; leave {name} out.")
        return 0.0


def divergence(
    name: str,
    log_p: ArrayLike,
    log_q: ArrayLike,
    *,
    alpha: float | None = None,
    beta: float | None = None,
    symmetrised: bool = False,
) -> float:
    """Return how far q is from p.

    The inputs are natural logarithms of the probabilities of all words. `alpha` and `beta` are 0.5
    unless given. `symmetrised` takes the mean of both directions. Values are exactly 0 for equal
    inputs; inf means that one distribution has mass where the other has none. If a + b < 0, absent
    words of one are the limit of equal, vanishing probabilities.
    """
    measure = MEASURES.get(name)
    if measure is None:
        raise OptionError(f"no measure is called {name!r}; there are {', '.join(MEASURES)}.")
    a, b = measure.resolve(alpha, beta)
    p, q = _normalised("log_p", log_p), _normalised("log_q", log_q)
    if len(p) != len(q):
        raise ShapeError(
            f"two distributions need one vocabulary, got {len(p)} and {len(q)} words; "
            "were two models mixed?"
        )
    with np.errstate(all="ignore"):
        value = measure.formula(p, q, a, b)
        if symmetrised and not measure.symmetric:
            value = (value + measure.formula(q, p, a, b)) / 2
    return min(float(value), measure.upper(alpha=alpha, beta=beta))  # rounding may exceed it


def _normalised(name: str, values: ArrayLike) -> Floats:
    """Return normalised log-probabilities; raise an error if they are too far from it."""
    logs = np.asarray(values, dtype=np.float64)
    if logs.ndim != 1 or not len(logs):
        raise ShapeError(f"{name} must be a vector with one entry per word, got {logs.shape}.")
    with np.errstate(all="ignore"):
        total = _logsumexp(logs)
    if not abs(total) <= NORMALISED:
        raise DataError(
            f"{name} is not normalised: the logarithm of its total is {total:.6g} and must be "
            f"within {NORMALISED:g} of 0. Pass log-probabilities in natural logarithms "
            "(log_softmax in float64)."
        )
    return logs - total


def _logsumexp(logs: Floats) -> float:
    top = logs.max()
    shift = top if np.isfinite(top) else 0.0
    return float(np.log(np.exp(logs - shift).sum()) + shift)


@dataclass(frozen=True, eq=False)
class _Family:
    """Two normalised distributions P, Q and the parameters of the sum in the module's docstring."""

    p: Floats
    q: Floats
    a: float
    b: float
    s: float
    y: Floats | None = None  # (p - q) / s, where the caller knows it better

    def plain(self) -> float:
        """Return D = sum_i Q_i y_i^2 exp[0, a y_i, s y_i].

        For points x0 <= x1 <= x2 the divided difference splits into two positive parts,
        y^2 exp[x0, x1, x2] = e^x1 (g e2(g y) + h e2(-h y)) y^2 / (g + h), with g = (x2 - x1) / y,
        h = (x1 - x0) / y and e2(z) = (exp(z) - 1 - z) / z^2: nothing cancels.
        """
        a, b, s = self.a, self.b, self.s
        y, mixed = self._log_ratio(), self._mixed()
        points, logs = (0.0, a, s), (self.q, mixed, self.p)
        low, mid, high = sorted(range(3), key=points.__getitem__)
        gaps = {1: abs(a), 2: abs(s), 3: abs(b)}  # between two points, by the sum of their places
        down, up = gaps[low + mid], gaps[mid + high]
        middle = np.exp(logs[mid])
        if down + up == 0:
            terms: Floats = middle * y * y / 2
        else:
            terms = _part(middle, logs[high], up, y, up + down)
            terms += _part(middle, logs[low], down, -y, up + down)
        lacks_p, lacks_q = np.isneginf(self.p), np.isneginf(self.q)
        if lacks_p.any() or lacks_q.any():
            terms[lacks_p] = np.exp(self.q[lacks_p]) / (a * s) if a * s > 0 else math.inf
            terms[lacks_q] = np.exp(self.p[lacks_q]) / (b * s) if b * s > 0 else math.inf
            terms[lacks_p & lacks_q] = 0.0
        return float(terms.sum())

    def logarithmic(self) -> float:
        """Return -ln(1 - a b D) / (a b); D itself where a b = 0."""
        value, product = self.plain(), self.a * self.b
        if product == 0:
            return value
        x = -product * value
        if abs(x) < 1e-9:
            return value * (1 - x / 2)
        if abs(x) <= 0.5:
            return -math.log1p(x) / product
        return -_logsumexp(self._mixed()) / product  # sum P^(a/s) Q^(b/s), summed in logarithms

    def _log_ratio(self) -> Floats:
        y = (self.p - self.q) / self.s if self.y is None else self.y
        return np.where(np.isfinite(y), y, 0.0)

    def _mixed(self) -> Floats:
        """Return ln(P^(a/s) Q^(b/s)), where a word absent from both is absent."""
        mixed = self.q + self.a * self._log_ratio()
        lacks_p, lacks_q = np.isneginf(self.p), np.isneginf(self.q)
        if lacks_p.any() or lacks_q.any():
            for absent, other, w in ((lacks_p, self.q, self.a), (lacks_q, self.p, self.b)):
                sign = w * self.s  # of the weight of 0 in 0^w x^(1-w)
                mixed[absent] = math.copysign(math.inf, -sign) if sign else other[absent]
            mixed[lacks_p & lacks_q] = -math.inf
        return mixed


def _part(middle: Floats, end: Floats, gap: float, y: Floats, span: float) -> Floats:
    """Return middle y^2 gap e2(gap y) / span, where exp(end) = middle exp(gap y)."""
    if gap == 0:
        return np.zeros_like(y)
    z = gap * y
    small = np.clip(z, -0.5, 0.5)
    series = np.full_like(z, _SERIES[-1])
    for coefficient in reversed(_SERIES[:-1]):
        series *= small
        series += coefficient
    series *= y * y * middle * (gap / span)
    exact = ((np.exp(end) - middle) / gap - y * middle) / span
    return np.where(small == z, series, exact)


def _scale_free(p: Floats, q: Floats, a: float, b: float) -> float:
    """Return ab, which is the logarithmic member of the family between the escorts of p and q."""
    s = a + b
    if s == 1:  # already its own escort
        return _Family(p, q, a, b, s).logarithmic()
    absent = np.isneginf(p) & np.isneginf(q)
    p_mean, q_mean = _power_mean(p, absent, s), _power_mean(q, absent, s)
    if p_mean is not None and q_mean is not None:
        # Near s = 0 both escorts are almost uniform and their difference is lost in ln(words);
        # there ln P = s (ln p - mean) - ln(words), with ln sum p^s taken relative to the uniform.
        log_words = math.log(np.count_nonzero(~absent))
        first = np.where(absent, -math.inf, s * (p - p_mean) - log_words)
        second = np.where(absent, -math.inf, s * (q - q_mean) - log_words)
        return _Family(first, second, a, b, s, (p - q) - (p_mean - q_mean)).logarithmic()
    if s == 0:
        return math.inf
    return _Family(_escort(p, absent, s), _escort(q, absent, s), a, b, s).logarithmic()


def _escort(logs: Floats, absent: NDArray[np.bool_], s: float) -> Floats:
    """Return p^s / sum p^s in logarithms; for s < 0 the absent words of p share everything."""
    powers = np.where(absent, -math.inf, s * logs)
    infinite = np.isposinf(powers)
    if infinite.any():
        powers = np.where(infinite, 0.0, -math.inf)
    return powers - _logsumexp(powers)


def _power_mean(logs: Floats, absent: NDArray[np.bool_], s: float) -> float | None:
    """Return ln(mean p^s) / s; None where s times the spread of ln p exceeds 1."""
    words = np.count_nonzero(~absent)
    mean = float(np.where(absent, 0.0, logs).sum() / words)
    spread = np.where(absent, 0.0, s * (logs - mean))
    if not np.abs(spread).max() <= 1 or not math.isfinite(mean):
        return None
    return mean + float(np.log1p(np.expm1(spread).sum() / words)) / s if s else mean


def _renyi(p: Floats, q: Floats, a: float, _: float) -> float:
    """Return a times the logarithmic member; for a = 0, -ln of the mass of q on the words of p."""
    if a > 0:
        return a * _Family(p, q, a, 1.0 - a, 1.0).logarithmic()
    absent = np.isneginf(p)
    missed = float(np.where(absent, np.exp(q), 0.0).sum())
    return -math.log1p(-missed) if missed < 0.5 else -_logsumexp(np.where(absent, -math.inf, q))


def _larger(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return max(p, q) as probabilities and the logarithm of min / max; 0 where both are absent."""
    ratio = -np.abs(p - q)
    return np.exp(np.maximum(p, q)), np.where(np.isnan(ratio), 0.0, ratio)


def _gaps(p: Floats, q: Floats) -> Floats:
    """Return |p - q| without the cancellation."""
    larger, ratio = _larger(p, q)
    return larger * -np.expm1(ratio)


def _l2(p: Floats, q: Floats, *_: float) -> float:
    """Return the length of p - q, scaled because squares of small gaps underflow."""
    gaps = _gaps(p, q)
    largest = float(gaps.max())
    return largest * math.sqrt(((gaps / largest) ** 2).sum()) if largest > 0 else 0.0


def _fisher_rao(p: Floats, q: Floats, *_: float) -> float:
    """Return (2/pi) arccos BC as (4/pi) arcsin sqrt((1 - BC) / 2), also exact near BC = 1."""
    larger, ratio = _larger(p, q)
    gap = (larger * np.expm1(ratio / 2) ** 2).sum() / 2  # sum (sqrt p - sqrt q)^2 / 2
    return float(4 / math.pi * np.arcsin(np.sqrt(gap / 2)))


def _jensen_shannon(p: Floats, q: Floats, *_: float) -> float:
    """Return sum (p ln(p/m) + q ln(q/m)) / 2; every term is at least 0 but for rounding."""
    larger, ratio = _larger(p, q)
    middle = np.log1p(np.expm1(ratio) / 2)  # ln(m / max)
    smaller = np.exp(ratio)
    below = np.where(smaller > 0, smaller * (ratio - middle), 0.0)
    return float((larger * np.maximum(below - middle, 0.0)).sum() / 2)


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        measure.name: measure
        for measure in (
            Measure("kl", lambda p, q, *_: _Family(p, q, 1.0, 0.0, 1.0).plain()),
            Measure("alpha", lambda p, q, a, _: _Family(p, q, a, 1 - a, 1.0).plain(), ("alpha",)),
            Measure("renyi", _renyi, ("alpha",)),
            Measure("gamma", lambda p, q, _, b: _scale_free(p, q, 1.0, b), ("beta",)),
            Measure("ab", _scale_free, ("alpha", "beta")),
            Measure("l1", lambda p, q, *_: float(_gaps(p, q).sum()), symmetric=True, bound=2.0),
            Measure("l2", _l2, symmetric=True, bound=math.sqrt(2.0)),
            Measure("linf", lambda p, q, *_: float(_gaps(p, q).max()), symmetric=True, bound=1.0),
            Measure("fisher_rao", _fisher_rao, symmetric=True, bound=1.0),
            Measure("jensen_shannon", _jensen_shannon, symmetric=True, bound=math.log(2.0)),
        )
    }
)
