"""MoverScore (Zhao et al. 2019): translation, dialogue, TAC, alignments, layers, distributions.

Where WMT17 is missing, WMT15 stands in for it: the same kind of data, other texts and systems. The
published numbers are still those of WMT17, so columns can then be compared from line to line, not
with each other. The paper's HMD and WMD of one layer are BERTScore and MoverScore on the model's
best layer for greedy matching.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from nlgauge.data.detection import read_judged
from nlgauge.figures.distributions import distributions
from nlgauge.figures.matrix import coefficients, heat
from nlgauge.recipes._data import find
from nlgauge.recipes._distributions import curves
from nlgauge.recipes._published import beside, entries, plain, typed
from nlgauge.recipes._scores import bound, correlations, measured, models_of
from nlgauge.recipes.recipe import Line, Paper, Part, Rebuilt, Section, Setting
from nlgauge.report.study_tables import matrix_table
from nlgauge.study import Study, matrix

PAPER = Paper(
    "MoverScore: Text Generation Evaluating with Contextualized Embeddings and Earth Mover "
    "Distance",
    "Zhao et al. 2019 (EMNLP), Tables 1-3 and 5-9",
    "bert-base; rows with MNLI: BERT fine-tuned on MNLI; W2V: word2vec (ours: GloVe 6B 50d)",
)
LANGUAGES = ("cs-en", "de-en", "fi-en", "lv-en", "ru-en", "tr-en", "zh-en")
WMT17 = {pair: f"wmt17_da/{pair}.jsonl" for pair in LANGUAGES}
WMT15 = {pair: f"wmt15_da/{pair}.jsonl" for pair in ("cs-en", "de-en", "fi-en", "ru-en")}
DIALOGUE = {"BAGEL": "novikova2017/bagel.jsonl", "SFHOTEL": "novikova2017/sfhotel.jsonl"}
TAC = {"TAC-2008": "tac2008", "TAC-2009": "tac2009"}
DIALOGUE_CRITERIA = {"informativeness": "Inf", "naturalness": "Nat", "quality": "Qual"}
TAC_CRITERIA = ("responsiveness", "pyramid")
CRITERION = "da_z"

_MOVERS = (
    Line("bertscore F", "bertscore", "BERTSCORE-F1"),
    Line("smd (W2V)", "smd:model=glove", "SMD + W2V"),
    Line("smd", "smd:layers=last5,aggregate=pmeans", "SMD + BERT + PMEANS"),
    Line("SMD MNLI", None, "SMD + BERT + MNLI + PMEANS"),
    Line("mover-1 (W2V)", "mover:model=glove", "WMD-1 + W2V"),
    Line("mover-1", "mover:layers=last5,aggregate=pmeans", "WMD-1 + BERT + PMEANS"),
    Line("WMD-1 MNLI", None, "WMD-1 + BERT + MNLI + PMEANS"),
    Line("mover-2", "mover:layers=last5,aggregate=pmeans,ngram=2", "WMD-2 + BERT + MNLI + PMEANS"),
    Line("mover (our default)", "mover"),
)
TRANSLATION_LINES = (
    Line("bleu", "bleu", "SENTBLEU"),
    Line("chrf++", "chrf:word_order=2", "CHRF++"),
    Line("meteor", "meteor", "METEOR++"),
    Line("RUSE", None, "RUSE"),
    *_MOVERS,
)
DIALOGUE_LINES = (
    *(Line(f"bleu-{n}", f"bleu:max_ngram_order={n}", f"BLEU-{n}") for n in range(1, 5)),
    Line("rouge-l", "rouge:variant=l", "ROUGE-L"),
    Line("nist", "nist", "NIST"),
    Line("cider", "cider", "CIDER"),
    Line("meteor", "meteor", "METEOR"),
    *_MOVERS,
)
TAC_LINES = (
    Line("S3", None, "S3best"),
    *(Line(f"rouge-{n}", f"rouge:variant={n}", f"ROUGE-{n}") for n in (1, 2)),
    *_MOVERS,
)
# Tables 1 and 7, in the order of LANGUAGES.
_TABLE_1 = {
    "SENTBLEU": ".435 .432 .571 .393 .484 .538 .512",
    "CHRF++": ".523 .534 .678 .520 .588 .614 .593",
    "METEOR++": ".552 .538 .720 .563 .627 .626 .646",
    "RUSE": ".624 .644 .750 .697 .673 .716 .691",
    "BERTSCORE-F1": ".670 .686 .820 .710 .729 .714 .704",
    "SMD + W2V": ".438 .505 .540 .442 .514 .456 .494",
    "SMD + BERT + PMEANS": ".607 .623 .770 .639 .667 .641 .619",
    "SMD + BERT + MNLI + PMEANS": ".616 .643 .785 .660 .664 .668 .633",
    "WMD-1 + W2V": ".392 .463 .558 .463 .456 .485 .481",
    "WMD-1 + BERT + PMEANS": ".662 .687 .823 .714 .735 .734 .719",
    "WMD-1 + BERT + MNLI + PMEANS": ".670 .708 .835 .746 .738 .762 .744",
    "WMD-2 + BERT + MNLI + PMEANS": ".679 .710 .832 .745 .736 .763 .740",
}
# Tables 3 and 9: BAGEL, then SFHOTEL, each in the order of DIALOGUE_CRITERIA.
_TABLE_3 = {
    "BLEU-1": ".225 .141 .113  .107 .175 .069",
    "BLEU-2": ".211 .152 .115  .097 .174 .071",
    "BLEU-3": ".191 .150 .109  .089 .161 .070",
    "BLEU-4": ".175 .141 .101  .084 .104 .056",
    "ROUGE-L": ".202 .134 .111  .092 .147 .062",
    "NIST": ".207 .089 .056  .072 .125 .061",
    "CIDER": ".205 .162 .119  .095 .155 .052",
    "METEOR": ".251 .127 .116  .111 .148 .082",
    "BERTSCORE-F1": ".267 .210 .178  .163 .193 .118",
    "SMD + W2V": ".024 .074 .078  .022 .025 .011",
    "SMD + BERT + PMEANS": ".290 .163 .121  .192 .223 .134",
    "SMD + BERT + MNLI + PMEANS": ".280 .149 .120  .205 .239 .147",
    "WMD-1 + W2V": ".222 .079 .123  .074 .095 .021",
    "WMD-1 + BERT + PMEANS": ".298 .212 .163  .203 .261 .182",
    "WMD-1 + BERT + MNLI + PMEANS": ".285 .195 .158  .207 .270 .183",
    "WMD-2 + BERT + MNLI + PMEANS": ".284 .194 .156  .204 .270 .182",
}
# Table 2: 2008, then 2009, each responsiveness and pyramid, each r and rho.
_TABLE_2 = {
    "S3best": ".715 .595 .754 .652  .738 .595 .842 .731",
    "ROUGE-1": ".703 .578 .747 .632  .704 .565 .808 .692",
    "ROUGE-2": ".695 .572 .718 .635  .727 .583 .803 .694",
    "BERTSCORE-F1": ".724 .594 .750 .649  .739 .580 .823 .703",
    "SMD + W2V": ".583 .469 .603 .488  .577 .465 .670 .560",
    "SMD + BERT + PMEANS": ".658 .530 .664 .550  .670 .518 .731 .580",
    "SMD + BERT + MNLI + PMEANS": ".662 .525 .666 .552  .667 .506 .723 .563",
    "WMD-1 + W2V": ".669 .549 .665 .588  .698 .520 .740 .647",
    "WMD-1 + BERT + PMEANS": ".729 .595 .755 .660  .742 .581 .825 .690",
    "WMD-1 + BERT + MNLI + PMEANS": ".736 .604 .760 .672  .754 .594 .831 .701",
    "WMD-2 + BERT + MNLI + PMEANS": ".734 .601 .752 .663  .753 .586 .825 .694",
}
# Table 5, the first four of LANGUAGES.
_TABLE_5 = {
    "HMD-F1 + BERT": ".655 .681 .821 .712 - - -",
    "HMD-RECALL + BERT": ".651 .658 .788 .681 - - -",
    "HMD-PREC + BERT": ".624 .669 .817 .707 - - -",
    "WMD-UNIGRAM + BERT": ".651 .686 .823 .710 - - -",
    "WMD-BIGRAM + BERT": ".665 .688 .821 .712 - - -",
}
# Table 6, in the order of LANGUAGES.
_TABLE_6 = {
    "LAYER 8": ".6361 .6755 .8134 .7033 .7273 .7233 .7175",
    "LAYER 9": ".6510 .6865 .8240 .7107 .7291 .7357 .7195",
    "LAYER 10": ".6605 .6948 .8231 .7158 .7363 .7317 .7168",
    "LAYER 11": ".6695 .6845 .8192 .7048 .7315 .7276 .7058",
    "LAYER 12": ".6677 .6825 .8194 .7188 .7326 .7291 .7064",
    "ROUTING": ".6618 .6897 .8225 .7122 .7334 .7301 .7182",
    "PMEANS": ".6623 .6873 .8234 .7139 .7350 .7339 .7192",
}
PUBLISHED = {
    "table1": typed(_TABLE_1, LANGUAGES),
    "alignments": typed(_TABLE_5, LANGUAGES),
    "layers": typed(_TABLE_6, LANGUAGES),
    "dialogue": typed(_TABLE_3, [f"{name} {c}" for name in DIALOGUE for c in DIALOGUE_CRITERIA]),
    "tac": typed(
        _TABLE_2,
        [f"{year} {c} {k}" for year in TAC for c in TAC_CRITERIA for k in ("pearson", "spearman")],
    ),
}
_STAND_IN = (
    "WMT15 stands in for WMT17, which is missing: ours are of WMT15, the published numbers of "
    "WMT17; compare lines within a column, not columns"
)
_MNLI = "MNLI: of BERT fine-tuned on MNLI, the only model for which the paper prints WMD-2 here"


@dataclass(frozen=True)
class _Question:
    """A table over language pairs: its file, title, lines, decimals and what stands below it."""

    stem: str
    title: str
    lines: Sequence[Line]
    digits: int = 3
    footer: Sequence[str] = ()


def rebuild(data: Path, setting: Setting) -> Rebuilt:
    """Tables 1, 2, 3, 5, 6, the distributions of Figure 2 and the correlations of Figure 3."""
    wanted = {**{f"WMT17 {pair}": path for pair, path in WMT17.items()}, **DIALOGUE, **TAC}
    stand_ins = {f"WMT15 {pair}": path for pair, path in WMT15.items()}
    found, missing = find(data, wanted | stand_ins)
    year = "WMT17" if any(name.startswith("WMT17") for name in found) else "WMT15"
    pairs = {
        name.removeprefix(f"{year} "): path for name, path in found.items() if name.startswith(year)
    }
    if pairs and year == "WMT15":
        missing = (*missing, f"{_STAND_IN}.")
    parts = [_translation(pairs, year, setting)] if pairs else []
    dialogue = {name: path for name, path in found.items() if name in DIALOGUE}
    if dialogue:
        parts.append(_dialogue(dialogue, setting))
    tac = {name: path for name, path in found.items() if name in TAC}
    if tac:
        parts.append(_tac(tac, setting))
    return Rebuilt.of("mover", PAPER, parts, missing)


def _questions(setting: Setting) -> tuple[_Question, ...]:
    """Tables 1, 5 and 6, with the layers of the model at hand."""
    best = bound("bertscore", setting).needs.layers[0]
    last = bound("mover:layers=last5", setting).needs.layers
    alignments = (
        Line("bertscore F", "bertscore", "HMD-F1 + BERT"),
        Line("bertscore R", "bertscore:alpha=1", "HMD-RECALL + BERT"),
        Line("bertscore P", "bertscore:alpha=0", "HMD-PREC + BERT"),
        Line("mover-1 (one layer)", f"mover:layers={best}", "WMD-UNIGRAM + BERT"),
        Line("mover-2 (one layer)", f"mover:layers={best},ngram=2", "WMD-BIGRAM + BERT"),
    )
    numbered = [Line(f"layer {n}", f"mover:layers={n}") for n in last]
    printed = [Line(f"LAYER {n}", None, f"LAYER {n}") for n in range(8, 13)]
    if [line.name.upper() for line in numbered] == [line.name for line in printed]:
        numbered = [Line(o.name, o.spec, p.name) for o, p in zip(numbered, printed, strict=True)]
        printed = []
    layers = (
        *(*numbered, *printed),
        Line("routing", "mover:layers=last5,aggregate=routing", "ROUTING"),
        Line("p-means", "mover:layers=last5,aggregate=pmeans", "PMEANS"),
        Line("side by side", "mover:layers=last5,aggregate=concat"),
    )
    return (
        _Question("table1", "segment level, Pearson", TRANSLATION_LINES, footer=(_MNLI,)),
        _Question(
            *("alignments", "hard against soft alignments, Pearson", alignments),
            footer=(f"ours: layer {best}; the paper's: layer 9 of 12",),
        ),
        _Question(
            *("layers", "layers, p-means and routing, Pearson", layers, 4),
            footer=("WMD of unigrams; each layer alone, then the last five joined",),
        ),
    )


def _translation(found: Mapping[str, Path], year: str, setting: Setting) -> Part:
    """The tables over language pairs, and the figures on de-en or the first pair found."""
    questions = _questions(setting)
    specs: dict[str, Line] = {}  # a metric that several tables ask for is run once
    for line in (line for question in questions for line in question.lines):
        if line.spec:
            specs.setdefault(line.spec, line)
    studies = {pair: measured(path, list(specs.values()), setting) for pair, path in found.items()}
    own = {pair: correlations(study, CRITERION, ["pearson"]) for pair, study in studies.items()}
    sections: dict[str, list[Section]] = {}
    numbers = []
    heads = {pair: f"{pair} ({year})" for pair in found}
    counted = ", ".join(f"{pair} {len(study.corpus):,}" for pair, study in studies.items())
    sizes = f"segments: {counted}; distances negated"
    for question in questions:
        ours = {
            (line.name, pair): own[pair][specs[line.spec].name, "pearson"]
            for pair in found
            for line in question.lines
            if line.spec and (specs[line.spec].name, "pearson") in own[pair]
        }
        theirs = PUBLISHED[question.stem]
        footer = (*question.footer, *([_STAND_IN] if year == "WMT15" else []), sizes)
        table = beside(
            *(question.lines, heads, ours, theirs), digits=question.digits, footer=footer
        )
        sections[question.stem] = [Section(f"{year}, {question.title}", table)]
        for entry in entries(question.lines, list(found), ours, theirs, table=question.stem):
            pair = entry["coefficient"]
            numbers.append({**entry, "data": f"{year} {pair}", "coefficient": "pearson"})
    shown = "de-en" if "de-en" in studies else next(iter(studies))
    drawn = _pictures(f"{year} {shown}", studies[shown])
    signatures = studies[shown].signatures
    return Part(
        {**sections, **drawn.tables},
        drawn.figures,
        {"correlations": numbers, "signatures": signatures, **drawn.results},
        [f"{year} {pair}: {said}" for pair, each in studies.items() for said in each.notes],
        models_of(studies[shown]),
    )


def _pictures(name: str, study: Study) -> Part:
    """Figure 2, scores of bad and good translations, and Figure 3, metrics with each other."""
    wanted = ("bleu", "chrf++", "smd", "mover-1")
    kept = [each for each in study.metrics if each.name in wanted]
    chosen = replace(study, metrics=tuple(kept))
    found = matrix(chosen, human=CRITERION, coefficient="pearson")
    panel = coefficients(found.names, found.values, title=f"Pearson, {name}")
    table = matrix_table("r", found.names, found.values.tolist(), digits=2)
    content: dict[str, Any] = {
        "data": name,
        "names": list(found.names),
        "values": [[plain(value) for value in row] for row in found.values],
    }
    return Part(
        {"metrics": [Section(f"Pearson between metrics ({name})", table)]},
        {
            "metrics": partial(heat, [panel]),
            "distributions": partial(
                distributions,
                curves(chosen, CRITERION, ("bad", "middling", "good")),
                legend=f"people's judgement, {name}",
            ),
        },
        {"metrics": content},
    )


def _dialogue(found: Mapping[str, Path], setting: Setting) -> Part:
    """Tables 3 and 9: Spearman with three criteria, over all utterances."""
    sections, numbers, remarks = [], [], []
    for name, path in found.items():
        study = measured(path, DIALOGUE_LINES, setting)
        ours = {
            (label, f"{name} {criterion}"): value
            for criterion in DIALOGUE_CRITERIA
            for (label, _), value in correlations(study, criterion, ["spearman"]).items()
        }
        heads = {f"{name} {key}": short for key, short in DIALOGUE_CRITERIA.items()}
        footer = (f"Spearman over {len(study.corpus):,} utterances; distances negated", _MNLI)
        theirs = PUBLISHED["dialogue"]
        table = beside(DIALOGUE_LINES, heads, ours, theirs, digits=3, footer=footer)
        sections.append(Section(name, table))
        for entry in entries(DIALOGUE_LINES, list(heads), ours, theirs, table="dialogue"):
            criterion = entry["coefficient"].removeprefix(f"{name} ")
            about = {"data": name, "criterion": criterion, "coefficient": "spearman"}
            numbers.append({**entry, **about})
        remarks += [f"{name}: {said}" for said in study.notes]
    results = {"correlations": numbers, "signatures": study.signatures}
    return Part({"dialogue": sections}, {}, results, remarks, models_of(study))


def _tac(found: Mapping[str, Path], setting: Setting) -> Part:
    """Table 2: r and rho of summaries on one topic, then the mean over topics."""
    sections, numbers, remarks = [], [], []
    for name, path in found.items():
        study = measured(read_judged(path, kind="tac"), TAC_LINES, setting)
        ours = {
            (label, f"{name} {criterion} {kind}"): value
            for criterion in TAC_CRITERIA
            for (label, kind), value in correlations(
                study, criterion, ["pearson", "spearman"], level="text"
            ).items()
        }
        short = {"pearson": "r", "spearman": "rho"}
        heads = {f"{name} {c} {k}": f"{c} {short[k]}" for c in TAC_CRITERIA for k in short}
        theirs = PUBLISHED["tac"]
        table = beside(
            *(TAC_LINES, heads, ours, theirs),
            digits=3,
            footer=("text level: mean over topics of the correlation over systems", _MNLI),
        )
        sections.append(Section(name, table))
        for entry in entries(TAC_LINES, list(heads), ours, theirs, table="tac"):
            _, criterion, kind = entry["coefficient"].split()
            numbers.append({**entry, "data": name, "criterion": criterion, "coefficient": kind})
        remarks += [f"{name}: {said}" for said in study.notes]
    results = {"correlations": numbers, "signatures": study.signatures}
    return Part({"tac": sections}, {}, results, remarks, models_of(study))
