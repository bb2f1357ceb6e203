"""REALSumm (Bhandari et al. 2020) as published: pickles of summaries, human recall and scores.

`scores_dicts/abs.pkl` and `ext.pkl` map a document to its reference and, for each system, to the
summary, its `litepyramid_recall` (the human judgement) and metric scores. Systems are prefixed with
their file (abs/bart_out, ext/bart_out). Sentences are marked by <t> ... </t>; here each is a line.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nlgauge.core.errors import FileError
from nlgauge.data.files import parse_text
from nlgauge.data.judged import JudgedCorpus, JudgedRow, parse_scores
from nlgauge.data.safe_pickle import read_plain_pickle

CRITERION = "litepyramid_recall"
_TAG = re.compile(r"</?t>")


def read_realsumm(path: str) -> JudgedCorpus:
    """Return the summaries of a pickle, or of all pickles of a folder, with the stored scores."""
    files = [Path(path)]
    if files[0].is_dir():
        files = sorted(files[0].glob("*.pkl")) or sorted(files[0].glob("scores_dicts/*.pkl"))
    if not files:
        raise FileError(f"folder {path!r} has no REALSumm pickles such as scores_dicts/abs.pkl")
    return JudgedCorpus.from_rows([row for file in files for row in _rows(file)])


def sentences(text: str) -> str:
    """Return the text of a tagged summary, one sentence per line."""
    return "\n".join(filter(None, map(str.strip, _TAG.split(text))))


def _rows(file: Path) -> Iterator[JudgedRow]:
    documents = read_plain_pickle(str(file))
    if not isinstance(documents, dict) or not documents:
        raise FileError(f"{file} has no dictionary of documents, so it is not REALSumm")
    numbers = [name for name in documents if isinstance(name, int)]
    for name in (*sorted(numbers), *sorted(documents.keys() - set(numbers), key=str)):
        where = f"{file}, document {name!r}"
        document = _mapping(documents[name], where)
        reference = sentences(parse_text(document.get("ref_summ"), f"{where}: ref_summ"))
        for system, entry in sorted(_mapping(document.get("system_summaries"), where).items()):
            at = f"{file}, document {name}, system {system!r}"
            summary = _mapping(entry, at)
            values = _mapping(summary.get("scores"), at)
            scores = parse_scores(values, values, at)
            if CRITERION not in scores:
                raise FileError(f"{at} has no {CRITERION}; it has: {', '.join(scores)[:120]}")
            yield JudgedRow(
                f"{file.stem}/{str(system).removesuffix('.txt')}",
                str(name),
                sentences(parse_text(summary.get("system_summary"), f"{at}: system_summary")),
                (reference,),
                {CRITERION: scores.pop(CRITERION)},
                stored=scores,
            )


def _mapping(value: object, where: str) -> Mapping[Any, Any]:
    if not isinstance(value, dict):
        raise FileError(f"{where}: expected a dictionary, found {type(value).__name__}")
    return value
