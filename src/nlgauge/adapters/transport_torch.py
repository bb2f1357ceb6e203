"""Optimal transport between batches of token clouds as a loss.

    min over P of <P, C> + epsilon KL(P | a b') + p KL(P 1 | a) + q KL(P' 1 | b),

KL(x | y) = sum of x log(x / y) - x + y. Infinite penalties fix the marginals (mover, bary), finite
ones relax them (lazy_emd), and zero removes the constraint of a side (greedy matching, bertscore).
Sinkhorn iterations in the log domain solve the dual; by the envelope theorem the gradient of the
dual value with fixed optimal potentials is the gradient of the transport cost.
"""

import math
from typing import Any

import torch

from nlgauge.core.errors import DataError, NotConverged, OptionError, ShapeError

COSTS = ("cosine", "euclid", "squared_euclid")
Penalties = tuple[float, float]


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
    """Return the regularised transport cost of every pair, differentiable in all tensors.

    Parameters
    ----------
    candidates, references
        Tensors of shape batch x n x d and batch x m x d.
    candidate_weights, reference_weights
        Nonnegative tensors of shape batch x n and batch x m; 0 is padding. Uniform by default.
    cost
        ``cosine``, ``euclid`` or ``squared_euclid``.
    epsilon
        Entropic regularisation.
    penalty_candidate, penalty_reference
        Penalties of the marginals, from 0 to infinity.
    iterations
        Maximum number of iterations.
    tolerance
        Bound on the last change relative to the largest cost; 1e-5, or 1e-10 for doubles.

    Returns
    -------
    torch.Tensor
        One cost for each pair of the batch.

    Raises
    ------
    ShapeError or DataError or OptionError
        If the tensors do not fit together, weights are negative, or an option is invalid.
    NotConverged
        If the tolerance is not reached.

    Examples
    --------
    >>> x = torch.eye(2)[None]
    >>> round(float(transport_loss(x, x, epsilon=0.01)), 4)
    0.0069
    """
    x, y = tuple(candidates.shape), tuple(references.shape)
    if len(x) != 3 or len(y) != 3 or x[::2] != y[::2] or 0 in (*x, *y):
        raise ShapeError(
            f"candidates and references have the shapes {x} and {y}; give "
            "batch x tokens x dimensions, the same batch and dimensions in both"
        )
    if not epsilon > 0:
        raise OptionError(f"epsilon is {epsilon}; it must be above 0, usually .05")
    penalties = penalty_candidate, penalty_reference
    if any(not penalty >= 0 for penalty in penalties):
        raise OptionError(f"the penalties are {penalties}; they must be between 0 and infinity")
    a = _shares(candidate_weights, candidates, "candidate")
    b = _shares(reference_weights, references, "reference")
    costs = _costs(candidates, references, cost)
    if tolerance is None:
        tolerance = 1e-10 if costs.dtype == torch.float64 else 1e-5
    with torch.no_grad():
        largest = float(costs.max())
        if not math.isfinite(largest):
            raise DataError("the vectors contain NaN or infinities, so their costs are not finite")
        bound = tolerance * max(largest, 1.0)
        f, g = _solve(costs, a, b, epsilon, penalties, iterations, bound)
    kernel = torch.expm1((f[:, :, None] + g[:, None, :] - costs) / epsilon)
    product = (a[:, :, None] * b[:, None, :] * kernel).sum((1, 2))
    dual = (a * _dual(f, penalty_candidate)).sum(1) + (b * _dual(g, penalty_reference)).sum(1)
    return dual - epsilon * product


def _solve(
    costs: Any, a: Any, b: Any, epsilon: float, penalties: Penalties, iterations: int, bound: float
) -> tuple[Any, Any]:
    """Return the dual potentials, by alternating exact updates of each side."""
    log_a, log_b = a.log(), b.log()
    damped_f, damped_g = (epsilon * (1 if p == math.inf else p / (p + epsilon)) for p in penalties)
    f, g, change = torch.zeros_like(a), torch.zeros_like(b), math.inf
    for _ in range(iterations):
        before = f
        f = -damped_f * torch.logsumexp(log_b[:, None, :] + (g[:, None, :] - costs) / epsilon, 2)
        g = -damped_g * torch.logsumexp(log_a[:, :, None] + (f[:, :, None] - costs) / epsilon, 1)
        change = float((f - before).abs().max())
        if change <= bound:
            return f, g
    raise NotConverged(
        f"transport_loss changed by {change:.1e} in iteration {iterations}, above {bound:.1e}; "
        f"use a larger epsilon (now {epsilon:g}), more iterations, or a larger tolerance"
    )


def _dual(potential: Any, penalty: float) -> Any:
    """Return the dual value per unit of mass."""
    if math.isinf(penalty):
        return potential
    return -penalty * torch.expm1(-potential / penalty) if penalty else torch.zeros_like(potential)


def _costs(candidates: Any, references: Any, cost: str) -> Any:
    if cost == "cosine":
        x, y = (torch.nn.functional.normalize(side, dim=-1) for side in (candidates, references))
        return 1 - x @ y.transpose(1, 2)
    if cost not in COSTS:
        raise OptionError(f"there is no cost {cost!r}; choose {', '.join(COSTS)}")
    squares = (candidates[:, :, None, :] - references[:, None, :, :]).square().sum(-1)
    # The derivative of the root is infinite at 0, the distance of equal tokens.
    return squares if cost == "squared_euclid" else squares.clamp_min(1e-12).sqrt()


def _shares(weights: Any | None, points: Any, side: str) -> Any:
    if weights is None:
        return torch.full(points.shape[:2], 1 / points.shape[1], dtype=points.dtype).to(points)
    if weights.shape != points.shape[:2]:
        tokens = f"{points.shape[0]} x {points.shape[1]} tokens"
        shape = tuple(weights.shape)
        raise ShapeError(f"{side}_weights have the shape {shape}, but the {side}s have {tokens}")
    if not bool((weights >= 0).all()):
        raise DataError(f"{side}_weights contain {float(weights.min()):g}; none may be below 0")
    totals = weights.sum(1, keepdim=True)
    if bool((totals == 0).any()):
        row = int((totals[:, 0] == 0).nonzero()[0])
        raise DataError(f"row {row} of {side}_weights is all 0; a text needs at least one token")
    return weights / totals
