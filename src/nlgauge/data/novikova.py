"""Novikova et al. 2017 as published: emnlp_data_medians.csv (BAGEL, SFHOTEL, SFREST).

A line holds data set, system, meaning representation (`mr`), the system's output (`sys_ref`),
scores of metrics and the medians of three people's informativeness, naturalness and quality (1-6).

The file holds three data sets whose systems share names, so one is chosen (`part`). It holds no
references: name a table with the columns `source` (the meaning representation) and `references`,
or every row gets one empty reference, which serves studies of the stored scores only. A segment is
a meaning representation; one that a system answers repeatedly is counted: "...#2".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from nlgauge.core.errors import FileError
from nlgauge.data.files import COLUMNS, corpus_from_rows, format_of, read_numbered_rows, read_rows
from nlgauge.data.judged import Judged, Row, choose_part, number

CRITERIA = ("informativeness", "naturalness", "quality")
COLUMNS_NEEDED = ("dataset", "system", "mr", "sys_ref", *CRITERIA)
STORED = (
    *("TER", "Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "NIST", "LEPOR", "CIDEr"),
    *("METEOR", "sim.mr.sys"),
)


def read_novikova2017(
    path: str, *, part: str | None = None, references: str | None = None
) -> Judged:
    """The judged outputs of one data set (`part`: BAGEL, SFHOT or SFRES)."""
    numbered = read_numbered_rows(path, "csv")
    if not numbered:
        raise FileError(f"file {path!r} holds no rows")
    missing = [name for name in COLUMNS_NEEDED if name not in numbered[0][1]]
    if missing:
        raise FileError(f"{path} has no column {missing[0]!r}, so it is not the medians' table")
    names = list(dict.fromkeys(row["dataset"] for _, row in numbered))
    chosen = choose_part(path, names, part, "data set")
    known = {} if references is None else _references(references)
    seen: Counter[tuple[str, str]] = Counter()
    rows = []
    lacking = 0
    for line, row in numbered:
        if row["dataset"] != chosen:
            continue
        if references is not None and row["mr"] not in known:
            lacking += 1
            continue
        seen[row["system"], row["mr"]] += 1
        rows.append(_row(path, line, row, seen[row["system"], row["mr"]], known))
    return Judged.from_rows(
        rows,
        dropped={f"whose meaning is not in {references}": lacking},
        notes=_notes(seen, with_references=references is not None),
    )


def _row(
    path: str, line: int, row: Mapping[str, str], times: int, known: Mapping[str, tuple[str, ...]]
) -> Row:
    def scores(names: tuple[str, ...]) -> dict[str, float]:
        where = f"{path}, line {line}"
        return {name: number(row[name], f"{where}: {name}") for name in names if name in row}

    return Row(
        row["system"],
        row["mr"] if times == 1 else f"{row['mr']}#{times}",
        row["sys_ref"],
        known.get(row["mr"], ("",)),
        scores(CRITERIA),
        row["mr"],
        scores(STORED),
    )


def _references(path: str) -> dict[str, tuple[str, ...]]:
    """References by source: all those any row of the table has, in order."""
    corpus = corpus_from_rows(path, read_rows(path, format_of(path)), system="references")
    if corpus.sources is None:
        accepted = ", ".join(COLUMNS["source"])
        raise FileError(f"{path} has no column of sources (accepted: {accepted})")
    known: dict[str, dict[str, None]] = {}
    for source, texts in zip(corpus.sources, corpus.references, strict=True):
        known.setdefault(source, {}).update(dict.fromkeys(texts))
    return {source: tuple(texts) for source, texts in known.items()}


def _notes(seen: Counter[tuple[str, str]], *, with_references: bool) -> list[str]:
    notes = []
    repeated = sum(times - 1 for times in seen.values())
    if repeated:
        notes.append(
            f"{repeated} rows repeat a meaning within a system; they are segments of their own."
        )
    if not with_references:
        notes.append(
            "the table holds no references: each row has one empty reference; "
            "give a table of them with references= to score the outputs."
        )
    return notes
