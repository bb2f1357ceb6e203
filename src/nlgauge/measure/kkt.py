"""The linear system inside every Newton step on transport potentials, for many problems at once.

Both the interior-point method and entropic Newton ask for (df, dg) with

    [ diag(W 1 + ha)        W         ] [df]   [ya]
    [      W^T        diag(W^T 1 + hb)] [dg] = [yb]

where W >= 0 couples tokens and ha, hb >= 0 say how elastic the marginals are. Eliminating df leaves
an M-matrix in dg. Its diagonal is not computed by subtraction, which would cancel all digits once
entries of W reach 1e10, but as the sum of what is off the diagonal plus a positive excess.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlgauge.core.plan import Floats

# A component of the support graph can be shifted (f + t, g - t) almost for free when penalties are
# large; this relative excess keeps its pivot away from rounding, and refinement undoes the bias.
EXCESS = 1e-14


class System(NamedTuple):
    """One factored system for each problem of a stack."""

    weights: Floats
    rows: Floats
    scaled: Floats
    inverse: Floats
    elastic_a: Floats
    elastic_b: Floats

    def solve(self, ya: Floats, yb: Floats) -> tuple[Floats, Floats]:
        """Return (df, dg), refined once against the unreduced system."""
        df, dg = self._reduced(ya, yb)
        sums = self.weights * (df[:, :, None] + dg[:, None, :])
        more_f, more_g = self._reduced(
            ya - sums.sum(axis=2) - self.elastic_a * df,
            yb - sums.sum(axis=1) - self.elastic_b * dg,
        )
        return df + more_f, dg + more_g

    def _reduced(self, ya: Floats, yb: Floats) -> tuple[Floats, Floats]:
        right = yb - (ya[:, None, :] @ self.scaled)[:, 0, :]
        dg = (self.inverse @ right[:, :, None])[:, :, 0]
        df = (ya - (self.weights @ dg[:, :, None])[:, :, 0]) / self.rows
        return df, dg


def factor(weights: Floats, elastic_a: Floats, elastic_b: Floats) -> System:
    """Return the system of W = weights [k, n, m], ha [k, n] and hb [k, m], ready to solve."""
    tiny = np.finfo(np.float64).tiny  # a row may be so expensive that all its entries underflow
    rows = np.maximum(weights.sum(axis=2) + elastic_a, tiny)
    scaled = weights / rows[:, :, None]
    reduced = -(scaled.transpose(0, 2, 1) @ weights)
    diagonal = np.arange(reduced.shape[1])
    reduced[:, diagonal, diagonal] = 0.0
    others = -reduced.sum(axis=2)
    excess = elastic_b + (elastic_a[:, None, :] @ scaled)[:, 0, :]
    # Two tokens that touch nobody else leave no pivot at all.
    floor = np.maximum(EXCESS * others, np.maximum(1e-20 * weights.sum(axis=1), tiny))
    reduced[:, diagonal, diagonal] = others + np.maximum(excess, floor)
    # Weights of tokens may differ by ten orders of magnitude: scale to a unit diagonal first.
    scale = 1.0 / np.sqrt(reduced[:, diagonal, diagonal])
    both = scale[:, :, None] * scale[:, None, :]
    return System(weights, rows, scaled, np.linalg.inv(reduced * both) * both, elastic_a, elastic_b)
