"""Divergences: textbook sums in 80 digits, the identities that tie them together, and the edges."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.measure.divergence import MEASURES, divergence

SETTINGS = {
    "kl": [{}],
    "alpha": [{"alpha": a} for a in (-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0, 3.0)],
    "renyi": [{"alpha": a} for a in (0.25, 0.5, 0.75, 1.0, 2.0, 3.0)],
    "gamma": [{"beta": b} for b in (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0)],
    "ab": [
        {"alpha": a, "beta": b}
        for a, b in [(0.5, 0.5), (3, 0.25), (2, -1), (-1, -1), (0, 1), (2, 0), (1, -1), (0, 0)]
    ],
    **{name: [{}] for name in ("l1", "l2", "linf", "fisher_rao", "jensen_shannon")},
}
EVERY = [(name, options) for name, choices in SETTINGS.items() for options in choices]
every_measure = pytest.mark.parametrize(("name", "options"), EVERY, ids=str)


def normal(logs):
    logs = np.asarray(logs, dtype=np.float64)
    top = logs.max(axis=-1, keepdims=True)
    return logs - top - np.log(np.exp(logs - top).sum(axis=-1, keepdims=True))


def pairs(seed=0, n=1, words=7, spread=2.0):
    rng = np.random.default_rng(seed)
    return normal(spread * rng.normal(size=(n, words))), normal(
        spread * rng.normal(size=(n, words))
    )


def pair(seed=0, words=7, spread=2.0):
    p, q = pairs(seed, 1, words, spread)
    return p[0], q[0]


def divergences(name, ps, qs, **options):
    """Return the divergence of each pair."""
    return np.array([divergence(name, p, q, **options) for p, q in zip(ps, qs, strict=True)])


def logs(probabilities):
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(probabilities, dtype=np.float64))


def textbook(name, log_p, log_q, **options):
    return float(exact(name, log_p, log_q, **options))


def exact(name, log_p, log_q, alpha=None, beta=None, tiny="1e-400"):
    """The formulas as printed, in decimals; a singular parameter is moved by 1e-25.

    Words of probability 0 get a tiny one, the same in both distributions.
    """
    with localcontext() as context:
        context.prec = 80
        p, q = ([Decimal(float(x)).exp() if x > -math.inf else Decimal(tiny) for x in side]
                for side in (log_p, log_q))  # fmt: skip
        p, q = [x / sum(p) for x in p], [x / sum(q) for x in q]
        nudge = Decimal("1e-25")
        a, b = (None if x is None else Decimal(float(x)) for x in (alpha, beta))
        if name in ("alpha", "renyi"):
            a += nudge if a in (0, 1) else 0
            total = sum(x**a * y ** (1 - a) for x, y in zip(p, q, strict=True))
            return (total - 1) / (a * (a - 1)) if name == "alpha" else total.ln() / (a - 1)
        if name in ("gamma", "ab"):
            a = Decimal(1) if name == "gamma" else a
            a, b = a or nudge, b or nudge * 2
            b += nudge if a + b == 0 else 0
            s = a + b
            left, right = sum(x**s for x in p), sum(x**s for x in q)
            cross = sum(x**a * y**b for x, y in zip(p, q, strict=True))
            return left.ln() / (b * s) + right.ln() / (a * s) - cross.ln() / (a * b)
        gaps = [abs(x - y) for x, y in zip(p, q, strict=True)]
        middle = [(x + y) / 2 for x, y in zip(p, q, strict=True)]
        kl = lambda x, y: sum(u * (u / v).ln() for u, v in zip(x, y, strict=True))  # noqa: E731
        lost = sum((x.sqrt() - y.sqrt()) ** 2 for x, y in zip(p, q, strict=True)) / 2
        return {
            "kl": lambda: kl(p, q),
            "l1": lambda: sum(gaps),
            "l2": lambda: sum(x * x for x in gaps).sqrt(),
            "linf": lambda: max(gaps),
            # tan(angle / 2) of 1 - BC keeps its digits where arccos(BC) does not
            "fisher_rao": lambda: (
                4 / math.pi * math.atan2(float(lost.sqrt()), float((2 - lost).sqrt()))
            ),
            "jensen_shannon": lambda: (kl(p, middle) + kl(q, middle)) / 2,
        }[name]()


# --------------------------------------------------------------------------- against the textbook


@every_measure
@pytest.mark.parametrize("spread", [0.3, 2.0, 20.0])
def test_the_textbook_formula(name, options, spread):
    p, q = pair(1, 6, spread)
    expected = textbook(name, p, q, **options)
    assert divergence(name, p, q, **options) == pytest.approx(expected, rel=1e-11)


@every_measure
def test_almost_equal_distributions_keep_their_digits(name, options):
    p, _ = pair(2, 6)
    q = normal(p + 1e-5 * np.random.default_rng(3).normal(size=6))
    expected = textbook(name, p, q, **options)
    assert 0 < expected < 1e-4
    assert divergence(name, p, q, **options) == pytest.approx(expected, rel=1e-8)


@every_measure
@pytest.mark.parametrize("shape", ["peaks", "slopes"])
def test_log_probabilities_of_minus_a_thousand(name, options, shape):
    if shape == "peaks":
        p, q = np.full(6, -1000.0), np.full(6, -990.0)
        p[0] = q[1] = 0.0
    else:
        p = np.linspace(0, -1000.0, 6)
        q = 0.9 * p[::-1]
    expected = textbook(name, p, q, **options)
    assert divergence(name, p, q, **options) == pytest.approx(expected, rel=1e-11)
    assert expected > 0


def test_overflowing_values_are_infinite_but_their_logarithms_are_finite():
    p, q = np.array([0.0, -1000.0]), np.array([-1000.0, 0.0])
    assert divergence("alpha", p, q, alpha=3) == math.inf  # exp(2000) / 6
    assert divergence("renyi", p, q, alpha=3) == pytest.approx(1000)
    assert divergence("kl", p, q) == pytest.approx(1000)


def test_gaps_whose_squares_underflow():
    p, q = np.array([0.0, -500.0]), np.array([0.0, -501.0])
    assert divergence("l2", p, q) == pytest.approx(math.exp(-500) - math.exp(-501), rel=1e-12)
    assert divergence("l2", p, q) == divergence("linf", p, q)


def test_by_hand():
    p, q = logs([0.5, 0.5]), logs([0.9, 0.1])
    assert divergence("kl", p, q) == pytest.approx(0.5 * math.log(25 / 9))
    assert divergence("kl", q, p) == pytest.approx(0.9 * math.log(1.8) + 0.1 * math.log(0.2))
    assert divergence("l1", p, q) == pytest.approx(0.8)
    assert divergence("l2", p, q) == pytest.approx(0.4 * math.sqrt(2))
    assert divergence("linf", p, q) == pytest.approx(0.4)


# ------------------------------------------------------------------------------------- identities


@pytest.mark.parametrize("seed", range(3))
def test_identities(seed):
    log_p, log_q = pair(seed)
    p, q = np.exp(log_p), np.exp(log_q)
    overlap = np.sqrt(p * q).sum()

    def d(name, **options):
        return divergence(name, log_p, log_q, **options)

    def back(name, **options):
        return divergence(name, log_q, log_p, **options)

    def same(left, right):
        assert left == pytest.approx(right, rel=1e-11)

    same(d("alpha", alpha=0.5), 4 * (1 - overlap))
    same(d("alpha", alpha=2), ((p - q) ** 2 / q).sum() / 2)
    same(d("alpha", alpha=1), d("kl"))
    same(d("alpha", alpha=0), back("kl"))
    same(d("alpha", alpha=0.3), back("alpha", alpha=0.7))
    same(d("renyi", alpha=1), d("kl"))
    same(d("renyi", alpha=0.5), -2 * math.log(overlap))
    same(d("fisher_rao"), 2 / math.pi * math.acos(overlap))
    same(d("gamma", beta=0), d("kl"))
    same(d("gamma", beta=1), -math.log(p @ q / np.linalg.norm(p) / np.linalg.norm(q)))
    same(d("gamma", beta=-1), math.log(np.mean(p / q)) - np.mean(log_p - log_q))
    same(d("ab", alpha=0.5, beta=0.5), -4 * math.log(overlap))
    same(d("ab", alpha=0, beta=0), np.var(log_p - log_q) / 2)
    for b in (-2.0, -1.0, 0.0, 0.25, 3.0):
        same(d("ab", alpha=1, beta=b), d("gamma", beta=b))
    for a in (0.25, 0.75, 1.0, 3.0):
        same(d("ab", alpha=a, beta=1 - a), d("renyi", alpha=a) / a)
    for a, b in [(3.0, 0.25), (2.0, -0.5), (0.0, 1.5), (1.0, -1.0), (-1.0, -2.0)]:
        same(d("ab", alpha=a, beta=b), back("ab", alpha=b, beta=a))


def test_scale_free_measures_ignore_scale_where_alpha_does_not():
    """ab depends on p^s only up to a factor: of escorts it is renyi, rescaled."""
    p, q = pair(5)
    a, b = 1.5, 0.5
    between_escorts = divergence("renyi", normal(2 * p), normal(2 * q), alpha=a / 2)
    assert divergence("ab", p, q, alpha=a, beta=b) == pytest.approx(between_escorts / (a / 2) / 4)


# ----------------------------------------------------------------------------------------- limits

LIMITS = [
    ("alpha", {"alpha": 0.0}, "alpha"),
    ("alpha", {"alpha": 1.0}, "alpha"),
    ("renyi", {"alpha": 1.0}, "alpha"),
    ("gamma", {"beta": 0.0}, "beta"),
    ("gamma", {"beta": -1.0}, "beta"),
    ("ab", {"alpha": 0.0, "beta": 0.5}, "alpha"),
    ("ab", {"alpha": 0.5, "beta": 0.0}, "beta"),
    ("ab", {"alpha": 0.5, "beta": -0.5}, "beta"),
    ("ab", {"alpha": 0.0, "beta": 0.0}, "alpha"),
]


@pytest.mark.parametrize(("name", "options", "moved"), LIMITS)
@pytest.mark.parametrize("spread", [0.01, 2.0, 20.0])
def test_right_beside_a_singular_parameter(name, options, moved, spread):
    """The formula tends to the limit without a step: both sides, from 1e-2 to 1e-15."""
    p, q = pair(4, 6, spread)
    for size in (1e-2, 1e-4, 1e-6, 1e-9, 1e-12, 1e-15):
        for step in (-size, size):
            near = options | {moved: options[moved] + step}
            expected = textbook(name, p, q, **near)
            assert divergence(name, p, q, **near) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("name", "options", "moved"), LIMITS)
def test_the_limit_is_approached_from_both_sides(name, options, moved):
    p, q = pair(4, 6)
    limit = divergence(name, p, q, **options)
    for sign in (-1, 1):
        far, near = (
            abs(divergence(name, p, q, **options | {moved: options[moved] + sign * step}) - limit)
            for step in (1e-3, 1e-6)
        )
        assert 0 < far < 0.1 * limit
        assert near == pytest.approx(far / 1000, rel=0.1)  # linear: the slope is the same


def test_parameters_too_small_to_multiply():
    p, q = pair(6)
    for tiny in (5e-324, 1e-200, 1e-60, -1e-160):
        assert divergence("alpha", p, q, alpha=tiny) == pytest.approx(divergence("kl", q, p))
        both = divergence("ab", p, q, alpha=tiny, beta=-tiny / 3)
        assert both == pytest.approx(np.var(p - q) / 2)


# ------------------------------------------------------------------------------------------- laws

distributions = st.integers(2, 9).flatmap(
    lambda words: st.tuples(
        *[st.lists(st.floats(-30, 0), min_size=words, max_size=words).map(normal)] * 2
    )
)
measures = st.sampled_from(EVERY)
quick = settings(max_examples=100, deadline=None)


@quick
@given(measures, distributions)
def test_never_negative_never_beyond_the_bound_and_zero_only_for_equals(measure, both):
    name, options = measure
    p, q = both
    value = divergence(name, p, q, **options)
    assert 0 <= value <= MEASURES[name].upper(**options)
    apart = np.abs(np.exp(p) - np.exp(q)).max()
    if apart > 1e-6:
        assert value > 0
    if np.abs(p - q).max() < 1e-13:
        assert value < 1e-12


@every_measure
def test_bit_equal_inputs_are_exactly_zero_apart(name, options):
    p, _ = pairs(7, 40, 50, 8.0)
    some = logs([[0.5, 0.0, 0.5, 0.0], [0.1, 0.2, 0.3, 0.4]])
    for x in (p, some, p.astype(np.float32).astype(np.float64)):
        assert np.all(divergences(name, x, x.copy(), **options) == 0)


@every_measure
def test_never_negative_in_the_last_bits(name, options):
    p, _ = pairs(15, 2000, 2, 0.5)
    q = p + 2e-15 * np.random.default_rng(16).normal(size=p.shape)
    values = divergences(name, p, q, **options)
    assert values.min() >= 0
    assert 0 < values.max() < 1e-13


@quick
@given(measures, distributions, st.randoms(use_true_random=False))
def test_the_order_of_the_vocabulary_does_not_matter(measure, both, random):
    name, options = measure
    p, q = both
    order = list(range(len(p)))
    random.shuffle(order)
    value = divergence(name, p, q, **options)
    assert divergence(name, p[order], q[order], **options) == pytest.approx(
        value, rel=1e-9, abs=1e-14
    )


@pytest.mark.parametrize("name", MEASURES)
def test_symmetry_is_as_declared(name):
    options = {key: 0.8 if key == "alpha" else 0.3 for key in MEASURES[name].parameters}
    p, q = pairs(8, 20)
    there, back = divergences(name, p, q, **options), divergences(name, q, p, **options)
    if MEASURES[name].symmetric:
        np.testing.assert_allclose(there, back, rtol=1e-14)
    else:
        assert np.all(np.abs(there - back) > 1e-4 * there)


@every_measure
def test_symmetrised_is_the_mean_of_both_directions(name, options):
    p, q = pairs(9, 3)
    both = divergences(name, p, q, symmetrised=True, **options)
    mean = (divergences(name, p, q, **options) + divergences(name, q, p, **options)) / 2
    np.testing.assert_allclose(both, mean, rtol=1e-13)


@pytest.mark.parametrize("name", MEASURES)
def test_renormalises_the_rounding_of_the_caller(name):
    p, q = pair(11, 500)
    rough = divergence(name, p + 4e-7, q - 4e-7)
    assert rough == pytest.approx(divergence(name, p, q), rel=1e-11)


def test_a_large_vocabulary_against_plain_probabilities():
    p, q = pairs(12, 8, 30522, 3.0)
    x, y = np.exp(p), np.exp(q)
    np.testing.assert_allclose(divergences("kl", p, q), (x * (p - q)).sum(-1), rtol=1e-10)
    np.testing.assert_allclose(
        divergences("renyi", p, q, alpha=0.75), -4 * np.log((x**0.75 * y**0.25).sum(-1)), rtol=1e-10
    )


# ---------------------------------------------------------------------------------- absent words

SHRINKING = ("1e-400", "1e-50")
HALF = logs([0.5, 0.5, 0.0, 0.0])
THIRDS = logs([0.25, 0.25, 0.5, 0.0])
APART = logs([0.0, 0.0, 0.5, 0.5])


def test_kl_is_infinite_only_where_q_lacks_what_p_has():
    assert divergence("kl", HALF, THIRDS) == pytest.approx(math.log(2))
    assert divergence("kl", THIRDS, HALF) == math.inf
    assert divergence("kl", THIRDS, HALF, symmetrised=True) == math.inf


@pytest.mark.parametrize(
    ("name", "options", "there", "back"),
    [
        ("alpha", {"alpha": 0.5}, 4 - math.sqrt(8), 4 - math.sqrt(8)),
        ("alpha", {"alpha": 2.0}, 0.5, math.inf),
        ("alpha", {"alpha": 1.5}, (math.sqrt(2) - 1) / 0.75, math.inf),
        ("alpha", {"alpha": -0.5}, math.inf, (math.sqrt(2) - 1) / 0.75),
        ("alpha", {"alpha": 0.0}, math.inf, math.log(2)),
        ("alpha", {"alpha": -1.0}, math.inf, 0.5),
        ("renyi", {"alpha": 0.0}, math.log(2), 0.0),
        ("renyi", {"alpha": 0.5}, math.log(2), math.log(2)),
        ("renyi", {"alpha": 2.0}, math.log(2), math.inf),
        ("gamma", {"beta": 1.0}, math.log(3) / 2, math.log(3) / 2),
        ("gamma", {"beta": 0.0}, math.log(2), math.inf),
        ("gamma", {"beta": -1.0}, math.inf, math.inf),
        ("ab", {"alpha": 0.0, "beta": 0.0}, math.inf, math.inf),
        ("ab", {"alpha": 0.0, "beta": 2.0}, math.inf, math.log(3) / 4),
        ("ab", {"alpha": -1.0, "beta": -1.0}, math.log(3), math.log(3)),
        ("ab", {"alpha": 1.0, "beta": -0.5}, 2 * math.log(1 + math.sqrt(0.5)), math.inf),
        ("ab", {"alpha": -0.5, "beta": 1.0}, math.inf, 2 * math.log(1 + math.sqrt(0.5))),
        ("l1", {}, 1.0, 1.0),
        ("l2", {}, math.sqrt(0.375), math.sqrt(0.375)),
        ("linf", {}, 0.5, 0.5),
        ("fisher_rao", {}, 0.5, 0.5),
        ("jensen_shannon", {}, 1.5 * math.log(2) - 0.75 * math.log(3), None),
    ],
)
def test_zeros_by_hand(name, options, there, back):
    assert divergence(name, HALF, THIRDS, **options) == pytest.approx(there, rel=1e-12)
    back = there if back is None else back
    assert divergence(name, THIRDS, HALF, **options) == pytest.approx(back, rel=1e-12)


def test_renyi_of_supports():
    """alpha = 0 and its neighbourhood, also where almost nothing of q is left."""
    q = logs([1e-20, 0.0, 0.5, 0.5])
    for alpha in (0.0, 1e-320, 1e-90):
        assert divergence("renyi", HALF, THIRDS, alpha=alpha) == pytest.approx(math.log(2))
        assert divergence("renyi", HALF, q, alpha=alpha) == pytest.approx(20 * math.log(10))


@pytest.mark.parametrize("beta", [-1 - 1e-15, -1 + 1e-15])
def test_zeros_next_to_an_infinite_limit(beta):
    assert divergence("gamma", HALF, THIRDS, beta=beta) > 1e10
    assert divergence("gamma", THIRDS, HALF, beta=beta) > 1e10


@pytest.mark.parametrize("name", MEASURES)
def test_disjoint_distributions_attain_the_bound(name):
    assert divergence(name, HALF, APART) == pytest.approx(
        {"l2": 1.0, "linf": 0.5}.get(name, MEASURES[name].upper()), rel=1e-12
    )
    many = pairs(17, 200, 9)[0]
    evens, odds = (normal(np.where(np.arange(9) % 2 == i, many, -math.inf)) for i in (0, 1))
    assert np.all(divergences(name, evens, odds) <= MEASURES[name].upper())
    points = logs([1.0, 0.0]), logs([0.0, 1.0])
    assert divergence(name, *points) == pytest.approx(MEASURES[name].upper(), rel=1e-12)


@quick
@given(measures, distributions, st.data())
def test_zeros_never_make_a_nan_and_agree_with_tiny_probabilities(measure, both, data):
    name, options = measure
    holes = st.lists(st.booleans(), min_size=len(both[0]) - 1, max_size=len(both[0]) - 1)
    gone = [np.array([False, *data.draw(holes)]) for _ in both]
    p, q = (normal(np.where(g, -math.inf, x)) for g, x in zip(gone, both, strict=True))
    value = divergence(name, p, q, **options)
    assert value >= 0
    one_sided = gone[0] != gone[1]
    assert (value == math.inf) <= one_sided.any()
    used = ~(gone[0] & gone[1])  # absent from both: must not matter
    expected = textbook(name, p[used], q[used], **options)  # with 1e-400 for 0
    if math.isfinite(value):
        assert value == pytest.approx(expected, rel=1e-8, abs=1e-13)
    else:
        closer, close = (exact(name, p[used], q[used], **options, tiny=t) for t in SHRINKING)
        assert closer > close  # it grows without end


# -------------------------------------------------------------------------------------- the table


def test_the_table_declares_every_range():
    uppers = {name: measure.upper() for name, measure in MEASURES.items()}
    assert uppers == {
        "kl": math.inf,
        "alpha": 4.0,
        "renyi": math.inf,
        "gamma": math.inf,
        "ab": math.inf,
        "l1": 2.0,
        "l2": math.sqrt(2),
        "linf": 1.0,
        "fisher_rao": 1.0,
        "jensen_shannon": math.log(2),
    }
    assert MEASURES["alpha"].upper(alpha=0.2) == pytest.approx(6.25)
    for a in (-1, 0, 1, 2):
        assert MEASURES["alpha"].upper(alpha=a) == math.inf
    assert {n for n, m in MEASURES.items() if "alpha" in m.parameters} == {"alpha", "renyi", "ab"}
    assert {n for n, m in MEASURES.items() if "beta" in m.parameters} == {"gamma", "ab"}
    with pytest.raises(AttributeError):
        MEASURES["kl"].name = "lk"


def test_one_half_is_the_default():
    p, q = pair(13)
    assert divergence("alpha", p, q) == divergence("alpha", p, q, alpha=0.5)
    assert divergence("gamma", p, q) == divergence("gamma", p, q, beta=0.5)
    assert divergence("ab", p, q, alpha=2) == divergence("ab", p, q, alpha=2, beta=0.5)


def test_invalid_arguments_are_refused():
    p, q = pair(14)
    with pytest.raises(OptionError, match=r"'jeffrey'.*kl, alpha"):
        divergence("jeffrey", p, q)
    with pytest.raises(OptionError, match="kl takes no parameters, got alpha = 2"):
        divergence("kl", p, q, alpha=2)
    with pytest.raises(OptionError, match=r"renyi takes alpha, got beta = 0\.25"):
        divergence("renyi", p, q, beta=0.25)
    with pytest.raises(OptionError, match=r"at least 0, got -0\.5"):
        divergence("renyi", p, q, alpha=-0.5)
    with pytest.raises(OptionError, match="alpha must be a finite number, got inf"):
        divergence("alpha", p, q, alpha=math.inf)
    with pytest.raises(OptionError, match="beta must be a finite number, got nan"):
        MEASURES["gamma"].upper(beta=math.nan)
    with pytest.raises(ShapeError, match="got 7 and 5 words"):
        divergence("kl", p, normal(q[:5]))
    with pytest.raises(ShapeError, match=r"log_p must be a vector .* got \(2, 7\)"):
        divergence("kl", [p, p], [q, q])
    with pytest.raises(ShapeError, match=r"log_p .* got \(\)"):
        divergence("kl", 0.0, q)
    with pytest.raises(ShapeError, match=r"log_q .* got \(0,\)"):
        divergence("kl", p, np.zeros(0))
    with pytest.raises(DataError, match=r"log_q is not normalised: .* 0\.001 "):
        divergence("kl", p, q + 1e-3)
    for bad in (np.exp(q), q + 2e-6, np.full(7, -math.inf), np.full(7, math.nan), q + math.inf):
        with pytest.raises(DataError, match="not normalised"):
            divergence("l1", p, bad)
