"""QualityBand: the distribution of a metric's scores for texts of similar quality."""

from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Floats


@dataclass(frozen=True, eq=False)
class QualityBand:
    """The scores of the outputs in one band of human quality, and their density on a grid."""

    name: str
    scores: Floats
    places: Floats
    density: Floats
    low: float = -np.inf
    high: float = np.inf
    """The range of the metric, where it is known."""

    def within(self) -> tuple[Floats, Floats]:
        """Return grid points within the range, and the density there, reflected at its ends.

        Reflection keeps the density within the range and avoids a drop at its ends.
        """
        ends = [end for end in (self.low, self.high) if np.isfinite(end)]
        inside = self.places[(self.places >= self.low) & (self.places <= self.high)]
        reached = [end for end in ends if self.places[0] <= end <= self.places[-1]]
        places = np.union1d(inside, np.asarray(reached))
        density = self._at(places)
        for end in ends:
            density = density + self._at(2 * end - places)
        return places, density

    def _at(self, places: Floats) -> Floats:
        """Return the density at any point, with exponential tails beyond the grid."""
        density = np.interp(places, self.places, self.density)
        for end, inner in ((0, 1), (-1, -2)):
            edge, inside = self.density[end], self.density[inner]
            step = self.places[inner] - self.places[end]
            away = (self.places[end] - places) / step
            falling = np.log(inside / edge) if inside > edge > 0 else np.inf
            density[away > 0] = edge * np.exp(-falling * away[away > 0])
        return np.asarray(density, dtype=np.float64)
