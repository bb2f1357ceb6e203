"""Text similarity as an evaluation measure (ENSAE): people and five metrics on WMT15 fi-en.

The report prints its coefficients as a picture and its p-values as 0.00; in words it gives the
Spearman correlations that stand here. It takes absolute values, and its notebook hands TER single
words as sentences; here distances are negated and TER is TER. Unsmoothed sentence BLEU of sacrebleu
stands in for nltk's, which is about 0 wherever no 4-gram matches.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from nlgauge.figures.matrix import Panel, coefficients, heat, p_values
from nlgauge.recipes._data import find
from nlgauge.recipes._published import plain
from nlgauge.recipes._scores import measured, models_of
from nlgauge.recipes.recipe import Line, Paper, Part, Rebuilt, Section, Setting
from nlgauge.report.study_tables import matrix_table, p_text
from nlgauge.report.table import Column, Table
from nlgauge.stats import CoefficientMatrix
from nlgauge.study import matrix

PAPER = Paper(
    "Text Similarity as An Evaluation Measure of Machine Translation",
    "Thomas and Sow (ENSAE), section 4, Figures 1-3 and Tables 1-3, absolute correlations",
    "not named in the text (its BLEU is nltk's without smoothing; ours is sacrebleu's)",
)
FILES = {"fi-en": "wmt15_da/fi-en.jsonl"}
COEFFICIENTS = ("spearman", "pearson", "kendall_b")
CRITERION = "da_z"
LINES = (
    Line("bleu", "bleu:smooth_method=none", "BLEU_nltk"),
    Line("bary", "bary", "Baryscore"),
    Line("depth", "depth", "DepthScore"),
    Line("ter", "ter", "TER"),
    Line("meteor", "meteor", "METEOR"),
)
PUBLISHED = {
    "BLEU_nltk": "below .5",
    "Baryscore": ".76",
    "DepthScore": "below .5",
    "TER": "below .5",
    "METEOR": "above .5",
}
_P_PUBLISHED = "published p-values: all 0.00 (Tables 1-3)"


def rebuild(data: Path, setting: Setting) -> Rebuilt:
    """Correlations with people, and all coefficients and p-values, for three coefficients."""
    found, missing = find(data, FILES)
    study = measured(found["fi-en"], LINES, setting)
    made = {name: matrix(study, human=CRITERION, coefficient=name) for name in COEFFICIENTS}
    sections = [section for each in made.values() for section in _sections(each)]
    figures = {name: partial(heat, _panels(each)) for name, each in made.items()}
    results = {
        "matrices": [_content(each) for each in made.values()],
        "published_spearman": PUBLISHED,
        "signatures": study.signatures,
    }
    tables = {"human": [_human(made)], "matrices": sections}
    part = Part(tables, figures, results, study.notes, models_of(study))
    return Rebuilt.of("benchmark", PAPER, [part], missing)


def _panels(found: CoefficientMatrix) -> list[Panel]:
    values = coefficients(found.names, found.values, title=found.coefficient)
    return [values, p_values(found.names, found.p)]


def _human(made: dict[str, CoefficientMatrix]) -> Section:
    """The first row of the matrices: people against metrics, beside what the report says."""
    spearman = made["spearman"]
    columns = [Column("metric"), Column("in the paper"), Column("spearman", 3, "higher")]
    columns += [Column("published spearman"), Column("pearson", 3, "higher")]
    columns += [Column("kendall_b", 3, "higher")]
    rows = []
    for line in LINES:
        at = spearman.names.index(line.name)
        first, second, third = (float(made[name].values[0, at]) for name in COEFFICIENTS)
        named = str(line.published)
        rows.append((line.name, named, first, PUBLISHED[named], second, third))
    footer = (f"segment level; {spearman.cells:,} segments; distances negated",)
    return Section("WMT15 fi-en, with people", Table(tuple(columns), tuple(rows), footer))


def _sections(found: CoefficientMatrix) -> list[Section]:
    values = matrix_table(found.coefficient, found.names, found.values.tolist(), digits=2)
    columns = [Column("p"), *(Column(name) for name in found.names)]
    rows = [
        (name, *("" if i == j else p_text(float(p)) for j, p in enumerate(found.p[i])))
        for i, name in enumerate(found.names)
    ]
    p = Table(tuple(columns), tuple(rows), (_P_PUBLISHED,))
    return [
        Section(f"{found.coefficient}: coefficients", values),
        Section(f"{found.coefficient}: two-sided p-values", p),
    ]


def _content(found: CoefficientMatrix) -> dict[str, Any]:
    return {
        "data": "fi-en",
        "coefficient": found.coefficient,
        "names": list(found.names),
        "values": [[plain(value) for value in row] for row in found.values],
        "p": [[plain(value) for value in row] for row in found.p],
        "segments": found.cells,
    }
