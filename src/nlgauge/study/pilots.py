"""Pilots of comparisons, and the power that other sample sizes would have."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import nan
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.jsonable import to_jsonable
from nlgauge.stats.power import (
    Pilot,
    check_plan,
    detectable_difference,
    difference_interval,
    power_of_difference,
)
from nlgauge.stats.significance import Williams
from nlgauge.stats.williams_power import detectable_correlation, power_of_williams
from nlgauge.study.study import StudyResult

_CURVE_POINTS = 60


@dataclass(frozen=True)
class Target:
    """The required power and the significance level of two-sided tests."""

    power: float = 0.8
    alpha: float = 0.05

    def __post_init__(self) -> None:
        check_plan(self.alpha, self.power)

    @property
    def levels(self) -> tuple[float, float]:
        """Power and alpha, as the functions of `nlgauge.stats` take them."""
        return self.power, self.alpha


@dataclass(frozen=True)
class SystemPilot:
    """The pilot of two systems under one metric."""

    metric: str
    system: str
    baseline: str
    pilot: Pilot
    target: Target
    difference: float
    """The difference to detect."""
    needed: int | None
    """Segments with which its power is the target; None if a billion do not suffice."""
    digits: int = 2
    """Decimals with which scores of the metric are shown."""

    def titled(self, titles: Mapping[str, str]) -> str:
        """Return what is compared in words, with the titles of metrics."""
        return f"{titles.get(self.metric, self.metric)}, {self.system}"

    @property
    def size(self) -> int:
        """Number of segments of the pilot."""
        return self.pilot.segments

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the pilot's difference."""
        return difference_interval(self.pilot)

    def power_at(self, size: int) -> float:
        """Return the power of a test on this many segments."""
        return power_of_difference(self.pilot, self.difference, size, self.target.alpha)

    def detectable_at(self, size: int) -> float:
        """Return the smallest difference that this many segments detect with the target power."""
        return abs(detectable_difference(self.pilot, size, *self.target.levels))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        low, high = self.interval
        return {
            "metric": self.metric,
            "system": self.system,
            "baseline": self.baseline,
            **asdict(self.pilot),
            "low": low,
            "high": high,
            "difference_to_detect": self.difference,
            "segments_needed": self.needed,
        }


@dataclass(frozen=True)
class MetricPilot:
    """The pilot of two metrics and human judgements."""

    first: str
    second: str
    criterion: str
    level: str
    test: Williams
    target: Target
    needed: int | None
    """Judged outputs or systems with which Williams's test has the target power, if any."""

    def titled(self, titles: Mapping[str, str]) -> str:
        """Return what is compared in words, with the titles of metrics."""
        return " and ".join(titles.get(name, name) for name in (self.first, self.second))

    @property
    def difference(self) -> float:
        """The difference of the two correlations with people."""
        return self.test.r12 - self.test.r13

    @property
    def size(self) -> int:
        """Number of judged outputs or systems of the pilot."""
        return self.test.n

    @property
    def _correlations(self) -> tuple[float, float, float]:
        return self.test.r12, self.test.r13, self.test.r23

    def power_at(self, size: int) -> float:
        """Return the power of Williams's test on this many points."""
        if size < 4:
            return nan
        return power_of_williams(*self._correlations, size, self.target.alpha)

    def detectable_at(self, size: int) -> float:
        """Return the smallest difference of correlations that this many points detect."""
        r12, r13, r23 = self._correlations
        if size < 4:
            return nan
        return detectable_correlation((r12 + r13) / 2, r23, size, *self.target.levels)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        r12, r13, r23 = self._correlations
        return {
            "first": self.first,
            "second": self.second,
            "criterion": self.criterion,
            "level": self.level,
            "r_first": r12,
            "r_second": r13,
            "r_metrics": r23,
            "difference": self.difference,
            "p": self.test.p,
            "n": self.size,
            "n_needed": self.needed,
        }


AnyPilot = SystemPilot | MetricPilot


@dataclass(frozen=True)
class PowerEntry:
    """The power of a test of one size."""

    pilot: AnyPilot
    size: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, the pilot's among them."""
        fields = {
            "size": self.size,
            "power": self.pilot.power_at(self.size),
            "detectable": self.pilot.detectable_at(self.size),
        }
        return {**self.pilot.to_dict(), **to_jsonable(fields)}


@dataclass(frozen=True, eq=False)
class SamplePlan(StudyResult[PowerEntry]):
    """Pilots, and the power of tests of several sizes."""

    pilots: Sequence[AnyPilot]
    target: Target
    entries_key: ClassVar[str] = "sizes"

    def summary(self) -> dict[str, Any]:
        """Return the target and the pilots."""
        pilots = [pilot.to_dict() for pilot in self.pilots]
        return {**asdict(self.target), "pilots": pilots}

    def of(self, pilot: AnyPilot) -> list[dict[str, Any]]:
        """Return the entries of one pilot as plain values."""
        return [entry.to_dict() for entry in self.entries if entry.pilot is pilot]

    def curves(self) -> tuple[list[int], list[list[float]]]:
        """Return numbers of segments or outputs, and the power at each for every pilot."""
        ends = [size for pilot in self.pilots for size in (pilot.size, pilot.needed or pilot.size)]
        low, high = max(min(ends) / 4, 4), 2 * max(ends)
        sizes = np.unique(np.geomspace(low, high, _CURVE_POINTS).astype(int)).tolist()
        return sizes, [[each.power_at(size) for size in sizes] for each in self.pilots]
