"""Plan: the solution of a transport problem between the tokens of two texts."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nlgauge.core.arrays import Floats


def _readonly(array: Floats) -> Floats:
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, eq=False)
class Plan:
    """The solution of one transport problem between a candidate (rows) and a reference (columns).

    `value` is <cost, coupling>. `objective` adds the penalties of the two marginals, so it equals
    `value` when both penalties are infinite or zero. `residual` is the
    duality gap of an exact solution, or the L1 error of the marginals of an entropic one.
    """

    value: float
    coupling: Floats
    cost: Floats
    a: Floats
    b: Floats
    mass: float
    iterations: int
    converged: bool
    objective: float
    residual: float = 0.0
    candidate_tokens: tuple[str, ...] | None = None
    reference_tokens: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("coupling", "cost", "a", "b"):
            object.__setattr__(self, name, _readonly(getattr(self, name)))

    @property
    def marginal_a(self) -> Floats:
        """Mass that leaves each candidate token."""
        total: Floats = self.coupling.sum(axis=1)
        return total

    @property
    def marginal_b(self) -> Floats:
        """Mass that reaches each reference token."""
        total: Floats = self.coupling.sum(axis=0)
        return total

    def named(self, candidate_tokens: tuple[str, ...], reference_tokens: tuple[str, ...]) -> "Plan":
        """Return the same plan with its tokens, so that it can be shown as an alignment."""
        return replace(self, candidate_tokens=candidate_tokens, reference_tokens=reference_tokens)

    def transposed(self) -> "Plan":
        """Return the plan with candidate and reference exchanged."""
        return replace(
            self,
            coupling=self.coupling.T,
            cost=self.cost.T,
            a=self.b,
            b=self.a,
            candidate_tokens=self.reference_tokens,
            reference_tokens=self.candidate_tokens,
        )

    def top(self, k: int) -> tuple[tuple[int, int, float], ...]:
        """Return the k strongest flows as (candidate index, reference index, mass), none of 0.

        Ties are in reading order.
        """
        flat = self.coupling.ravel()
        order = np.argsort(-flat, kind="stable")[: max(k, 0)]
        columns = self.coupling.shape[1]
        return tuple(
            (int(at) // columns, int(at) % columns, float(flat[at])) for at in order if flat[at] > 0
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, lists and strings, ready for JSON."""
        return {
            "value": self.value,
            "objective": self.objective,
            "mass": self.mass,
            "iterations": self.iterations,
            "converged": self.converged,
            "residual": self.residual,
            "coupling": self.coupling.tolist(),
            "cost": self.cost.tolist(),
            "a": self.a.tolist(),
            "b": self.b.tolist(),
            "candidate_tokens": _listed(self.candidate_tokens),
            "reference_tokens": _listed(self.reference_tokens),
        }


def _listed(tokens: tuple[str, ...] | None) -> list[str] | None:
    return None if tokens is None else list(tokens)
