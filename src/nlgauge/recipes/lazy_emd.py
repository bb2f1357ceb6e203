"""Lazy-EMD (Chen et al. 2020): daRR of WMT18 and WMT19, penalties, and the worked examples.

Of Tables 2 to 4 the to-English numbers are rebuilt. Looked for are the outputs and the ranked pairs
of a language pair; only outputs that stand in a pair are scored. The paper's EMD is transport with
cost 1 - cos: Lazy-EMD at infinite prices. F_alpha is BERTScore with recall weighing .48, the
paper's value for English.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nlgauge.core.errors import FileError
from nlgauge.core.plan import Plan
from nlgauge.data.detection import read_judged
from nlgauge.data.judged import Judged
from nlgauge.data.wmt import Pairs, read_pairs
from nlgauge.figures.alignment import draw_alignment
from nlgauge.recipes._data import find, some_inputs
from nlgauge.recipes._published import beside, entries, typed
from nlgauge.recipes._scores import measured, models_of, with_model
from nlgauge.recipes.recipe import Line, Paper, Part, Rebuilt, Section, Setting
from nlgauge.report.table import Column, Table, Value
from nlgauge.scoring import Scorer, align
from nlgauge.study.darr import in_pairs, rank

PAPER = Paper(
    "Evaluating Natural Language Generation via Unbalanced Optimal Transport (Lazy-EMD)",
    "Chen et al. 2020 (IJCAI), Table 1 and the to-English numbers of Tables 2-4",
    "not named; the default of bert_score 0.2.2",
)
YEARS = {
    "WMT18": ("cs-en", "de-en", "et-en", "fi-en", "ru-en", "tr-en", "zh-en"),
    "WMT19": ("de-en", "fi-en", "gu-en", "kk-en", "lt-en", "ru-en", "zh-en"),
}
PAIRS = [f"{year} {pair}" for year, pairs in YEARS.items() for pair in pairs]
_EMD = "lazy_emd:penalty_candidate=inf,penalty_reference=inf"
LINES = (
    Line("bleu", "bleu", "SENTBLEU"),
    Line("bertscore P", "bertscore:alpha=0", "P_BERT"),
    Line("bertscore R", "bertscore:alpha=1", "R_BERT"),
    Line("bertscore F", "bertscore", "F_BERT"),
    Line("yisi", "yisi", "YiSi-1"),
    Line("bertscore F_.48", "bertscore:alpha=0.48", "F_alpha"),
    Line("emd", _EMD, "EMD"),
    Line("lazy_emd", "lazy_emd", "Lazy-EMD"),
    Line("mover", "mover"),
)
PRICES = (
    Line("lazy_emd", "lazy_emd", "(0.23, 0.31)"),
    Line("lazy_emd other", "lazy_emd:lang=other", "(0.009, 0.95)"),
    Line("lazy_emd zh", "lazy_emd:lang=zh", "(0.018, 0.97)"),
    Line("objective", "lazy_emd:headline=objective"),
)
# Tables 2 and 3, rows in the order of YEARS.
_DARR: dict[str, dict[str, str]] = {
    "WMT18": {
        "SENTBLEU": ".233 .415 .285 .154 .228 .145 .178",
        "P_BERT": ".387 .541 .389 .283 .345 .280 .248",
        "R_BERT": ".388 .546 .391 .304 .343 .290 .255",
        "F_BERT": ".404 .550 .397 .296 .353 .292 .264",
        "YiSi-1": ".406 .551 .396 .305 .350 .294 .262",
        "F_alpha": ".404 .550 .398 .296 .354 .289 .265",
        "EMD": ".393 .540 .389 .291 .336 .276 .263",
        "Lazy-EMD": ".403 .544 .395 .301 .350 .281 .264",
    },
    "WMT19": {
        "SENTBLEU": ".056 .233 .188 .377 .262 .125 .323",
        "P_BERT": ".156 .326 .307 .419 .375 .212 .410",
        "R_BERT": ".160 .346 .295 .416 .367 .216 .427",
        "F_BERT": ".166 .344 .313 .434 .375 .223 .430",
        "YiSi-1": ".165 .346 .317 .433 .373 .225 .433",
        "F_alpha": ".165 .344 .314 .434 .375 .223 .429",
        "EMD": ".159 .342 .318 .432 .377 .215 .430",
        "Lazy-EMD": ".174 .346 .318 .431 .377 .215 .433",
    },
}
# Table 4, WMT19.
_PRICES = {
    "(0.23, 0.31)": ".174 .346 .318 .431 .377 .215 .433",
    "(0.009, 0.95)": ".172 .343 .292 .413 .369 .213 .427",
    "(0.018, 0.97)": ".174 .343 .293 .415 .368 .214 .426",
}
PUBLISHED = {
    year: typed(rows, [f"{year} {pair}" for pair in YEARS[year]]) for year, rows in _DARR.items()
}
PUBLISHED_PRICES = typed(_PRICES, [f"WMT19 {pair}" for pair in YEARS["WMT19"]])
_TIES = "tau = (C - D) / (C + D) over daRR pairs; ties of a metric count as discordant"


@dataclass(frozen=True)
class Example:
    """A pair of texts of the paper's Table 1, and P, R, F and Lazy-EMD as printed there."""

    name: str
    candidate: str
    reference: str
    published: tuple[float, float, float, float]


