"""Text similarity as an evaluation measure (ENSAE): people and five metrics on WMT15 fi-en.

The report shows its coefficients as an image and its p-values as 0.00; the Spearman correlations
here are from its text. It uses absolute values, and its notebook passes single words to TER as
sentences; here distances are negated and TER is computed on sentences. Unsmoothed sentence BLEU of
sacrebleu replaces that of nltk, which is about 0 if no 4-gram matches.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nlgauge.core.jsonable import to_jsonable
from nlgauge.figures.matrix import Panel, coefficients, heat, p_values
from nlgauge.recipes._scores import correlations, find, models_of, score_rows
from nlgauge.recipes.recipe import (
    Part,
    Publication,
    Reproduction,
    Section,
    Settings,
    with_model_name,
)
from nlgauge.report.study_tables import matrix_table, p_text
from nlgauge.report.table import Column, Table, Value
from nlgauge.study import CoefficientMatrix, Study, matrix

PUBLICATION = Publication.load("benchmark")
FILES = {"fi-en": "wmt15_da/fi-en.jsonl"}
COEFFICIENTS = ("spearman", "pearson", "kendall_b")
CRITERION = "da_z"
ROWS, PUBLISHED = PUBLICATION.rows["all"], PUBLICATION.tables["spearman"]


def rebuild(data: Path, settings: Settings) -> Reproduction:
    """Return correlations with people, and all p-values, for three coefficients."""
    found, missing = find(data, FILES)
    study = score_rows(found["fi-en"], ROWS, settings)
    own = study.only({row.name for row in ROWS})
    made = {name: matrix(own, human=CRITERION, coefficient=name) for name in COEFFICIENTS}
    sections = [section for each in made.values() for section in _sections(each)]
    figures = {name: partial(heat, _panels(each)) for name, each in made.items()}
    results = {
        "matrices": [_content(each) for each in made.values()],
        "published_spearman": PUBLISHED,
        "signatures": study.signatures,
    }
    tables = {"human": [_human(study, settings.other_models)], "matrices": sections}
    part = Part(tables, figures, results, study.notes, models_of(study))
    return Reproduction.of("benchmark", PUBLICATION.paper, [part], missing)


def _panels(found: CoefficientMatrix) -> list[Panel]:
    values = coefficients(found.names, found.values, title=found.coefficient)
    return [values, p_values(found.names, found.p)]


def _human(study: Study, other_models: Sequence[str]) -> Section:
    """Return the correlations with people next to those in the text of the report."""
    found = correlations(study, CRITERION, COEFFICIENTS)
    columns = [Column("metric"), Column("in the paper")]
    for name in COEFFICIENTS:
        columns += [Column(f"{name} {model}".strip(), 3, "higher") for model in ("", *other_models)]
        columns += [Column("published spearman")] if name == "spearman" else []
    rows: list[tuple[Value, ...]] = []
    for row in ROWS:
        labels = [row.name, *(with_model_name(row.name, model) for model in other_models)]
        cells: list[Value] = [row.name, str(row.published)]
        for name in COEFFICIENTS:
            cells += [found.get((label, name)) for label in labels]
            cells += [PUBLISHED[str(row.published)]] if name == "spearman" else []
        rows.append(tuple(cells))
    footer = (f"segment level; {len(study.corpus):,} segments; distances negated",)
    return Section("WMT15 fi-en, with people", Table(tuple(columns), tuple(rows), footer))


def _sections(found: CoefficientMatrix) -> list[Section]:
    values = matrix_table(found.coefficient, found.names, found.values.tolist(), digits=2)
    columns = [Column("p"), *(Column(name) for name in found.names)]
    rows = [
        (name, *("" if i == j else p_text(float(p)) for j, p in enumerate(found.p[i])))
        for i, name in enumerate(found.names)
    ]
    p = Table(tuple(columns), tuple(rows), (PUBLICATION.notes["p"],))
    titles = ("coefficients", "two-sided p-values")
    named = zip(titles, (values, p), strict=True)
    return [Section(f"{found.coefficient}: {title}", table) for title, table in named]


def _content(found: CoefficientMatrix) -> Any:
    about = {"data": "fi-en", "coefficient": found.coefficient, "segments": found.cells}
    return to_jsonable({**about, "names": found.names, "values": found.values, "p": found.p})
