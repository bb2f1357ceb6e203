"""Worker: scores parts with one scorer and encodes the results for the run folder."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from nlgauge.core.errors import UnknownTokensWarning
from nlgauge.core.scores import Scores
from nlgauge.core.totals import Resampled
from nlgauge.inputs import Tables
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scale.parts import Part, PartRange
from nlgauge.scale.run_folder import RunFolder
from nlgauge.scale.segments import PartScores, SegmentFormat, encode_segments
from nlgauge.scale.sums import SumRange, Sums, encode_sum
from nlgauge.scoring import Scorer

LoadTables = Callable[[], Sequence[Tables]]
Work = Callable[["Worker", Any], Any]
"""A function that a worker applies to a task."""


@dataclass(frozen=True)
class WorkerConfig:
    """Metrics, runtime, output format and resampling of a worker."""

    metrics: tuple[str, ...]
    runtime: Runtime = DEFAULT
    segments: SegmentFormat = "jsonl"
    resamples: int = 0
    seed: int = 0

    def make_scorer(self) -> Scorer:
        """Open the models and return the scorer."""
        return Scorer(self.metrics, runtime=self.runtime)


@dataclass(frozen=True)
class PartsTask:
    """Parts to read, and the folder of the run."""

    parts: PartRange
    folder: RunFolder

    @property
    def name(self) -> str:
        """The numbers of the parts, for messages."""
        return self.parts.name


class FinishedPart(NamedTuple):
    """A part with files in the folder of the run."""

    number: int
    name: str
    rows: int
    origin: Literal["scored", "reused", "repaired"]
    seconds: float


class FittedParts(NamedTuple):
    """Corpus tables of consecutive parts (empty if all rows were rejected), and row counts."""

    tables: tuple[Tables, ...]
    rows: list[int]


def add_tables(first: tuple[Tables, ...], second: tuple[Tables, ...]) -> tuple[Tables, ...]:
    """Return the tables of both, of which one may be empty."""
    if not (first and second):
        return first or second
    return tuple(map(Tables.pool, zip(first, second, strict=True)))


class Worker:
    """A scorer that is reused for all parts of a worker."""

    def __init__(self, config: WorkerConfig, scorer: Scorer | None = None) -> None:
        self._config = config
        self._scorer = scorer or config.make_scorer()
        self._has_tables = False

    def run(self, work: Work, task: Any, load_tables: LoadTables | None) -> Any:
        """Return the result of the work on a task, after loading corpus tables at first use."""
        if load_tables is not None and not self._has_tables:
            self._scorer, self._has_tables = self._scorer.with_tables(load_tables()), True
        return work(self, task)

    def fit_parts(self, task: PartsTask) -> FittedParts:
        """Return the corpus tables of all parts together."""
        total: tuple[Tables, ...] = ()
        rows: list[int] = []
        for part in task.parts.read():
            if task.folder.stop_requested():
                break
            total = add_tables(total, self.fit(part))
            rows.append(len(part))
        return FittedParts(total, rows)

    def score_parts(self, task: PartsTask) -> list[FinishedPart]:
        """Score the parts that the folder does not have, and write them to it."""
        finished = []
        task.folder.check_shared()
        started = time.monotonic()
        for part in task.parts.read():
            if task.folder.stop_requested():
                break
            origin = task.folder.find_part(part.name)
            if origin != "reused":
                task.folder.write_part(self.score(part))
            now = time.monotonic()
            finished.append(FinishedPart(part.number, part.name, len(part), origin, now - started))
            started = now
        return finished

    def sum_parts(self, task: SumRange) -> Sums:
        """Return the sums of finished parts."""
        return task.read(self._scorer)

    def fit(self, part: Part) -> tuple[Tables, ...]:
        """Return the corpus tables of the part, with the references of new segments only."""
        references = [part.rows[i].references for i in sorted(part.new_segments)]
        return self._scorer.fit_tables([row.candidate for row in part.rows], references)

    def score(self, part: Part) -> PartScores:
        """Return the scores of the part's rows."""
        with warnings.catch_warnings():  # the notes of the run report it once
            warnings.simplefilter("ignore", UnknownTokensWarning)
            scores = self._scorer.score_corpus(part.corpus) if part.rows else {}
        sums = {
            "read": len(part),
            "scored": len(part.rows),
            "rejected": [{"place": row.place, "reason": row.reason} for row in part.rejected],
            "references": sorted({len(row.references) for row in part.rows}),
            "sources": any(row.source is not None for row in part.rows),
            "scores": [sum_ for of_system in scores.values() for sum_ in self._sums(of_system)],
        }
        names = {
            label: [label, *(f"{label}.{name}" for name in metric.components[1:])]
            for label, metric in self._scorer.metrics.items()
        }
        return PartScores(part.name, encode_segments(scores, names, self._config.segments), sums)

    def _sums(self, of_system: Mapping[str, Scores]) -> list[dict[str, Any]]:
        """Return the sums of one system; metrics share the random draws, which are expensive."""
        all_scores = list(of_system.values())
        pieces: Sequence[Resampled | None] = [None] * len(all_scores)
        if self._config.resamples:
            tables = [scores.statistics for scores in all_scores]
            sampling = self._config.resamples, self._config.seed
            joined = Resampled.of(all_scores[0].ids, np.hstack(tables), *sampling)
            pieces = joined.split([table.shape[1] for table in tables])
        return [
            encode_sum(scores, len(scores), scores.statistics.sum(axis=0), piece)
            for scores, piece in zip(all_scores, pieces, strict=True)
        ]