_MAN, _BOY = "The young man in a slicker.", "The boy in a coat."
EXAMPLES = (
    Example("1, candidate 1", _BOY, _MAN, (0.9560, 0.9419, 0.9489, 0.0533)),
    Example("1, candidate 2", "The man in a coat.", _MAN, (0.9609, 0.9408, 0.9507, 0.0553)),
    Example("2, candidate 1", _MAN, _BOY, (0.9419, 0.9560, 0.9489, 0.0511)),
    Example("2, candidate 2", "The old man in a slicker.", _BOY, (0.9324, 0.9574, 0.9447, 0.0525)),
)
_PLANS = {
    "precision": "lazy_emd:penalty_candidate=inf,penalty_reference=0",
    "recall": "lazy_emd:penalty_candidate=0,penalty_reference=inf",
    "emd": _EMD,
    "lazy_emd": "lazy_emd",
}


def rebuild(data: Path, setting: Setting) -> Rebuilt:
    """WMT's Kendall-like tau by language pair, the prices, and the worked examples."""
    outputs, no_outputs = find(data, {name: _file(name, "{}.jsonl") for name in PAIRS})
    ranked, no_pairs = find(data, {name: _file(name, "pairs/{}.darr.tsv") for name in PAIRS})
    whole = [name for name in outputs if name in ranked]
    if not whole:
        raise FileError(f"{data} holds no language pair with both outputs and ranked pairs")
    found = {name: _sampled(outputs[name], ranked[name], setting) for name in whole}
    parts = [_translation(found, setting), _examples(setting)]
    return Rebuilt.of("lazy_emd", PAPER, parts, (*no_outputs, *no_pairs))


def _file(name: str, place: str) -> str:
    year, pair = name.split()
    return f"{year.lower()}_darr/{place.format(pair)}"


def _sampled(outputs: Path, ranked: Path, setting: Setting) -> tuple[Judged, Pairs]:
    """The outputs that stand in a pair, and the pairs; of some segments only if so asked."""
    pairs = read_pairs(str(ranked))
    judged = some_inputs(in_pairs(read_judged(outputs), pairs), setting.inputs)
    kept = set(judged.corpus.ids)
    return judged, Pairs(tuple(each for each in pairs if each[0] in kept), pairs.said)


def _translation(found: Mapping[str, tuple[Judged, Pairs]], setting: Setting) -> Part:
    """The daRR tables of both years and the table of prices, from one pass over the outputs."""
    lines = list({line.spec: line for line in (*PRICES, *LINES)}.values())
    ours: dict[tuple[str, str], float] = {}
    counts, remarks = [], []
    for name, (judged, pairs) in found.items():
        study = measured(judged, lines, setting)
        ranked = rank(study, pairs)
        ours |= {(each.metric, name): each.tau.value for each in ranked}
        counts += [{"data": name, **each.to_dict()} for each in ranked]
        remarks += [f"{name}: {said}" for said in (*pairs.said, *study.remarks())]
    sample = f"a sample: at most {setting.inputs} segments of a language pair"
    below = (_TIES,) if setting.inputs is None else (_TIES, sample)
    tables, numbers = [], []
    for year in YEARS:
        heads = _heads(found, year)
        if heads:
            title = f"{year}, segment level, to English"
            table = beside(LINES, heads, ours, PUBLISHED[year], digits=3, footer=below)
            tables.append(Section(title, table))
            numbers += _entries(LINES, heads, ours, PUBLISHED[year], "darr")
    year = "WMT19" if _heads(found, "WMT19") else "WMT18"
    heads = _heads(found, year)
    stand_in = () if year == "WMT19" else ("WMT18: the paper prints this table for WMT19 only",)
    footer = (
        "the paper's prices of mass left on the candidate's and on the reference's side",
        "objective: cost and penalties together, at the first prices",
        *(*stand_in, *below),
    )
    prices = beside(PRICES, heads, ours, PUBLISHED_PRICES, digits=3, footer=footer)
    numbers += _entries(PRICES, heads, ours, PUBLISHED_PRICES, "prices")
    return Part(
        {"darr": tables, "prices": [Section(f"{year}, prices of Lazy-EMD", prices)]},
        {},
        {"correlations": numbers, "counts": counts, "signatures": study.signatures},
        remarks,
        models_of(study),
    )


