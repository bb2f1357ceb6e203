"""BaryScore (Colombo et al. 2021): translation, metrics against each other, summaries, WebNLG.

The two matrices of the paper are for WMT16 de-en; if this data is missing, WMT15 de-en or the first
available language pair is used. These sets have one output per segment, so the paper's "text level"
is our segment level.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from nlgauge.core.jsonable import to_jsonable
from nlgauge.figures.matrix import coefficients, directed, heat
from nlgauge.recipes import _summaries, _webnlg
from nlgauge.recipes._scores import correlations, find, models_of, score_rows, with_model
from nlgauge.recipes._tables import COEFFICIENTS, compare_numbers, parse_table
from nlgauge.recipes.recipe import Part, Publication, Reproduction, Section, Settings
from nlgauge.report.study_tables import matrix_table, williams_table
from nlgauge.scoring import Scorer
from nlgauge.study import Study, matrix, williams

PUBLICATION = Publication.load("bary")
PAIRS = ("cs-en", "de-en", "ru-en", "fi-en", "ro-en", "tr-en")
YEARS = {"WMT15": PAIRS[:4], "WMT16": PAIRS}
TRANSLATIONS = {
    f"{year} {pair}": f"{year.lower()}_da/{pair}.jsonl"
    for year, pairs in YEARS.items()
    for pair in pairs
}
OTHERS = {"webnlg": _webnlg.FILE, "summaries": _summaries.FILE, "stored": _summaries.STORED_FILE}
CRITERION = "da_z"
ROWS = PUBLICATION.rows["translation"]
_TIMED_PAIRS = 100


def published(year: str, pair: str) -> dict[tuple[str, str], float]:
    """Return the numbers of Table 1 (WMT15) or 2 (WMT16) by row and coefficient."""
    start = 3 * YEARS[year].index(pair)
    cells = {row: line.split()[start : start + 3] for row, line in PUBLICATION.tables[year].items()}
    return parse_table({row: " ".join(three) for row, three in cells.items()}, list(COEFFICIENTS))


def rebuild(data: Path, settings: Settings) -> Reproduction:
    """Return Tables 1 and 2, both matrices, the speed, the WebNLG table and the summaries."""
    paths, missing = find(data, TRANSLATIONS | OTHERS)
    parts = []
    translations = {name: path for name, path in paths.items() if name in TRANSLATIONS}
    if translations:
        parts += _translation(translations, settings)
    if "webnlg" in paths:
        tables = PUBLICATION.tables["figure7"], PUBLICATION.tables["people"]
        part = _webnlg.webnlg(
            *(paths["webnlg"], PUBLICATION.rows["webnlg"], *tables, settings),
            criteria=("Correctness", "DataCoverage", "Relevance"),
            notes={"DataCoverage": PUBLICATION.notes["misplaced"]},
        )
        parts.append(part)
    if "summaries" in paths:
        judged = _summaries.by_kind(paths["summaries"], paths.get("stored"))
        rows, footer = PUBLICATION.rows["summaries"], (PUBLICATION.notes["picture"],)
        of_kind = dict.fromkeys(judged, rows)
        parts.append(_summaries.summaries(judged, of_kind, settings, footer=footer)[0])
    return Reproduction.of("bary", PUBLICATION.paper, parts, missing)


def _translation(paths: Mapping[str, Path], settings: Settings) -> list[Part]:
    studies = {name: score_rows(path, ROWS, settings) for name, path in paths.items()}
    best = [name for name in ("WMT16 de-en", "WMT15 de-en") if name in studies]
    example = next(iter([*best, *studies]))
    tables: dict[str, list[Section]] = {}
    numbers = []
    for name, study in studies.items():
        footer = [f"segment level, x 100; {len(study.corpus):,} segments; distances negated"]
        footer += [PUBLICATION.notes["doubled"]] if name == "WMT15 de-en" else []
        ours = correlations(study, CRITERION, list(COEFFICIENTS), factor=100)
        year, pair = name.split()
        about = {key: {"data": name, "coefficient": key} for key in COEFFICIENTS}
        numbered = ROWS, COEFFICIENTS, ours, published(year, pair), settings
        table, entries = compare_numbers(*numbered, digits=1, footer=footer, about=about)
        tables.setdefault(year.lower(), []).append(Section(name, table))
        numbers += entries
    matrices = _matrices(example, studies[example].only({row.name for row in ROWS}))
    speed = _speed(studies[example], settings)
    notes = [f"{name}: {note}" for name, each in studies.items() for note in each.notes]
    notes.append(f"bary alone scores {speed['pairs_per_second']:.1f} pairs/s on {example}.")
    signatures = studies[example].signatures
    results = {"correlations": numbers, "bary_pace": speed, "signatures": signatures}
    part = Part(tables, {}, results, notes, models_of(studies[example]))
    return [part, matrices]


def _matrices(name: str, study: Study) -> Part:
    """Return Kendall's tau between metrics, and Williams's test of every ordered pair."""
    taus = matrix(study, human=CRITERION, coefficient="kendall_b")
    tests = williams(study, CRITERION)
    tau_table = matrix_table("tau", taus.names, taus.values.tolist(), digits=2)
    test_table = williams_table(tests.names, tests.correlations.tolist(), tests.p.tolist())
    kendall = coefficients(taus.names, taus.values, title=f"Kendall's tau, {name}")
    tested = directed(tests.names, tests.p, title=f"Williams's p in %, {name}")
    titles = f"Kendall's tau between metrics ({name})", f"Williams's test ({name})"
    results = {
        "kendall": {"data": name, "names": taus.names, "values": taus.values},
        "williams": {"data": name, "names": tests.names, "p": tests.p},
    }
    return Part(
        {"matrices": [*map(Section, titles, (tau_table, test_table))]},
        {"kendall": partial(heat, [kendall]), "williams": partial(heat, [tested])},
        to_jsonable(results),
    )


def _speed(study: Study, settings: Settings) -> dict[str, Any]:
    """Return pairs per second of BaryScore alone, including encoding, with a loaded model."""
    candidates, references = study.corpus.candidates, study.corpus.references
    count = min(_TIMED_PAIRS, len(candidates))
    scorer = Scorer(with_model("bary", settings.model), runtime=settings.runtime)
    scorer.score(candidates[:1], references[:1])  # loads what is loaded lazily
    start = perf_counter()
    scorer.score(candidates[:count], references[:count])
    seconds = perf_counter() - start
    return {"pairs": count, "seconds": seconds, "pairs_per_second": count / seconds}
