"""Baselines from this package, a JSON file of ``nlgauge rescale fit``, or a bert-score TSV file.

A JSON file states the model and options it was fitted with, and is only valid for these; the same
applies to the baselines of this package (``baselines.json`` states how they were computed). A TSV
file has the columns LAYER, P, R and F.
"""

import csv
import io
import json
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from nlgauge.core.baseline import BASELINE_OPTIONS, Baseline, fitting_advice
from nlgauge.core.errors import FileError, OptionError
from nlgauge.core.metric import Metric
from nlgauge.core.option_files import require_file
from nlgauge.core.requirements import ModelCard

SHIPPED = "shipped"
"""The value of the option ``baseline`` that selects the baselines of this package."""
_COLUMNS = {"f": "F", "precision": "P", "recall": "R"}


class Baselines(NamedTuple):
    """The baseline of every component, in order, and the digest of its file."""

    values: tuple[float, ...]
    digest: str


def read_baseline(path: str, metric: Metric, card: ModelCard) -> Baselines:
    """Return the baseline of a bound metric from a file, or the one shipped for it."""
    if path == SHIPPED:
        return _read_shipped(metric, card)
    require_file(path, "baseline file")
    try:
        content = Path(path).read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise FileError(f"baseline file {path!r} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise FileError(f"baseline file {path!r} is not UTF-8") from None
    values = (_parse_json if text.lstrip().startswith("{") else _parse_tsv)(
        path, text, metric, card
    )
    if not all(map(is_possible, values)):
        raise FileError(
            f"baseline file {path!r} has the baselines {', '.join(map(str, values))}; they must "
            "be at least -1 and below 1, the score of identical texts"
        )
    return Baselines(values, sha256(content).hexdigest()[:12])


def _read_shipped(metric: Metric, card: ModelCard) -> Baselines:
    content = files(__package__).joinpath("baselines.json").read_bytes()
    stored = json.loads(content)
    for entry in stored["baselines"]:
        baseline = Baseline(**stored["fitted"], **entry)
        if baseline.metric == metric.name and not baseline.differing(metric, card):
            return Baselines(
                baseline.values_for(metric, card, SHIPPED), sha256(content).hexdigest()[:12]
            )
    spelled, fitted = metric.describe(), "{model} model ({model_sha})".format(**stored["fitted"])
    options = ", ".join(f"{key}={spelled[key]}" for key in BASELINE_OPTIONS)
    raise OptionError(
        f"no baseline is shipped for {metric.name} with the model {card.name} ({card.digest}), "
        f"{options}; there is one for every layer of the {fitted}, with weights=uniform and "
        f"alpha=0.5; {fitting_advice(metric)}"
    )


def _parse_json(path: str, text: str, metric: Metric, card: ModelCard) -> tuple[float, ...]:
    try:
        baseline = Baseline.from_json(text)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FileError(
            f"baseline file {path!r} is not a file of `nlgauge rescale fit`: {error!r}"
        ) from None
    return baseline.values_for(metric, card, path)


def _parse_tsv(path: str, text: str, metric: Metric, _: ModelCard) -> tuple[float, ...]:
    described = metric.describe()
    plain = {"ngram": "1", "temperature": "0"}
    if "+" in described["layer"] or any(described[name] != plain[name] for name in plain):
        raise OptionError(
            f"baseline file {path!r} is for single tokens of one layer; leave out ngram, "
            "temperature and joined layers, or fit a baseline with nlgauge rescale fit"
        )
    layer = int(described["layer"])
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
    return -1 <= baseline < 1
