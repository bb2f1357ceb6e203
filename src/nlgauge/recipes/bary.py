"""BaryScore on WMT15: Table 1 of Colombo et al. 2021, the metrics against each other, and speed.

The paper draws its two matrices on WMT16 de-en; they are drawn here on WMT15 de-en, or on the first
language pair found. There is one output per segment, so that its "text level" is our segment level.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from nlgauge.figures.matrix import Panel, coefficients, directed
from nlgauge.recipes.recipe import (
    Line,
    Paper,
    Rebuilt,
    Section,
    Setting,
    beside,
    entries,
    find,
    measured,
    model_of,
    plain,
    with_model,
)
from nlgauge.report.studies import matrix_table, williams_table
from nlgauge.scoring import Scorer
from nlgauge.studying import Study, correlate, matrix, williams

PAPER = Paper(
    "Automatic Text Evaluation through the Lens of Wasserstein Barycenters (BaryScore)",
    "Colombo et al. 2021 (EMNLP), Table 1, absolute correlations x 100",
    "bert-base-uncased; rows with +: BERT fine-tuned on MNLI",
)
PAIRS = ("cs-en", "de-en", "ru-en", "fi-en")
FILES = {pair: f"wmt15_da/{pair}.jsonl" for pair in PAIRS}
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
_TIMED = 100

# Rows by language pair in the order of PAIRS, each r, rho, tau.
_TABLE_1: dict[str, str] = {
    "BaryS+": "75.9 75.2 56.9  75.8 74.5 56.2  77.6 75.0 56.7  79.9 78.7 59.7",
    "BaryS": "74.2 73.8 54.9  74.1 72.2 53.1  73.7 70.6 53.2  76.6 74.5 56.3",
    "BertS-F": "74.3 73.5 54.3  72.2 70.7 52.9  74.0 70.5 52.5  74.7 72.5 54.1",
    "MoverS+": "71.0 71.1 52.0  71.1 68.2 50.3  67.3 64.7 47.3  72.2 72.0 52.9",
    "MoverS": "68.8 70.1 52.0  71.8 69.4 50.3  68.6 65.5 46.9  70.0 70.0 52.3",
    "MET": "56.4 57.1 40.9  60.1 61.4 61.5  58.9 59.6 42.4  58.8 59.0 42.9",
    "BLEU": "44.5 44.5 31.1  53.6 48.0 48.1  53.4 49.0 34.1  46.5 41.8 29.3",
    "CHRF": "26.0 21.6 15.8  29.5 28.9 28.9  32.5 32.9 23.4  30.2 26.5 19.2",
}
_DOUBLED = "de-en: the published tau of MET, BLEU and CHRF repeats rho to 0.1 (so in the paper)"


def published(pair: str) -> dict[tuple[str, str], float]:
    """The numbers of Table 1 for one language pair, by row and coefficient."""
    start = 3 * PAIRS.index(pair)
    return {
        (row, name): float(number)
        for row, line in _TABLE_1.items()
        for name, number in zip(COEFFICIENTS, line.split()[start : start + 3], strict=True)
    }


def rebuild(data: Path, setting: Setting) -> Rebuilt:
    """Table 1, the Kendall and Williams matrices, and the pace of BaryScore."""
    found, missing = find(data, FILES)
    studies = {pair: measured(path, LINES, setting) for pair, path in found.items()}
    shown = "de-en" if "de-en" in studies else next(iter(studies))
    sections, numbers = [], []
    for pair, study in studies.items():
        ours = _ours(study)
        sections.append(_section(pair, study, ours))
        numbers += list(entries(pair, LINES, list(COEFFICIENTS), ours, published(pair)))
    matrices, panels, plain_matrices = _matrices(shown, studies[shown])
    pace = _pace(studies[shown], setting)
    first = studies[shown]
    remarks = [f"{pair}: {said}" for pair, each in studies.items() for said in each.remarks()]
    remarks.append(f"bary alone scores {pace['pairs_per_second']:.1f} pairs/s on {shown}.")
    return Rebuilt(
        *("bary", PAPER, model_of(first)),
        {"table1": sections, "matrices": matrices},
        {"kendall": panels[:1], "williams": panels[1:]},
        {
            "correlations": numbers,
            **plain_matrices,
            "bary_pace": pace,
            "signatures": first.signatures,
        },
        *(missing, tuple(remarks)),
    )


def _ours(study: Study) -> dict[tuple[str, str], float]:
    found = correlate(study, human=CRITERION, levels="segment", coefficients=list(COEFFICIENTS))
    return {
        (entry.metric, entry.correlation.coefficient): 100 * entry.correlation.value
        for entry in found.entries
    }


def _section(pair: str, study: Study, ours: Mapping[tuple[str, str], float]) -> Section:
    footer = [f"segment level, x 100; {len(study.corpus):,} segments; distances negated"]
    footer += [_DOUBLED] if pair == "de-en" else []
    table = beside(LINES, COEFFICIENTS, ours, published(pair), digits=1, footer=footer)
    return Section(f"WMT15 {pair}", table)


def _matrices(pair: str, study: Study) -> tuple[list[Section], list[Panel], dict[str, Any]]:
    """Kendall's tau between metrics, and Williams's test of every ordered pair of them."""
    taus = matrix(study, human=CRITERION, coefficient="kendall_b")
    tests = williams(study, CRITERION)
    tau_table = matrix_table("tau", taus.names, taus.values.tolist(), digits=2)
    test_table = williams_table(tests.names, tests.correlations.tolist(), tests.p.tolist())
    sections = [
        Section(f"Kendall's tau between metrics (WMT15 {pair})", tau_table),
        Section(f"Williams's test (WMT15 {pair})", test_table),
    ]
    panels = [
        coefficients(taus.names, taus.values, title=f"Kendall's tau, WMT15 {pair}"),
        directed(tests.names, tests.p, title=f"Williams's p in %, WMT15 {pair}"),
    ]
    content = {
        "kendall": {
            "data": pair,
            "names": list(taus.names),
            "values": [[plain(value) for value in row] for row in taus.values],
        },
        "williams": {
            "data": pair,
            "names": list(tests.names),
            "p": [[plain(value) for value in row] for row in tests.p],
        },
    }
    return sections, panels, content


def _pace(study: Study, setting: Setting) -> dict[str, Any]:
    """Pairs per second of BaryScore alone, model loaded, texts encoded anew."""
    corpus = study.corpus
    count = min(_TIMED, len(corpus))
    scorer = Scorer(
        with_model("bary", setting.model),
        device=setting.device,
        batch_tokens=setting.batch_tokens,
    )
    scorer.score(corpus.candidates[:1], corpus.references[:1])  # what is loaded late is loaded now
    start = perf_counter()
    scorer.score(corpus.candidates[:count], corpus.references[:count])
    seconds = perf_counter() - start
    return {"pairs": count, "seconds": seconds, "pairs_per_second": count / seconds}
