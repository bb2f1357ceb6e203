"""Transport with a penalty of 0 on one side, in closed form: hard and soft greedy matching.

    min_{P >= 0}  <C, P> + pa KL(P 1 | a) + epsilon KL(P | Q)

separates into the rows of P. With epsilon = 0, row i is on its cheapest column, where its mass is
a_i exp(-c_i / pa) for the cost c_i (pa = inf is BERTScore's precision, Lazy-EMD paper Theorem 1).
With epsilon > 0, row i is spread by the softmax of -C_ij / epsilon, weighted by Q:

    P_ij = m_i Q_ij exp(-C_ij / epsilon) / K_i,    K_i = sum_j Q_ij exp(-C_ij / epsilon),
    ln m_i = (pa ln a_i + epsilon ln K_i) / (pa + epsilon),    m_i = a_i for pa = inf.

Q is a x b, so that tokens of more weight attract more, or 1 for every pair; with uniform b and
pa = inf both give the plain softmax. epsilon to 0 gives the hard matching (mass is shared among
ties), and epsilon to inf gives a x b.
"""

import math
from typing import Any

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.device import Array
from nlgauge.measure.problem import Problem, Solution
from nlgauge.measure.sinkhorn import Reference


def solve(
    problem: Problem, penalties: tuple[float, float], epsilon: float, reference: Reference
) -> Solution:
    """Return the solution for penalties of which at least one is 0."""
    penalty_a, penalty_b = penalties
    if penalty_b > 0:
        transposed = solve(problem.transposed(), (penalty_b, penalty_a), epsilon, reference)
        return transposed._replace(coupling=transposed.coupling.T)
    cost, a, b = problem
    if not epsilon:
        return Solution(_unregularised_plan(cost, a, penalty_a), 0.0, 0, True)
    shares, log_sums = softmax(cost, b if reference == "product" else None, epsilon)
    masses = a
    if penalty_a < math.inf:
        log_a, share = np.log(a), penalty_a / (penalty_a + epsilon)
        log_k = log_sums + log_a if reference == "product" else log_sums
        masses = np.exp(share * log_a + epsilon / (penalty_a + epsilon) * log_k)
    shares *= masses[:, None]
    return Solution(shares, 0.0, 0, True)


def softmax(
    cost: Array, weights: Array | None, epsilon: float, library: Any = np
) -> tuple[Array, Array]:
    """Return ``w_j exp(-C_ij / epsilon)`` divided by its sum over j, and the log of that sum.

    The arrays are of the ``library`` and may have more dimensions before i and j.
    """
    least = library.amin(cost, axis=-1)
    # Before the division: 1e12 has no digits left for differences.
    shares = cost - least[..., None]
    shares /= -epsilon
    library.exp(shares, out=shares)  # in place: a plan of long texts is large
    if weights is not None:
        shares *= weights[..., None, :]
    sums = shares.sum(axis=-1)
    shares /= sums[..., None]
    return shares, library.log(sums) - least / epsilon


def _unregularised_plan(cost: Floats, a: Floats, penalty_a: float) -> Floats:
    """Return the plan without regularisation; ties go to the first partner."""
    coupling = np.zeros(cost.shape)
    if penalty_a > 0:
        rows, partners = np.arange(len(a)), cost.argmin(axis=1)
        coupling[rows, partners] = a * np.exp(-cost[rows, partners] / penalty_a)
    return coupling
