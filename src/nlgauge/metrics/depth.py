"""DepthScore: distance between the depth-trimmed regions of two texts' token clouds.

    DR_{p,eps}(x, y) = ( mean_alpha  sup_u |h_x^alpha(u) - h_y^alpha(u)|^p )^(1/p)

where h^alpha is the support function of the points at least as deep as the alpha-quantile, alpha
from eps to 1, and depth is the integrated rank-weighted depth (``irw``) or its affine-invariant
form (``ai_irw``). Other distances of the same clouds are ``sliced`` Wasserstein, ``wasserstein``
(W2; published code returns its square) and ``mmd`` (squared; published code returns half of it).
Points are unit vectors of one layer. Lower is better, range [0, 2]; symmetric. All texts share the
directions, which are drawn with ``seed``.

Regions exclude the least deep points, such as those of words that the model does not know. So the
share s of a text's tokens that are unknown and not in the other text (the larger share of the two
texts) counts with the largest distance: (1 - s) DR + 2 s.

``compat="nlg_eval"`` reproduces the published code for irw, which lacks the absolute value in the
supremum and is not symmetric. Where that code returns NaN, the worst value is returned.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Cloud, Tokens
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import Side, distance
from nlgauge.core.options import option
from nlgauge.core.requirements import Weighting
from nlgauge.measure import depth
from nlgauge.measure.cost import squared_euclid, unit
from nlgauge.measure.transport import match
from nlgauge.metrics._cloud_metric import CloudMetric, Published, one_layer


class _Text(NamedTuple):
    shape: Any  # trimmed regions, or unit vectors
    tokens: Tokens


@dataclass(frozen=True)
class DepthScore(CloudMetric):
    """Distance between the depth-trimmed regions of two texts' token clouds."""

    title = "DepthScore"
    paper = "Staerman et al. 2021, A Pseudo-Metric between Probability Distributions"
    components = ("distance", "similarity")
    scale = distance(2.0)
    joins_layers = False
    published: ClassVar = {"nlg_eval": Published({"void": "mass"})}
    replaced_options: ClassVar = ("directions", "seed")

    layer: int | str = one_layer()
    measure: str = option(
        "irw",
        "Depth function of the trimmed regions, or another distance of clouds.",
        choices=("irw", "ai_irw", "sliced", "wasserstein", "mmd"),
    )
    p: float = option(5.0, "Exponent of the mean over regions.", low=1)
    eps: float = option(0.3, "Share of the least deep points to leave out.", low=0, high=0.99)
    levels: int = option(5, "Number of trimmed regions.", low=1, high=1000)
    directions: int = option(
        2000, "Number of sampled directions.", low=1, high=10**6, server=10_000
    )
    seed: int = option(0, "Random seed of the directions.", low=0, server=2**32 - 1)
    compat: str | None = option(None, "Published code to reproduce.", choices=tuple(published))

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether the supremum is of absolute values."""
        return not self.compat

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.compat and self.measure != "irw":
            raise OptionError(f"compat=nlg_eval reproduces irw, not {self.measure}")
        if self.weights == "idf":
            raise OptionError("depth gives all points the same weight; leave out weights=idf")

    @property
    def weighting(self) -> Weighting:
        """Uniform masses, with special tokens."""
        return replace(super().weighting, special="keep")

    @property
    def _compares_regions(self) -> bool:
        return not self.compat and self.measure in ("irw", "ai_irw")

    def prepare(self, item: Cloud, side: Side) -> Any | None:
        """Return the trimmed regions of a text, or its unit vectors for the other measures."""
        return self.prepare_many([item], side)[0]

    def prepare_many(self, items: Sequence[Cloud], side: Side) -> list[Any | None]:
        """Return ``prepare`` of many texts, which share products with the directions."""
        shapes: Iterator[Any] = (unit(item.layer) for item in items if not item.void)
        if self._compares_regions:
            shapes = depth.regions_of(
                shapes,
                depth=self.measure,
                count=self.directions,
                seed=self.seed,
                eps=self.eps,
                levels=self.levels,
            )
        return [None if item.void else _Text(next(shapes), item.tokens) for item in items]

    def compare(self, candidates: Sequence[Any], references: Sequence[Any]) -> Floats:
        """Return distance and similarity of every pair."""
        return np.array([(d, 1 / (1 + d)) for d in map(self._distance, candidates, references)])

    @property
    def void_row(self) -> tuple[float, ...]:
        """The largest distance and its similarity."""
        return self.scale.void, 1 / (1 + self.scale.void)

    def _distance(self, first: _Text, second: _Text) -> float:
        candidate, reference = first.shape, second.shape
        if self.compat:
            shape: Any = {"eps": self.eps, "levels": self.levels}
            distance = depth.nlg_eval_distance(reference, candidate, p=self.p, **shape)
            return self.scale.void if math.isnan(distance) else distance
        if self._compares_regions:
            distance = depth.region_distance(candidate, reference, p=self.p)
            return distance + (self.scale.high - distance) * _share_unmatched(first, second)
        if self.measure == "sliced":
            return depth.sliced_wasserstein(
                candidate, reference, count=self.directions, seed=self.seed
            )
        if self.measure == "mmd":
            return depth.mmd(candidate, reference)
        masses = (np.full(len(each), 1 / len(each)) for each in (candidate, reference))
        return math.sqrt(match(squared_euclid(candidate, reference), *masses).value)


def _share_unmatched(first: _Text, second: _Text) -> float:
    """Return the larger share of unknown tokens that the other text lacks."""
    a, b = (Counter(each.tokens.ids[each.tokens.unknown].tolist()) for each in (first, second))
    return max((a - b).total() / len(first.tokens), (b - a).total() / len(second.tokens))
