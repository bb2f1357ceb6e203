"""The loss equals the transport cost of the metrics, and its gradient is correct."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nlgauge.core.errors import DataError, NotConverged, OptionError, ShapeError
from nlgauge.measure.transport import match

torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")
from nlgauge.torch import transport_loss  # noqa: E402 (needs torch)

PENALTIES = [(math.inf, math.inf), (0.5, 2.0), (math.inf, 0.3), (0.0, math.inf)]


def _random(*shape: int, seed: int = 0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def _objective(costs: np.ndarray, a: np.ndarray, b: np.ndarray, plan: np.ndarray, epsilon, p, q):
    """The primal objective, written down as in the docstring."""

    def kl(x: np.ndarray, y: np.ndarray) -> float:
        inside = x > 0
        return float((x[inside] * np.log(x[inside] / y[inside])).sum() - x.sum() + y.sum())

    value = (plan * costs).sum() + epsilon * kl(plan, np.outer(a, b))
    value += 0 if math.isinf(p) else p * kl(plan.sum(1), a)
    return value + (0 if math.isinf(q) else q * kl(plan.sum(0), b))


@pytest.mark.parametrize(("p", "q"), PENALTIES)
def test_the_value_is_the_optimum_that_match_finds(p: float, q: float) -> None:
    x, y = _random(2, 5, 6), _random(2, 4, 6, seed=1)
    weights = torch.rand(2, 5, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    found = transport_loss(
        x, y, candidate_weights=weights, epsilon=0.1, penalty_candidate=p, penalty_reference=q
    )
    for i in range(2):
        unit_x, unit_y = (t[i].numpy() / np.linalg.norm(t[i], axis=1)[:, None] for t in (x, y))
        costs = 1 - unit_x @ unit_y.T
        a, b = (weights[i] / weights[i].sum()).numpy(), np.full(4, 0.25)
        plan = match(costs, a, b, penalty_a=p, penalty_b=q, epsilon=0.1)
        expected = _objective(costs, a, b, plan.coupling, 0.1, p, q)
        assert float(found[i]) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(("p", "q"), PENALTIES)
@pytest.mark.parametrize("cost", ["cosine", "euclid", "squared_euclid"])
def test_gradients_are_right_in_points_and_weights(p: float, q: float, cost: str) -> None:
    def loss(x, y, a, b):
        return transport_loss(
            *(x, y),
            candidate_weights=a,
            reference_weights=b,
            cost=cost,
            epsilon=0.5,
            penalty_candidate=p,
            penalty_reference=q,
            tolerance=1e-13,
        )

    inputs = [_random(2, 3, 2), _random(2, 2, 2, seed=1)]
    inputs += [
        torch.tensor([[1.0, 2, 3], [3, 1, 1]]).double(),
        torch.tensor([[1.0, 2], [2, 1]]).double(),
    ]
    assert torch.autograd.gradcheck(loss, [each.requires_grad_() for each in inputs], atol=1e-6)


def test_padding_changes_nothing() -> None:
    x, y = _random(1, 4, 3), _random(1, 3, 3, seed=1)
    bare = transport_loss(x, y)
    padded = transport_loss(
        torch.cat([x, _random(1, 2, 3, seed=5)], 1),
        y,
        candidate_weights=torch.tensor([[1.0, 1, 1, 1, 0, 0]]).double(),
    )
    assert float(padded) == pytest.approx(float(bare), abs=1e-9)


def test_fifty_steps_of_gradient_descent_lower_the_loss() -> None:
    x, y = _random(2, 4, 3).float(), _random(2, 4, 3, seed=1).float()
    x.requires_grad_()
    optimiser = torch.optim.Adam([x], lr=0.1)
    losses = []
    for _ in range(50):
        optimiser.zero_grad()
        loss = transport_loss(x, y, cost="squared_euclid", epsilon=0.5).sum()
        loss.backward()
        optimiser.step()
        losses.append(float(loss))
    assert losses[-1] < 0.2 * losses[0]
    assert losses[-1] < min(losses[:25])


def test_equal_clouds_have_a_finite_gradient() -> None:
    x = _random(1, 3, 2).requires_grad_()
    transport_loss(x, x.detach(), cost="euclid", epsilon=0.1).sum().backward()
    assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"references": _random(2, 3, 3)}, ShapeError, r"shapes \(1, 4, 3\) and \(2, 3, 3\)"),
        ({"cost": "manhattan"}, OptionError, "no cost 'manhattan'"),
        ({"epsilon": 0.0}, OptionError, "above 0"),
        ({"penalty_candidate": -1.0}, OptionError, "between 0 and infinity"),
        ({"candidate_weights": torch.ones(1, 3)}, ShapeError, r"shape \(1, 3\), but .* 1 x 4"),
        (
            {"candidate_weights": torch.zeros(1, 4)},
            DataError,
            "row 0 of candidate_weights is all 0",
        ),
        ({"reference_weights": -torch.ones(1, 3)}, DataError, "none may be below 0"),
        ({"reference_weights": torch.full((1, 3), torch.nan)}, DataError, "contain nan"),
        ({"candidates": _random(1, 4, 3) * torch.nan}, DataError, "NaN or infinities"),
        ({"iterations": 1}, NotConverged, "use a larger epsilon"),
    ],
)
def test_invalid_arguments_are_named_in_the_error(
    change: dict, kind: type[Exception], message: str
) -> None:
    words = {"candidates": _random(1, 4, 3), "references": _random(1, 3, 3, seed=1), **change}
    with pytest.raises(kind, match=message):
        transport_loss(words.pop("candidates"), words.pop("references"), **words)
