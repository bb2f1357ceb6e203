"""Encoding of a part: segment scores as JSON Lines or Parquet, and sums as JSON."""

import base64
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.scores import Scores
from nlgauge.data.files import require_pyarrow

SegmentFormat = Literal["jsonl", "parquet"]


@dataclass(frozen=True)
class PartScores:
    """A part's encoded segment scores, and the sums from which corpus scores are computed."""

    name: str
    segments: bytes
    sums: dict[str, Any]


def encode_array(numbers: Floats) -> dict[str, Any]:
    """Encode an array for JSON, compactly and without loss."""
    data = base64.b64encode(np.ascontiguousarray(numbers, dtype="<f8").tobytes()).decode()
    return {"shape": list(numbers.shape), "float64": data}


def decode_array(content: Mapping[str, Any]) -> Floats:
    """Decode the result of ``encode_array``."""
    raw = np.frombuffer(base64.b64decode(content["float64"]), dtype="<f8")
    return raw.reshape(content["shape"]).astype(np.float64)


def encode_segments(
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
    pa = require_pyarrow("writing Parquet")
    from pyarrow import parquet

    kinds = {"system": pa.string(), "id": pa.string()}
    arrays = {key: pa.array(cells, kinds.get(key, pa.float64())) for key, cells in columns.items()}
    buffer = io.BytesIO()
    parquet.write_table(pa.table(arrays), buffer)
    return buffer.getvalue()
