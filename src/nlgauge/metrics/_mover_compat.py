"""The arithmetic of MoverScore's published code, versions 1 and 2.

Version 1 uses pyemd, which charges the largest distance between any two points of the pair for
unmatched mass, so a text without mass scores 1 - max C. Version 2 sums the flow without that charge
and gives such a text the best score. Version 1 scales vectors to 1e-6 below unit length; it also
adds 1e-5 to the sum of the masses, which is ignored here because it changes scores less than
pyemd's rounding to 1e-6 does.
"""

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.measure.cost import euclid, squared_euclid
from nlgauge.measure.transport import match
from nlgauge.metrics._cloud_metric import Points, Published

LARGEST = {"mover-v1": 4.0, "mover-v2": 2.0}  # distance
_WEIGHTING = {"special": "keep", "punctuation": "drop_ascii", "sides": "separate", "void": "mass"}
PUBLISHED = {
    "mover-v1": Published(_WEIGHTING, "last5", ngrams=True),
    "mover-v2": Published({**_WEIGHTING, "subwords": "first"}, "last"),
}
_LENGTH_OFFSET = 1e-6


def row(distance: float, version: str) -> tuple[float, float]:
    """Return the score and the distance."""
    return 1 - distance if version == "mover-v1" else 1 / (1 + distance), distance


def cost_matrix(candidate: Points, reference: Points, version: str) -> Floats:
    """Return the distances between n-grams, squared in version 1."""
    if version == "mover-v2":
        return euclid(candidate.vectors, reference.vectors)
    return squared_euclid(_scaled(candidate), _scaled(reference), normalise=False)


def distance(candidate: Points, reference: Points, version: str) -> float:
    """Return the EMD, or what a version gives if one side has no mass."""
    masses = candidate.masses, reference.masses
    has_mass = [each.any() for each in masses]
    if all(has_mass):
        return match(cost_matrix(candidate, reference, version), *masses).value
    if version == "mover-v2" or not any(has_mass):
        return 0.0
    points = np.concatenate([_scaled(candidate), _scaled(reference)])
    return float(squared_euclid(points, points, normalise=False).max())


def _scaled(points: Points) -> Floats:
    # Points are means weighted by their masses, so a point without mass is at the origin.
    lengths = np.linalg.norm(points.vectors, axis=1, keepdims=True) + _LENGTH_OFFSET
    return np.asarray(points.vectors / lengths * (points.masses > 0)[:, None])
