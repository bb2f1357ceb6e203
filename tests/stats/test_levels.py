"""The levels against scipy and brute force, and missing cells."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nlgauge.core.errors import DataError, OptionError, ShapeError
from nlgauge.stats import bootstrap_correlation, document_means, soft_pairwise_accuracy
from nlgauge.stats.levels import correlate, per_input


@pytest.mark.parametrize(
    ("coefficient", "scipy"),
    [
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall_b", stats.kendalltau),
    ],
)
def test_levels_are_scipys_on_rows_means_and_all_cells(coefficient, scipy):
    human = np.array([[4.0, 1.0, 2.0], [1.0, 1.0, 3.0], [2.0, 5.0, 4.0], [3.0, 4.0, 5.0]])
    metric = np.array([[0.7, 0.3, 0.2], [0.1, 0.4, 0.2], [0.4, 0.9, 0.3], [0.9, 0.6, 0.8]])
    got = {
        level: correlate(metric, human, level, coefficient)
        for level in ("text", "by_system", "system", "segment")
    }
    texts = [scipy(m, h).statistic for m, h in zip(metric.T, human.T, strict=True)]
    systems = [scipy(m, h).statistic for m, h in zip(metric, human, strict=True)]
    of_means = scipy(metric.mean(axis=1), human.mean(axis=1)).statistic
    assert got["text"].value == pytest.approx(np.mean(texts), abs=1e-12)
    assert per_input(metric, human, coefficient) == pytest.approx(texts, abs=1e-12)
    assert got["by_system"].value == pytest.approx(np.mean(systems), abs=1e-12)
    assert got["system"].value == pytest.approx(of_means, abs=1e-12)
    assert got["segment"].value == pytest.approx(
        scipy(metric.ravel(), human.ravel()).statistic, abs=1e-12
    )
    assert (got["text"].n, got["system"].n, got["segment"].n) == (12, 4, 12)
    assert (got["text"].rows_used, got["by_system"].rows_used) == (3, 4)


@pytest.mark.parametrize(
    ("alias", "level"),
    [
        ("global", "segment"),
        ("flat", "segment"),
        ("input", "text"),
        ("group-by-system", "by_system"),
    ],
)
def test_aliases_are_the_same_result(alias, level):
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 4, 6))
    assert correlate(x, y, alias) == correlate(x, y, level)


def test_system_level_averages_judged_inputs_only():
    human = np.array([[1.0, 2.0, np.nan], [3.0, np.nan, 5.0], [6.0, 1.0, 1.0]])
    metric = np.array([[0.1, 0.4, 9.0], [0.5, -9.0, 0.6], [0.3, 0.2, 0.1]])
    want = stats.pearsonr([0.25, 0.55, 0.2], [1.5, 4.0, 8 / 3]).statistic
    got = correlate(metric, human, "system")
    assert got.value == pytest.approx(want, abs=1e-12)
    assert (got.n, got.cells, got.cells_without_human, got.cells_without_metric) == (3, 7, 2, 0)


def test_undefined_rows_are_counted_and_not_zero():
    human = np.array([[1.0, 2.0, 5.0], [2.0, 2.0, 4.0], [3.0, 2.0, np.nan]])
    metric = np.array([[1.0, 0.1, 1.0], [2.0, 0.2, np.nan], [3.0, 0.3, 1.0]])
    got = correlate(metric, human, "text")
    # Input 0 is perfect, input 1 has constant people, input 2 a single common system.
    assert got.value == 1.0
    assert (got.rows_used, got.rows_undefined, got.n) == (1, 2, 3)
    assert (got.cells_without_metric, got.cells_without_human) == (1, 1)
    assert np.isnan(per_input(metric, human)[1:]).all()


def test_one_judged_system():
    human = np.full((3, 4), np.nan)
    human[1] = [1.0, 2.0, 3.0, 5.0]
    metric = np.arange(12.0).reshape(3, 4) ** 2
    system, text = correlate(metric, human, "system"), correlate(metric, human, "text")
    assert np.isnan(system.value)
    assert system.reason == "1 judged system; the system level compares at least 2"
    assert np.isnan(text.value)
    assert text.rows_undefined == 4
    segment = correlate(metric, human, "segment")
    assert segment.value > 0.9
    assert (segment.n, segment.reason) == (4, "")


@pytest.mark.parametrize(
    ("metric", "human", "level", "reason"),
    [
        ([[1.0, 2.0]], [[np.nan, np.nan]], "segment", "no cell has both"),
        ([[1.0, 2.0]], [[1.0, np.nan]], "segment", "only 1 cell is both"),
        ([[1.0, 1.0]], [[1.0, 2.0]], "segment", "all 2 cells are constant"),
        ([[1.0], [1.0]], [[1.0], [2.0]], "system", "the 2 systems are constant"),
        ([[1.0], [1.0]], [[1.0], [2.0]], "text", "the 2 systems are constant"),
        ([[1.0, 1.0]], [[1.0, 2.0]], "by_system", "all 2 cells are constant"),
        ([[1.0, np.nan], [np.nan, 2.0]], [[1.0, 2.0], [3.0, 4.0]], "text", "no input has 2"),
    ],
)
def test_undefined_coefficients_have_a_reason(metric, human, level, reason):
    got = correlate(metric, human, level)
    assert np.isnan(got.value)
    assert reason in got.reason


def test_a_vector_is_one_pseudo_system():
    x, y = [1.0, 2.0, 4.0], [1.0, 3.0, 2.0]
    assert correlate(x, y).value == pytest.approx(stats.pearsonr(x, y).statistic)


def test_invalid_arguments_are_refused():
    with pytest.raises(OptionError, match=r"'chapter'.*segment, text, by_system, document"):
        correlate([[1.0, 2.0]], [[1.0, 2.0]], "chapter")
    with pytest.raises(ShapeError, match=r"2 systems x 3 inputs.*3 x 2; one looks transposed"):
        correlate(np.ones((2, 3)), np.ones((3, 2)))
    with pytest.raises(DataError, match="1 infinite values of 2"):
        correlate([[np.inf, 1.0]], [[1.0, 2.0]])


def _random(seed):
    """Random scores and judgements with ties, some of them missing."""
    rng = np.random.default_rng(seed)
    human = np.round(rng.normal(size=(5, 8)), 1)
    metric = np.round(human + rng.normal(size=(5, 8)), 1)
    human[rng.random(human.shape) < 0.2] = np.nan
    metric[rng.random(human.shape) < 0.1] = np.nan
    return metric, human


def _means_by_hand(metric, human, function):
    """The plain mean, and that by number of cells, of a coefficient of the rows."""
    values, sizes = [], []
    for x, y in zip(metric, human, strict=True):
        live = [(a, b) for a, b in zip(x, y, strict=True) if np.isfinite(a + b)]
        if len({a for a, _ in live}) > 1 and len({b for _, b in live}) > 1:
            values.append(function(*zip(*live, strict=True)).statistic)
            sizes.append(len(live))
    return np.mean(values), np.average(values, weights=sizes), len(values), sum(sizes)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("coefficient", "function"),
    [("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall_b", stats.kendalltau)],
)
def test_by_system_and_text_by_brute_force(seed, coefficient, function):
    metric, human = _random(seed)
    for level, data in (("by_system", (metric, human)), ("text", (metric.T, human.T))):
        macro, micro, rows, cells = _means_by_hand(*data, function)
        got = correlate(metric, human, level, coefficient)
        assert got.value == pytest.approx(macro, abs=1e-9)
        assert (got.rows_used, got.n, got.level) == (rows, cells, level)
        weighted = correlate(metric, human, level, coefficient, average="micro")
        assert weighted.value == pytest.approx(micro, abs=1e-9)


def test_micro_averages_in_an_interval():
    metric, human = _random(0)
    options = {"average": "micro", "count": 20}
    interval = bootstrap_correlation(metric, human, "by_system", over="inputs", **options)
    assert interval.value == pytest.approx(
        correlate(metric, human, "by_system", average="micro").value
    )


@pytest.mark.parametrize(("level", "coefficient"), [("segment", "pearson"), ("text", "acc_eq")])
def test_micro_averages_need_rows(level, coefficient):
    with pytest.raises(OptionError, match=f"{coefficient} at the {level} level has no such mean"):
        correlate([[1, 2], [2, 3]], [[1, 2], [4, 3]], level, coefficient, average="micro")
    with pytest.raises(OptionError, match="'macro' or 'micro'"):
        correlate([[1, 2]], [[1, 2]], average="weighted")


def test_documents_by_hand():
    metric, human = _random(3)
    names, means = document_means(list("aabbbcca"), metric, human)
    assert names == ("a", "b", "c")
    members = {"a": [0, 1, 7], "b": [2, 3, 4], "c": [5, 6]}
    for values, found in zip((metric, human), means, strict=True):
        for i in range(5):
            for name, column in zip(names, found[i], strict=True):
                live = [values[i, j] for j in members[name] if np.isfinite((metric + human)[i, j])]
                want = np.mean(live) if live else np.nan
                assert column == pytest.approx(want, abs=1e-12, nan_ok=True)
    flat = [part.ravel() for part in means]
    live = np.isfinite(flat[0])
    want = stats.pearsonr(flat[0][live], flat[1][live]).statistic
    got = correlate(*means, "document")
    assert got.value == pytest.approx(want, abs=1e-9)
    assert (got.level, got.n) == ("document", live.sum())


def test_documents_must_name_every_input():
    with pytest.raises(ShapeError, match="2 documents are named, but the matrices have 3 inputs"):
        document_means(["a", "b"], [[1, 2, 3]])


def test_one_input_has_no_coefficient_by_system():
    got = correlate([[1.0], [2.0]], [[3.0], [1.0]], "by_system")
    assert np.isnan(got.value)
    assert got.reason == "no system has 2 judged inputs"


def test_system_level_with_more_inputs_for_the_metric():
    rng = np.random.default_rng(4)
    metric, human = rng.normal(size=(6, 50)), rng.normal(size=(6, 9))
    metric[0, 3] = human[2, 2] = np.nan
    want = stats.spearmanr(np.nanmean(metric, axis=1), np.nanmean(human, axis=1)).statistic
    assert correlate(metric, human, "system", "spearman").value == pytest.approx(want, abs=1e-9)
    with pytest.raises(ShapeError, match="6 systems x 50 inputs but human is 6 x 9"):
        correlate(metric, human, "segment")
    with pytest.raises(ShapeError, match="6 systems x 50 inputs but human is 5 x 9"):
        correlate(metric, human[1:], "system")


@pytest.mark.parametrize("seed", range(3))
def test_soft_accuracy_of_complete_inputs_is_that_of_pairs(seed):
    """Sums of systems and sums of pairs count the same exchanges."""
    rng = np.random.default_rng(seed)
    metric, human = np.round(rng.normal(size=(2, 4, 12)), 1)
    metric[1] = metric[0]  # a tie of two systems
    human[:, 3] = np.nan
    signs = np.random.default_rng(0).integers(0, 2, size=(1000, 12)) * 2 - 1
    p = []
    for values in (metric, human):
        for i in range(4):
            for j in range(i + 1, 4):
                gap = np.where(np.isfinite(human[0]), values[i] - values[j], 0.0)
                null, observed = signs @ gap, gap.sum()
                equal = np.abs(null - observed) < 1e-9
                p.append(((null > observed) & ~equal).mean() + equal.mean() / 2)
    want = 1 - np.abs(np.array(p[:6]) - p[6:]).mean()
    assert soft_pairwise_accuracy(metric, human).value == pytest.approx(want, abs=1e-9)
    assert correlate(metric, human, "system", "spa").value == pytest.approx(want, abs=1e-9)


def test_cells_of_an_undefined_input_are_not_counted():
    """Both systems have the same score on the second of two inputs."""
    got = correlate([[1.0, 3.0], [2.0, 3.0]], [[1.0, 1.0], [2.0, 2.0]], "text")
    assert (got.value, got.n, got.rows_used, got.rows_undefined) == (1.0, 2, 1, 1)
