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
    paths, missing = find(data, FILES)
    study = score_rows(paths["fi-en"], ROWS, settings)
    row_study = study.only({row.name for row in ROWS})
    matrices = {name: matrix(row_study, human=CRITERION, coefficient=name) for name in COEFFICIENTS}
    sections = [section for result in matrices.values() for section in _sections(result)]
    figures = {name: partial(heat, _panels(result)) for name, result in matrices.items()}
    results = {
        "matrices": [_content(result) for result in matrices.values()],
        "published_spearman": PUBLISHED,
        "signatures": study.signatures,
    }
    tables = {"human": [_human(study, settings.other_models)], "matrices": sections}
    part = Part(tables, figures, results, study.notes, models_of(study))
    return Reproduction.of("benchmark", PUBLICATION.paper, [part], missing)


def _panels(result: CoefficientMatrix) -> list[Panel]:
    values = coefficients(result.names, result.values, title=result.coefficient)
    return [values, p_values(result.names, result.p)]


def _human(study: Study, other_models: Sequence[str]) -> Section:
    """Return the correlations with people next to those in the text of the report."""
    values = correlations(study, CRITERION, COEFFICIENTS)
    columns = [Column("metric"), Column("in the paper")]
    for name in COEFFICIENTS:
        columns += [Column(f"{name} {model}".strip(), 3, "higher") for model in ("", *other_models)]
        columns += [Column("published spearman")] if name == "spearman" else []
    rows: list[tuple[Value, ...]] = []
    for row in ROWS:
        labels = [row.name, *(with_model_name(row.name, model) for model in other_models)]
        cells: list[Value] = [row.name, str(row.published)]
        for name in COEFFICIENTS:
            cells += [values.get((label, name)) for label in labels]
            cells += [PUBLISHED[str(row.published)]] if name == "spearman" else []
        rows.append(tuple(cells))
    footer = (f"segment level; {len(study.corpus):,} segments; distances negated",)
    return Section("WMT15 fi-en, with people", Table(tuple(columns), tuple(rows), footer))


def _sections(result: CoefficientMatrix) -> list[Section]:
    values = matrix_table(result.coefficient, result.names, result.values.tolist(), digits=2)
    columns = [Column("p"), *(Column(name) for name in result.names)]
    rows = [
        (name, *("" if i == j else p_text(float(p)) for j, p in enumerate(result.p[i])))
        for i, name in enumerate(result.names)
    ]
    p = Table(tuple(columns), tuple(rows), (PUBLICATION.notes["p"],))
    titles = ("coefficients", "two-sided p-values")
    titled = zip(titles, (values, p), strict=True)
    return [Section(f"{result.coefficient}: {title}", table) for title, table in titled]


def _content(result: CoefficientMatrix) -> Any:
    fields = {"data": "fi-en", "coefficient": result.coefficient, "segments": result.cells}
    return to_jsonable({**fields, "names": result.names, "values": result.values, "p": result.p})
