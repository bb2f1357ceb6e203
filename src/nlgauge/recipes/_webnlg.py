"""WebNLG 2020 at the system level: correlations of metrics and five human criteria.

BaryScore reports three of the criteria and InfoLM all five, both for means of systems.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path

from nlgauge.data.detection import read_judged
from nlgauge.data.webnlg import HUMAN_SYSTEM
from nlgauge.recipes._scores import models_of, score_rows
from nlgauge.recipes._tables import COEFFICIENTS, compare_numbers, parse_table
from nlgauge.recipes.recipe import Part, Section, Settings, TableRow
from nlgauge.report.table import Column, Table, Value
from nlgauge.study import CoefficientMatrix, matrix

FILE = "webnlg2020/en.jsonl"
CRITERIA = {
    "Correctness": "correctness",
    "DataCoverage": "data coverage",
    "Fluency": "fluency",
    "Relevance": "relevance",
    "TextStructure": "text structure",
}
SWAPPED = (
    "the paper's table swaps r and rho of correctness in all rows of people but the first: "
    "Correct/DataC 97.6 85.2, but DataC/Correct 85.2 97.6; the first is taken here"
)


def webnlg(
    path: Path,
    rows: Sequence[TableRow],
    published: Mapping[str, str],
    people: Mapping[str, str],
    settings: Settings,
    *,
    criteria: Sequence[str] = tuple(CRITERIA),
    notes: Mapping[str, str],
) -> Part:
    """Return a table for each criterion, with a note of its own, and one of the criteria.

    ``published`` has r, rho, tau for each of the ``criteria`` by row, ``people`` by two criteria.
    """
    judged = read_judged(path)
    if HUMAN_SYSTEM in judged.corpus.system_names:  # there are only judgements for human texts
        judged = judged.without(HUMAN_SYSTEM)
    study = score_rows(judged, rows, settings)
    judged_criteria = [name for name in CRITERIA if name in study.judgements.criteria]
    matrices = {
        name: matrix(study, human=judged_criteria, level="system", coefficient=name)
        for name in COEFFICIENTS
    }
    names = [f"{each} {name}" for each in criteria for name in COEFFICIENTS]
    printed = parse_table(published, names)
    systems, inputs = len(study.judgements.systems), len(study.judgements.segments)
    size = f"system level, x 100; {systems} systems on {inputs:,} inputs"
    sections, numbers = [], []
    for at, criterion in enumerate(judged_criteria):
        footer = [size, "means of segment scores; distances negated"]
        footer += [notes[criterion]] if criterion in notes else []
        ours = {
            (label, f"{criterion} {name}"): 100 * float(found.values[at, found.names.index(label)])
            for name, found in matrices.items()
            for label in study.labels
        }
        data = {"data": "WebNLG 2020", "criterion": criterion, "level": "system"}
        about = {f"{criterion} {name}": {**data, "coefficient": name} for name in COEFFICIENTS}
        columns = {f"{criterion} {name}": short for name, short in COEFFICIENTS.items()}
        numbered = rows, columns, ours, printed, settings
        table, entries = compare_numbers(*numbered, digits=1, footer=footer, about=about)
        sections.append(Section(f"WebNLG 2020, {CRITERIA[criterion]}", table))
        numbers += entries
    return Part(
        {"webnlg": [*sections, _criteria_section(matrices, judged_criteria, people, size)]},
        results={"correlations": numbers, "signatures": study.signatures},
        notes=[f"WebNLG: {note}" for note in study.notes],
        models=models_of(study),
    )


def _criteria_section(
    matrices: Mapping[str, CoefficientMatrix],
    criteria: Sequence[str],
    people: Mapping[str, str],
    size: str,
) -> Section:
    """Return a table with a row for every two criteria."""
    printed = parse_table(people, list(COEFFICIENTS))
    columns = [Column("criteria")]
    for short in COEFFICIENTS.values():
        columns += [Column(short, 1), Column("published", 1)]
    rows: list[tuple[Value, ...]] = []
    for pair in combinations(range(len(criteria)), 2):
        name = ", ".join(criteria[i] for i in pair)
        cells = (
            (100 * float(matrices[key].values[pair]), printed.get((name, key))) for key in matrices
        )
        rows.append((name, *chain(*cells)))
    table = Table(tuple(columns), tuple(rows), (size, SWAPPED))
    return Section("WebNLG 2020, the criteria with each other", table)
