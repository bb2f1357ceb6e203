"""Our own layout: tables (JSON Lines, TSV, CSV) whose rows carry human scores.

    {"segment": 3, "system": "A", "candidate": "It is.", "references": ["It was."],
     "human": {"fluency": 4}}                                      (on one line in the file)

`human` is an object, or flat columns `human.<criterion>` or `human_<criterion>` (TSV and CSV have
no objects), or one plain number. null, empty and NaN say "not judged". `n` counts the judgements
behind a row and is no criterion. `scores` are a metric's that came with the rows, in the same ways:
an object, `scores.<metric>`, `scores_<metric>`, or one number.

Rows of several systems on one input must share a segment id. It is taken from a column `segment`,
`seg_id`, `segment_id` or `doc_id` where the rows also name systems, else from `id`. (A `doc_id`
that repeats within a system names documents of several segments, and is passed over.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import FileError
from nlgauge.data.files import COLUMNS, corpus_from_rows, format_of, read_numbered_rows
from nlgauge.data.judged import Judged, Row, number
from nlgauge.data.tables import TABULAR

SEGMENTS = ("segment", "seg_id", "segment_id")
DOCUMENTS = ("doc_id", "document", "doc")
COUNT = "n"
"""The number of judgements behind a row, which WMT18 keeps among them."""


def read_judged_rows(path: str, *, wanted: str | None = None) -> Judged:
    """The judged corpus of a table file; a line with a human score that is no number is named."""
    kind = format_of(path, wanted=wanted)
    if kind not in TABULAR:
        raise FileError(
            f"{path} is not a table of judged rows; its name should end in "
            f"{', '.join('.' + name for name in TABULAR)} (or those with .gz)"
        )
    numbered = read_numbered_rows(path, kind)
    rows = [row for _, row in numbered]
    key = _segment_column(rows)
    renamed = [_with_id(row, key) for row in rows] if key is not None else rows
    corpus = corpus_from_rows(path, renamed, system="unknown")
    human = [dict(_scores("human", row, f"{path}, line {line}")) for line, row in numbered]
    stored = [dict(_scores("scores", row, f"{path}, line {line}")) for line, row in numbered]
    counted = sum(scores.pop(COUNT, None) is not None for scores in human)
    if not any(human):
        raise FileError(
            f"{path} holds no human scores; give a column 'human' with an object, or columns "
            f"'human.<criterion>'. It has: {', '.join(map(repr, rows[0]))}"
        )
    names = [next((row[key] for key in row if str(key).lower() == "id"), None) for row in rows]
    return Judged.from_rows(
        list(_join(corpus, human, stored, names)), notes=list(_notes(corpus, counted))
    )


def _join(
    corpus: Corpus,
    human: Sequence[Mapping[str, float]],
    stored: Sequence[Mapping[str, float]],
    names: Sequence[Any],
) -> Iterator[Row]:
    for i, scores in enumerate(human):
        yield Row(
            corpus.systems[i],
            corpus.ids[i],
            corpus.candidates[i],
            corpus.references[i],
            scores,
            None if corpus.sources is None else corpus.sources[i],
            stored[i],
            None if names[i] is None else str(names[i]),
        )


def _notes(corpus: Corpus, counted: int) -> Iterator[str]:
    systems = len(corpus.system_names)
    if systems > 1 and len(set(corpus.ids)) == len(corpus):
        yield (
            f"no two of the {systems} systems share a segment id: per-input studies need a column "
            "'segment' that names the input."
        )
    if counted:
        yield f"'{COUNT}' counts the judgements of {counted:,} rows; it is no criterion."


def _scores(kind: str, row: Mapping[str, Any], where: str) -> Iterator[tuple[str, float]]:
    """The numbers of a row that a column `kind`, `kind.<name>` or `kind_<name>` holds, by name."""
    for key, value in row.items():
        column = str(key)
        if column.lower() == kind:
            scores = value if isinstance(value, Mapping) else {kind: value}
            what = "human score" if kind == "human" else "score"
            for name, score in scores.items():
                yield str(name), number(score, f"{where}: {what} {name!r}")
        elif column.lower().startswith((f"{kind}.", f"{kind}_")):
            yield column[len(kind) + 1 :], number(value, f"{where}: {column!r}")


def _segment_column(rows: Sequence[Mapping[str, Any]]) -> str | None:
    if not rows:
        return None
    lowered = {str(key).lower(): str(key) for key in rows[0]}
    system = next((lowered[name] for name in COLUMNS["system"] if name in lowered), None)
    if system is None:
        return None
    for name in (*SEGMENTS, *DOCUMENTS):
        key = lowered.get(name)
        if key is None:
            continue
        cells = {(str(row.get(system)), str(row.get(key))) for row in rows}
        if name in SEGMENTS or len(cells) == len(rows):
            return key
    return None


def _with_id(row: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The row with the segment column under the name that comes first in COLUMNS['id']."""
    renamed = {name: value for name, value in row.items() if str(name).lower() != "id"}
    return {**renamed, "id": row[key]} if key in row else renamed
