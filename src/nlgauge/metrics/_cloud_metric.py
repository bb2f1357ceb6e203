"""CloudMetric: the options that all metrics over embedded texts share."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from nlgauge.core.cloud import Floats
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import PairMetric, Side
from nlgauge.core.options import option
from nlgauge.core.requirements import ModelCard, Need, Weighting
from nlgauge.runtime.threads import spread

_WORTH_A_THREAD = 32  # texts or pairs


@dataclass(frozen=True)
class CloudMetric(PairMetric):
    """A metric that compares the cloud of a candidate with the cloud of one reference.

    ``matching`` says which of a model's best layers suit it (``greedy``, ``transport`` or
    ``barycenter``); ``layer_option`` names the option that holds its layers.
    """

    matching: ClassVar[str] = "greedy"
    layer_option: ClassVar[str] = "layers"

    model: str | None = option(
        None,
        "Model name or folder, lang:XX, glove, a file of word vectors, or hashing; none takes "
        "NLGAUGE_MODEL, else the embedded model.",
    )
    weights: str = option(
        "uniform",
        "Mass of a token: all alike, or its inverse document frequency in the references.",
        choices=("uniform", "idf"),
    )
    long_text: str = option(
        "window",
        "A text longer than the model: overlapping windows, cut off, or refused.",
        choices=("window", "truncate", "error"),
        server="fixed",
    )
    precision: str = option(
        "float32",
        "Arithmetic of the encoder; int8 is quicker, and blurs scores in the third digit.",
        choices=("float32", "bfloat16", "int8"),
        server="fixed",
    )

    @property
    def weighting(self) -> Weighting:
        """How tokens share the mass of a cloud."""
        return Weighting(scheme="idf" if self.weights == "idf" else "uniform")

    @property
    def needs(self) -> Need:
        """Clouds of the chosen layers; the layers are known once the metric is bound."""
        return Need(
            kind="clouds",
            model=self.model,
            layers=_numbers(getattr(self, self.layer_option)),
            weighting=self.weighting,
            long_text=self.long_text,
            precision=self.precision,
        )

    def bind(self, card: ModelCard) -> Self:
        """The metric with its model named and its layers numbered."""
        wanted = getattr(self, self.layer_option)
        chosen = card.choose(wanted, match=self.matching)
        if self.layer_option == "layer" and len(chosen) != 1:
            raise OptionError(
                f"{self.name} compares one layer, but layer={wanted} names {len(chosen)}"
            )
        spelled = chosen[0] if len(chosen) == 1 else "+".join(map(str, chosen))
        concrete: dict[str, Any] = {"model": card.name, self.layer_option: spelled}
        return dataclasses.replace(self, **concrete)

    def prepare_many(self, items: Sequence[Any], side: Side) -> list[Any | None]:
        """What ``prepare`` makes of each; a metric that is quicker with several says how."""
        return [self.prepare(item, side) for item in items]

    def _prepare_all(self, items: Sequence[Any], side: Side) -> list[Any | None]:
        def prepare(portion: Sequence[Any]) -> list[Any | None]:
            return self.prepare_many(portion, side)

        return [one for made in spread(prepare, items, least=_WORTH_A_THREAD) for one in made]

    def _compare_all(self, candidates: Sequence[Any], references: Sequence[Any]) -> Floats:
        def compare(portion: Sequence[int]) -> Floats:
            return self.compare([candidates[k] for k in portion], [references[k] for k in portion])

        # A pair scores the same in any company, so portions may be compared apart.
        rows = spread(compare, range(len(candidates)), least=_WORTH_A_THREAD)
        return np.concatenate(rows)


def _numbers(layers: int | str) -> tuple[int, ...]:
    """The layer numbers of a bound option; none before it is bound."""
    try:
        return tuple(int(part) for part in str(layers).split("+"))
    except ValueError:
        return ()
