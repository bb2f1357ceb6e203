"""SummEval (Fabbri et al. 2021) as published: model_annotations.aligned.jsonl, a summary per line.

A line has `id` (the article), `model_id`, `decoded` (the summary), `references`, and the lists
`expert_annotations` and `turker_annotations` with an object of criteria per annotator. The human
score is the mean over the experts. The paired file also has the article (`text`). The first
reference is from the newspaper, the others are by crowd workers.
"""

from collections.abc import Mapping
from math import isnan, nan
from typing import Any

from nlgauge.core.errors import FileError
from nlgauge.data.files import parse_text, parse_texts, read_table
from nlgauge.data.judged import JudgedCorpus, JudgedRow, parse_score

_EXPERTS = "expert_annotations"


def read_summeval(path: str) -> JudgedCorpus:
    """Return the summaries with the mean scores of the experts."""
    table = read_table(path, "jsonl")
    rows = []
    for where, entry in table:
        for name in ("id", "model_id", "decoded", "references"):
            if name not in entry:
                raise FileError(f"{where} has no {name!r}, so it is not SummEval")
        human = _means(entry.get(_EXPERTS), f"{where}, {_EXPERTS}")
        if not human:
            continue
        system, segment = str(entry["model_id"]), str(entry["id"])
        summary = parse_text(entry["decoded"], f"{where}: 'decoded'")
        references = parse_texts(entry["references"], f"{where}: 'references'")
        article = parse_text(entry["text"], f"{where}: 'text'") if "text" in entry else None
        rows.append(JudgedRow(system, segment, summary, references, human, article))
    return JudgedCorpus.from_rows(rows, dropped={f"without {_EXPERTS}": len(table) - len(rows)})


def _means(annotations: Any, where: str) -> dict[str, float]:
    """Return the mean of every criterion over the annotators who judged it."""
    if annotations is None:
        return {}
    if not isinstance(annotations, list) or not all(isinstance(a, Mapping) for a in annotations):
        raise FileError(f"{where} is {annotations!r:.60}, not a list of objects")
    means = {}
    for name in dict.fromkeys(name for annotation in annotations for name in annotation):
        scores = [parse_score(a.get(name), f"{where}: {name!r}") for a in annotations]
        given = [score for score in scores if not isnan(score)]
        means[str(name)] = sum(given) / len(given) if given else nan
    return means
