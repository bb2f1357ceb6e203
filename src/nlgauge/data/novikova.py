"""Novikova et al. 2017 as published: emnlp_data_medians.csv (BAGEL, SFHOTEL, SFREST).

A line has the data set, system, meaning representation (`mr`), the system's output (`sys_ref`),
metric scores and the medians of three raters' informativeness, naturalness and quality (1-6).

The systems of the three data sets share names, so one data set is chosen (`part`). References come
from a table with the columns `source` (the meaning representation) and `references`; without it,
every row has one empty reference, which is enough to study the stored scores. A segment is a
meaning representation; repetitions within a system are numbered: "...#2".
"""

from collections import Counter

from nlgauge.core.errors import FileError
from nlgauge.data.columns import COLUMNS, require_column
from nlgauge.data.files import read_table
from nlgauge.data.judged import JudgedCorpus, JudgedRow, choose_part, parse_scores
from nlgauge.data.text_rows import accept, table_rows

CRITERIA = ("informativeness", "naturalness", "quality")
STORED = (
    *("TER", "Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "NIST", "LEPOR", "CIDEr"),
    *("METEOR", "sim.mr.sys"),
)


def read_novikova2017(
    path: str, *, part: str | None = None, references: str | None = None
) -> JudgedCorpus:
    """Return the outputs of one data set (`part`: BAGEL, SFHOT or SFRES) with their scores."""
    table = read_table(path, "csv")
    if not table:
        raise FileError(f"file {path!r} has no rows")
    for name in ("dataset", "system", "mr", "sys_ref", *CRITERIA):
        if name not in table[0][1]:
            raise FileError(f"{path} has no column {name!r}, so it is not the table of medians")
    chosen = choose_part(path, dict.fromkeys(row["dataset"] for _, row in table), part, "data set")
    known = {} if references is None else _read_references(references)
    outputs = [(where, row) for where, row in table if row["dataset"] == chosen]
    used = [(at, row) for at, row in outputs if references is None or row["mr"] in known]
    counts: Counter[tuple[str, str]] = Counter()
    rows = []
    for where, row in used:
        system, meaning = row["system"], row["mr"]
        counts[system, meaning] += 1
        times = counts[system, meaning]
        rows.append(
            JudgedRow(
                system,
                meaning if times == 1 else f"{meaning}#{times}",
                row["sys_ref"],
                known.get(meaning, ("",)),
                parse_scores(row, CRITERIA, where),
                meaning,
                parse_scores(row, STORED, where),
            )
        )
    notes = []
    if repeated := len(used) - len(counts):
        notes.append(f"{repeated} rows repeat a meaning within a system as separate segments.")
    if references is None:
        what = "the table has no references: each row has one empty reference"
        notes.append(f"{what}; give a table of them with references= to score the outputs.")
    dropped = {f"whose meaning is not in {references}": len(outputs) - len(used)}
    return JudgedCorpus.from_rows(rows, dropped=dropped, notes=notes)


def _read_references(path: str) -> dict[str, tuple[str, ...]]:
    """Return the references by source, from all its rows in order."""
    table = read_table(path)
    for _, first in table[:1]:
        require_column(path, first, COLUMNS["source"])
    known: dict[str, tuple[str, ...]] = {}
    for row in accept(table_rows(table, "references", Counter())):
        source = str(row.source)
        known[source] = tuple(dict.fromkeys((*known.get(source, ()), *row.references)))
    return known
