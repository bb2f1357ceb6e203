"""Plan: the solution of a transport problem between the tokens of two texts."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nlgauge.core.arrays import Floats

_ARRAYS = ("coupling", "cost", "a", "b")


@dataclass(frozen=True, eq=False)
class Plan:
    """The solution of one transport problem between a candidate (rows) and a reference (columns).

    `value` is <cost, coupling>; `objective` adds the penalties of the two marginals. `residual` is
    the duality gap of an exact solution, or the L1 error of the marginals of an entropic one.
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
        for name in _ARRAYS:
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    @property
    def marginal_a(self) -> Floats:
        """Mass that leaves each candidate token."""
        return np.asarray(self.coupling.sum(axis=1))

    @property
    def marginal_b(self) -> Floats:
        """Mass that reaches each reference token."""
        return np.asarray(self.coupling.sum(axis=0))

    def named(self, candidate_tokens: tuple[str, ...], reference_tokens: tuple[str, ...]) -> "Plan":
        """Return the plan with the given tokens, so that it can be shown as an alignment."""
        return replace(self, candidate_tokens=candidate_tokens, reference_tokens=reference_tokens)

    def transposed(self) -> "Plan":
        """Return the plan with candidate and reference exchanged."""
        other, own = self.reference_tokens, self.candidate_tokens
        plan = replace(self, candidate_tokens=other, reference_tokens=own, a=self.b, b=self.a)
        return replace(plan, coupling=self.coupling.T, cost=self.cost.T)

    def top(self, k: int) -> tuple[tuple[int, int, float], ...]:
        """Return the k strongest flows above 0 as (candidate index, reference index, mass)."""
        flat = self.coupling.ravel()
        order = np.argsort(-flat, kind="stable")[: max(k, 0)]  # ties in reading order
        order, columns = order[flat[order] > 0], self.coupling.shape[1]
        return tuple((int(at) // columns, int(at) % columns, float(flat[at])) for at in order)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, lists and strings, ready for JSON."""
        content = dict(vars(self))
        for name in ("candidate_tokens", "reference_tokens"):
            content[name] = None if content[name] is None else list(content[name])
        return content | {name: content[name].tolist() for name in _ARRAYS}
