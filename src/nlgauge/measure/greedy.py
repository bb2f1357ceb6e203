"""Transport with a free side, in closed form: every token takes its cheapest partner.

With pb = 0 nobody asks where mass arrives, so each row of P sits on the cheapest column, and its
size minimises r c + pa KL(r | a) for the row's least cost c: r = a for pa = inf (BERTScore's
precision, Lazy-EMD paper Theorem 1), r = a exp(-c/pa) for a finite pa, r = 0 for pa = 0.
"""

from __future__ import annotations

import numpy as np

from nlgauge.core.plan import Floats


def solve(cost: Floats, a: Floats, b: Floats, penalty_a: float, penalty_b: float) -> Floats:
    """Return the coupling when at least one penalty is 0; ties go to the first partner."""
    if penalty_b > 0:
        return solve(cost.T, b, a, penalty_b, penalty_a).T
    coupling = np.zeros(cost.shape)
    if penalty_a > 0:
        rows, partners = np.arange(len(a)), cost.argmin(axis=1)
        coupling[rows, partners] = a * np.exp(-cost[rows, partners] / penalty_a)
    return coupling
