"""SummEval (Fabbri et al. 2021) as published: model_annotations.aligned.jsonl, one summary a line.

A line holds `id` (the article), `model_id`, `decoded` (the summary), `references`, and lists of
annotations, `expert_annotations` and `turker_annotations`: one object of criteria per annotator.
The human score is the mean over annotators. The article comes along where the file is the paired
one (`text`). The first reference is the newspaper's own, the others were written by crowd workers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan, nan
from typing import Any

from nlgauge.core.errors import FileError, OptionError
from nlgauge.data.files import read_numbered_rows
from nlgauge.data.judged import Judged, Row, number

ANNOTATORS = ("expert", "turker")
_NEEDED = ("id", "model_id", "decoded", "references")


def read_summeval(path: str, *, annotators: str = "expert") -> Judged:
    """The judged summaries, scored by the mean of the experts or of the crowd (`turker`)."""
    if annotators not in ANNOTATORS:
        raise OptionError(f"annotators is {annotators!r}; it is {' or '.join(ANNOTATORS)}")
    key = f"{annotators}_annotations"
    rows = []
    unjudged = 0
    for line, entry in read_numbered_rows(path, "jsonl"):
        where = f"{path}, line {line}"
        missing = [name for name in _NEEDED if name not in entry]
        if missing:
            raise FileError(f"{where} has no {missing[0]!r}, so it is not SummEval")
        human = _means(entry.get(key), f"{where}, {key}")
        if not human:
            unjudged += 1
            continue
        rows.append(
            Row(
                str(entry["model_id"]),
                str(entry["id"]),
                _text(entry, "decoded", where),
                _references(entry["references"], where),
                human,
                _text(entry, "text", where) if "text" in entry else None,
            )
        )
    return Judged.from_rows(rows, dropped={f"without {key}": unjudged})


def _means(annotations: Any, where: str) -> dict[str, float]:
    """The mean of every criterion over the annotators who judged it."""
    if annotations is None:
        return {}
    if not isinstance(annotations, list) or not all(isinstance(a, Mapping) for a in annotations):
        raise FileError(f"{where} is {annotations!r:.60}, not a list of objects")
    names = dict.fromkeys(name for annotation in annotations for name in annotation)
    return {
        str(name): _mean([number(a.get(name), f"{where}: {name!r}") for a in annotations])
        for name in names
    }


def _mean(scores: Sequence[float]) -> float:
    given = [score for score in scores if not isnan(score)]
    return sum(given) / len(given) if given else nan


def _references(value: Any, where: str) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not (isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts)):
        raise FileError(f"{where}: 'references' is {value!r:.40}, not a text or a list of texts")
    return tuple(texts)


def _text(entry: Mapping[str, Any], key: str, where: str) -> str:
    if not isinstance(entry[key], str):
        raise FileError(f"{where}: {key!r} is {entry[key]!r:.40}, not a text")
    return str(entry[key])
