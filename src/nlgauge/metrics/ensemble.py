"""Ensemble: the weighted mean of other metrics, each brought to 0 (worst) to 1 (best) first.

Members need a bounded range, which is mapped linearly: (value - worst end) / (best end - worst
end). So the mean is a score of each segment
by itself; a mean of ranks is not, as it changes with the company, and is what ``nlgauge mbr`` and
``nlgauge rerank`` offer. Higher is better, 0 to 1. The corpus score is the mean over segments.

``metrics=chrf+bertscore:layer=4;weights=idf``: members are joined by ``+``, their options by ``;``.
``lang`` gives every member the options that suit a language; once bound, the members spell them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from nlgauge.core.cloud import Bools, Floats
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import Metric, Rows, similarity
from nlgauge.core.options import format_value, option
from nlgauge.metrics import metric as build_metric
from nlgauge.metrics import metric_in


@dataclass(frozen=True)
class Ensemble(Metric):
    """Several opinions as one."""

    scale = similarity()
    on_server: ClassVar[bool] = False  # its members would escape the checks of requests

    metrics: str = option("chrf+rouge", "The members, as name:option=value;option=value+name.")
    weights: str = option("equal", "What each member counts, as 2+1+1; or equal.")
    lang: str | None = option(None, "Language of the texts, as zh or ja.")
    opened: tuple[Metric, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.shares) != len(self.members):
            raise OptionError(
                f"ensemble has {len(self.members)} members, but weights={self.weights!r} names "
                f"{len(self.shares)}; give one number each, joined by +"
            )
        for member in self.members:
            _check(member)

    @property
    def members(self) -> tuple[Metric, ...]:
        """The metrics it combines, with their models bound once they are known."""
        if self.opened:
            return self.opened
        specs = [spec.replace(";", ",") for spec in self.metrics.split("+")]
        if self.lang is None:
            return tuple(map(build_metric, specs))
        return tuple(metric_in(self.lang, spec) for spec in specs)

    def with_members(self, members: Sequence[Metric]) -> Self:
        """The ensemble of these members, bound or fitted by now."""
        spelled = "+".join(member.label().replace(",", ";") for member in members)
        return dataclasses.replace(self, opened=tuple(members), metrics=spelled, lang=None)

    @property
    def components(self) -> tuple[str, ...]:
        """The mean and what each member adds to it."""
        return ("score", *(f"{i}.{member.name}" for i, member in enumerate(self.members, start=1)))

    @property
    def shares(self) -> Floats:
        """The weights of the members, summing to 1."""
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
                f"option weights={self.weights!r}: no weight may be below 0, one above"
            )
        return np.asarray(numbers / numbers.sum())

    def rows(self, candidates: Sequence[Any], references: Sequence[Sequence[Any]]) -> Rows:
        """The mean of every segment and its members; item ``k`` of a text is for member ``k``."""
        columns: list[Floats] = []
        notes: dict[str, Bools] = {}
        for k, member in enumerate(self.members):
            made = member.rows(
                [items[k] for items in candidates],
                [[items[k] for items in group] for group in references],
            )
            columns.append(_to_unit(member, member.finish_segments(made.statistics)[:, 0]))
            for note, mask in made.notes.items():
                notes[note] = notes.get(note, np.zeros(len(candidates), dtype=bool)) | mask
        table = np.stack(columns, axis=1)
        return Rows(np.column_stack([table @ self.shares, table]), notes)

    def describe(self) -> dict[str, str]:
        """The options, with everything about the members that is known by now."""
        return {**super().describe(), "metrics": format_value(self.metrics)}


def _check(member: Metric) -> None:
    if None in member.scale.limits:
        raise OptionError(
            f"{member.name} has no bounded scale, so it cannot be averaged with other metrics"
        )


def _to_unit(member: Metric, values: Floats) -> Floats:
    scale = member.scale
    worst = scale.low if scale.direction == "higher" else scale.high
    return np.asarray(np.clip((values - worst) / (scale.best - worst), 0.0, 1.0))
