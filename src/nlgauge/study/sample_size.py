"""Sample sizes from a pilot: segments for comparing systems, judged outputs for metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import copysign, isfinite

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, OptionError, UsageError
from nlgauge.core.scores import Scores
from nlgauge.stats.levels import choose_level
from nlgauge.stats.power import FinishAll, Pilot, contributions, pilot_of, segments_needed
from nlgauge.stats.significance import williams_test
from nlgauge.stats.williams_power import points_needed
from nlgauge.study.comparison import Comparison, order_of
from nlgauge.study.pilots import (
    AnyPilot,
    MetricPilot,
    PowerEntry,
    SamplePlan,
    SystemPilot,
    Target,
)
from nlgauge.study.study import Study

_MIN_UNITS = 30  # independent units, from which a variance has a relative error of a quarter


def plan_systems(
    pilot: Comparison,
    *,
    difference: float | Sequence[float] | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    sizes: Sequence[int] = (),
) -> SamplePlan:
    """Return the number of segments that is needed to detect a difference between systems.

    Parameters
    ----------
    pilot : Comparison, the result of `compare`, whose systems are planned against the first
    difference : float, or one per metric; the difference to detect, by default the pilot's own
    power, alpha : float, the wanted power and the significance level of two-sided tests
    sizes : numbers of segments whose power is computed; by default some around the needed number

    Returns
    -------
    SamplePlan

    Raises
    ------
    DataError or OptionError
        For a pilot without variance, for a difference of 0, and for a power or alpha outside
        (0, 1).

    Examples
    --------
    >>> from nlgauge import compare
    >>> texts = {"a": ["x y", "z", "u v"], "b": ["x w", "z", "u"]}
    >>> pilot = compare(texts, ["x y", "z", "u v"], metrics="chrf")
    >>> plan_systems(pilot, difference=10).pilots[0].needed
    183
    """
    target, labels = Target(power, alpha), list(pilot.signatures)
    gaps = _differences(difference, len(labels))
    pilots = []
    for label, gap in zip(labels, gaps, strict=True):
        first, *others = (each[label] for each in pilot.scores.values())
        groups = None if pilot.clusters is None else [pilot.clusters[name] for name in first.ids]
        for second in others:
            rows = second.statistics[order_of(second, first.ids)]
            parts = contributions(rows, first.statistics, _finish(first))
            paired = replace(pilot_of(parts, groups), difference=second.value - first.value)
            planned = _system_pilot(label, second.system, first.system, paired, target, gap)
            pilots.append(replace(planned, digits=first.scale.digits))
    notes = [*pilot.notes, *_pilot_notes(pilots, difference is None)]
    return _plan(pilots, target, sizes, notes, pilot.signatures)


def _finish(scores: Scores) -> FinishAll:
    def finish(totals: Floats, counts: Floats) -> Floats:
        return scores.metric.finish(totals, counts)[:, 0]

    return finish


def _differences(difference: float | Sequence[float] | None, metrics: int) -> list[float | None]:
    """Return the difference to detect for every metric; None is the pilot's own."""
    if difference is None:
        return [None] * metrics
    values = [difference] if isinstance(difference, int | float) else list(difference)
    if len(values) not in (1, metrics):
        raise OptionError(
            f"there are {len(values)} differences for {metrics} metrics; give one for all, or one "
            "for each"
        )
    for value in values:
        if not isfinite(value) or value == 0:
            raise OptionError(
                f"the difference to detect is {value:g}; give a finite number other than 0, in "
                "the metric's units"
            )
    return [*values] * (metrics if len(values) == 1 else 1)


def _system_pilot(
    label: str, system: str, baseline: str, pilot: Pilot, target: Target, requested: float | None
) -> SystemPilot:
    """Return the pilot with a difference of the same sign to detect, and the size it needs."""
    gap = pilot.difference if requested is None else copysign(requested, pilot.difference)
    if abs(gap) <= 1e-12 * pilot.deviation:
        raise DataError(
            f"{label} of {system!r} and {baseline!r} do not differ in the pilot; name the "
            "difference to detect (--difference)"
        )
    needed = segments_needed(pilot, gap, *target.levels)
    return SystemPilot(label, system, baseline, pilot, target, gap, needed)


def _pilot_notes(pilots: Sequence[SystemPilot], observed: bool) -> list[str]:
    units = pilots[0].pilot.clusters
    notes = []
    if observed:
        notes.append(
            "the differences to detect are those of the pilot, which are uncertain; name one that "
            "matters to you with --difference."
        )
    if units < _MIN_UNITS:
        error = 1 / np.sqrt(2 * (units - 1))
        notes.append(
            f"the pilot has {units} independent segments or clusters, so its standard deviations "
            f"have a relative error of about {error:.0%}, and the numbers of segments twice that."
        )
    return notes


def plan_metrics(
    study: Study,
    criterion: str,
    *,
    level: str = "segment",
    power: float = 0.8,
    alpha: float = 0.05,
    sizes: Sequence[int] = (),
) -> SamplePlan:
    """Return the number of judged outputs that is needed to separate the correlations of metrics.

    The test is the two-sided Williams's test of Pearson's r; the correlations of the pilot are
    treated as the true values.

    Parameters
    ----------
    study : Study, the result of `measure`, with two metrics or more
    criterion : str
    level : "segment" (points are outputs), "document" or "system"
    power, alpha : float, the wanted power and the significance level
    sizes : numbers of judged outputs whose power is computed; by default some around the needed
        number

    Returns
    -------
    SamplePlan, a pilot for every two metrics, the one that correlates better first

    Raises
    ------
    UsageError or DataError or OptionError
        For a single metric, for undefined correlations, and for a power or alpha outside (0, 1).
    """
    target, level = Target(power, alpha), choose_level(level)
    if len(study.labels) < 2:
        raise UsageError(f"a pilot needs at least 2 metrics, but there is {len(study.labels)}")
    grid, pilots = study.grid(criterion, level), []
    for pair in combinations(study.labels, 2):
        tests = {
            (one, other): williams_test(grid.metric(one), grid.metric(other), grid.human, level)
            for one, other in (pair, pair[::-1])
        }
        names, test = max(tests.items(), key=lambda item: item[1].r12)
        needed = points_needed(test.r12, test.r13, test.r23, *target.levels)
        pilots.append(MetricPilot(*names, criterion, level, test, target, needed))
    return _plan(pilots, target, sizes, study.notes, study.signatures)


def _plan(
    pilots: Sequence[AnyPilot],
    target: Target,
    sizes: Sequence[int],
    notes: Sequence[str],
    signatures: Mapping[str, str],
) -> SamplePlan:
    for size in sizes:
        if size < 2:
            raise OptionError(f"a size is {size}; a test needs at least 2 segments or outputs")
    entries = [
        PowerEntry(pilot, size)
        for pilot in pilots
        for size in (sorted(set(sizes)) or _usual_sizes(pilot.size, pilot.needed))
    ]
    return SamplePlan(tuple(entries), tuple(notes), signatures, tuple(pilots), target)


def _usual_sizes(pilot: int, needed: int | None) -> list[int]:
    """Return the pilot's size, the needed one, and 1, 2, 5, 10, ... between and beyond."""
    ends = {pilot, needed or 20 * pilot}
    steps = (k * 10**digits for digits in range(10) for k in (1, 2, 5))
    between = {step for step in steps if min(ends) < step <= 2 * max(ends)}
    return sorted(between | {pilot, *([needed] if needed else [])})
