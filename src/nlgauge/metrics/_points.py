"""What a text is compared as: vectors, their masses, and the words they stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nlgauge.core.cloud import Cloud
from nlgauge.core.plan import Floats
from nlgauge.measure.cost import unit


@dataclass(frozen=True, eq=False)
class Points:
    """Vectors with masses and words, in order."""

    vectors: Floats
    masses: Floats
    tokens: tuple[str, ...]

    @classmethod
    def of_layer(cls, cloud: Cloud) -> Points:
        """The unit vectors of a cloud of one layer."""
        return cls(unit(cloud.layer), np.asarray(cloud.weights, float), cloud.tokens.strings)
