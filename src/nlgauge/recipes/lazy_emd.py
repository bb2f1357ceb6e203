"""Lazy-EMD on WMT18: the to-English half of Table 2 of Chen et al. 2020, over daRR pairs.

Looked for are the outputs and the ranked pairs of a language pair. Only outputs that stand in a
pair are scored. The paper's EMD is transport with cost 1 - cos: Lazy-EMD at infinite prices.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, FileError
from nlgauge.data.judged import Judged
from nlgauge.data.layouts import read_judged
from nlgauge.data.wmt import Pairs, read_pairs
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
)
from nlgauge.study import KendallLike, kendall_like, pairs_from_names
from nlgauge.studying import Study

PAPER = Paper(
    "Evaluating Natural Language Generation via Unbalanced Optimal Transport (Lazy-EMD)",
    "Chen et al. 2020 (IJCAI), Table 2, the to-English numbers",
    "not named; the default of bert_score 0.2.2",
)
LANGUAGES = ("cs-en", "de-en", "et-en", "fi-en", "ru-en", "tr-en", "zh-en")
OUTPUTS = {pair: f"wmt18_darr/{pair}.jsonl" for pair in LANGUAGES}
RANKED = {pair: f"wmt18_darr/pairs/{pair}.darr.tsv" for pair in LANGUAGES}
LINES = (
    Line("bleu", "bleu", "SENTBLEU"),
    Line("bertscore P", "bertscore:alpha=0", "P_BERT"),
    Line("bertscore R", "bertscore:alpha=1", "R_BERT"),
    Line("bertscore F", "bertscore", "F_BERT"),
    Line("yisi", "yisi", "YiSi-1"),
    Line("F_alpha", None, "F_alpha"),
    Line("emd", "lazy_emd:penalty_candidate=inf,penalty_reference=inf", "EMD"),
    Line("lazy_emd", "lazy_emd", "Lazy-EMD"),
    Line("mover", "mover"),
)
# Rows in the order of LANGUAGES.
_TABLE_2: dict[str, str] = {
    "SENTBLEU": ".233 .415 .285 .154 .228 .145 .178",
    "P_BERT": ".387 .541 .389 .283 .345 .280 .248",
    "R_BERT": ".388 .546 .391 .304 .343 .290 .255",
    "F_BERT": ".404 .550 .397 .296 .353 .292 .264",
    "YiSi-1": ".406 .551 .396 .305 .350 .294 .262",
    "F_alpha": ".404 .550 .398 .296 .354 .289 .265",
    "EMD": ".393 .540 .389 .291 .336 .276 .263",
    "Lazy-EMD": ".403 .544 .395 .301 .350 .281 .264",
}
PUBLISHED = {
    (row, pair): float(number)
    for row, line in _TABLE_2.items()
    for pair, number in zip(LANGUAGES, line.split(), strict=True)
}


def rebuild(data: Path, setting: Setting) -> Rebuilt:
    """WMT's Kendall-like tau by language pair, with the number of pairs in the heading."""
    outputs, no_outputs = find(data, OUTPUTS)
    ranked, no_pairs = find(data, RANKED)
    whole = [pair for pair in outputs if pair in ranked]
    if not whole:
        raise FileError(f"{data} holds no language pair with both outputs and ranked pairs")
    ours: dict[tuple[str, str], float] = {}
    heads, counts, remarks = {}, [], []
    for name in whole:
        pairs = read_pairs(str(ranked[name]))
        study = measured(_in_pairs(read_judged(outputs[name]), pairs), LINES, setting)
        taus = _taus(study, pairs)
        ours |= {(label, name): tau.value for label, tau in taus.items()}
        heads[name] = f"{name} ({len(pairs):,} pairs)"
        counts += [_counted(name, label, tau) for label, tau in taus.items()]
        remarks += [f"{name}: {said}" for said in (*pairs.said, *study.remarks())]
    footer = ["tau = (C - D) / (C + D) over daRR pairs; ties of a metric count as discordant"]
    table = beside(LINES, heads, ours, PUBLISHED, digits=3, footer=footer)
    numbers = [
        {**entry, "data": entry["coefficient"], "coefficient": "kendall_like"}
        for entry in entries("", LINES, whole, ours, PUBLISHED)
    ]
    return Rebuilt(
        *("lazy_emd", PAPER, model_of(study)),
        {"table2": [Section("WMT18, segment level, to English", table)]},
        {},
        {"correlations": numbers, "counts": counts, "signatures": study.signatures},
        *((*no_outputs, *no_pairs), tuple(remarks)),
    )


def _in_pairs(judged: Judged, pairs: Pairs) -> Judged:
    """The outputs that stand in a pair; a pair whose output is not there is refused."""
    corpus = judged.corpus
    wanted = {(name, segment) for segment, *both in pairs for name in both}
    cells = list(zip(corpus.systems, corpus.ids, strict=True))
    keep = [row for row, cell in enumerate(cells) if cell in wanted]
    lost = wanted - set(cells)
    if lost:
        system, segment = min(lost)
        raise DataError(
            f"{len(lost):,} of the {len(wanted):,} outputs that the pairs compare are not in the "
            f"data, for example of {system!r} on segment {segment!r}; give matching files."
        )
    kept = Corpus.of(
        [corpus.candidates[row] for row in keep],
        [corpus.references[row] for row in keep],
        systems=[corpus.systems[row] for row in keep],
        ids=[corpus.ids[row] for row in keep],
    )
    said = f"scored {len(keep):,} of {len(corpus):,} outputs, those that stand in a pair."
    human = {name: values[keep] for name, values in judged.human.items()}
    return Judged(kept, human, (*judged.said, said))


def _taus(study: Study, pairs: Pairs) -> dict[str, KendallLike]:
    found = {}
    for each in study.measured:
        turned = -each.values if each.direction == "lower" else each.values
        indexed = pairs_from_names(pairs, each.systems, each.segments)
        found[each.name] = kendall_like(turned, indexed)
    return found


def _counted(pair: str, label: str, tau: KendallLike) -> dict[str, Any]:
    return {
        "data": pair,
        "metric": label,
        "concordant": tau.concordant,
        "discordant": tau.discordant,
        "ties": tau.ties,
        "pairs_missing": tau.pairs_missing,
    }
