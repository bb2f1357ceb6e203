"""Tables (JSON Lines, TSV, CSV, Parquet) with human scores.

    {"segment": 3, "system": "A", "candidate": "a", "references": ["b"], "human": {"fluency": 4}}

`human` is an object, a set of columns `human.<criterion>` or `human_<criterion>`, or one number.
null, empty and NaN mean "not judged". `n` is the number of judgements of a row, not a criterion.
`scores` are those of metrics, in the same forms. `spans` are the errors of the candidate, a list of
{"start": 2, "end": 5, "severity": "minor", "category": "Style"} by characters.

Rows of several systems for one input share a segment id. If the rows name systems, it is the column
`segment`, `seg_id`, `segment_id` or `doc_id`, otherwise `id`. A `document`, `doc_id` or `doc` that
is not the segment names its document.
"""

import operator
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from nlgauge.core.errors import FileError
from nlgauge.core.spans import Span
from nlgauge.data.columns import USUAL, Columns, find_column
from nlgauge.data.files import load_json, read_table
from nlgauge.data.judged import JudgedCorpus, JudgedRow, parse_score
from nlgauge.data.text_rows import accept, table_rows

SEGMENTS = ("segment", "seg_id", "segment_id")
DOCUMENTS = ("document", "doc_id", "doc")


def read_judged_rows(path: str, *, columns: Columns = USUAL) -> JudgedCorpus:
    """Return the judged corpus of a table file."""
    columns.refuse(("systems",), "a judged table has a row for each output, with its system")
    table = read_table(path, what="table of judged rows", columns=columns)
    rows = [row for _, row in table]
    if not rows:
        raise FileError(f"file {path!r} has no rows")
    segment = _segment_column(rows, columns)
    document = _document_column(rows[0], columns, segment)
    chosen = columns.with_id(segment)
    texts = accept(table_rows(table, "unknown", Counter(), chosen))
    known = dict.fromkeys(name for row in rows for name in row)
    for kind in ("human", "scores"):
        chosen.check(kind, tuple(chosen.judged(kind).values()), known, path)
    human = [dict(_scores("human", row, where, chosen)) for where, row in table]
    # WMT18 keeps the number of judgements among the human scores.
    counted = sum(scores.pop("n", None) is not None for scores in human)
    if not any(human):
        ways = "give a column 'human' with an object, or columns 'human.<criterion>', or name one: "
        ways += "--columns human=COLUMN"
        listed = ", ".join(map(repr, rows[0]))
        raise FileError(f"{path} has no human scores; {ways}. It has: {listed}")
    own, spans = (str(find_column(rows[0], (name,))) for name in ("id", "spans"))
    judged = [
        JudgedRow(
            *(text.system, text.id, text.candidate, text.references, scores, text.source),
            stored=dict(_scores("scores", row, where, chosen)),
            name=None if row.get(own) is None else str(row[own]),
            document=None if row.get(document) in (None, "") else str(row[document]),
            spans=_spans(row.get(spans), f"{where}: {spans!r}"),
        )
        for text, scores, (where, row) in zip(texts, human, table, strict=True)
    ]
    notes = []
    systems = len({text.system for text in texts})
    if systems > 1 and len({text.id for text in texts}) == len(texts):
        need = "per-input studies need a column 'segment' that names the input"
        notes.append(f"no two of the {systems} systems share a segment id: {need}.")
    if counted:
        notes.append(f"'n' is the number of judgements in {counted:,} rows, not a criterion.")
    return JudgedCorpus.from_rows(judged, notes=notes)


def _scores(
    kind: str, row: Mapping[str, Any], where: str, columns: Columns
) -> Iterator[tuple[str, float]]:
    """Return the numbers in the columns `kind`, `kind.<name>` and `kind_<name>` of a row, by name.

    Columns named by the user are used instead if there are any.
    """
    if named := columns.judged(kind):
        for name, column in named.items():
            yield name, parse_score(row.get(column), f"{where}: {column!r}")
        return
    for key, value in row.items():
        column = str(key)
        if column.lower() == kind:
            scores = value if isinstance(value, Mapping) else {kind: value}
            what = "human score" if kind == "human" else "score"
            for name, score in scores.items():
                yield str(name), parse_score(score, f"{where}: {what} {name!r}")
        elif column.lower().startswith((f"{kind}.", f"{kind}_")):
            yield column[len(kind) + 1 :], parse_score(value, f"{where}: {column!r}")


def _document_column(row: Mapping[str, Any], columns: Columns, segment: str | None) -> str:
    """Return the column of documents: the named one, or one with a usual name; "" if none."""
    if named := columns.named.get("document"):
        return columns.check("document", named, row, "the first row")[0]
    taken = {segment, *(name for names in columns.named.values() for name in names)}
    return str(find_column([key for key in row if key not in taken], DOCUMENTS) or "")


def _spans(cell: Any, where: str) -> tuple[Span, ...] | None:
    """Return the errors in a cell, which is a list or its JSON; None if it is empty."""
    if cell is None or cell == "":
        return None
    try:
        listed = load_json(cell) if isinstance(cell, str) else cell
        return tuple(
            Span(
                operator.index(each["start"]),
                operator.index(each["end"]),
                str(each.get("severity", Span.severity)),
                str(each.get("category") or ""),
            )
            for each in listed
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        form = '[{"start": 2, "end": 5, "severity": "minor", "category": "Style"}]'
        raise FileError(f"{where} is not a list of errors such as {form}: {cell!r:.60}") from None


def _segment_column(rows: Sequence[Mapping[str, Any]], columns: Columns) -> str | None:
    columns_found = columns.find_role("system", rows[0])
    if not columns_found:
        return None
    (system,) = columns_found
    systems = [str(row.get(system)) for row in rows]
    return find_segments(rows, rows[0], systems, (*SEGMENTS, *DOCUMENTS))


def find_segments(
    rows: Sequence[Mapping[str, Any]],
    columns: Iterable[Any],
    systems: Sequence[Hashable],
    names: Sequence[str],
) -> str | None:
    """Return the first column of these names; documents only if they name every row of a system."""
    for name in names:
        key = find_column(columns, (name,))
        if key is None:
            continue
        pairs = {(system, str(row.get(key))) for system, row in zip(systems, rows, strict=True)}
        if name not in DOCUMENTS or len(pairs) == len(rows):
            return str(key)
    return None
