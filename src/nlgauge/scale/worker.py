"""Worker: scores parts with one scorer and encodes the results for the run folder."""

import base64
import io
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import MissingExtra, UnknownTokensWarning
from nlgauge.core.scores import Scores
from nlgauge.core.totals import Resampled
from nlgauge.inputs import Tables
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scale.parts import Part
from nlgauge.scoring import Scorer

SegmentFormat = Literal["jsonl", "parquet"]
Method = Literal["fit", "score"]
LoadTables = Callable[[], Sequence[Tables]]


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
class PartScores:
    """A part's encoded segment scores, and the sums from which corpus scores are computed."""

    name: str
    segments: bytes
    sums: dict[str, Any]


class Worker:
    """A scorer that stays open from part to part."""

    def __init__(self, config: WorkerConfig, scorer: Scorer | None = None) -> None:
        self._config = config
        self._scorer = scorer or config.make_scorer()
        self._has_tables = False

    def run(self, method: Method, part: Part, load_tables: LoadTables | None) -> Any:
        """Return the method's result for the part, after loading corpus tables at first use."""
        if load_tables is not None and not self._has_tables:
            self._scorer, self._has_tables = self._scorer.with_tables(load_tables()), True
        return self.fit(part) if method == "fit" else self.score(part)

    def fit(self, part: Part) -> tuple[Tables, ...]:
        """Return the corpus tables of the part, with the references of new segments only."""
        references = [part.rows[i].references for i in sorted(part.new_segments)]
        return self._scorer.fit_tables([row.candidate for row in part.rows], references)

    def score(self, part: Part) -> PartScores:
        """Return the scores of the part's rows."""
        with warnings.catch_warnings():  # the notes of all parts say it once
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
        return PartScores(part.name, _encode_segments(scores, names, self._config.segments), sums)

    def _sums(self, of_system: Mapping[str, Scores]) -> list[dict[str, Any]]:
        """The sums of one system; all metrics share the random draws, which take the time."""
        every = list(of_system.values())
        sums: list[dict[str, Any]] = [
            {
                "system": scores.system,
                "metric": scores.label,
                "count": len(scores),
                "totals": encode_array(scores.statistics.sum(axis=0)),
                "notes": dict(scores.notes),
            }
            for scores in every
        ]
        if self._config.resamples:
            tables = [scores.statistics for scores in every]
            drawn = self._config.resamples, self._config.seed
            joined = Resampled.of(every[0].ids, np.hstack(tables), *drawn)
            pieces = joined.split([table.shape[1] for table in tables])
            for entry, piece in zip(sums, pieces, strict=True):
                arrays = {"totals": piece.totals, "counts": piece.counts}
                entry["resampled"] = {name: encode_array(each) for name, each in arrays.items()}
        return sums


def encode_array(numbers: Floats) -> dict[str, Any]:
    """Encode an array for JSON, compactly and without loss."""
    data = base64.b64encode(np.ascontiguousarray(numbers, dtype="<f8").tobytes()).decode()
    return {"shape": list(numbers.shape), "float64": data}


def decode_array(content: Mapping[str, Any]) -> Floats:
    """Decode what ``encode_array`` returned."""
    raw = np.frombuffer(base64.b64decode(content["float64"]), dtype="<f8")
    return raw.reshape(content["shape"]).astype(np.float64)


def _encode_segments(
    scores: Mapping[str, Mapping[str, Scores]], names: Mapping[str, Sequence[str]], form: str
) -> bytes:
    """Encode one row per system and segment; ``names`` lists the columns of every metric."""
    columns: dict[str, list[Any]] = {"system": [], "id": []}
    columns |= {name: [] for listed in names.values() for name in listed}
    for system, of_system in scores.items():
        ids = next(iter(of_system.values())).ids
        columns["system"] += [system] * len(ids)
        columns["id"] += ids
        for label, of_metric in of_system.items():
            values = of_metric.segment_components.values()
            for name, column in zip(names[label], values, strict=True):
                columns[name] += column.tolist()
    if form == "parquet":
        return _parquet(columns)
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("writing Parquet", "pyarrow", "streams") from None
    kinds = {"system": pa.string(), "id": pa.string()}
    arrays = {key: pa.array(each, kinds.get(key, pa.float64())) for key, each in columns.items()}
    written = io.BytesIO()
    parquet.write_table(pa.table(arrays), written)
    return written.getvalue()
