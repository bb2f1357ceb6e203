"""REALSumm (Bhandari et al. 2020) as published: pickles of summaries, human recall and scores.

`scores_dicts/abs.pkl` and `ext.pkl` map a document to its reference and, for each system, to the
summary, its `litepyramid_recall` (the human judgement) and the scores of some metrics. A folder of
both is read as one set; systems are called after their file (abs/bart_out, ext/bart_out: the same
name stands for two systems). Summaries mark sentences by <t> ... </t>; here a line holds one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nlgauge.core.errors import FileError
from nlgauge.data.judged import Judged, Row, number
from nlgauge.data.safe_pickle import read_plain_pickle

CRITERION = "litepyramid_recall"
_TAG = re.compile(r"</?t>")


def read_realsumm(path: str) -> Judged:
    """The judged summaries of a pickle, or of all pickles of a folder, with the stored scores."""
    place = Path(path)
    files = [place]
    if place.is_dir():
        files = sorted(place.glob("*.pkl")) or sorted(place.glob("scores_dicts/*.pkl"))
    if not files:
        raise FileError(f"folder {path!r} holds no REALSumm pickles such as scores_dicts/abs.pkl")
    return Judged.from_rows([row for file in files for row in _rows(file)])


def sentences(text: str) -> str:
    """The text of a tagged summary, one sentence per line."""
    parts = (part.strip() for part in _TAG.split(text))
    return "\n".join(part for part in parts if part)


def _rows(file: Path) -> Iterator[Row]:
    documents = read_plain_pickle(str(file))
    if not isinstance(documents, dict) or not documents:
        raise FileError(f"{file} holds no dictionary of documents, so it is not REALSumm")
    for name in sorted(documents, key=_order):
        document = _mapping(file, documents[name], f"document {name!r}")
        reference = sentences(_text(file, document, "ref_summ", f"document {name!r}"))
        systems = document.get("system_summaries")
        for system, entry in sorted(_mapping(file, systems, f"document {name!r}").items()):
            yield _row(file, str(name), str(system), entry, reference)


def _row(file: Path, document: str, system: str, entry: object, reference: str) -> Row:
    where = f"document {document}, system {system!r}"
    summary = _mapping(file, entry, where)
    scores = {
        str(key): number(value, f"{file}, {where}: {key}")
        for key, value in _mapping(file, summary.get("scores"), where).items()
    }
    if CRITERION not in scores:
        raise FileError(f"{file}, {where} has no {CRITERION}; it has: {', '.join(scores)[:120]}")
    return Row(
        f"{file.stem}/{system.removesuffix('.txt')}",
        document,
        sentences(_text(file, summary, "system_summary", where)),
        (reference,),
        {CRITERION: scores.pop(CRITERION)},
        stored=scores,
    )


def _order(name: object) -> tuple[bool, int, str]:
    """Documents by number, then those that are called otherwise by name."""
    return (False, name, "") if isinstance(name, int) else (True, 0, str(name))


def _mapping(file: Path, value: object, where: str) -> Mapping[Any, Any]:
    if not isinstance(value, dict):
        raise FileError(f"{file}, {where}: expected a dictionary, found {type(value).__name__}")
    return value


def _text(file: Path, entry: Mapping[Any, Any], key: str, where: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str):
        raise FileError(f"{file}, {where}: {key} is {type(value).__name__}, not a text")
    return value
