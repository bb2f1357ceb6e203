"""Paired tests of two systems, against enumeration, theory and sacrebleu."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from nlgauge.core.errors import DataError, ShapeError
from nlgauge.stats.groups import sum_groups
from nlgauge.stats.intervals import resample_weights
from nlgauge.stats.paired_tests import (
    MAX_ENUMERATED,
    paired_bootstrap,
    paired_permutation,
    paired_randomisation,
)


def total(row):
    return float(row[0])


def ratio(row):
    return float(row[0] / row[1])


@pytest.mark.parametrize("test", [paired_bootstrap, paired_randomisation])
def test_equal_systems_are_not_significant(test):
    rows = np.random.default_rng(0).random((30, 1))
    got = test(rows, rows, total, count=100)
    assert (got.difference, got.p) == (0.0, 1.0)


@pytest.mark.parametrize("test", [paired_bootstrap, paired_randomisation])
def test_a_clear_difference_gets_the_smallest_p(test):
    rows = np.random.default_rng(0).random((60, 1))
    got = test(rows + 0.5, rows, total, count=199)
    assert got.p == 1 / 200
    assert got.difference == pytest.approx(30)


def test_randomisation_equals_enumeration():
    a, b = np.random.default_rng(1).normal(size=(2, 8))
    gap = abs((a - b).sum())
    exact = np.mean(
        [abs(np.dot(s, a - b)) >= gap - 1e-12 for s in itertools.product([-1, 1], repeat=8)]
    )
    got = paired_randomisation(a, b, total, count=20_000)
    assert 0.05 < exact < 0.95
    assert got.p == pytest.approx(exact, abs=0.015)


@pytest.mark.parametrize("finish", [total, ratio])
@pytest.mark.parametrize("seed", range(3))
def test_permutation_of_few_segments_is_exact(finish, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(1, 6, size=(2, 9, 2)).astype(float)
    b[:2] = a[:2]  # rows that do not differ need no exchange
    gap = abs(finish(a.sum(axis=0)) - finish(b.sum(axis=0)))
    hits = 0
    for signs in itertools.product([False, True], repeat=9):
        swap = np.array(signs)[:, None]
        one, other = np.where(swap, b, a).sum(axis=0), np.where(swap, a, b).sum(axis=0)
        hits += abs(finish(one) - finish(other)) >= gap - 1e-12
    got = paired_permutation(a, b, finish)
    assert got.p == pytest.approx(hits / 2**9, abs=1e-12)
    assert (got.method, got.count) == ("exact paired permutation", 0)


def test_permutation_of_many_segments_is_drawn():
    a, b = np.random.default_rng(3).normal(size=(2, MAX_ENUMERATED + 1))
    drawn = paired_randomisation(a, b, total, count=200, seed=1)
    assert paired_permutation(a, b, total, count=200, seed=1) == drawn
    b[0] = a[0]
    exact = paired_permutation(a, b, total)
    assert exact.method == "exact paired permutation"
    assert exact.p == pytest.approx(paired_randomisation(a, b, total).p, abs=0.02)


def test_permutation_of_one_segment_or_none_that_differs_says_nothing():
    assert paired_permutation([3.0], [1.0], total).p == 1.0
    assert paired_permutation([3.0, 1.0], [3.0, 1.0], total).p == 1.0
    with pytest.raises(DataError, match="bootstrap of 1 segment"):
        paired_bootstrap([3.0], [1.0], total)


def test_the_bootstrap_of_groups_has_the_variance_of_the_closed_form():
    rng = np.random.default_rng(8)
    groups = np.repeat(np.arange(12), 5)
    a = rng.normal(size=60) + rng.normal(size=12)[groups]
    rows = [np.column_stack([x, np.ones(60)]) for x in (a, np.zeros(60))]
    got = paired_bootstrap(*(sum_groups(x, groups) for x in rows), ratio, count=20_000)
    means = a.reshape(12, 5).mean(axis=1)
    error = means.std() / np.sqrt(12)  # of the mean of 12 groups of one size, drawn at random
    width = (got.interval.high - got.interval.low) / (2 * 1.96)
    assert width == pytest.approx(error, rel=0.05)
    alone = paired_bootstrap(*rows, ratio, count=2000)
    assert alone.interval.high - alone.interval.low < 0.8 * (got.interval.high - got.interval.low)


def test_resampled_means_of_unequal_groups_are_ratios_of_sums():
    values, groups = np.array([4.0, 1.0, 1.0]), ["x", "y", "y"]
    rows = sum_groups(np.column_stack([values, np.ones(3)]), groups)
    assert rows.tolist() == [[4.0, 1.0], [2.0, 2.0]]
    got = paired_bootstrap(rows, [[0.0, 1.0], [0.0, 2.0]], ratio, count=500)
    # Two groups are drawn: x and x (mean 4), x and y (mean 2), y and y (mean 1).
    assert (got.difference, got.interval.low, got.interval.high) == (2.0, 1.0, 4.0)


def test_groups_are_exchanged_as_wholes():
    a, b, groups = [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0], ["x", "x", "y", "y"]
    rows = [sum_groups(each, groups) for each in (a, b)]
    assert paired_permutation(*rows, total).p == 0.5
    assert paired_permutation(a, b, total).p == 0.125
    with pytest.raises(ShapeError, match="4 segments but 3 groups"):
        sum_groups(a, groups[:3])


def test_bootstrap_agrees_with_the_paired_t_test():
    rng = np.random.default_rng(2)
    a = rng.normal(0.12, 1, 300)
    b = 0.3 * a + rng.normal(0, 1, 300)
    got = paired_bootstrap(a, b, total, count=5000)
    assert got.p == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=0.03)
    assert 0.05 < got.p < 0.95


@pytest.mark.parametrize("test", [paired_bootstrap, paired_randomisation])
def test_p_is_uniform_under_the_null(test):
    rng = np.random.default_rng(6)
    p = []
    for run in range(250):
        length = rng.integers(5, 20, 60).astype(float)
        pair = [np.column_stack([rng.binomial(length.astype(int), 0.5), length]) for _ in "ab"]
        p.append(test(*pair, ratio, count=199, seed=run).p)
    assert stats.kstest(p, "uniform").pvalue > 0.01


@pytest.mark.parametrize("test", [paired_bootstrap, paired_randomisation, paired_permutation])
@pytest.mark.parametrize("segments", [10, 30])
def test_systems_that_differ_by_rounding_are_not_significant(test, segments):
    first, second = np.full(segments, 0.1) + 0.2, np.full(segments, 0.3)
    got = test(first, second, total, count=200)
    assert got.difference != 0
    assert got.p == 1


def test_bootstrap_reports_wins_and_the_interval_of_the_difference():
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.2, 1, 200), rng.normal(0, 1, 200)
    got = paired_bootstrap(a, b, total, count=2000)
    assert got.interval.low < got.difference == got.interval.value < got.interval.high
    z = (a - b).sum() / ((a - b).std() * np.sqrt(200))
    assert got.wins == pytest.approx(stats.norm.cdf(z), abs=0.03)


def test_randomisation_agrees_with_sacrebleu_on_bleu():
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    rng = np.random.default_rng(4)
    words = np.array([f"word{i}" for i in range(12)])
    references = [" ".join(rng.choice(words, 12)) for _ in range(80)]

    def noisy(share):
        out = []
        for reference in references:
            tokens = np.array(reference.split())
            swap = rng.random(tokens.size) < share
            tokens[swap] = rng.choice(words, swap.sum())
            out.append(" ".join(tokens))
        return out

    systems = [("one", noisy(0.30)), ("two", noisy(0.33))]
    bleu = BLEU(references=[references])
    rows = [np.array(bleu._extract_corpus_statistics(text, None)) for _, text in systems]

    def finish(row):
        return bleu._compute_score_from_stats([int(v) for v in row]).score

    test = PairedTest(systems, {"BLEU": bleu}, references=None, test_type="ar", n_samples=2000)
    theirs = test()[1]["BLEU"][1]
    ours = paired_randomisation(rows[1], rows[0], finish, count=2000)
    assert ours.first == pytest.approx(theirs.score, abs=1e-9)
    assert 0.02 < theirs.p_value < 0.98
    assert ours.p == pytest.approx(theirs.p_value, abs=0.05)


@pytest.mark.parametrize(
    ("z", "ours", "sacrebleus"),
    [(0.0, 1.0, 0.425), (0.6745, 0.5, 0.176), (1.2816, 0.2, 0.085), (1.96, 0.05, 0.024)],
)
def test_bootstrap_p_is_twice_sacrebleus_only_if_it_is_small(z, ours, sacrebleus):
    rng = np.random.default_rng(5)
    gaps = rng.normal(size=400)
    gaps = (gaps - gaps.mean()) / gaps.std() * np.sqrt(400)  # of mean 0 and standard error 1
    found = paired_bootstrap(gaps + z, 0 * gaps, lambda row: row[0] / 400, count=4000, seed=1)
    assert found.p == pytest.approx(ours, abs=0.03)
    drawn = resample_weights(400, 4000, np.random.default_rng(1)) @ (gaps + z) / 400
    size = np.abs(drawn)
    theirs = (1 + (size - size.mean() > abs(z)).sum()) / 4001  # sacrebleu's significance.py
    assert theirs == pytest.approx(sacrebleus, abs=0.02)


def test_equal_seeds_give_equal_results():
    a, b = np.random.default_rng(5).normal(size=(2, 40))
    for test in (paired_bootstrap, paired_randomisation):
        assert test(a, b, total, count=300, seed=1) == test(a, b, total, count=300, seed=1)
        assert test(a, b, total, count=300, seed=1).p != test(a, b, total, count=300, seed=2).p


def test_invalid_arguments_are_refused():
    with pytest.raises(ShapeError, match=r"3 segments of 1 .* 2 of 1"):
        paired_bootstrap([1.0, 2.0, 3.0], [1.0, 2.0], total)
    with pytest.raises(DataError, match="finish gave 10 undefined"):
        paired_bootstrap([1.0, 2.0], [1.0, 2.0], lambda _: float("nan"), count=10)
