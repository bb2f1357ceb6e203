"""Worker: a scorer that takes parts, and what it returns for each, ready to be written."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nlgauge.core.cloud import Floats
from nlgauge.core.errors import MissingExtra
from nlgauge.core.scores import Scores
from nlgauge.core.totals import Resampled
from nlgauge.inputs import Tables
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scale.parts import Part
from nlgauge.scoring import Scorer

SegmentFormat = Literal["jsonl", "parquet"]
Board = Mapping[str, Mapping[str, Scores]]


@dataclass(frozen=True)
class Duty:
    """What a worker has to know: metrics, where to run them, and what to write of them."""

    metrics: tuple[str, ...]
    runtime: Runtime = DEFAULT
    segments: SegmentFormat = "jsonl"
    resamples: int = 0
    seed: int = 0
    learnt: tuple[Tables, ...] | None = None

    def scorer(self) -> Scorer:
        """The metrics with their models opened, and with their tables if there are any."""
        scorer = Scorer(self.metrics, runtime=self.runtime)
        return scorer if self.learnt is None else scorer.with_tables(self.learnt)


@dataclass(frozen=True)
class Scored:
    """A part's scores: a file of segments, and the sums that make corpus scores."""

    name: str
    segments: bytes
    sums: dict[str, Any]


class Worker:
    """Keeps its models open from part to part."""

    def __init__(self, duty: Duty) -> None:
        self._duty = duty
        self._scorer = duty.scorer()

    def learn(self, part: Part) -> tuple[Tables, ...]:
        """The tables of the part, with the references of segments that are new."""
        fresh = [part.rows[i].references for i in sorted(part.fresh)]
        return self._scorer.fit_tables([row.candidate for row in part.rows], fresh)

    def score(self, part: Part) -> Scored:
        """The scores of the part's rows."""
        board = self._scorer.score_corpus(part.corpus) if part.rows else {}
        counts = [len(row.references) for row in part.rows]
        sums = {
            "read": len(part.rows) + len(part.rejected),
            "scored": len(part.rows),
            "rejected": [{"place": row.place, "reason": row.reason} for row in part.rejected],
            "references": sorted(set(counts)),
            "tallies": [each for of_system in board.values() for each in self._tallies(of_system)],
        }
        return Scored(part.name, self._encode(board), sums)

    def _tallies(self, of_system: Mapping[str, Scores]) -> list[dict[str, Any]]:
        """The sums of one system, resampled for all metrics at once, as drawing takes the time."""
        tallies: list[dict[str, Any]] = [
            {
                "system": scores.system,
                "metric": scores.label,
                "count": len(scores),
                "totals": pack(scores.statistics.sum(axis=0)),
                "notes": dict(scores.notes),
            }
            for scores in of_system.values()
        ]
        if self._duty.resamples:
            tables = [scores.statistics for scores in of_system.values()]
            ids = next(iter(of_system.values())).ids
            joined = Resampled.of(ids, np.hstack(tables), self._duty.resamples, self._duty.seed)
            parts = joined.split([table.shape[1] for table in tables])
            for tally, drawn in zip(tallies, parts, strict=True):
                tally["resampled"] = {"totals": pack(drawn.totals), "counts": pack(drawn.counts)}
        return tallies

    def _encode(self, board: Board) -> bytes:
        metrics = self._scorer.metrics
        names = {label: _names(label, metric.components) for label, metric in metrics.items()}
        return encode_segments(board, names, self._duty.segments)


def pack(numbers: Floats) -> dict[str, Any]:
    """Numbers as JSON that loses no bit and stays small."""
    data = base64.b64encode(np.ascontiguousarray(numbers, dtype="<f8").tobytes()).decode()
    return {"shape": list(numbers.shape), "float64": data}


def unpack(content: Mapping[str, Any]) -> Floats:
    """The numbers that ``pack`` packed."""
    raw = np.frombuffer(base64.b64decode(content["float64"]), dtype="<f8")
    return raw.reshape(content["shape"]).astype(np.float64)


def encode_segments(board: Board, names: Mapping[str, Sequence[str]], form: SegmentFormat) -> bytes:
    """A row for each system and segment; ``names`` of the columns of every metric."""
    columns: dict[str, list[Any]] = {"system": [], "id": []}
    columns |= {name: [] for listed in names.values() for name in listed}
    for system, of_system in board.items():
        ids = next(iter(of_system.values())).ids
        columns["system"] += [system] * len(ids)
        columns["id"] += ids
        for label, scores in of_system.items():
            values = scores.segment_components.values()
            for name, column in zip(names[label], values, strict=True):
                columns[name] += column.tolist()
    return _parquet(columns) if form == "parquet" else _jsonl(columns)


def _names(label: str, components: Sequence[str]) -> list[str]:
    """The columns of a metric: its headline goes by the label alone."""
    return [label, *(f"{label}.{name}" for name in components[1:])]


def _jsonl(columns: Mapping[str, Sequence[Any]]) -> bytes:
    rows = zip(*columns.values(), strict=True)
    lines = [json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in rows]
    return "".join(f"{line}\n" for line in lines).encode()


def _parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("writing Parquet", "pyarrow", "streams") from None
    kinds = {"system": pa.string(), "id": pa.string()}
    arrays = [pa.array(values, kinds.get(key, pa.float64())) for key, values in columns.items()]
    written = io.BytesIO()
    parquet.write_table(pa.table(arrays, names=list(columns)), written)
    return written.getvalue()
