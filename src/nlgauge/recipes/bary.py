"""BaryScore (Colombo et al. 2021): translation, metrics against each other, summaries, WebNLG.

The paper draws its two matrices on WMT16 de-en; where that is missing they are drawn on WMT15
de-en, or on the first language pair found. There is one output per segment in these sets, so that
the paper's "text level" is our segment level.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from nlgauge.figures.matrix import coefficients, directed, heat
from nlgauge.recipes import _summaries, _webnlg
from nlgauge.recipes._data import find
from nlgauge.recipes._published import beside, entries, plain, typed
from nlgauge.recipes._scores import correlations, measured, models_of, with_model
from nlgauge.recipes.recipe import Line, Paper, Part, Rebuilt, Section, Setting
from nlgauge.report.study_tables import matrix_table, williams_table
from nlgauge.scoring import Scorer
from nlgauge.study import Study, matrix, williams

PAPER = Paper(
    "Automatic Text Evaluation through the Lens of Wasserstein Barycenters (BaryScore)",
    "Colombo et al. 2021 (EMNLP), Tables 1 and 2, Figure 7, absolute correlations x 100",
    "bert-base-uncased; rows with +: BERT fine-tuned on MNLI",
)
YEARS: dict[str, tuple[str, ...]] = {
    "WMT15": ("cs-en", "de-en", "ru-en", "fi-en"),
    "WMT16": ("cs-en", "de-en", "ru-en", "fi-en", "ro-en", "tr-en"),
}
TRANSLATIONS = {
    f"{year} {pair}": f"{year.lower()}_da/{pair}.jsonl"
    for year, pairs in YEARS.items()
    for pair in pairs
}
FILES = {
    **TRANSLATIONS,
    "webnlg": _webnlg.FILE,
    "summaries": _summaries.FILE,
    "stored": _summaries.STORED_FILE,
}
COEFFICIENTS = {"pearson": "r", "spearman": "rho", "kendall_b": "tau"}
CRITERION = "da_z"
LINES = (
    Line("BaryS+", None, "BaryS+"),
    Line("bary", "bary", "BaryS"),
    Line("bertscore", "bertscore", "BertS-F"),
    Line("MoverS+", None, "MoverS+"),
    Line("mover", "mover", "MoverS"),
    Line("meteor", "meteor", "MET"),
    # The authors' stored scores are sacrebleu's with all four orders, found or not.
    Line("bleu", "bleu:effective_order=no", "BLEU"),
    Line("chrf", "chrf", "CHRF"),
    Line("rouge", "rouge"),
    Line("ter", "ter"),
)
WEBNLG_LINES = (
    Line("bary", "bary", "BaryS"),
    Line("BaryS+", None, "BaryS+"),
    Line("bertscore", "bertscore", "BertS"),
    Line("mover", "mover", "MoverS"),
    Line("bleu", "bleu", "BLEU"),
    Line("rouge-1", "rouge:variant=1", "R-1"),
    Line("rouge-2", "rouge:variant=2", "R-2"),
    Line("rouge_we", "rouge_we:model=glove", "R-WE"),
    Line("meteor", "meteor", "METEOR"),
    Line("ter", "ter", "TER"),
)
SUMMARY_LINES = (
    Line("bary", "bary", "BaryS"),
    Line("bertscore F", "bertscore", "BertS-F"),
    Line("bertscore R", "bertscore:alpha=1", "BertS-R"),
    Line("mover", "mover", "MoverS"),
    Line("rouge-1", "rouge:variant=1", "R-1"),
    Line("rouge-2", "rouge:variant=2", "R-2"),
    Line("bleu", "bleu", "BLEU"),
)
_TIMED = 100

# Rows by language pair in the order of YEARS, each r, rho, tau.
_TABLES: dict[str, dict[str, str]] = {
    "WMT15": {
        "BaryS+": "75.9 75.2 56.9  75.8 74.5 56.2  77.6 75.0 56.7  79.9 78.7 59.7",
        "BaryS": "74.2 73.8 54.9  74.1 72.2 53.1  73.7 70.6 53.2  76.6 74.5 56.3",
        "BertS-F": "74.3 73.5 54.3  72.2 70.7 52.9  74.0 70.5 52.5  74.7 72.5 54.1",
        "MoverS+": "71.0 71.1 52.0  71.1 68.2 50.3  67.3 64.7 47.3  72.2 72.0 52.9",
        "MoverS": "68.8 70.1 52.0  71.8 69.4 50.3  68.6 65.5 46.9  70.0 70.0 52.3",
        "MET": "56.4 57.1 40.9  60.1 61.4 61.5  58.9 59.6 42.4  58.8 59.0 42.9",
        "BLEU": "44.5 44.5 31.1  53.6 48.0 48.1  53.4 49.0 34.1  46.5 41.8 29.3",
        "CHRF": "26.0 21.6 15.8  29.5 28.9 28.9  32.5 32.9 23.4  30.2 26.5 19.2",
    },
    "WMT16": {
        "BaryS+": "76.6 76.2 57.5  68.5 67.7 50.0  69.4 68.3 51.3  70.2 69.5 50.9"
        "  74.3 73.0 54.5  73.8 70.5 52.4",
        "BaryS": "74.2 74.3 56.3  64.6 64.2 47.9  67.5 66.4 48.1  67.1 66.4 48.3"
        "  72.5 71.4 52.9  69.3 67.1 51.4",
        "BertS-F": "74.1 73.6 55.49  65.3 64.6 46.3  65.1 64.6 46.9  65.4 64.1 47.0"
        "  70.2 67.6 49.5  70.7 67.1 49.0",
        "MoverS+": "70.7 70.4 53.4  62.4 60.7 44.8  64.0 62.2 45.2  64.5 62.6 45.8"
        "  66.4 66.0 48.6  66.3 60.7 44.9",
        "MoverS": "67.4 69.5 52.6  60.9 59.1 44.2  64.4 62.8 44.8  63.1 62.2 45.1"
        "  64.2 65.4 48.2  66.1 64.0 43.7",
        "MET": "64.5 67.2 49.2  51.6 50.0 35.3  54.8 57.5 41.2  53.9 52.4 37.3"
        "  58.6 59.4 42.1  61.8 59.1 42.4",
        "BLEU": "53.8 52.3 36.2  45.3 40.8 28.2  46.3 43.8 30.2  39.9 37.7 26.3"
        "  47.0 43.2 30.2  47.1 43.9 30.4",
        "CHRF": "24.4 26.8 19.2  34.2 33.8 24.3  28.7 29.8 21.2  14.4 15.3 11.2"
        "  16.0 12.6 9.0  26.5 16.2 12.4",
    },
}
# Figure 7 is a table; for each of the three criteria r, rho, tau.
_FIGURE_7: dict[str, str] = {
    "BaryS": "91.7 90.0 78.3  87.8 78.2 61.6  89.4 82.6 70.0",
    "BaryS+": "90.5 89.5 76.6  87.7 85.0 70.0  89.2 86.4 71.6",
    "BertS": "85.5 83.4 73.3  74.7 68.2 53.3  83.3 79.4 65.0",
    "MoverS": "84.1 84.1 73.3  78.7 66.2 53.3  82.1 77.4 65.0",
    "BLEU": "77.6 66.3 60.0  55.7 50.2 36.6  63.0 65.2 51.6",
    "R-1": "80.6 65.0 65.0  76.5 76.3 60.3  64.3 69.2 56.7",
    "R-2": "73.6 63.3 58.3  54.7 43.1 35.0  62.0 60.8 46.7",
    "R-WE": "60.9 73.4 60.0  40.2 58.2 40.1  49.9 64.1 48.3",
    "METEOR": "86.5 66.3 70.0  77.3 50.2 46.6  82.1 65.2 58.6",
    "TER": "79.6 78.3 58.0  69.7 58.2 38.0  75.0 70.2 77.6",
}
_FIGURE_7_CRITERIA = ("Correctness", "DataCoverage", "Relevance")
_PEOPLE = {
    "Correctness, DataCoverage": "97.6 85.2 73.3",
    "Correctness, Relevance": "99.1 89.7 75.0",
    "DataCoverage, Relevance": "96.0 93.8 81.6",
}
_DOUBLED = "de-en: the published tau of MET, BLEU and CHRF repeats rho to 0.1 (so in the paper)"
_MISPLACED = (
    "R-1: what the paper prints under data coverage is fluency in InfoLM's Table 3, which has "
    "61.1 59.6 48.3 for data coverage"
)
_PICTURE = (
    "the paper shows this as a picture (Figure 5) and says that extractive systems get below 20 "
    "points at the system level from BertS-R and MoverS, but medium or high ones at the text level"
)


def published(year: str, pair: str) -> dict[tuple[str, str], float]:
    """The numbers of Table 1 (WMT15) or 2 (WMT16) for a language pair, by row and coefficient."""
    start = 3 * YEARS[year].index(pair)
    return {
        (row, name): float(number)
        for row, line in _TABLES[year].items()
        for name, number in zip(COEFFICIENTS, line.split()[start : start + 3], strict=True)
    }


def rebuild(data: Path, setting: Setting) -> Rebuilt:
    """Tables 1 and 2, both matrices, the pace, the WebNLG table and the bars of summaries."""
    found, missing = find(data, FILES)
    parts = []
    translations = {name: path for name, path in found.items() if name in TRANSLATIONS}
    if translations:
        parts.append(_translation(translations, setting))
    if "webnlg" in found:
        shown = _webnlg.printed(_FIGURE_7, _FIGURE_7_CRITERIA)
        people = typed(_PEOPLE, list(COEFFICIENTS))
        notes = {"DataCoverage": _MISPLACED}
        parts.append(_webnlg.webnlg(found["webnlg"], WEBNLG_LINES, shown, people, setting, notes))
    if "summaries" in found:
        judged = _summaries.by_kind(found["summaries"], found.get("stored"))
        lines = dict.fromkeys(judged, SUMMARY_LINES)
        part, _ = _summaries.summaries(judged, lines, setting, footer=(_PICTURE,))
        parts.append(part)
    return Rebuilt.of("bary", PAPER, parts, missing)


def _translation(found: Mapping[str, Path], setting: Setting) -> Part:
    studies = {name: measured(path, LINES, setting) for name, path in found.items()}
    best = [name for name in ("WMT16 de-en", "WMT15 de-en") if name in studies]
    shown = next(iter([*best, *studies]))
    tables: dict[str, list[Section]] = {}
    numbers = []
    for name, study in studies.items():
        year, pair = name.split()
        ours = correlations(study, CRITERION, list(COEFFICIENTS), times=100)
        tables.setdefault(year.lower(), []).append(_section(name, study, ours))
        theirs = published(year, pair)
        numbers += list(entries(LINES, list(COEFFICIENTS), ours, theirs, data=name))
    matrices = _matrices(shown, studies[shown])
    pace = _pace(studies[shown], setting)
    remarks = [f"{name}: {said}" for name, each in studies.items() for said in each.remarks()]
    remarks.append(f"bary alone scores {pace['pairs_per_second']:.1f} pairs/s on {shown}.")
    return Part(
        {**tables, **matrices.tables},
        matrices.figures,
        {
            "correlations": numbers,
            **matrices.results,
            "bary_pace": pace,
            "signatures": studies[shown].signatures,
        },
        remarks,
        models_of(studies[shown]),
    )


def _section(name: str, study: Study, ours: Mapping[tuple[str, str], float]) -> Section:
    footer = [f"segment level, x 100; {len(study.corpus):,} segments; distances negated"]
    footer += [_DOUBLED] if name == "WMT15 de-en" else []
    table = beside(LINES, COEFFICIENTS, ours, published(*name.split()), digits=1, footer=footer)
    return Section(name, table)


def _matrices(name: str, study: Study) -> Part:
    """Kendall's tau between metrics, and Williams's test of every ordered pair of them."""
    taus = matrix(study, human=CRITERION, coefficient="kendall_b")
    tests = williams(study, CRITERION)
    tau_table = matrix_table("tau", taus.names, taus.values.tolist(), digits=2)
    test_table = williams_table(tests.names, tests.correlations.tolist(), tests.p.tolist())
    sections = [
        Section(f"Kendall's tau between metrics ({name})", tau_table),
        Section(f"Williams's test ({name})", test_table),
    ]
    kendall = coefficients(taus.names, taus.values, title=f"Kendall's tau, {name}")
    tested = directed(tests.names, tests.p, title=f"Williams's p in %, {name}")
    content = {
        "kendall": {
            "data": name,
            "names": list(taus.names),
            "values": [[plain(value) for value in row] for row in taus.values],
        },
        "williams": {
            "data": name,
            "names": list(tests.names),
            "p": [[plain(value) for value in row] for row in tests.p],
        },
    }
    figures = {"kendall": partial(heat, [kendall]), "williams": partial(heat, [tested])}
    return Part({"matrices": sections}, figures, content)


def _pace(study: Study, setting: Setting) -> dict[str, Any]:
    """Pairs per second of BaryScore alone, model loaded, texts encoded anew."""
    corpus = study.corpus
    count = min(_TIMED, len(corpus))
    scorer = Scorer(
        with_model("bary", setting.model),
        runtime=setting.runtime,
    )
    scorer.score(corpus.candidates[:1], corpus.references[:1])  # what is loaded late is loaded now
    start = perf_counter()
    scorer.score(corpus.candidates[:count], corpus.references[:count])
    seconds = perf_counter() - start
    return {"pairs": count, "seconds": seconds, "pairs_per_second": count / seconds}
