"""Optimal transport between batches of token clouds as a loss: what mover, lazy_emd and bary match.

    min over P of <P, C> + epsilon KL(P | a b') + p KL(P 1 | a) + q KL(P' 1 | b),

KL(x | y) = sum of x log(x / y) - x + y. Infinite penalties hold the marginals (mover, bary), finite
ones let mass go (lazy_emd), zero frees a side (the greedy matching of bertscore). Sinkhorn
iterations in the log domain solve the dual; by the envelope theorem the gradient of the dual value
at its solution, with the potentials held fixed, is the gradient of the transport cost.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from nlgauge.core.errors import DataError, NotConverged, OptionError, ShapeError

COSTS = ("cosine", "euclid", "squared_euclid")


def transport_loss(
    candidates: Any,
    references: Any,
    *,
    candidate_weights: Any | None = None,
    reference_weights: Any | None = None,
    cost: str = "cosine",
    epsilon: float = 0.05,
    penalty_candidate: float = math.inf,
    penalty_reference: float = math.inf,
    iterations: int = 5000,
    tolerance: float | None = None,
) -> Any:
    """The regularised transport cost of every pair of the batch, differentiable in all tensors.

    ``candidates`` is batch x n x d, ``references`` batch x m x d. Weights are batch x n and
    batch x m, not below 0, and are brought to a sum of 1; a weight of 0 is padding; without weights
    all tokens count alike. ``tolerance`` bounds the last change of the potentials relative to the
    largest cost (1e-5, or 1e-10 in double precision).
    """
    _check(candidates, references, epsilon, penalty_candidate, penalty_reference)
    a = _shares(candidate_weights, candidates, "candidate")
    b = _shares(reference_weights, references, "reference")
    costs = _costs(candidates, references, cost)
    if tolerance is None:
        tolerance = 1e-10 if costs.dtype == torch.float64 else 1e-5
    with torch.no_grad():
        f, g = _solve(
            *(costs, a, b, epsilon, penalty_candidate, penalty_reference, iterations, tolerance)
        )
    kernel = torch.expm1((f[:, :, None] + g[:, None, :] - costs) / epsilon)
    product = (a[:, :, None] * b[:, None, :] * kernel).sum((1, 2))
    kept = (a * _kept(f, penalty_candidate)).sum(1) + (b * _kept(g, penalty_reference)).sum(1)
    return kept - epsilon * product


def _solve(
    costs: Any,
    a: Any,
    b: Any,
    epsilon: float,
    penalty_candidate: float,
    penalty_reference: float,
    iterations: int,
    tolerance: float,
) -> tuple[Any, Any]:
    """The dual potentials, by alternating exact updates of either side."""
    log_a, log_b = a.log(), b.log()
    damped_f = _damping(penalty_candidate, epsilon)
    damped_g = _damping(penalty_reference, epsilon)
    f, g = torch.zeros_like(a), torch.zeros_like(b)
    change, bound = math.inf, tolerance * max(float(costs.max()), 1.0)
    for _ in range(iterations):
        before = f
        f = -damped_f * epsilon * _soft(log_b[:, None, :] + (g[:, None, :] - costs) / epsilon, 2)
        g = -damped_g * epsilon * _soft(log_a[:, :, None] + (f[:, :, None] - costs) / epsilon, 1)
        change = float((f - before).abs().max())
        if change <= bound:
            return f, g
    raise NotConverged(
        f"transport_loss moved by {change:.1e} in iteration {iterations}, above "
        f"{bound:.1e}; use a larger epsilon (now {epsilon:g}), more iterations, or a larger "
        "tolerance"
    )


def _soft(values: Any, dim: int) -> Any:
    return torch.logsumexp(values, dim)


def _damping(penalty: float, epsilon: float) -> float:
    return 1.0 if math.isinf(penalty) else penalty / (penalty + epsilon)


def _kept(potential: Any, penalty: float) -> Any:
    """What a unit of mass earns in the dual: the potential, or less where mass may go."""
    if math.isinf(penalty):
        return potential
    return -penalty * torch.expm1(-potential / penalty) if penalty else torch.zeros_like(potential)


def _costs(candidates: Any, references: Any, cost: str) -> Any:
    if cost == "cosine":
        x = torch.nn.functional.normalize(candidates, dim=-1)
        y = torch.nn.functional.normalize(references, dim=-1)
        return 1 - x @ y.transpose(1, 2)
    if cost not in COSTS:
        raise OptionError(f"there is no cost {cost!r}; choose {', '.join(COSTS)}")
    squares = (candidates[:, :, None, :] - references[:, None, :, :]).square().sum(-1)
    # The slope of a root is infinite at 0, where a token meets its equal.
    return squares if cost == "squared_euclid" else squares.clamp_min(1e-12).sqrt()


def _shares(weights: Any | None, points: Any, side: str) -> Any:
    if weights is None:
        return torch.full(points.shape[:2], 1 / points.shape[1], dtype=points.dtype).to(points)
    if weights.shape != points.shape[:2]:
        raise ShapeError(
            f"{side}_weights have the shape {tuple(weights.shape)}, but the {side}s hold "
            f"{points.shape[0]} x {points.shape[1]} tokens"
        )
    if bool((weights < 0).any()):
        raise DataError(f"{side}_weights go down to {float(weights.min()):g}; none may be below 0")
    totals = weights.sum(1, keepdim=True)
    if bool((totals == 0).any()):
        row = int((totals[:, 0] == 0).nonzero()[0])
        raise DataError(f"row {row} of {side}_weights is all 0; a text needs at least one token")
    return weights / totals


def _check(candidates: Any, references: Any, epsilon: float, *penalties: float) -> None:
    shapes = tuple(candidates.shape), tuple(references.shape)
    fitting = len(shapes[0]) == len(shapes[1]) == 3 and shapes[0][::2] == shapes[1][::2]
    if not fitting or 0 in (*shapes[0], *shapes[1]):
        raise ShapeError(
            f"candidates and references have the shapes {shapes[0]} and {shapes[1]}; give "
            "batch x tokens x dimensions, the same batch and dimensions in both"
        )
    if not epsilon > 0:
        raise OptionError(f"epsilon is {epsilon}; it must be above 0, .05 is usual")
    if any(not penalty >= 0 for penalty in penalties):
        raise OptionError(f"the penalties are {penalties}; they lie between 0 and infinity")
