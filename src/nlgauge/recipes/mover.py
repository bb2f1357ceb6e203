"""MoverScore (Zhao et al. 2019): translation, dialogue, TAC, alignments, layers, distributions.

Without WMT17 data, WMT15 is used: the same kind of data, other texts and systems. The published
numbers are still those of WMT17, so rows can be compared within a column, but not columns. The
paper's HMD and WMD of one layer are BERTScore and MoverScore on the model's best layer for greedy
matching.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nlgauge.data.detection import read_judged
from nlgauge.recipes._scores import bind_layers, correlations, find, models_of, score_rows
from nlgauge.recipes._tables import compare_numbers, metric_pictures, parse_table
from nlgauge.recipes.recipe import Paper, Part, Reproduction, Section, Settings, TableRow

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
TAC_CRITERIA = {"responsiveness": "responsiveness", "pyramid": "pyramid"}
CRITERION = "da_z"

_MOVERS = (
    TableRow("bertscore F", "bertscore", "BERTSCORE-F1"),
    TableRow("smd (W2V)", "smd:model=glove", "SMD + W2V"),
    TableRow("smd", "smd:layers=last5,aggregate=pmeans", "SMD + BERT + PMEANS"),
    TableRow("SMD MNLI", None, "SMD + BERT + MNLI + PMEANS"),
    TableRow("mover-1 (W2V)", "mover:model=glove", "WMD-1 + W2V"),
    TableRow("mover-1", "mover:layers=last5,aggregate=pmeans", "WMD-1 + BERT + PMEANS"),
    TableRow("WMD-1 MNLI", None, "WMD-1 + BERT + MNLI + PMEANS"),
    TableRow(
        "mover-2", "mover:layers=last5,aggregate=pmeans,ngram=2", "WMD-2 + BERT + MNLI + PMEANS"
    ),
    TableRow("mover (our default)", "mover"),
)
TRANSLATION_ROWS = (
    TableRow("bleu", "bleu", "SENTBLEU"),
    TableRow("chrf++", "chrf:word_order=2", "CHRF++"),
    TableRow("meteor", "meteor", "METEOR++"),
    TableRow("RUSE", None, "RUSE"),
    *_MOVERS,
)
DIALOGUE_ROWS = (
    *(TableRow(f"bleu-{n}", f"bleu:max_ngram_order={n}", f"BLEU-{n}") for n in range(1, 5)),
    TableRow("rouge-l", "rouge:variant=l", "ROUGE-L"),
    TableRow("nist", "nist", "NIST"),
    TableRow("cider", "cider", "CIDER"),
    TableRow("meteor", "meteor", "METEOR"),
    *_MOVERS,
)
TAC_ROWS = (
    TableRow("S3", None, "S3best"),
    *(TableRow(f"rouge-{n}", f"rouge:variant={n}", f"ROUGE-{n}") for n in (1, 2)),
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
    "table1": parse_table(_TABLE_1, LANGUAGES),
    "alignments": parse_table(_TABLE_5, LANGUAGES),
    "layers": parse_table(_TABLE_6, LANGUAGES),
    "dialogue": parse_table(
        _TABLE_3, [f"{name} {c} spearman" for name in DIALOGUE for c in DIALOGUE_CRITERIA]
    ),
    "tac": parse_table(
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
class _PairTable:
    """A table over language pairs: its file, title, rows, decimals and footer."""

    stem: str
    title: str
    rows: Sequence[TableRow]
    digits: int
    footer: str


def rebuild(data: Path, settings: Settings) -> Reproduction:
    """Return Tables 1, 2, 3, 5, 6, the distributions of Figure 2, the correlations of Figure 3."""
    wanted = {**{f"WMT17 {pair}": path for pair, path in WMT17.items()}, **DIALOGUE, **TAC}
    stand_ins = {f"WMT15 {pair}": path for pair, path in WMT15.items()}
    found, missing = find(data, wanted | stand_ins)
    year = "WMT17" if any(name.startswith("WMT17") for name in found) else "WMT15"
    pairs = {
        name.removeprefix(f"{year} "): path for name, path in found.items() if name.startswith(year)
    }
    if pairs and year == "WMT15":
        missing = (*missing, f"{_STAND_IN}.")
    parts = [_translation(pairs, year, settings)] if pairs else []
    utterances = "Spearman over {:,} utterances; distances negated"
    topics = "text level: mean over topics of the correlation over systems"
    for stem, files, rows, criteria, shorts, footer in (
        ("dialogue", DIALOGUE, DIALOGUE_ROWS, DIALOGUE_CRITERIA, {"spearman": ""}, utterances),
        ("tac", TAC, TAC_ROWS, TAC_CRITERIA, {"pearson": " r", "spearman": " rho"}, topics),
    ):
        paths = {name: path for name, path in found.items() if name in files}
        if paths:
            parts.append(_by_criteria(stem, paths, rows, criteria, shorts, footer, settings))
    return Reproduction.of("mover", PAPER, parts, missing)


def _pair_tables(settings: Settings) -> tuple[_PairTable, ...]:
    """Return Tables 1, 5 and 6, with the layers of the model."""
    best = bind_layers("bertscore", settings).needs.layers[0]
    last = bind_layers("mover:layers=last5", settings).needs.layers
    alignments = (
        TableRow("bertscore F", "bertscore", "HMD-F1 + BERT"),
        TableRow("bertscore R", "bertscore:alpha=1", "HMD-RECALL + BERT"),
        TableRow("bertscore P", "bertscore:alpha=0", "HMD-PREC + BERT"),
        TableRow("mover-1 (one layer)", f"mover:layers={best}", "WMD-UNIGRAM + BERT"),
        TableRow("mover-2 (one layer)", f"mover:layers={best},ngram=2", "WMD-BIGRAM + BERT"),
    )
    # Layers of a model of another depth have rows of their own.
    printed = range(8, 13)
    same = tuple(last) == tuple(printed)
    layers = (
        *(
            TableRow(f"layer {n}", f"mover:layers={n}", f"LAYER {n}" if same else None)
            for n in last
        ),
        *(TableRow(f"LAYER {n}", None, f"LAYER {n}") for n in printed if not same),
        TableRow("routing", "mover:layers=last5,aggregate=routing", "ROUTING"),
        TableRow("p-means", "mover:layers=last5,aggregate=pmeans", "PMEANS"),
        TableRow("side by side", "mover:layers=last5,aggregate=concat"),
    )
    hard, soft = f"ours: layer {best}; the paper's: layer 9 of 12", "hard against soft alignments"
    joined = "WMD of unigrams; each layer alone, then the last five joined"
    return (
        _PairTable("table1", "segment level, Pearson", TRANSLATION_ROWS, 3, _MNLI),
        _PairTable("alignments", f"{soft}, Pearson", alignments, 3, hard),
        _PairTable("layers", "layers, p-means and routing, Pearson", layers, 4, joined),
    )


def _translation(found: Mapping[str, Path], year: str, settings: Settings) -> Part:
    """Return the tables over language pairs, and the figures on de-en or the first pair found."""
    pair_tables = _pair_tables(settings)
    specs: dict[str, TableRow] = {}  # a metric of several tables is run once
    for row in (row for table in pair_tables for row in table.rows):
        if row.spec:
            specs.setdefault(row.spec, row)
    studies = {pair: score_rows(path, [*specs.values()], settings) for pair, path in found.items()}
    own = {pair: correlations(study, CRITERION, ["pearson"]) for pair, study in studies.items()}
    counted = ", ".join(f"{pair} {len(study.corpus):,}" for pair, study in studies.items())
    footer = (*([_STAND_IN] if year == "WMT15" else []), f"segments: {counted}; distances negated")
    sections: dict[str, list[Section]] = {}
    numbers = []
    for each in pair_tables:
        ours = {
            (row.name, pair): own[pair][specs[row.spec].name, "pearson"]
            for pair in found
            for row in each.rows
            if row.spec and (specs[row.spec].name, "pearson") in own[pair]
        }
        table, entries = compare_numbers(
            each.rows,
            {pair: f"{pair} ({year})" for pair in found},
            ours,
            PUBLISHED[each.stem],
            digits=each.digits,
            footer=(each.footer, *footer),
            about=lambda pair, stem=each.stem: {
                "table": stem,
                "data": f"{year} {pair}",
                "coefficient": "pearson",
            },
        )
        sections[each.stem] = [Section(f"{year}, {each.title}", table)]
        numbers += entries
    shown = "de-en" if "de-en" in studies else next(iter(studies))
    drawn = metric_pictures(
        studies[shown].only(("bleu", "chrf++", "smd", "mover-1")),
        CRITERION,
        f"{year} {shown}",
        ("metrics", "distributions"),
        bands=("bad", "middling", "good"),
        legend=f"people's judgement, {year} {shown}",
    )
    return Part(
        {**sections, **drawn.tables},
        drawn.figures,
        {"correlations": numbers, "signatures": studies[shown].signatures, **drawn.results},
        [f"{year} {pair}: {note}" for pair, each in studies.items() for note in each.notes],
        models_of(studies[shown]),
    )


def _by_criteria(
    stem: str,
    found: Mapping[str, Path],
    rows: Sequence[TableRow],
    criteria: Mapping[str, str],
    shorts: Mapping[str, str],
    footer: str,
    settings: Settings,
) -> Part:
    """Return a table per data set over criteria and coefficients (Tables 2, 3 and 9).

    Dialogue: over all utterances. TAC: over systems on one topic, then the mean over topics.
    """
    sections, numbers, notes = [], [], []
    for name, path in found.items():
        judged = read_judged(path, kind="tac") if stem == "tac" else read_judged(path)
        study = score_rows(judged, rows, settings)
        level = "text" if stem == "tac" else "segment"
        ours = {
            (label, f"{name} {criterion} {key}"): value
            for criterion in criteria
            for (label, key), value in correlations(
                study, criterion, list(shorts), level=level
            ).items()
        }
        table, entries = compare_numbers(
            rows,
            {f"{name} {c} {key}": criteria[c] + shorts[key] for c in criteria for key in shorts},
            ours,
            PUBLISHED[stem],
            digits=3,
            footer=(footer.format(len(study.corpus)), _MNLI),
            about=lambda key, name=name: (
                dict(
                    zip(
                        ("data", "criterion", "coefficient"), (name, *key.split()[-2:]), strict=True
                    )
                )
                | {"table": stem}
            ),
        )
        sections.append(Section(name, table))
        numbers += entries
        notes += [f"{name}: {note}" for note in study.notes]
    results = {"correlations": numbers, "signatures": study.signatures}
    return Part({stem: sections}, {}, results, notes, models_of(study))
