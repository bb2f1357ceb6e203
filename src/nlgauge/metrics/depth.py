"""DepthScore: how far apart the depth-trimmed regions of two texts' token clouds lie.

    DR_{p,eps}(x, y) = ( mean_alpha  sup_u |h_x^alpha(u) - h_y^alpha(u)|^p )^(1/p)

where h^alpha is the support function of the points at least as deep as the alpha-quantile, alpha
from eps to 1, and depth is the integrated rank-weighted depth (``irw``) or its affine-invariant
form (``ai_irw``). Its siblings compare the same clouds by ``sliced`` Wasserstein, ``wasserstein``
(W2) or ``mmd``. Unit vectors of one layer; lower is better, range [0, 2]; symmetric. Directions
are shared by all texts and drawn once from ``seed``.

``compat="nlg_eval"`` gives the numbers of the published code for irw, whose supremum has no
absolute value: it is not symmetric, and what it makes NaN is given the worst value here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.cloud import Cloud, Floats
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import Side, distance
from nlgauge.core.options import option
from nlgauge.core.requirements import Weighting
from nlgauge.measure.cloud_distances import mmd, sliced_wasserstein
from nlgauge.measure.cost import squared_euclid, unit
from nlgauge.measure.depth import Depth, Regions, nlg_eval_distance, region_distance, regions_of
from nlgauge.measure.transport import match
from nlgauge.metrics._cloud_metric import CloudMetric

_DEPTHS: dict[str, Depth] = {"irw": "irw", "ai_irw": "ai_irw"}


@dataclass(frozen=True)
class DepthScore(CloudMetric):
    """How far apart the depth-trimmed regions of two texts' token clouds lie."""

    paper: ClassVar[str] = "Staerman et al. 2021, A Pseudo-Metric between Probability Distributions"
    components: ClassVar[tuple[str, ...]] = ("distance", "similarity")
    layer_option: ClassVar[str] = "layer"
    symmetric: ClassVar[bool] = True
    scale = distance(2.0)

    layer: int | str = option(
        "best", "Hidden layer; best is the model's best known one.", server="text"
    )
    measure: str = option(
        "irw",
        "Depth of the trimmed regions, or another distance of clouds.",
        choices=("irw", "ai_irw", "sliced", "wasserstein", "mmd"),
    )
    p: float = option(5.0, "Exponent.", low=1)
    eps: float = option(0.3, "Share of the shallowest points left out.", low=0, high=0.99)
    levels: int = option(5, "Number of trimmed regions.", low=1)
    directions: int = option(2000, "Directions the sphere is sampled in.", low=1, server=10_000)
    seed: int = option(0, "Seed of the directions.", low=0, server=2**32 - 1)
    compat: str | None = option(
        None, "nlg_eval: the published code's signed supremum.", choices=("nlg_eval",)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.compat and self.measure != "irw":
            raise OptionError(f"compat=nlg_eval reproduces irw, not {self.measure}")
        if self.weights == "idf":
            raise OptionError("depth compares clouds of equal points; weights=idf has no meaning")

    @property
    def weighting(self) -> Weighting:
        """All tokens alike; texts of special tokens alone count in the published code."""
        void: Any = "mass" if self.compat else "content"
        return replace(super().weighting, special="keep", void=void)

    def prepare(self, item: Cloud, side: Side) -> Floats | Regions | None:
        """The trimmed regions of a text, or its points for the other measures."""
        if self._trims:
            return self.prepare_many([item], side)[0]
        return None if item.void else unit(item.layer)

    @property
    def _trims(self) -> bool:
        return not self.compat and self.measure in _DEPTHS

    def prepare_many(self, items: Sequence[Cloud], side: Side) -> list[Any | None]:
        """The same of many texts, whose regions share products with the directions."""
        if not self._trims:
            return super().prepare_many(items, side)
        void = [item.void for item in items]
        found = regions_of(
            (unit(item.layer) for item, empty in zip(items, void, strict=True) if not empty),
            depth=_DEPTHS[self.measure],
            count=self.directions,
            seed=self.seed,
            eps=self.eps,
            levels=self.levels,
        )
        return [None if empty else next(found) for empty in void]

    def compare(self, candidates: Sequence[Any], references: Sequence[Any]) -> Floats:
        """Distance and 1 / (1 + distance) of every pair."""
        apart = [self._apart(c, r) for c, r in zip(candidates, references, strict=True)]
        return np.array([(d, 1 / (1 + d)) for d in apart])

    @property
    def void_row(self) -> tuple[float, ...]:
        """The largest distance, and its similarity."""
        return self.scale.void, 1 / (1 + self.scale.void)

    def _apart(self, candidate: Any, reference: Any) -> float:
        if self.compat:
            found = nlg_eval_distance(
                reference, candidate, p=self.p, eps=self.eps, levels=self.levels
            )
            return self.scale.void if math.isnan(found) else found
        if self._trims:
            return region_distance(candidate, reference, p=self.p)
        if self.measure == "sliced":
            return sliced_wasserstein(candidate, reference, count=self.directions, seed=self.seed)
        if self.measure == "mmd":
            return mmd(candidate, reference)
        masses = [np.full(len(cloud), 1 / len(cloud)) for cloud in (candidate, reference)]
        return math.sqrt(match(squared_euclid(candidate, reference), *masses).value)
