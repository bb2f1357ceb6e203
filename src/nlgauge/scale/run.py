"""A run over files of any size: part by part, on any engine, resumed where it was left."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from nlgauge.core.errors import DataError, FileError, NlgaugeError, UsageError
from nlgauge.core.totals import Resampled, Tally
from nlgauge.data.streams import Digest, Rejected, Row, Sources
from nlgauge.inputs import Tables
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scale.engine import Engine, open_engine
from nlgauge.scale.parts import Part, cut
from nlgauge.scale.run_folder import CHECKSUM, MANIFEST, REJECTED, SUMMARY, RunFolder
from nlgauge.scale.signals import Interrupted, Interruption
from nlgauge.scale.worker import Duty, SegmentFormat, unpack
from nlgauge.scoring import Scorer

_AGAIN = "start the same command again to go on"
_SKIP = "To score the other rows, and list those left out, use --on-error skip"

Told = Callable[[str, int], None]
"""Hears what is being done, and for how many rows it is done."""


@dataclass(frozen=True)
class Outcome:
    """What a run came to: corpus scores by system and metric, and where every row went."""

    board: Mapping[str, Mapping[str, Tally]]
    read: int
    scored: int
    rejected: int
    kept: int
    """Parts that were there already."""
    redone: tuple[str, ...]
    """Parts that were found damaged and scored again."""


@dataclass(frozen=True)
class Run:
    """Which files are scored, with what, in parts of what size, into which folder."""

    sources: Sources
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
        if self.part_rows < 1:
            raise UsageError(f"a part of {self.part_rows} rows holds nothing; name at least 1")

    def go(self, told: Told | None = None, heard: Callable[[], None] | None = None) -> Outcome:
        """Score what is not yet scored, and sum up; ``heard`` is called when a signal comes."""
        folder = RunFolder(self.folder, self.segments)
        with folder.open(), Interruption(heard) as interruption:
            plan = self._plan()
            folder.refuse_other(plan)  # before the pass that fits tables, which may be long
            duty = self._duty(self._learn(interruption, told))
            scorer = duty.scorer()
            plan["metrics"] = {label: str(s) for label, s in scorer.signatures("any").items()}
            folder.agree(plan)
            progress = self._score(duty, folder, interruption, told)
            self._refuse_changed(plan)
            outcome, checksums = self._sum_up(scorer, folder, progress)
            folder.write(MANIFEST, {**plan, "parts": checksums})
        return outcome

    def _duty(self, learnt: tuple[Tables, ...] | None) -> Duty:
        return Duty(
            self.metrics,
            self.runtime,
            self.segments,
            self.resamples if self.confidence else 0,
            self.seed,
            learnt,
        )

    def _plan(self) -> dict[str, Any]:
        """All that the results depend on but the signatures; the engine is not part of it."""
        return {
            "nlgauge": version("nlgauge"),
            "inputs": [vars(Digest.of(file)) for file in self.sources.files()],
            "systems": self.sources.names,
            "specs": list(self.metrics),
            "lang": self.runtime.lang,
            "part_rows": self.part_rows,
            "segments": self.segments,
            "on_error": self.on_error,
            "confidence": self.confidence,
            "resamples": self.resamples,
            "seed": self.seed,
            "device": self.runtime.device,
            "batch_tokens": self.runtime.batch_tokens,
        }

    def _refuse_changed(self, plan: Mapping[str, Any]) -> None:
        if plan["inputs"] != self._plan()["inputs"]:
            raise FileError(
                "an input file was changed while it was read; name another folder and start again"
            )

    def _learn(self, interruption: Interruption, told: Told | None) -> tuple[Tables, ...] | None:
        """What metrics with corpus tables take from all references, in a pass of its own."""
        if not self._duty(None).scorer().needs_tables:
            return None
        rows = 0

        def marked() -> Iterator[Part]:
            nonlocal rows
            for part in interruption.until(self._parts(mark_fresh=True)):
                yield part
                rows += len(part.rows) + len(part.rejected)
                if told is not None:
                    told("fitting tables", rows)

        with self._engine(self._duty(None), interruption) as engine:
            learnt = reduce(_pool, engine.run("learn", marked()), None)
        if interruption.number is not None:
            raise Interrupted(f"interrupted; {_AGAIN}", interruption.number)
        return learnt

    @contextmanager
    def _engine(self, duty: Duty, interruption: Interruption) -> Iterator[Engine]:
        with open_engine(self.engine, duty, workers=self.workers, address=self.address) as engine:
            interruption.listen()  # Ray has taken the signals when it was started
            yield engine

    def _parts(self, *, mark_fresh: bool = False) -> Iterator[Part]:
        return cut(self._rows(), self.part_rows, mark_fresh=mark_fresh)

    def _rows(self) -> Iterator[Row | Rejected]:
        for row in self.sources.rows():
            if isinstance(row, Rejected) and self.on_error == "stop":
                raise FileError(f"{row.place}: {row.reason}. {_SKIP}")
            yield row

    def _score(
        self, duty: Duty, folder: RunFolder, interruption: Interruption, told: Told | None
    ) -> _Progress:
        """Score the parts that are missing or damaged."""
        progress = _Progress(told)
        halt: list[NlgaugeError] = []

        def missing() -> Iterator[Part]:
            try:
                for part in interruption.until(self._parts()):
                    self._refuse_doubled(part)
                    progress.names.append(part.name)
                    done = folder.sums(part.name)
                    if done is not None:
                        progress.keep(done["read"])
                        continue
                    if folder.holds(part.name):
                        progress.redone.append(part.name)
                    yield part
            except NlgaugeError as error:
                halt.append(error)  # to be raised when the parts under way are done and kept

        with self._engine(duty, interruption) as engine:
            for scored in engine.run("score", missing()):
                folder.keep(scored)
                progress.tell(scored.sums["read"])
        if interruption.number is not None:
            done = f"{progress.rows:,} rows are scored and kept in {str(self.folder)!r}"
            raise Interrupted(f"interrupted; {done}: {_AGAIN}", interruption.number)
        if halt:
            raise halt[0]
        return progress

    def _refuse_doubled(self, part: Part) -> None:
        if part.rejected and self.on_error == "stop":
            row = part.rejected[0]
            raise DataError(f"{row.place}: {row.reason}. {_SKIP}")

    def _sum_up(
        self, scorer: Scorer, folder: RunFolder, progress: _Progress
    ) -> tuple[Outcome, dict[str, str]]:
        """The outcome, written down too, and the checksum of every part."""
        totals = _Totals(scorer, self.seed)
        checksums = {}
        for name in progress.names:
            sums = folder.sums(name)
            if sums is None:
                raise FileError(f"{name} was damaged while the run went on; start it again")
            totals.add(sums)
            checksums[name] = sums[CHECKSUM]
        if not totals.read:
            raise DataError("there is nothing to score: the files hold no rows")
        folder.write_rejected(progress.names)
        if not totals.scored:
            raise DataError(
                f"none of the {totals.read:,} rows read can be scored; the reasons are in "
                f"{str(self.folder / REJECTED)!r}"
            )
        board = totals.board()
        counts = {"read": totals.read, "scored": totals.scored, "rejected": totals.rejected}
        scores = [
            tally.to_dict(confidence=self.confidence)
            for of_system in board.values()
            for tally in of_system.values()
        ]
        folder.write(SUMMARY, {**counts, "scores": scores})
        outcome = Outcome(board, **counts, kept=progress.kept, redone=tuple(progress.redone))
        return outcome, checksums


class _Progress:
    """How far a run has come: its parts by name, those that were kept or damaged, and its rows."""

    def __init__(self, told: Told | None) -> None:
        self._told = told
        self.names: list[str] = []
        self.redone: list[str] = []
        self.kept = self.rows = 0

    def keep(self, rows: int) -> None:
        """Count a part that was done before."""
        self.kept += 1
        self.tell(rows)

    def tell(self, rows: int) -> None:
        """Count more rows as done, and tell whoever listens."""
        self.rows += rows
        if self._told is not None:
            self._told("scoring", self.rows)


class _Totals:
    """The sums of parts added up, one tally for each system and metric."""

    def __init__(self, scorer: Scorer, seed: int) -> None:
        self._scorer, self._seed = scorer, seed
        self._tallies: dict[tuple[str, str], Tally] = {}
        self._references: set[int] = set()
        self.read = self.scored = self.rejected = 0

    def add(self, sums: Mapping[str, Any]) -> None:
        """Count a part in."""
        self.read += sums["read"]
        self.scored += sums["scored"]
        self.rejected += len(sums["rejected"])
        self._references.update(sums["references"])
        for content in sums["tallies"]:
            key = content["system"], content["metric"]
            tally = self._tally(content)
            known = self._tallies.get(key)
            self._tallies[key] = tally if known is None else Tally.pool([known, tally])

    def board(self) -> dict[str, dict[str, Tally]]:
        """Corpus scores by system and metric, signed."""
        counts = self._references
        signatures = self._scorer.signatures(str(*counts) if len(counts) == 1 else "var")
        board: dict[str, dict[str, Tally]] = {}
        for (system, label), tally in self._tallies.items():
            signed = dataclasses.replace(tally, signature=signatures[label])
            board.setdefault(system, {})[label] = signed
        return board

    def _tally(self, content: Mapping[str, Any]) -> Tally:
        drawn = content.get("resampled")
        label = content["metric"]
        return Tally(
            self._scorer.metrics[label],
            label,
            content["system"],
            content["count"],
            unpack(content["totals"]),
            self._scorer.signatures("any")[label],
            content["notes"],
            Resampled(unpack(drawn["totals"]), unpack(drawn["counts"]), self._seed)
            if drawn
            else None,
        )


def _pool(before: tuple[Tables, ...] | None, more: tuple[Tables, ...]) -> tuple[Tables, ...]:
    if before is None:
        return more
    return tuple(Tables.pool(pair) for pair in zip(before, more, strict=True))
