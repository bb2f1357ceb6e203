"""Ensemble: the weighted mean of other metrics, each scaled to 0 (worst) to 1 (best).

Members must have a bounded range, which is mapped linearly: (value - worst end) / (best end - worst
end). The score of a segment does not depend on other segments, unlike the mean ranks of
``nlgauge mbr`` and ``nlgauge rerank``. Higher is better, 0 to 1. The corpus score is the mean over
segments.

``metrics=chrf+bertscore:layer=3+4;weights=idf``: ``;`` separates options, and ``+`` members if a
name follows.
``lang`` sets the options of all members for a language.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from nlgauge.core.arrays import Bools, Floats
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import Metric, Rows, Sources, similarity
from nlgauge.core.options import option
from nlgauge.metrics import metric as build_metric
from nlgauge.metrics import metric_in

_JOINT = re.compile(r"\+\s*(?=[^\W\d])")  # layers such as 3+4+6 are one option


@dataclass(frozen=True)
class Ensemble(Metric):
    """The weighted mean of several metrics."""

    title = "Ensemble"
    requires = "what its metrics require"
    scale = similarity()
    on_server: ClassVar[bool] = False  # its members would bypass the checks of requests

    metrics: str = option("chrf+rouge", "Members, such as name:option=value;option=value+name.")
    weights: str = option("equal", "Weight of each member, such as 2+1+1; or equal.")
    lang: str | None = option(None, "Language of the texts, such as zh or ja.")
    bound: tuple[Metric, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.shares) != len(self.members):
            raise OptionError(
                f"ensemble has {len(self.members)} members, but weights={self.weights!r} has "
                f"{len(self.shares)}; give one number each, joined by +"
            )
        for member in self.members:
            if member.members:
                raise OptionError("an ensemble cannot be a member of another; name its metrics")
            if None in member.scale.limits:
                raise OptionError(
                    f"{member.name} has no bounded range, so it cannot be averaged with others"
                )

    @property
    def members(self) -> tuple[Metric, ...]:
        """The metrics to average, bound to their models if these are known."""
        if self.bound:
            return self.bound
        build = build_metric if self.lang is None else partial(metric_in, self.lang)
        return tuple(build(spec.replace(";", ",")) for spec in _JOINT.split(self.metrics))

    def with_members(self, members: Sequence[Metric]) -> Self:
        """Return the ensemble with bound or fitted members and their labels as option."""
        labels = "+".join(member.label().replace(",", ";") for member in members)
        return replace(self, bound=tuple(members), metrics=labels, lang=None)

    @property
    def components(self) -> tuple[str, ...]:
        """The mean, then the scaled score of each member."""
        return ("score", *(f"{i}.{member.name}" for i, member in enumerate(self.members, start=1)))

    @property
    def shares(self) -> Floats:
        """The weights of the members, which sum to 1."""
        if self.weights == "equal":
            return np.full(len(self.members), 1 / len(self.members))
        try:
            numbers = np.array([float(part) for part in self.weights.split("+")])
        except ValueError:
            raise OptionError(
                f"option weights={self.weights!r}: write numbers joined by +, or equal"
            ) from None
        if not np.isfinite(numbers).all() or numbers.min() < 0 or numbers.sum() == 0:
            raise OptionError(
                f"option weights={self.weights!r}: weights must be 0 or above, and one above 0"
            )
        return np.asarray(numbers / numbers.sum())

    def rows(self, candidates: Sequence[Any], references: Sequence[Sequence[Any]]) -> Rows:
        """Return the mean and the members of every segment; item ``k`` is for member ``k``."""
        return self.rows_with_sources(candidates, references, None)

    def rows_with_sources(
        self, candidates: Sequence[Any], references: Sequence[Sequence[Any]], sources: Sources
    ) -> Rows:
        """Return ``rows``, with sources for the members that read them."""
        columns: list[Floats] = []
        notes: dict[str, Bools] = {}
        for k, member in enumerate(self.members):
            groups = [[items[k] for items in group] for group in references]
            texts = [items[k] for items in candidates]
            rows = member.rows_with_sources(texts, groups, sources)
            columns.append(_rescale(member, member.finish_segments(rows.statistics)[:, 0]))
            for note, mask in rows.notes.items():
                notes[note] = notes.get(note, np.zeros(len(candidates), dtype=bool)) | mask
        table = np.stack(columns, axis=1)
        return Rows(np.column_stack([table @ self.shares, table]), notes)


def _rescale(member: Metric, values: Floats) -> Floats:
    scale = member.scale
    worst = scale.low if scale.direction == "higher" else scale.high
    return np.asarray(np.clip((values - worst) / (scale.best - worst), 0.0, 1.0))
