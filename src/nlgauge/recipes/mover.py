"""MoverScore (Zhao et al. 2019): translation, dialogue, TAC, alignments, layers, distributions.

Without WMT17 data, WMT15 is used next to the published numbers of WMT17, so rows can be compared
within a column, but not columns. The paper's HMD and WMD of one layer are BERTScore and MoverScore
on the model's best layer for greedy matching.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from nlgauge.data.detection import read_judged
from nlgauge.recipes._scores import bind_layers, correlations, find, models_of, score_rows
from nlgauge.recipes._tables import compare_numbers, metric_pictures, parse_table
from nlgauge.recipes.recipe import (
    Part,
    Publication,
    Reproduction,
    Section,
    Settings,
    TableRow,
    with_model_name,
)

PUBLICATION = Publication.load("mover")
LANGUAGES = ("cs-en", "de-en", "fi-en", "lv-en", "ru-en", "tr-en", "zh-en")
WMT17 = {f"WMT17 {pair}": f"wmt17_da/{pair}.jsonl" for pair in LANGUAGES}
WMT15 = {f"WMT15 {p}": f"wmt15_da/{p}.jsonl" for p in ("cs-en", "de-en", "fi-en", "ru-en")}
DIALOGUE = {"BAGEL": "novikova2017/bagel.jsonl", "SFHOTEL": "novikova2017/sfhotel.jsonl"}
TAC = {"TAC-2008": "tac2008", "TAC-2009": "tac2009"}
DIALOGUE_CRITERIA = {"informativeness": "Inf", "naturalness": "Nat", "quality": "Qual"}
TAC_CRITERIA = {"responsiveness": "responsiveness", "pyramid": "pyramid"}
CRITERION = "da_z"

_COLUMNS = {
    **dict.fromkeys(("table1", "alignments", "layers"), LANGUAGES),
    "dialogue": tuple(map(" ".join, product(DIALOGUE, DIALOGUE_CRITERIA, ["spearman"]))),
    "tac": tuple(map(" ".join, product(TAC, TAC_CRITERIA, ["pearson", "spearman"]))),
}
PUBLISHED = {name: parse_table(PUBLICATION.tables[name], _COLUMNS[name]) for name in _COLUMNS}
_STAND_IN, _MNLI = PUBLICATION.notes["stand_in"], PUBLICATION.notes["mnli"]


class _PairTable(NamedTuple):
    stem: str
    title: str
    rows: Sequence[TableRow]
    digits: int
    footer: str


def rebuild(data: Path, settings: Settings) -> Reproduction:
    """Return Tables 1, 2, 3, 5, 6, the distributions of Figure 2, the correlations of Figure 3."""
    located, missing = find(data, WMT17 | DIALOGUE | TAC | WMT15)
    year = "WMT17" if any(name in WMT17 for name in located) else "WMT15"
    pairs = {name.split()[1]: path for name, path in located.items() if name.startswith(year)}
    if pairs and year == "WMT15":
        missing = (*missing, f"{_STAND_IN}.")
    parts = _translation(pairs, year, settings) if pairs else []
    utterances = "Spearman over {:,} utterances; distances negated"
    topics = "text level: mean over topics of the correlation over systems"
    for stem, files, criteria, shorts, footer in (
        ("dialogue", DIALOGUE, DIALOGUE_CRITERIA, {"spearman": ""}, utterances),
        ("tac", TAC, TAC_CRITERIA, {"pearson": " r", "spearman": " rho"}, topics),
    ):
        paths = {name: path for name, path in located.items() if name in files}
        if paths:
            parts.append(_by_criteria(stem, paths, criteria, shorts, footer, settings))
    return Reproduction.of("mover", PUBLICATION.paper, parts, missing)


def _with_movers(name: str) -> tuple[TableRow, ...]:
    return PUBLICATION.rows[name] + PUBLICATION.rows["movers"]


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
    exact = tuple(last) == tuple(printed)
    names = {n: f"LAYER {n}" for n in printed}
    layers = (
        *(TableRow(f"layer {n}", f"mover:layers={n}", names[n] if exact else None) for n in last),
        *(TableRow(name, None, name) for name in names.values() if not exact),
        TableRow("routing", "mover:layers=last5,aggregate=routing", "ROUTING"),
        TableRow("p-means", "mover:layers=last5,aggregate=pmeans", "PMEANS"),
        TableRow("side by side", "mover:layers=last5,aggregate=concat"),
    )
    hard, soft = f"ours: layer {best}; the paper's: layer 9 of 12", "hard against soft alignments"
    joined = "WMD of unigrams; each layer alone, then the last five joined"
    return (
        _PairTable("table1", "segment level, Pearson", _with_movers("translation"), 3, _MNLI),
        _PairTable("alignments", f"{soft}, Pearson", alignments, 3, hard),
        _PairTable("layers", "layers, p-means and routing, Pearson", layers, 4, joined),
    )


def _translation(paths: Mapping[str, Path], year: str, settings: Settings) -> list[Part]:
    """Return the tables over language pairs, and the figures on de-en or the first pair found."""
    pair_tables = _pair_tables(settings)
    specs: dict[str, TableRow] = {}  # a metric of several tables is run once
    for row in (row for table in pair_tables for row in table.rows):
        if row.spec:
            specs.setdefault(row.spec, row)
    studies = {pair: score_rows(path, [*specs.values()], settings) for pair, path in paths.items()}
    values = {pair: correlations(study, CRITERION, ["pearson"]) for pair, study in studies.items()}
    counted = ", ".join(f"{pair} {len(study.corpus):,}" for pair, study in studies.items())
    footer = (*([_STAND_IN] if year == "WMT15" else []), f"segments: {counted}; distances negated")
    about = {pair: {"data": f"{year} {pair}", "coefficient": "pearson"} for pair in paths}
    sections: dict[str, list[Section]] = {}
    numbers = []
    for each in pair_tables:
        ours = {}
        other_models = settings.other_models if each.stem == "table1" else ()
        for pair, row in product(paths, each.rows):
            for label, scored in _labels(row, specs, other_models).items():
                if (scored, "pearson") in values[pair]:
                    ours[label, pair] = values[pair][scored, "pearson"]
        table, entries = compare_numbers(
            *(each.rows, {pair: f"{pair} ({year})" for pair in paths}, ours, PUBLISHED[each.stem]),
            settings,
            digits=each.digits,
            footer=(each.footer, *footer),
            about={pair: {"table": each.stem, **about[pair]} for pair in paths},
        )
        sections[each.stem] = [Section(f"{year}, {each.title}", table)]
        numbers += entries
    example = "de-en" if "de-en" in studies else next(iter(studies))
    pictures = metric_pictures(
        studies[example].only(("bleu", "chrf++", "smd", "mover-1")),
        CRITERION,
        f"{year} {example}",
        ("metrics", "distributions"),
        bands=("bad", "middling", "good"),
        legend=f"people's judgement, {year} {example}",
    )
    notes = [f"{year} {pair}: {note}" for pair, each in studies.items() for note in each.notes]
    results = {"correlations": numbers, "signatures": studies[example].signatures}
    return [Part(sections, {}, results, notes, models_of(studies[example])), pictures]


def _labels(
    row: TableRow, specs: Mapping[str, TableRow], other_models: Sequence[str]
) -> dict[str, str]:
    """Return the labels of a row's metric, for each model, and those it was scored under."""
    if not row.spec:
        return {}
    first = specs[row.spec].name
    return {row.name: first} | {
        with_model_name(row.name, model): with_model_name(first, model) for model in other_models
    }


