"""MQM annotations in the layout of google/wmt-mqm-human-evaluation: TSV, one error per line.

    system doc doc_id seg_id rater source target category severity

(Since 2023 the ids are called docSegId and globalSegId.) An error is marked in the target, or in
the source, by <v> and </v>. A line with the severity No-error states that a rater found no error.

The score of an output is the negative sum of the weights of its errors, averaged over raters.
Weights are given per severity, or per severity and category: `major/non-translation`. The default
weights are those of Freitag et al. 2021 (arXiv 2104.14478).
"""

import re
from collections.abc import Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any

from nlgauge.core.errors import FileError, OptionError
from nlgauge.core.spans import Span
from nlgauge.data.annotations import Annotations
from nlgauge.data.columns import require_column
from nlgauge.data.files import parse_text, read_table
from nlgauge.data.judged import JudgedCorpus

CRITERION = "mqm"
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "major": 5.0,
        "minor": 1.0,
        "neutral": 0.0,
        "no-error": 0.0,
        "major/non-translation": 25.0,
        "minor/fluency/punctuation": 0.1,
    }
)
_COLUMNS = {
    **{name: (name,) for name in ("system", "doc", "rater", "source", "target")},
    **{"category": ("category",), "severity": ("severity",)},
    "segment": ("seg_id", "globalsegid", "doc_id", "docsegid"),
}
_MARK = re.compile(r"</?v>")
_TEST = "hotw"  # severity of deliberate errors that test the attention of raters


def read_mqm(
    path: str,
    *,
    weights: str | Mapping[str, float] | None = None,
    references: str | None = None,
) -> JudgedCorpus:
    """Return the outputs of an MQM file with their scores (criterion `mqm`) and error spans.

    Parameters
    ----------
    path
        The TSV file.
    weights
        Weights that differ from `WEIGHTS`: {"major": 10} or "major=10,minor/style=0.5".
    references
        Systems that are references, separated by commas, or "none"; None: by their names.

    Returns
    -------
    JudgedCorpus

    Raises
    ------
    FileError
        For a severity without a weight.
    OptionError
        For weights that are not numbers.
    """
    weighting = {**WEIGHTS, **parse_weights(weights)}
    table = read_table(path, "tsv", what="MQM file")
    if not table:
        raise FileError(f"file {path!r} has no annotations")
    names = {role: require_column(path, table[0][1], known) for role, known in _COLUMNS.items()}
    rows = [
        (where, {role: parse_text(row[name], f"{where}: {name}") for role, name in names.items()})
        for where, row in table
    ]
    documents: dict[str, set[str]] = {}
    for _, row in rows:
        documents.setdefault(row["segment"], set()).add(row["doc"])
    numbered = all(len(names) == 1 for names in documents.values())
    annotations = Annotations(path)
    for where, row in rows:
        if row["severity"].lower().startswith(_TEST):
            annotations.dropped["errors that test the rater"] += 1
            continue
        segment = row["segment"] if numbered else f"{row['doc']}-{row['segment']}"
        _add(annotations, row, segment, weighting, where)
    return annotations.judged(CRITERION, references)


def _add(
    annotations: Annotations,
    row: Mapping[str, str],
    segment: str,
    weights: Mapping[str, float],
    where: str,
) -> None:
    """Add the error of a line to the annotations."""
    text, places = unmark(row["target"])
    source, source_places = unmark(row["source"])
    texts = {"text": text, "source": source, "document": row["doc"]}
    output = annotations.output(row["system"], segment, **texts)
    severity, category = row["severity"].lower(), row["category"]
    weight = _weight(severity, category, weights, where)
    output.scores[row["rater"]] = output.scores.get(row["rater"], 0.0) - weight
    if severity == "no-error":
        return
    if text != output.text:
        annotations.without_span["the text of their line differs from that of an earlier line"] += 1
    elif places is None:
        annotations.without_span["<v> and </v> do not match in their line"] += 1
    elif not places:
        where_marked = "in the source only" if source_places else "nowhere"
        annotations.without_span[f"marked {where_marked}"] += 1
    else:
        output.spans += [Span(start, end, severity, category) for start, end in places]


def unmark(text: str) -> tuple[str, list[tuple[int, int]] | None]:
    """Return a text without <v> and </v>, and the non-empty spans between them.

    The spans are None if the marks do not match, as in a few lines of the published files.

    >>> unmark("a <v>b</v> c")
    ('a b c', [(2, 3)])
    """
    marks = _MARK.findall(text)
    clean = "".join(_MARK.split(text))
    if marks != ["<v>", "</v>"] * (len(marks) // 2):
        return clean, None
    lengths = [len(part) for part in _MARK.split(text)]
    ends = [sum(lengths[: i + 1]) for i in range(len(marks))]
    places = zip(ends[::2], ends[1::2], strict=True)
    return clean, [(start, end) for start, end in places if end > start]


def _weight(severity: str, category: str, weights: Mapping[str, float], where: str) -> float:
    """Return the weight of the longest part of severity/category/subcategory that has one."""
    parts = [severity, *(part.strip().rstrip("!") for part in category.lower().split("/"))]
    for size in range(len(parts), 0, -1):
        if (key := "/".join(parts[:size])) in weights:
            return weights[key]
    known = ", ".join(key for key in weights if "/" not in key)
    raise FileError(
        f"{where}: the severity {severity!r} has no weight (these have: {known}); give it one, as "
        f"in weights={severity}=10"
    )


def parse_weights(given: str | Mapping[str, Any] | None) -> dict[str, float]:
    """Return weights from a mapping, or from a text such as `major=10,minor/style=0.5`."""
    pairs: Mapping[str, Any] = {}
    if isinstance(given, str):
        items = [item.partition("=") for item in given.split(",") if item.strip()]
        pairs = {name.strip(): value for name, _, value in items}
    elif given is not None:
        pairs = given
    weights = {}
    for name, value in pairs.items():
        try:
            weights[name.lower().replace("!", "")] = float(value)
        except (TypeError, ValueError):
            weights[name] = float("nan")
        if not all(map(isfinite, weights.values())):
            raise OptionError(
                f"weights: {name!r} has the weight {value!r}; write numbers, as in major=5,minor=1"
            )
    return weights
