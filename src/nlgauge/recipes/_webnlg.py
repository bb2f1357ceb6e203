"""WebNLG 2020 at the system level: metrics against five human criteria, and these with each other.

BaryScore prints three of the criteria and InfoLM all five; both took the means of systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

from nlgauge.data.detection import read_judged
from nlgauge.data.judged import JudgedCorpus
from nlgauge.data.webnlg import HUMAN_SYSTEM
from nlgauge.recipes._published import Numbers, beside, entries
from nlgauge.recipes._scores import measured, models_of
from nlgauge.recipes.recipe import Line, Part, Section, Setting
from nlgauge.report.table import Column, Table, Value
from nlgauge.stats import CoefficientMatrix
from nlgauge.study import Study, matrix

FILE = "webnlg2020/en.jsonl"
CRITERIA = {
    "Correctness": "correctness",
    "DataCoverage": "data coverage",
    "Fluency": "fluency",
    "Relevance": "relevance",
    "TextStructure": "text structure",
}
COEFFICIENTS = {"pearson": "r", "spearman": "rho", "kendall_b": "tau"}
SWAPPED = (
    "the paper's table swaps r and rho of correctness in all rows of people but the first: "
    "Correct/DataC 97.6 85.2, but DataC/Correct 85.2 97.6; the first is taken here"
)

Printed = Mapping[str, Mapping[tuple[str, str], float]]
"""Published numbers by criterion, then by the paper's name of a line and coefficient."""


def printed(rows: Mapping[str, str], criteria: Sequence[str] = tuple(CRITERIA)) -> Printed:
    """The numbers of a table typed line by line: for every criterion r, rho, tau."""
    found: dict[str, dict[tuple[str, str], float]] = {}
    for row, line in rows.items():
        numbers = iter(line.split())
        for criterion in criteria:
            for name in COEFFICIENTS:
                found.setdefault(criterion, {})[row, name] = float(next(numbers))
    return found


def webnlg(
    path: Path,
    lines: Sequence[Line],
    published: Printed,
    people: Numbers,
    setting: Setting,
    notes: Mapping[str, str],
) -> Part:
    """A table for each criterion, with a note of its own, and one of them with each other."""
    judged = _of_systems(read_judged(path))
    study = measured(judged, lines, setting)
    criteria = [name for name in CRITERIA if name in study.judgements.criteria]
    made = {
        name: matrix(study, human=criteria, level="system", coefficient=name)
        for name in COEFFICIENTS
    }
    sections, numbers = [], []
    for at, criterion in enumerate(criteria):
        said = [_size(study), "means of segment scores; distances negated"]
        said += [notes[criterion]] if criterion in notes else []
        ours = _row(made, at, study.labels)
        theirs = published.get(criterion, {})
        table = beside(lines, COEFFICIENTS, ours, theirs, digits=1, footer=said)
        sections.append(Section(f"WebNLG 2020, {CRITERIA[criterion]}", table))
        about = {"data": "WebNLG 2020", "criterion": criterion, "level": "system"}
        numbers += list(entries(lines, list(COEFFICIENTS), ours, theirs, **about))
    return Part(
        {"webnlg": [*sections, _people(made, criteria, people, _size(study))]},
        results={"correlations": numbers, "signatures": study.signatures},
        remarks=[f"WebNLG: {each}" for each in study.remarks()],
        models=models_of(study),
    )


def _of_systems(judged: JudgedCorpus) -> JudgedCorpus:
    """Without the human texts, of which only the judgements are recorded."""
    there = HUMAN_SYSTEM in judged.corpus.system_names
    return judged.without(HUMAN_SYSTEM) if there else judged


def _size(study: Study) -> str:
    systems, inputs = len(study.judgements.systems), len(study.judgements.segments)
    return f"system level, x 100; {systems} systems on {inputs:,} inputs"


def _row(
    made: Mapping[str, CoefficientMatrix], at: int, labels: Sequence[str]
) -> dict[tuple[str, str], float]:
    return {
        (label, name): 100 * float(found.values[at, found.names.index(label)])
        for name, found in made.items()
        for label in labels
    }


def _people(
    made: Mapping[str, CoefficientMatrix], criteria: Sequence[str], published: Numbers, size: str
) -> Section:
    """A line for every two criteria."""
    columns = [Column("criteria")]
    for short in COEFFICIENTS.values():
        columns += [Column(short, 1), Column("published", 1)]
    rows: list[tuple[Value, ...]] = []
    for one, other in combinations(range(len(criteria)), 2):
        name = f"{criteria[one]}, {criteria[other]}"
        cells: list[Value] = [name]
        for key, found in made.items():
            cells += [100 * float(found.values[one, other]), published.get((name, key))]
        rows.append(tuple(cells))
    table = Table(tuple(columns), tuple(rows), (size, SWAPPED))
    return Section("WebNLG 2020, the criteria with each other", table)