def _by_criteria(
    stem: str,
    paths: Mapping[str, Path],
    criteria: Mapping[str, str],
    shorts: Mapping[str, str],
    footer: str,
    settings: Settings,
) -> Part:
    """Return a table per data set over criteria and coefficients (Tables 2, 3 and 9)."""
    rows = _with_movers(stem)
    sections, numbers, notes = [], [], []
    for name, path in paths.items():
        kind, level = ("tac", "text") if stem == "tac" else (None, "segment")
        study = score_rows(read_judged(path, kind=kind), rows, settings)
        ours, columns, about = {}, {}, {}
        for criterion in criteria:
            found_here = correlations(study, criterion, list(shorts), level=level)
            for (label, key), value in found_here.items():
                ours[label, f"{name} {criterion} {key}"] = value
            for key, short in shorts.items():
                column = f"{name} {criterion} {key}"
                columns[column] = criteria[criterion] + short
                described = {"data": name, "criterion": criterion, "coefficient": key}
                about[column] = {"table": stem, **described}
        lines = (footer.format(len(study.corpus)), _MNLI)
        numbered = rows, columns, ours, PUBLISHED[stem], settings
        table, entries = compare_numbers(*numbered, digits=3, footer=lines, about=about)
        sections.append(Section(name, table))
        numbers += entries
        notes += [f"{name}: {note}" for note in study.notes]
    results = {"correlations": numbers, "signatures": study.signatures}
    return Part({stem: sections}, {}, results, notes, models_of(study))
