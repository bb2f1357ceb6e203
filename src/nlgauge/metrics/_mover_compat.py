"""The arithmetic of MoverScore's published code, versions 1 and 2.

Version 1 uses pyemd, which charges the largest distance between any two points of the pair for
unmatched mass, so a text without mass scores 1 - max C. Version 2 sums the flow without that charge
and gives such a text the best score. Version 1 scales vectors to 1e-6 below unit length; it also
adds 1e-5 to the sum of the masses, which is ignored here because it changes scores less than
pyemd's rounding to 1e-6 does.
"""

from collections.abc import Sequence

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.metric import similarity
from nlgauge.measure.cost import euclid, squared_euclid
from nlgauge.measure.transport import match
from nlgauge.metrics._cloud_metric import Points, Published

SCALES = {"mover-v1": similarity(-3.0), "mover-v2": similarity(1 / 3)}
VOID_ROWS = {"mover-v1": (-3.0, 4.0), "mover-v2": (1 / 3, 2.0)}
_WEIGHTING = {"special": "keep", "punctuation": "drop_ascii", "sides": "separate", "void": "mass"}
PUBLISHED = {
    "mover-v1": Published(_WEIGHTING, "last5", ngrams=True),
    "mover-v2": Published({**_WEIGHTING, "subwords": "first"}, "last"),
}
_LENGTH_OFFSET = 1e-6


def compare(candidates: Sequence[Points], references: Sequence[Points], version: str) -> Floats:
    """Return score and distance of every pair."""
    if version == "mover-v1":
        return np.array([(1 - emd, emd) for emd in map(_pyemd, candidates, references)])
    pairs = zip(candidates, references, strict=True)
    distances = (_emd(euclid(x.vectors, y.vectors), x, y) for x, y in pairs)
    return np.array([(1 / (1 + emd), emd) for emd in distances])


def _pyemd(candidate: Points, reference: Points) -> float:
    """Return the EMD, or the largest distance of the pair if one side has no mass."""
    x, y = _scale_vectors(candidate), _scale_vectors(reference)
    if candidate.masses.any() == reference.masses.any():
        return _emd(squared_euclid(x, y, normalise=False), candidate, reference)
    points = np.concatenate([x, y])
    return float(squared_euclid(points, points, normalise=False).max())


def _scale_vectors(points: Points) -> Floats:
    # Points are means weighted by their masses, so a point without mass is at the origin.
    lengths = np.linalg.norm(points.vectors, axis=1, keepdims=True) + _LENGTH_OFFSET
    return np.asarray(points.vectors / lengths * (points.masses > 0)[:, None])


def _emd(cost: Floats, candidate: Points, reference: Points) -> float:
    if not (candidate.masses.any() and reference.masses.any()):
        return 0.0
    return match(cost, candidate.masses, reference.masses).value
