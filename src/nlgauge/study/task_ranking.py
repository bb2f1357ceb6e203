"""Ranks of metrics over a set of tasks, as in WMT's metrics tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import OptionError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.inputs import Spec
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress
from nlgauge.stats import correlate
from nlgauge.stats.permutation_tests import rank_by_differences
from nlgauge.study.level_scores import LevelScores
from nlgauge.study.study import Missing, Study, StudyResult, as_list, measure
from nlgauge.study.tasks import Task, TaskData, TaskSet, read_tasks


@dataclass(frozen=True)
class TaskValue:
    """A metric's agreement with people in one task, and its rank by significance there."""

    value: float
    rank: int


@dataclass(frozen=True)
class RankedMetric:
    """A metric's mean over tasks and its rank by significance; its values in all tasks."""

    metric: str
    average: float
    """Weighted mean of the values, those of [-1, 1] mapped to [0, 1]; NaN if one is undefined."""
    rank: int
    mean_rank: float
    """Weighted mean of the ranks in the tasks."""
    values: tuple[TaskValue, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, None for what is undefined."""
        values = [{"value": to_jsonable(each.value), "rank": each.rank} for each in self.values]
        means = {"average": to_jsonable(self.average), "rank": self.rank}
        return {"metric": self.metric, **means, "mean_rank": self.mean_rank, "tasks": values}


@dataclass(frozen=True, eq=False)
class TaskRanking(StudyResult[RankedMetric]):
    """Metrics by average over the tasks, the best first."""

    title: str
    tasks: tuple[Task, ...]
    entries_key: ClassVar[str] = "ranking"

    def summary(self) -> dict[str, Any]:
        """Return the tasks, which the entries' values belong to."""
        return {"title": self.title, "tasks": [task.to_dict() for task in self.tasks]}

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for every metric and task, and for its average."""
        nothing = dict.fromkeys(("human", "level", "coefficient"))
        means: list[dict[str, Any]] = [
            {"metric": each.metric, "data": "average", **nothing, "weight": 1.0}
            | {"value": each.average, "rank": each.rank}
            for each in self.entries
        ]
        single = [
            {"metric": each.metric, **task.to_dict(), "value": result.value, "rank": result.rank}
            for each in self.entries
            for task, result in zip(self.tasks, each.values, strict=True)
        ]
        rows: list[dict[str, Any]] = to_jsonable([*means, *single])
        return rows


@dataclass(frozen=True, eq=False)
class _TaskResult:
    """The values of metrics in a task, their permuted differences by pair, and their ranks."""

    task: Task
    values: Floats
    differences: Mapping[tuple[int, int], Floats]
    ranks: Sequence[int]


def rank_by_tasks(
    tasks: TaskSet | str | Path,
    data: str | Path = ".",
    metrics: Spec | Sequence[Spec] = "bleu",
    *,
    scores: str | Sequence[str] = (),
    distances: str | Sequence[str] = (),
    missing: Missing = "error",
    count: int = 1000,
    seed: int = 0,
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> TaskRanking:
    """Return metrics ranked by their mean agreement with people over a set of tasks.

    Every task gives a value and a rank by permutation tests (see `correlate`, `ranks`). The
    average is the weighted mean of the values. It is tested with the same exchanges: the k-th
    permuted differences of all tasks are added. A new rank begins where a metric is significantly
    worse (p <= .05).

    Parameters
    ----------
    tasks : TaskSet, or a TOML file, or the name of a set of the package ("wmt24")
    data : str or Path, the folder of the tasks' data
    metrics, scores, distances, missing, runtime, progress : as in `measure`; stored scores of
        mt-metrics-eval may be named without their reference
    count, seed : permutations and their seed

    Returns
    -------
    TaskRanking

    Raises
    ------
    FileError
        If data of a task is not there.
    """
    task_set = tasks if isinstance(tasks, TaskSet) else read_tasks(tasks)
    root = Path(data)
    task_set.check_data(root)
    studies: dict[TaskData, Study] = {}
    stored = [*as_list(scores), *as_list(distances)]
    for source in dict.fromkeys(each for task in task_set.tasks for each in task.sources):
        judged = source.read(root, stored)
        options: dict[str, Any] = {"scores": scores, "distances": distances, "missing": missing}
        studies[source] = measure(judged, metrics, **options, runtime=runtime, progress=progress)
    labels = next(iter(studies.values())).labels
    results = [
        _run(task, studies, labels, count, seed + 1000 * number)
        for number, task in enumerate(task_set.tasks)
    ]
    entries = _average(labels, results)
    signatures = next(iter(studies.values())).signatures
    notes = [
        f"{source.data}{' ' + source.part if source.part else ''}: {note}"
        for source, study in studies.items()
        for note in study.data_notes
    ]
    return TaskRanking(entries, tuple(notes), signatures, task_set.title, task_set.tasks)


def _run(
    task: Task, studies: Mapping[TaskData, Study], labels: Sequence[str], count: int, seed: int
) -> _TaskResult:
    """Return the values and permuted differences of a task, pooled over its data."""
    weights, values, differences = [], [], []
    for number, source in enumerate(task.sources):
        study = studies[source]
        criteria = study.criteria(task.human)
        if len(criteria) != 1:
            listed = ", ".join(criteria)
            raise OptionError(f"{task.place} has several criteria ({listed}); name one as 'human'")
        scores = LevelScores.of(study, criteria[0], task.level, task.system_score)
        name = task.coefficient
        agreement = [correlate(*scores.matrices(each, name), task.level, name) for each in labels]
        systems = agreement[0].n
        weights.append(systems * (systems - 1) / 2)
        values.append([each.value for each in agreement])
        differences.append(scores.differences(name, count=count, seed=seed + number))
    share = np.array(weights) / sum(weights) if len(weights) > 1 else np.ones(1)
    pooled = share @ np.array(values)
    joined = _add(differences, share)
    return _TaskResult(task, pooled, joined, rank_by_differences(pooled, joined))


def _add(
    differences: Sequence[Mapping[tuple[int, int], Floats]], weights: Sequence[float] | Floats
) -> dict[tuple[int, int], Floats]:
    """Return the weighted sums of the differences of every pair of metrics."""
    share = np.asarray(weights)
    return {pair: share @ np.stack([each[pair] for each in differences]) for pair in differences[0]}


def _average(labels: Sequence[str], results: Sequence[_TaskResult]) -> tuple[RankedMetric, ...]:
    """Return the metrics by their weighted mean over tasks."""
    scales = [result.task.weight / np.ptp(result.task.range) for result in results]
    average = sum(
        scale * (result.values - result.task.range[0])
        for scale, result in zip(scales, results, strict=True)
    )
    values = np.asarray(average, dtype=np.float64)
    overall = rank_by_differences(values, _add([each.differences for each in results], scales))
    ranks = np.array([result.ranks for result in results])
    weights = np.array([result.task.weight for result in results])
    entries = [
        RankedMetric(
            label,
            float(values[k]),
            overall[k],
            float(weights @ ranks[:, k]),
            tuple(TaskValue(float(each.values[k]), each.ranks[k]) for each in results),
        )
        for k, label in enumerate(labels)
    ]
    return tuple(sorted(entries, key=lambda entry: -np.nan_to_num(entry.average, nan=-9.0)))
