"""The arithmetic of MoverScore's published code, version 1 and 2, oddities included.

pyemd, which version 1 takes its distance from, charges the largest distance between any two points
of the pair for mass it cannot place, so a text without mass scores 1 - max C there. Version 2 sums
the flow itself, forgets that charge, and calls such a text perfect. Version 1 leaves its vectors
1e-6 short of unit length; that it also adds 1e-5 to the sum of the masses is left out here, because
it moves scores less than pyemd's rounding to whole millionths does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nlgauge.core.metric import Scale
from nlgauge.core.plan import Floats
from nlgauge.core.requirements import Weighting
from nlgauge.measure.cost import euclid, squared_euclid
from nlgauge.measure.transport import match
from nlgauge.metrics._points import Points

SCALES = {
    "mover-v1": Scale("higher", -3.0, 1.0, void=-3.0),
    "mover-v2": Scale("higher", 1 / 3, 1.0, void=1 / 3),
}
_SHORT = 1e-6


def weighting(asked: Weighting, version: str) -> Weighting:
    """What the published code keeps: ASCII punctuation goes, special tokens stay."""
    return replace(
        asked,
        special="keep",
        punctuation="drop_ascii",
        subwords="first" if version == "mover-v2" else asked.subwords,
        sides="separate",
        void="mass",
    )


def compare(candidates: Sequence[Points], references: Sequence[Points], version: str) -> Floats:
    """Score and distance of every pair."""
    rows = []
    for candidate, reference in zip(candidates, references, strict=True):
        if version == "mover-v1":
            emd = _pyemd(candidate, reference)
            rows.append((1 - emd, emd))
        else:
            emd = _moved(euclid(candidate.vectors, reference.vectors), candidate, reference)
            rows.append((1 / (1 + emd), emd))
    return np.array(rows)


def _pyemd(candidate: Points, reference: Points) -> float:
    """The cost of moving all mass, or the largest distance of the pair where a side has none."""
    left, right = (_nearly_unit(points) for points in (candidate, reference))
    if candidate.masses.any() == reference.masses.any():
        return _moved(squared_euclid(left, right, normalise=False), candidate, reference)
    both = np.concatenate([left, right])
    return float(squared_euclid(both, both, normalise=False).max())


def _nearly_unit(points: Points) -> Floats:
    # Points are means weighted by their masses, so a point without mass lies at the origin.
    lengths = np.linalg.norm(points.vectors, axis=1, keepdims=True) + _SHORT
    return np.asarray(points.vectors / lengths * (points.masses > 0)[:, None])


def _moved(cost: Floats, candidate: Points, reference: Points) -> float:
    if not (candidate.masses.any() and reference.masses.any()):
        return 0.0
    return match(cost, candidate.masses, reference.masses).value
