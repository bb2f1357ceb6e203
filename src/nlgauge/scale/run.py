"""Run: scores files of any size part by part, on any engine, and resumes where it stopped."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from nlgauge.core.errors import DataError, FileError, NlgaugeError, UsageError
from nlgauge.core.totals import CorpusScore, Resampled
from nlgauge.data.systems import InputFiles, file_digest
from nlgauge.inputs import Tables
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scale.engine import Engine, open_engine
from nlgauge.scale.parts import Part, split_into_parts
from nlgauge.scale.run_folder import CHECKSUM, MANIFEST, REJECTED, SUMMARY, RunFolder
from nlgauge.scale.signals import SignalHandler
from nlgauge.scale.worker import SegmentFormat, WorkerConfig, decode_array
from nlgauge.scoring import Scorer

_PLANNED = ("part_rows", "segments", "on_error", "confidence", "resamples", "seed")
_SOME_SOURCES = (
    "some rows up to {} have a source and others have none; a metric reads the sources, so give "
    "them for all rows or for none"
)
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
    """Input files, metrics and options of a run, and the folder of its results."""

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

    def __post_init__(self) -> None:
        self.inputs.check_rereadable()
        if self.part_rows < 1:
            raise UsageError(f"invalid part size of {self.part_rows} rows; use at least 1")

    def execute(
        self, progress: Progress | None = None, on_signal: Callable[[], None] | None = None
    ) -> RunResult:
        """Score the parts that are not complete and return the totals of all parts."""
        folder = RunFolder(self.folder, self.segments)
        report = progress or (lambda *_: None)
        with folder.open(), SignalHandler(on_signal) as signals:
            plan = self._plan()
            folder.check_plan(plan)  # before tables are fitted, which may take long
            resamples = self.resamples if self.confidence else 0
            config = WorkerConfig(self.metrics, self.runtime, self.segments, resamples, self.seed)
            scorer = config.make_scorer()
            with open_engine(self.engine, config, self.workers, self.address, scorer) as engine:
                signals.install()  # Ray replaces the handlers when it starts
                if scorer.needs_tables:
                    scorer = self._fit_tables(scorer, engine, signals, report)
                plan["metrics"] = {label: str(s) for label, s in scorer.signatures("any").items()}
                folder.write_plan(plan)
                reads_sources = any(m.source_use != "ignored" for m in scorer.metrics.values())
                record = self._score(engine, folder, signals, report, reads_sources=reads_sources)
            if plan["inputs"] != self._plan()["inputs"]:
                changed = "an input file was changed while it was read"
                raise FileError(f"{changed}; use another folder and start over")
            result, checksums = self._summarize(scorer, folder, record)
            folder.write(MANIFEST, {**plan, "parts": checksums})
        return result

    def _plan(self) -> dict[str, Any]:
        """Everything that the results depend on except the signatures; not the engine."""
        return {
            "nlgauge": version("nlgauge"),
            "inputs": [file_digest(file) for file in self.inputs.paths()],
            "systems": self.inputs.names,
            "columns": self.inputs.columns.to_dict() or None,
            "header": None if self.inputs.columns.header else False,
            "specs": list(self.metrics),
            "lang": self.runtime.lang,
            **{name: getattr(self, name) for name in _PLANNED},
            "device": self.runtime.device,
            "batch_tokens": self.runtime.batch_tokens,
        }

    def _parts(self, signals: SignalHandler, *, mark_new_segments: bool = False) -> Iterator[Part]:
        stream = self.inputs.rows()
        parts = split_into_parts(stream, self.part_rows, mark_new_segments=mark_new_segments)
        for part in signals.until_signal(parts):
            if part.rejected and self.on_error == "stop":
                row = part.rejected[0]
                hint = "To score the other rows, and list those left out, use --on-error skip"
                raise FileError(f"{row.place}: {row.reason}. {hint}")
            yield part

    def _fit_tables(
        self, scorer: Scorer, engine: Engine[Any], signals: SignalHandler, report: Progress
    ) -> Scorer:
        """Fit corpus tables on all references and return the scorer with them."""
        record = _Record(report, "fitting tables")

        def reported() -> Iterator[Part]:
            for part in self._parts(signals, mark_new_segments=True):
                yield part
                record.count(len(part))

        total: tuple[Tables, ...] = ()
        for tables in engine.run("fit", reported()):
            pairs = zip(total, tables, strict=True)
            total = tuple(map(Tables.pool, pairs)) if total else tables
        signals.raise_if_interrupted("")
        if not total:
            return scorer
        engine.share_tables(total)
        return scorer.with_tables(total)

    def _score(
        self,
        engine: Engine[Any],
        folder: RunFolder,
        signals: SignalHandler,
        report: Progress,
        *,
        reads_sources: bool,
    ) -> "_Record":
        """Score the parts that are missing or damaged."""
        record = _Record(report, "scoring")
        errors: list[NlgaugeError] = []
        with_source: set[bool] = set()

        def missing() -> Iterator[Part]:
            try:
                for part in self._parts(signals):
                    record.names.append(part.name)
                    with_source.update(row.source is not None for row in part.rows)
                    if reads_sources and len(with_source) == 2:
                        raise DataError(_SOME_SOURCES.format(part.name))
                    sums = folder.read_sums(part.name)
                    if sums is not None:
                        record.reused += 1
                        record.count(sums["read"])
                        continue
                    if folder.has_part(part.name):
                        record.repaired.append(part.name)
                    yield part
            except NlgaugeError as error:
                errors.append(error)  # raised after the parts in progress are written

        for scores in engine.run("score", missing()):
            folder.write_part(scores)
            record.count(scores.sums["read"])
        kept = f"{record.rows:,} rows are scored and kept in {str(self.folder)!r}: "
        signals.raise_if_interrupted(kept)
        if errors:
            raise errors[0]
        return record

    def _summarize(
        self, scorer: Scorer, folder: RunFolder, record: "_Record"
    ) -> tuple[RunResult, dict[str, str]]:
        """Write summary and rejected rows; return the result and the checksum of every part."""
        if not record.names:
            raise DataError("there is nothing to score: the files hold no rows")
        counts, references, given = Counter[str](), set[str](), set[bool]()
        checksums: dict[str, str] = {}
        pooled: dict[tuple[str, str], CorpusScore] = {}

        def rejected() -> Iterator[Any]:
            # In the order of the parts, so that rounding does not depend on the engine.
            for name in record.names:
                # The segments were verified or written in this run, so only the sums are read.
                sums = folder.read_sums(name, check_segments=False)
                if sums is None:
                    raise FileError(f"{name} was damaged during the run; run the command again")
                checksums[name] = sums[CHECKSUM]
                counts["read"] += sums["read"]
                counts["scored"] += sums["scored"]
                counts["rejected"] += len(sums["rejected"])
                references.update(map(str, sums["references"]))
                given.add(bool(sums.get("sources")))
                for total in self._corpus_scores(scorer, sums["scores"]):
                    key = total.system, total.label
                    pooled[key] = CorpusScore.pool([pooled[key], total]) if key in pooled else total
                yield from sums["rejected"]

        folder.write_lines(REJECTED, rejected())
        if not counts["scored"]:
            none = f"none of the {counts['read']:,} rows read can be scored"
            raise DataError(f"{none}; the reasons are in {str(self.folder / REJECTED)!r}")
        number = references.pop() if len(references) == 1 else "var"
        signatures = scorer.signatures(number, sources=True in given)
        scores: dict[str, dict[str, CorpusScore]] = {}
        for (system, label), total in pooled.items():
            signed = dataclasses.replace(total, signature=signatures[label])
            scores.setdefault(system, {})[label] = signed
        listed = [total for of_system in scores.values() for total in of_system.values()]
        content = [total.to_dict(confidence=self.confidence) for total in listed]
        folder.write(SUMMARY, {**counts, "scores": content})
        repaired = tuple(record.repaired)
        result = RunResult(scores, **counts, reused_parts=record.reused, repaired_parts=repaired)
        return result, checksums

    def _corpus_scores(
        self, scorer: Scorer, contents: Iterable[Mapping[str, Any]]
    ) -> Iterator[CorpusScore]:
        metrics, signatures = scorer.metrics, scorer.signatures("any")
        for content in contents:
            given: dict[str, Any] = dict(content)
            label, totals = given.pop("metric"), decode_array(given.pop("totals"))
            drawn = {name: decode_array(a) for name, a in given.pop("resampled", {}).items()}
            resampled = Resampled(**drawn, seed=self.seed) if drawn else None
            given |= {"label": label, "metric": metrics[label], "signature": signatures[label]}
            yield CorpusScore(totals=totals, resampled=resampled, **given)


@dataclass
class _Record:
    """Parts and rows of a run so far."""

    report: Progress
    stage: str
    names: list[str] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)
    reused: int = 0
    rows: int = 0

    def count(self, rows: int) -> None:
        self.rows += rows
        self.report(self.stage, self.rows)