def _heads(found: Mapping[str, tuple[Judged, Pairs]], year: str) -> dict[str, str]:
    """The language pairs of a year, with the number of pairs."""
    return {
        name: f"{name.split()[1]} ({len(pairs):,} pairs)"
        for name, (_, pairs) in found.items()
        if name.startswith(year)
    }


def _entries(
    lines: Sequence[Line],
    heads: Mapping[str, str],
    ours: Mapping[tuple[str, str], float],
    published: Mapping[tuple[str, str], float],
    table: str,
) -> list[dict[str, Any]]:
    return [
        {**entry, "data": entry["coefficient"], "coefficient": "kendall_like"}
        for entry in entries(lines, list(heads), ours, published, table=table)
    ]


def _examples(setting: Setting) -> Part:
    """Table 1, and which token is matched with which under each metric in its first example."""
    scorer = Scorer(
        [with_model(spec, setting.model) for spec in ("bertscore", "lazy_emd")],
        runtime=setting.runtime,
    )
    candidates = [each.candidate for each in EXAMPLES]
    greedy, lazy = scorer.score(candidates, [each.reference for each in EXAMPLES]).values()
    named = greedy.segment_components
    ours = [named["precision"], named["recall"], named["f"], lazy.segments]
    columns = [Column("example"), Column("candidate"), Column("reference")]
    for heading in ("P", "R", "F", "Lazy-EMD"):
        columns += [Column(heading, 4), Column("published", 4)]
    rows: list[tuple[Value, ...]] = []
    for i, each in enumerate(EXAMPLES):
        numbers = zip((float(values[i]) for values in ours), each.published, strict=True)
        texts = (each.name, each.candidate, each.reference)
        rows.append((*texts, *(number for both in numbers for number in both)))
    footer = (
        "candidate 1 is the better one for people: P, R, F should be higher, Lazy-EMD lower",
        "published: scores of another model",
    )
    table = Table(tuple(columns), tuple(rows), footer)
    first = EXAMPLES[0]
    plans = {
        name: align(first.candidate, first.reference, metric=with_model(spec, setting.model))
        for name, spec in _PLANS.items()
    }
    return Part(
        {
            "examples": [Section("Table 1", table)],
            "matchings": [_matching(name, plan) for name, plan in plans.items()],
        },
        {
            f"matching_{name}": partial(
                draw_alignment, plan, "heatmap", title=f"{name}: {first.candidate}"
            )
            for name, plan in plans.items()
        },
        {
            "examples": [
                dict(zip((column.name for column in columns[:3]), row[:3], strict=True))
                | {"ours": list(row[3::2]), "published": list(row[4::2])}
                for row in rows
            ],
            "matchings": {name: plan.to_dict() for name, plan in plans.items()},
        },
    )


def _matching(name: str, plan: Plan) -> Section:
    """The plan in percent of all mass, candidate downwards, reference to the right."""
    rows, columns = plan.candidate_tokens or (), plan.reference_tokens or ()
    head = [Column("candidate"), *(Column(token, 1) for token in columns), Column("own mass", 1)]
    body: list[tuple[Value, ...]] = []
    for token, moved, own in zip(rows, plan.coupling, plan.a, strict=True):
        cells: list[Value] = [100 * float(mass) or None for mass in moved]
        body.append((token, *cells, 100 * float(own)))
    footer = (
        f"percent of the candidate's mass; cost {plan.value:.4f}, mass moved {plan.mass:.4f}",
    )
    return Section(
        f"Matching of {name}, example 1, candidate 1", Table(tuple(head), tuple(body), footer)
    )
