"""Score files in the format of the WMT metrics tasks of 2021 to 2024: TSV without a header line.

    NAME.seg.score  metric, pair, test set, domain, document, reference, system, segment, score
    NAME.sys.score  metric, pair, test set, domain, reference, system, score

(also .scores, and gzipped). Segments are numbered from 1. A metric without references writes "src"
for the reference. Domain and document are "all" where they are not known.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from math import isfinite
from pathlib import Path

from nlgauge.core.errors import DataError, FileError, OptionError
from nlgauge.data.files import read_lines
from nlgauge.data.judged import choose_part, parse_score

ALL = "all"
_ENDINGS = {".seg.score": 9, ".seg.scores": 9, ".sys.score": 7, ".sys.scores": 7}


@dataclass(frozen=True)
class SubmittedScore:
    """One line of a submission; a system score has no document and no segment."""

    metric: str
    pair: str
    test_set: str
    domain: str
    document: str | None
    reference: str
    system: str
    segment: str | None
    score: float


def submission_fields(path: str) -> int | None:
    """Return the number of fields of a submission file by its name; None for other files."""
    name = path.removesuffix(".gz")
    return next((count for ending, count in _ENDINGS.items() if name.endswith(ending)), None)


def read_submission(path: str) -> tuple[SubmittedScore, ...]:
    """Return the lines of a submission file.

    Parameters
    ----------
    path
        A file whose name ends in .seg.score or .sys.score (or .scores), gzipped or not.

    Returns
    -------
    tuple of SubmittedScore

    Raises
    ------
    FileError
        If the file name or the number of fields of a line is wrong, or a score is not a number.
    """
    count = submission_fields(path)
    if count is None:
        raise FileError(
            f"{path!r} is not a submission file: the name must end in {', '.join(_ENDINGS)}"
        )
    rows = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        where, fields = f"{path}, line {number}", line.split("\t")
        if len(fields) != count:
            raise FileError(f"{where} has {len(fields)} fields separated by tabs, not {count}")
        *names, score = fields
        document, segment = (names.pop(4), names.pop()) if count == 9 else (None, None)
        metric, pair, test_set, domain, reference, system = names
        place = pair, test_set, domain, document, reference, system, segment
        rows.append(SubmittedScore(metric, *place, parse_score(score, f"{where}: the score")))
    if not rows:
        raise FileError(f"file {path!r} has no scores: it is empty")
    return tuple(rows)


def segment_scores(path: str, part: str | None = None) -> dict[str, dict[tuple[str, str], float]]:
    """Return the segment scores of one language pair (`part`) by metric, then system and segment.

    With several references, metrics are called by name and reference: `chrF-refA`.
    """
    if submission_fields(path) == 7:
        raise FileError(f"{path} has scores of systems; give the file of segments (.seg.score)")
    rows = read_submission(path)
    pairs = dict.fromkeys(row.pair for row in rows)
    pair = choose_part(path, pairs, part, "language pair")
    rows = tuple(row for row in rows if row.pair == pair)
    sets = list(dict.fromkeys(row.test_set for row in rows))
    if len(sets) > 1:
        raise FileError(f"{path} has {len(sets)} test sets ({', '.join(sets)}); give one of them")
    several = len({row.reference for row in rows}) > 1
    by_metric: dict[str, dict[tuple[str, str], float]] = {}
    for row in rows:
        name = f"{row.metric}-{row.reference}" if several else row.metric
        key = row.system, str(row.segment)
        if key in by_metric.setdefault(name, {}):
            raise FileError(f"{path}: {name} has two scores of {key[0]!r} on segment {key[1]}")
        by_metric[name][key] = row.score
    return by_metric


def write_submission(path: str | Path, rows: Iterable[SubmittedScore]) -> None:
    """Write a submission file of segment or system scores, depending on its name."""
    count = submission_fields(str(path))
    if count is None or str(path).endswith(".gz"):
        raise OptionError(f"cannot write {str(path)!r}: name it NAME.seg.score or NAME.sys.score")
    lines = []
    for row in rows:
        fields = [field for field in astuple(row)[:-1] if field is not None]
        if len(fields) + 1 != count:
            raise DataError(f"{path} takes lines of {count} fields, not {len(fields) + 1}")
        if not isfinite(row.score):
            raise DataError(f"{row.system!r} has the score {row.score} on segment {row.segment}")
        if any("\t" in field or "\n" in field for field in fields):
            raise DataError(f"a name of {row.system!r} contains a tab or a line feed; rename it")
        lines.append("\t".join([*fields, repr(float(row.score))]))
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def file_name(metric: str) -> str:
    """Return the name of a metric without characters that file names or the format do not allow.

    >>> file_name("bertscore:layer=4")
    'bertscore_layer_4'
    """
    return re.sub(r"[^\w.+-]+", "_", metric)


def submission_rows(
    names: Mapping[str, str],
    system: str,
    scores: Sequence[float],
    mean: float,
    documents: Sequence[tuple[str, str]] | None = None,
) -> tuple[list[SubmittedScore], SubmittedScore]:
    """Return the lines of a system's segments, and of the system itself.

    `names` are the metric, pair, test_set and reference.
    """
    places = documents or [(ALL, ALL)] * len(scores)
    rows = [
        SubmittedScore(
            **names, domain=domain, document=document, system=system, segment=str(i), score=score
        )
        for i, ((domain, document), score) in enumerate(zip(places, scores, strict=True), start=1)
    ]
    whole = SubmittedScore(
        **names, domain=ALL, document=None, system=system, segment=None, score=mean
    )
    return rows, whole
