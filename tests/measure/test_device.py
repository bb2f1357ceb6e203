"""Batched solvers in torch: the solutions of numpy, and one read of the device per round."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from nlgauge import score
from nlgauge.core.device import HOST, solving_on
from nlgauge.measure import sinkhorn
from nlgauge.measure.cost import cosine, squared_euclid
from nlgauge.measure.precision_recall import expected_similarities
from nlgauge.measure.problem import Problem, normalised
from nlgauge.measure.transport import match_many

torch = pytest.importorskip("torch")

from nlgauge.encode.device import torch_solvers  # noqa: E402

INF = math.inf
TORCH = torch_solvers(torch.device("cpu"))
META = torch_solvers(torch.device("meta"))
SHAPES = [(1, 1), (1, 9), (5, 6), (8, 8), (26, 22), (33, 31), (40, 3)]
TEXTS = (
    ["a man is on a boat", "the cat saw the dog", "a cat", "no word in common here, none at all"],
    ["a guy stands in a canoe", "a cat sat", "a cat", "something else that is completely unlike"],
)


def problems(*, zeros: bool = False) -> list[Problem]:
    rng = np.random.default_rng(5)
    made = []
    for n, m in SHAPES:
        x, y = rng.normal(size=(n, 8)), rng.normal(size=(m, 8))
        y[: min(n, m)] += x[: min(n, m)]
        a, b = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))
        if zeros:
            a[: n // 3], b[m - m // 4 :] = 0, 0
        made.append(Problem(cosine(x, y), a / a.sum(), b / b.sum()))
    return made


@pytest.mark.parametrize("reference", ["product", "ones"])
@pytest.mark.parametrize("epsilon", [0.003, 0.1, 5.0])
@pytest.mark.parametrize(
    "penalties", [(0.23, 0.31), (0.009, 0.95), (50.0, 50.0), (INF, 0.2), (INF, INF), (0.3, 0.0)]
)
def test_plans_are_those_of_numpy(penalties, epsilon, reference) -> None:
    given = list(zip(*problems(), strict=True))
    wanted = list(zip(*problems(zeros=True), strict=True))
    options = {"penalty_a": penalties[0], "penalty_b": penalties[1], "epsilon": epsilon}
    for costs, a, b in (given, wanted):
        expected = match_many(costs, a, b, reference=reference, **options)
        with solving_on(TORCH):
            found = match_many(costs, a, b, reference=reference, **options)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one.coupling, other.coupling, rtol=0, atol=1e-10)
            assert one.value == pytest.approx(other.value, abs=1e-10)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 2.0])
def test_divergences_are_those_of_numpy(epsilon) -> None:
    rng = np.random.default_rng(6)
    triples = []
    for n, m in SHAPES:
        x, y = rng.normal(size=(n, 3)), rng.normal(size=(m, 3))
        a, b = normalised(None, n), normalised(rng.gamma(1, size=m), m)
        costs = (squared_euclid(p, q) for p, q in [(x, y), (x, x), (y, y)])
        triples.append(tuple(map(Problem, costs, (a, a, b), (b, a, b))))
    expected = sinkhorn.sinkhorn_divergences(triples, epsilon=epsilon)
    with solving_on(TORCH):
        found = sinkhorn.sinkhorn_divergences(triples, epsilon=epsilon)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    alone = [float(sinkhorn.sinkhorn_divergences([each], epsilon=epsilon)[0]) for each in triples]
    np.testing.assert_allclose(alone, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("temperature", [1e-12, 0.1, 1e6])
def test_soft_matches_are_those_of_numpy(temperature, zeros) -> None:
    weighted = [each.without_zeros() for each in problems(zeros=zeros)]
    given = [Problem(1 - cost, a, b) for cost, a, b in weighted]
    given += [each.transposed() for each in given]
    with solving_on(TORCH):
        found = expected_similarities(given, temperature)
    expected = expected_similarities(given, temperature)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_a_batch_has_the_bits_of_its_problems() -> None:
    given = problems()
    with solving_on(TORCH):
        together = sinkhorn.solve(given, (0.23, 0.31), 0.05, "product")
        alone = [sinkhorn.solve([one], (0.23, 0.31), 0.05, "product")[0] for one in given]
        soft = expected_similarities(given, 0.1)
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.coupling, other.coupling, rtol=0, atol=1e-12)
    assert len(soft) == len(given)


@pytest.mark.parametrize("reference", ["product", "ones"])
@pytest.mark.parametrize("penalties", [(0.23, 0.31), (INF, INF)])
def test_a_round_reads_nothing(penalties, reference) -> None:
    """The device meta has no numbers, so that reading one raises an error."""
    with solving_on(META):
        for members, batch in sinkhorn._batches(problems(), penalties, reference):
            zeros = torch.zeros_like(batch.a), torch.zeros_like(batch.b)
            f, g, error = sinkhorn._round(batch, *zeros, 0.1)
            assert {f.device.type, g.device.type, error.device.type} == {"meta"}
            assert (f.shape, g.shape) == (batch.a.shape, batch.b.shape)
            assert error.shape == (len(members),)
            assert batch.plan(f, g, 0.1).shape == batch.cost.shape
            assert batch.select(np.array([0])).cost.shape == (1, *batch.cost.shape[1:])
            with pytest.raises(NotImplementedError, match="meta"):
                batch.device.fetch(error)


def test_a_round_is_one_read_and_a_batch_one_copy_each_way() -> None:
    copies: list[str] = []

    def counted(name):
        def copy(values):
            copies.append(name)
            return getattr(TORCH, name)(values)

        return copy

    device = dataclasses.replace(TORCH, send=counted("send"), fetch=counted("fetch"))
    given = [problems()[4]] * 3
    with solving_on(device):
        solutions = sinkhorn.solve(given, (0.23, 0.31), 0.05, "product")
    rounds = max(one.iterations for one in solutions) // sinkhorn.SCALINGS
    assert copies == ["send"] + ["fetch"] * (rounds + 1)


@pytest.mark.parametrize(
    "spec",
    [
        *("lazy_emd:epsilon=.01", "lazy_emd:compat=lazy_emd", "bary:epsilon=.1"),
        *("bertscore:temperature=.1", "yisi:temperature=.1,ngram=2"),
    ],
)
@pytest.mark.parametrize("weights", ["uniform", "idf"])
def test_scores_are_those_of_numpy(spec, weights) -> None:
    used: list[str] = []

    def send(values):
        used.append("send")
        return TORCH.send(values)

    options = "model=hashing" if spec.startswith("yisi") else f"model=hashing,weights={weights}"
    named = f"{spec},{options}"
    expected = score(*TEXTS, metrics=named)[named]
    with solving_on(dataclasses.replace(TORCH, send=send)):
        found = score(*TEXTS, metrics=named)[named]
    assert used
    pairs = zip(found.statistics, expected.statistics, *TEXTS, strict=True)
    for one, other, candidate, reference in pairs:
        # The root of a divergence of 1e-15 is 3e-8: the other components of equal texts.
        count = 1 if candidate == reference else len(one)
        np.testing.assert_allclose(one[:count], other[:count], rtol=0, atol=1e-9)


def test_no_device_changes_nothing() -> None:
    with solving_on(TORCH), solving_on(None):
        found = sinkhorn.solve(problems(), (0.2, 0.2), 0.1, "ones")
    with solving_on(HOST):
        expected = sinkhorn.solve(problems(), (0.2, 0.2), 0.1, "ones")
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.coupling, other.coupling, rtol=0, atol=1e-10)
