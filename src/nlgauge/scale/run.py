"""Run: scores files of any size in parts, on any engine, and resumes interrupted runs."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from nlgauge.core.errors import DataError, FileError, UsageError
from nlgauge.core.totals import CorpusScore
from nlgauge.data.systems import InputFiles
from nlgauge.inputs import Tables
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scale.engine import Engine, open_engine
from nlgauge.scale.parts import CHANGED
from nlgauge.scale.planning import InputScan, Plan
from nlgauge.scale.run_folder import MANIFEST, REJECTED, SUMMARY, RunFolder
from nlgauge.scale.segments import SegmentFormat
from nlgauge.scale.signals import SignalHandler
from nlgauge.scale.sums import RANGE, Pooled, SumRange, corpus_scores, pool_scores
from nlgauge.scale.worker import FinishedPart, PartsTask, Worker, WorkerConfig, add_tables
from nlgauge.scoring import Scorer

_PLANNED = ("part_rows", "block_bytes", "segments", "on_error", "confidence", "resamples", "seed")
_TASK_SECONDS = 60.0  # of scoring before a worker reports to the driver
_MAX_PARTS = 64  # in a task
Progress = Callable[[str, int], None]
"""Called with the stage of the run and the number of rows done in it."""


@dataclass(frozen=True)
class RunResult:
    """Corpus scores by system and metric, and counts of rows."""

    scores: Mapping[str, Mapping[str, CorpusScore]]
    read: int
    scored: int
    rejected: int
    reused_parts: int  # completed by an earlier run
    repaired_parts: tuple[str, ...]  # damaged, and scored again


@dataclass(frozen=True)
class Run:
    """Input files, metrics and options of a run, and the folder of its results.

    Workers read the input in blocks of ``block_bytes``, and a part never spans two blocks.
    """

    inputs: InputFiles
    metrics: tuple[str, ...]
    folder: Path
    part_rows: int = 10_000
    segments: SegmentFormat = "jsonl"
    on_error: Literal["stop", "skip"] = "stop"
    confidence: float | None = None
    resamples: int = 1000
    seed: int = 0
    engine: str = "local"
    workers: int = 1
    address: str | None = None
    runtime: Runtime = DEFAULT
    block_bytes: int = 1 << 25

    def __post_init__(self) -> None:
        self.inputs.check_rereadable()
        if self.part_rows < 1:
            raise UsageError(f"invalid part size of {self.part_rows} rows; use at least 1")
        if self.block_bytes < 1:
            raise UsageError(f"invalid block size of {self.block_bytes} bytes; use at least 1")

    def execute(
        self, progress: Progress | None = None, on_signal: Callable[[bool], None] | None = None
    ) -> RunResult:
        """Score the parts that are not complete and return the totals of all parts."""
        folder = RunFolder(self.folder, self.segments)
        report = progress or (lambda *_: None)

        def stop(repeated: bool) -> None:
            if not repeated:
                folder.request_stop()
            if on_signal is not None:
                on_signal(repeated)

        with folder.open(), SignalHandler(stop) as signals:
            options = self._options()
            folder.check_plan(options)
            resamples = self.resamples if self.confidence else 0
            config = WorkerConfig(self.metrics, self.runtime, self.segments, resamples, self.seed)
            scorer = config.make_scorer()
            with open_engine(self.engine, config, self.workers, self.address, scorer) as engine:
                signals.install()  # Ray replaces signal handlers when it starts
                return _Execution(self, folder, engine, signals, report).run(scorer, options)

    def _options(self) -> dict[str, Any]:
        """Return the options that affect the results, except inputs and signatures."""
        return {
            "nlgauge": version("nlgauge"),
            "systems": self.inputs.names,
            "sources": self.inputs.sources and Path(self.inputs.sources).name,
            "input": self.inputs.wanted,
            "columns": self.inputs.columns.to_dict() or None,
            "header": None if self.inputs.columns.header else False,
            "specs": list(self.metrics),
            "lang": self.runtime.lang,
            **{name: getattr(self, name) for name in _PLANNED},
            "device": self.runtime.device,
            "batch_tokens": self.runtime.batch_tokens,
        }


@dataclass
class _Execution:
    """The stages of a run on an open engine."""

    options: Run
    folder: RunFolder
    engine: Engine[Any]
    signals: SignalHandler
    report: Progress
    names: dict[int, str] = field(default_factory=dict)  # of finished parts
    repaired: list[str] = field(default_factory=list)
    reused: int = 0

    def run(self, scorer: Scorer, options: Mapping[str, Any]) -> RunResult:
        """Check the input, fit tables, score and summarize."""
        scan = self._scan()
        content = {**options, "inputs": scan.digests}
        self.folder.check_plan(content)  # before anything that takes long
        plan = Plan.of(
            self.engine,
            scan,
            self.folder,
            self.options.part_rows,
            segments=scorer.needs_tables,
            stop_at_rejected=self.options.on_error == "stop",
            equal_sources=any(m.source_use != "ignored" for m in scorer.metrics.values()),
            references_for=next((x for x, m in scorer.metrics.items() if m.needs_references), None),
            signals=self.signals,
            report=lambda rows: self.report("checking rows", rows),
        )
        if scorer.needs_tables:
            scorer = self._fit_tables(scorer, plan)
        content["metrics"] = {label: str(s) for label, s in scorer.signatures("any").items()}
        self.folder.write_plan(content)
        self._score(plan)
        if content["inputs"] != self._scan().digests:
            raise FileError(CHANGED)
        result, checksums = self._summarize(scorer)
        self.folder.write(MANIFEST, {**content, "parts": checksums})
        return result

    def _scan(self) -> InputScan:
        return InputScan.of(self.engine, self.options.inputs, self.options.block_bytes)

    def _fit_tables(self, scorer: Scorer, plan: Plan) -> Scorer:
        """Fit corpus tables on all references and return the scorer with them."""
        segments = plan.repeated_segments(self.engine)
        size = max(min(plan.parts // (4 * self.options.workers), _MAX_PARTS), 1)
        ranges = plan.ranges(lambda: size, self.options.workers, segments)
        tasks = (PartsTask(parts, self.folder) for parts in self.signals.until_signal(ranges))
        total: tuple[Tables, ...] = ()
        rows = 0
        for fitted in self.engine.run(Worker.fit_parts, tasks):
            total = add_tables(total, fitted.tables)
            for length in fitted.rows:
                rows += length
                self.report("fitting tables", rows)
        self.signals.raise_if_interrupted("")
        if not total:
            return scorer
        self.engine.share_tables(total, self.folder.scratch)
        return scorer.with_tables(total)

    def _score(self, plan: Plan) -> None:
        """Score the parts that are missing or damaged."""
        size, rows = 1, 0
        workers = self.options.workers

        def tasks() -> Iterator[PartsTask]:
            for parts in self.signals.until_signal(plan.ranges(lambda: size, workers)):
                yield PartsTask(parts, self.folder)

        finished: list[FinishedPart]
        for finished in self.engine.run(Worker.score_parts, tasks()):
            for part in finished:
                self.names[part.number] = part.name
                self.reused += part.origin == "reused"
                self.repaired += [part.name] * (part.origin == "repaired")
                rows += part.rows
                self.report("scoring", rows)
            remaining = plan.parts - len(self.names)
            seconds = sum(part.seconds for part in finished) / max(len(finished), 1)
            size = int(
                min(_TASK_SECONDS / max(seconds, 1e-9), remaining / (2 * workers), _MAX_PARTS)
            )
        progress = f"{rows:,} rows are scored and kept in {str(self.options.folder)!r}: "
        self.signals.raise_if_interrupted(progress)

    def _summarize(self, scorer: Scorer) -> tuple[RunResult, dict[str, str]]:
        """Write summary and rejected rows; return the result and the checksum of every part."""
        names = [self.names[number] for number in sorted(self.names)]
        counts, references, sources = Counter[str](), set[str](), set[bool]()
        checksums: dict[str, str] = {}
        pooled: Pooled = {}

        def rejected() -> Iterator[bytes]:
            for sums in self.engine.run_in_order(Worker.sum_parts, self._sum_ranges(names)):
                counts.update(sums.counts)
                references.update(sums.references)
                sources.update(sums.sources)
                checksums.update(sums.checksums)
                pool_scores(pooled, corpus_scores(scorer, sums.scores, self.options.seed))
                yield sums.rejected

        self.folder.write_bytes(REJECTED, rejected())
        if not counts["scored"]:
            none = f"none of the {counts['read']:,} rows read can be scored"
            raise DataError(f"{none}; the reasons are in {str(self.options.folder / REJECTED)!r}")
        number = references.pop() if len(references) == 1 else "var"
        signatures = scorer.signatures(number, sources=True in sources)
        scores: dict[str, dict[str, CorpusScore]] = {}
        for (system, label), total in pooled.items():
            signed = dataclasses.replace(total, signature=signatures[label])
            scores.setdefault(system, {})[label] = signed
        listed = [total for of_system in scores.values() for total in of_system.values()]
        content = [total.to_dict(confidence=self.options.confidence) for total in listed]
        self.folder.write(SUMMARY, {**counts, "scores": content})
        repaired = tuple(sorted(self.repaired))
        result = RunResult(scores, **counts, reused_parts=self.reused, repaired_parts=repaired)
        return result, checksums

    def _sum_ranges(self, names: list[str]) -> Iterator[SumRange]:
        for i in range(0, len(names), RANGE):
            yield SumRange(self.folder, tuple(names[i : i + RANGE]), self.options.seed)
