"""Files of baselines: a JSON file of ``nlgauge rescale fit``, or a bert-score TSV file.

The TSV has the columns LAYER, P, R, F and says nothing of its model; the JSON says what it was
fitted with, and is refused elsewhere.
"""

from __future__ import annotations

import csv
import io
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from nlgauge.core.baseline import Baseline
from nlgauge.core.errors import FileError, OptionError
from nlgauge.core.metric import Metric
from nlgauge.core.requirements import ModelCard

_COLUMNS = {"f": "F", "precision": "P", "recall": "R"}


class Base(NamedTuple):
    """The baseline of every component, in their order, and the digest of the file it is from."""

    values: tuple[float, ...]
    digest: str


def read_base(path: str, metric: Metric, card: ModelCard) -> Base:
    """The baseline that a file holds for a bound metric."""
    try:
        content = Path(path).read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise FileError(f"baseline file {path!r} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise FileError(f"baseline file {path!r} is not written in UTF-8") from None
    if text.lstrip().startswith("{"):
        values = _fitted(path, text).values_for(metric, card, path)
    else:
        values = _row(path, text, metric)
    if not all(map(is_possible, values)):
        raise FileError(
            f"baseline file {path!r} gives unrelated texts {', '.join(map(str, values))}; "
            "baselines lie from -1 to below 1, which identical texts get"
        )
    return Base(values, sha256(content).hexdigest()[:12])


def _fitted(path: str, text: str) -> Baseline:
    try:
        return Baseline.from_json(text)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FileError(
            f"baseline file {path!r} does not hold what `nlgauge rescale fit` writes: {error!r}"
        ) from None


def _row(path: str, text: str, metric: Metric) -> tuple[float, ...]:
    """The row of a bert-score file for the metric's layer."""
    layer = int(metric.describe()["layer"])
    for row in csv.DictReader(io.StringIO(text, newline=""), dialect="excel"):
        try:
            if int(row["LAYER"]) == layer:
                return tuple(float(row[_COLUMNS[name]]) for name in metric.components)
        except (KeyError, TypeError, ValueError):
            raise FileError(
                f"baseline file {path!r} must have the columns LAYER,P,R,F with numbers"
            ) from None
    raise OptionError(f"baseline file {path!r} has no row for layer {layer}")


def is_possible(baseline: float) -> bool:
    """Whether unrelated texts can have this mean: a cosine, below that of identical texts."""
    return -1 <= baseline < 1
