"""ESA annotations (error spans and a score from 0 to 100) of WMT24 and WMT25: JSON Lines.

One object for each output and annotator (wmt24_esa.jsonl):

    {"langs": "en-cs", "line_id": 3, "src": "", "tgt": "", "doc_id": "", "system": "",
     "esa_score": "66", "esa_spans": [{"start_i": 31, "end_i": 42, "severity": "minor"}]}

or one for each segment (wmt24-genmt-humeval.jsonl, wmt25-genmt-humeval.jsonl):

    {"doc_id": "en-cs_CZ_#_news_#_a_#_0", "src_text": "", "tgt_text": {system: text},
     "scores": {system: [{"score": 66, "annotator": "", "errors": [...]}]}}

`end_i` is the last character of a span. A span with the offsets "missing" is an omission. The
scores of several annotators of an output are averaged, and their spans are joined.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

from nlgauge.core.errors import FileError, OptionError
from nlgauge.core.spans import Span
from nlgauge.data.annotations import Annotations
from nlgauge.data.files import parse_text, read_table
from nlgauge.data.judged import JudgedCorpus, choose_part, parse_score

CRITERION = "esa"
FLAT = ("system", "src", "tgt", "line_id", "esa_score", "esa_spans")
GROUPED = ("doc_id", "src_text", "tgt_text", "scores")
_SEPARATOR = "_#_"
_OMISSION = "missing"


@dataclass(frozen=True)
class _Annotation:
    """The annotation of one output by one annotator."""

    where: str
    part: str | None
    system: str
    segment: str
    document: str
    source: str
    text: str
    rater: str
    score: Any
    spans: Any


def read_esa(path: str, *, part: str | None = None, references: str | None = None) -> JudgedCorpus:
    """Return the outputs of one language pair (`part`) with scores (criterion `esa`) and spans.

    `references` names the systems that are references, as in `read_mqm`.
    """
    table = read_table(path, "jsonl", what="ESA file")
    annotations = [each for where, row in table for each in _annotations(where, row)]
    if not annotations:
        raise FileError(f"file {path!r} has no annotations")
    if parts := list(dict.fromkeys(each.part for each in annotations if each.part is not None)):
        chosen = choose_part(path, parts, part, "language pair")
        annotations = [each for each in annotations if each.part == chosen]
    elif part is not None:
        raise OptionError(f"{path} does not name language pairs, so part={part!r} is not in it")
    collected = Annotations(path)
    for each in annotations:
        score = parse_score(each.score, f"{each.where}: the score")
        if isnan(score):
            collected.dropped["without a score"] += 1
            continue
        texts = {"text": each.text, "source": each.source, "document": each.document}
        output = collected.output(each.system, each.segment, **texts)
        rater = each.rater if each.rater not in output.scores else f"{each.where} {each.rater}"
        output.scores[rater] = score
        output.spans += _spans(each, collected)
    return collected.judged(CRITERION, references)


def _annotations(where: str, row: Mapping[str, Any]) -> Iterator[_Annotation]:
    """Yield the annotations of a line of either layout."""
    if all(key in row for key in FLAT):
        texts = {key: parse_text(row[key], f"{where}: {key}") for key in ("src", "tgt", "system")}
        document = str(row.get("doc_id", ""))
        yield _Annotation(
            *(where, _name(row.get("langs")), texts["system"], str(row["line_id"]), document),
            *(texts["src"], texts["tgt"], str(row.get("annotator", ""))),
            *(row["esa_score"], row["esa_spans"]),
        )
        return
    missing = [key for key in GROUPED if key not in row]
    if missing or not all(isinstance(row[key], Mapping) for key in ("tgt_text", "scores")):
        lacks = f"lacks {', '.join(missing)}" if missing else "has no objects tgt_text and scores"
        raise FileError(f"{where} {lacks}, so it is not an ESA annotation")
    segment, source = str(row["doc_id"]), parse_text(row["src_text"], f"{where}: src_text")
    first, *_ = segment.split(_SEPARATOR)
    document = segment.rpartition(_SEPARATOR)[0] or segment
    # WMT25 begins with the language pair, WMT24 with the document.
    pair = first if segment.count(_SEPARATOR) > 1 else None
    for system, given in row["scores"].items():
        text = parse_text(row["tgt_text"].get(system), f"{where}: tgt_text of {system!r}")
        for each in given if isinstance(given, list) else [given]:
            if not isinstance(each, Mapping) or "score" not in each:
                raise FileError(f"{where}: an annotation of {system!r} has no 'score'")
            rater, errors = str(each.get("annotator", "")), each.get("errors", [])
            texts_of = segment, document, source, text
            yield _Annotation(where, pair, system, *texts_of, rater, each["score"], errors)


def _name(value: Any) -> str | None:
    return None if value is None else str(value)


def _spans(annotation: _Annotation, annotations: Annotations) -> Iterator[Span]:
    """Yield the spans of an annotation that lie in its text."""
    given, length = annotation.spans or [], len(annotation.text)
    if not isinstance(given, list) or not all(isinstance(each, Mapping) for each in given):
        raise FileError(f"{annotation.where}: the spans are {given!r:.60}, not a list of objects")
    for each in given:
        start, end = each.get("start_i"), each.get("end_i")
        if _OMISSION in (start, end):
            annotations.without_span["omissions"] += 1
            continue
        if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start <= end:
            places = f"start_i {start!r:.20} and end_i {end!r:.20}"
            raise FileError(f"{annotation.where}: a span has {places}, not two places in order")
        if end >= length:
            annotations.without_span["they end after the text"] += 1
            continue
        category = _name(each.get("error_type")) or ""
        yield Span(start, end + 1, str(each.get("severity", "major")).lower(), category)
