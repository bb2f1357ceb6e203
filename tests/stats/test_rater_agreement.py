"""Agreement of raters: other packages, published examples, definitions by brute force, limits."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from conftest import golden
from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats.rater_agreement import COEFFICIENTS, bootstrap_agreement, rater_agreement

GOLDEN = golden("rater_agreement")
N = float("nan")


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"{len(case['labels'])} items")
def test_the_numbers_of_other_packages(case: dict) -> None:
    """krippendorff, scikit-learn, statsmodels and irrCAC; versions in the file."""
    labels = np.array(case["labels"], dtype=float)
    for name, value in case["values"].items():
        assert rater_agreement(labels, name) == pytest.approx(value, abs=1e-9), name


# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability: 4 observers, 12 units.
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
        [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
    ]
).T


@pytest.mark.parametrize(
    ("scale", "published"),
    [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)],
)
def test_krippendorffs_worked_example(scale: str, published: float) -> None:
    assert round(rater_agreement(KRIPPENDORFF, f"alpha_{scale}"), 3) == published


def test_cohens_kappa_of_a_table() -> None:
    """A 2 x 2 table of 20, 5, 10 and 15 items: .7 observed, .5 expected, kappa .4."""
    labels = [[1, 1]] * 20 + [[1, 0]] * 5 + [[0, 1]] * 10 + [[0, 0]] * 15
    assert rater_agreement(labels, "agreement") == pytest.approx(0.7)
    assert rater_agreement(labels, "kappa") == pytest.approx(0.4)


def test_gwets_coefficient_of_a_skewed_table() -> None:
    """118, 5, 2 and 0 of 125 items: kappa -.0234 and AC1 .9408, the paradox that AC1 avoids."""
    labels = [[1, 1]] * 118 + [[1, 0]] * 5 + [[0, 1]] * 2
    assert rater_agreement(labels, "kappa") == pytest.approx(-0.0234, abs=5e-5)
    assert rater_agreement(labels, "ac1") == pytest.approx(0.9408, abs=5e-5)


def _random(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = np.array([0.0, 1.0, 2.5, 7.0])
    labels = values[rng.integers(4, size=(8, 3))]
    return np.where(rng.random(labels.shape) < 0.3, np.nan, labels)


def _distance(scale: str, a: float, b: float, counts: dict[float, int]) -> float:
    """The differences of Krippendorff 2011, section E."""
    low, high = min(a, b), max(a, b)
    if scale == "nominal":
        return float(a != b)
    if scale == "interval":
        return (a - b) ** 2
    if scale == "ratio":
        return 0.0 if a == b else ((a - b) / (a + b)) ** 2
    between = sum(count for value, count in counts.items() if low <= value <= high)
    return 0.0 if a == b else (between - (counts[a] + counts[b]) / 2) ** 2


def _alpha(labels: np.ndarray, scale: str) -> float:
    units = [row[~np.isnan(row)].tolist() for row in labels]
    units = [unit for unit in units if len(unit) > 1]
    pooled = [label for unit in units for label in unit]
    counts = {label: pooled.count(label) for label in pooled}
    observed = sum(
        _distance(scale, a, b, counts) / (len(unit) - 1)
        for unit in units
        for a, b in permutations(unit, 2)
    )
    expected = sum(_distance(scale, a, b, counts) for a, b in permutations(pooled, 2))
    return 1 - (len(pooled) - 1) * observed / expected


def _kappa(labels: np.ndarray, power: int) -> float:
    pairs = [(a, b) for a, b in labels[:, :2] if not np.isnan(a + b)]

    def mean(of: list[tuple[float, float]]) -> float:
        return sum(abs(a - b) ** power if a != b else 0.0 for a, b in of) / len(of)

    return 1 - mean(pairs) / mean([(a, b) for (a, _), (_, b) in product(pairs, pairs)])


@pytest.mark.parametrize("seed", range(5))
def test_the_definitions_by_brute_force(seed: int) -> None:
    labels = _random(seed)
    for scale in ("nominal", "ordinal", "interval", "ratio"):
        found = rater_agreement(labels, f"alpha_{scale}")
        assert found == pytest.approx(_alpha(labels, scale), abs=1e-12), scale
    for power, name in enumerate(("kappa", "kappa_linear", "kappa_quadratic")):
        found = rater_agreement(labels[:, :2], name)
        assert found == pytest.approx(_kappa(labels, power), abs=1e-12), name


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_a_resample_equals_repeated_rows(name: str) -> None:
    """Weights of items are how often their rows are repeated."""
    labels = _random(1)
    weights = np.array([2, 0, 1, 3, 0, 1, 1, 2])
    from nlgauge.stats.rater_agreement import Ratings

    categories = np.unique(labels[~np.isnan(labels)])
    weighted = COEFFICIENTS[name](Ratings.of(labels), weights[None, :].astype(float))[0]
    repeated = rater_agreement(np.repeat(labels, weights, axis=0), name, categories=categories)
    assert weighted == pytest.approx(repeated, abs=1e-12)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_limits(name: str) -> None:
    def value(labels: list[list[float]], **options) -> float:
        return rater_agreement(labels, name, **options)

    assert np.isnan(value([[1], [2], [1]]))  # one rater
    assert np.isnan(value([[1, N], [N, 1]]))  # no item with two labels
    assert np.isnan(value([[N, N]]))  # no label
    constant = value([[1, 1], [1, 1]])
    assert constant == 1 if name == "agreement" else np.isnan(constant)
    assert value([[1, 1], [2, 2], [3, 3]]) == pytest.approx(1)
    one = value([[1, 2]])  # one item
    assert one == (-1 if name in ("fleiss", "ac1", "ac2") else 0)
    assert value([[1, 2], [1, 2]]) <= 0  # labels that the other never uses
    assert value([[1, 1], [2, 2], [1, 2], [3, N]], categories=[1, 2, 3]) == pytest.approx(
        value([[1, 1], [2, 2], [1, 2], [3, N], [N, N]], categories=[1, 2, 3])
    )


def test_unused_categories_count_for_gwet_only() -> None:
    labels = [[1, 1], [2, 2], [1, 2]]
    for name in COEFFICIENTS:
        if name.startswith("ac"):
            more = rater_agreement(labels, name, categories=[1, 2, 3])
            assert more > rater_agreement(labels, name)
        else:
            same = rater_agreement(labels, name, categories=[1, 2, 3])
            assert same == pytest.approx(rater_agreement(labels, name))
    assert rater_agreement([[1, 1]], "ac1", categories=[1, 2]) == 1  # constant, of two


def test_intervals() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=60)
    labels = np.stack([np.where(rng.random(60) < 0.7, truth, rng.integers(3, size=60))] * 2, axis=1)
    labels[:20, 1] = (labels[:20, 1] + 1) % 3
    found = bootstrap_agreement(labels, "agreement", count=2000)
    error = 1.96 * np.sqrt((2 / 3) * (1 / 3) / 60)  # of a share of 60 independent items
    assert found.low == pytest.approx(found.value - error, abs=0.02)
    assert found.high == pytest.approx(found.value + error, abs=0.02)
    assert (found.over, found.count, found.undefined) == ("items", 2000, 0)
    again = bootstrap_agreement(labels, "agreement", count=2000)
    assert (again.low, again.high) == (found.low, found.high)


def test_clusters_are_drawn_whole() -> None:
    """Items of a cluster that are copies add nothing: the interval is that of the clusters."""
    labels = np.array([[1, 1], [2, 2], [1, 2], [3, 3], [2, 3], [1, 1]], dtype=float)
    single = bootstrap_agreement(labels, "agreement", count=500)
    copies = np.repeat(labels, 7, axis=0)
    clusters = np.repeat(list("abcdef"), 7)
    clustered = bootstrap_agreement(copies, "agreement", clusters=clusters, count=500)
    assert (clustered.low, clustered.high) == pytest.approx((single.low, single.high))
    assert clustered.over == "clusters"
    wrong = bootstrap_agreement(copies, "agreement", count=500)
    assert wrong.high - wrong.low < 0.6 * (clustered.high - clustered.low)


def test_undefined_resamples_are_counted() -> None:
    found = bootstrap_agreement([[1, 1], [2, 2]], "alpha_nominal", count=400)
    assert found.value == 1
    assert 100 < found.undefined < 300  # half of the draws take the same item twice
    nothing = bootstrap_agreement([[1, 1]], "kappa", count=10)
    assert np.isnan([nothing.value, nothing.low, nothing.high]).all()


@pytest.mark.parametrize(
    ("labels", "options", "error", "message"),
    [
        ([1, 2], {}, ShapeError, "give items x raters"),
        ([[1, np.inf]], {}, DataError, "1 infinite values of 2"),
        ([[1, 4]], {"categories": [1, 2]}, DataError, "1 of 2 labels are not among"),
        ([[-1, 2]], {"coefficient": "alpha_ratio"}, DataError, "no negative labels; use"),
        ([[1, 2]], {"coefficient": "alpha"}, OptionError, "there are agreement, kappa"),
        (np.arange(2002).reshape(-1, 2), {"coefficient": "kappa"}, DataError, "2,002 different"),
    ],
)
def test_invalid_arguments_are_refused(labels, options: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        rater_agreement(labels, **options)


def test_invalid_arguments_of_intervals_are_refused() -> None:
    with pytest.raises(ShapeError, match="2 items need 2 clusters"):
        bootstrap_agreement([[1, 2], [2, 2]], clusters=["a"])
    with pytest.raises(DataError, match="0 items"):
        bootstrap_agreement(np.empty((0, 2)))


def test_huge_labels() -> None:
    labels = np.array([[1, 1], [2, 3], [3, 3], [1, 2]], dtype=float)
    for name in COEFFICIENTS:
        found = rater_agreement(1e300 * labels, name)
        assert found == pytest.approx(rater_agreement(labels, name), abs=1e-9), name


def test_measurements_with_many_values() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=1500)
    labels = truth[:, None] + 0.1 * rng.normal(size=(1500, 2))
    assert rater_agreement(labels, "alpha_interval") == pytest.approx(0.99, abs=0.005)
    assert rater_agreement(labels, "alpha_ordinal") == pytest.approx(0.99, abs=0.005)
