"""Lazy-EMD (Chen et al. 2020): daRR of WMT18 and WMT19, penalties, and the worked examples.

The to-English numbers of Tables 2 to 4 are reproduced; only outputs that occur in a pair are
scored. The paper's EMD is transport with cost 1 - cos, that is, Lazy-EMD with infinite penalties.
F_alpha is BERTScore with recall weight .48, the paper's value for English.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from nlgauge.core.errors import FileError
from nlgauge.core.plan import Plan
from nlgauge.data.detection import read_judged
from nlgauge.data.judged import JudgedCorpus
from nlgauge.data.wmt import Pairs, read_pairs
from nlgauge.figures.alignment import draw_alignment
from nlgauge.recipes._scores import find, models_of, score_rows, some_inputs, with_model
from nlgauge.recipes._tables import compare_numbers, parse_table
from nlgauge.recipes.recipe import Part, Publication, Reproduction, Section, Settings
from nlgauge.report.table import Column, Table, Value
from nlgauge.scoring import Scorer, align
from nlgauge.study.darr import outputs_in_pairs, taus

PUBLICATION = Publication.load("lazy_emd")
YEARS = {
    "WMT18": ("cs-en", "de-en", "et-en", "fi-en", "ru-en", "tr-en", "zh-en"),
    "WMT19": ("de-en", "fi-en", "gu-en", "kk-en", "lt-en", "ru-en", "zh-en"),
}
PAIRS = [f"{year} {pair}" for year, pairs in YEARS.items() for pair in pairs]
ROWS, PENALTIES = PUBLICATION.rows["darr"], PUBLICATION.rows["penalties"]
PUBLISHED = {
    year: parse_table(PUBLICATION.tables[year], [f"{year} {pair}" for pair in pairs])
    for year, pairs in YEARS.items()
}
PUBLISHED_PRICES = parse_table(PUBLICATION.tables["penalties"], PAIRS[7:])
EXAMPLES = PUBLICATION.others["examples"]
_PLANS = {
    "precision": "lazy_emd:penalty_candidate=inf,penalty_reference=0",
    "recall": "lazy_emd:penalty_candidate=0,penalty_reference=inf",
    "emd": "lazy_emd:penalty_candidate=inf,penalty_reference=inf",
    "lazy_emd": "lazy_emd",
}


def rebuild(data: Path, settings: Settings) -> Reproduction:
    """Return WMT's Kendall-like tau by language pair, the penalties, and the worked examples."""
    places = {name: name.lower().split() for name in PAIRS}
    files = {name: f"{year}_darr/{pair}.jsonl" for name, (year, pair) in places.items()}
    of_pairs = {name: f"{year}_darr/pairs/{pair}.darr.tsv" for name, (year, pair) in places.items()}
    (outputs, no_outputs), (ranked, no_pairs) = find(data, files), find(data, of_pairs)
    complete = [name for name in outputs if name in ranked]
    if not complete:
        raise FileError(f"{data} has no language pair with both outputs and ranked pairs")
    samples = {name: _read_sample(outputs[name], ranked[name], settings) for name in complete}
    parts = [_translation(samples, settings), _examples(settings)]
    return Reproduction.of("lazy_emd", PUBLICATION.paper, parts, (*no_outputs, *no_pairs))


def _read_sample(outputs: Path, ranked: Path, settings: Settings) -> tuple[JudgedCorpus, Pairs]:
    """Return the outputs in a pair and the pairs, of a sample of segments if so configured."""
    pairs = read_pairs(str(ranked))
    judged = some_inputs(outputs_in_pairs(read_judged(outputs), pairs), settings.inputs)
    ids = set(judged.corpus.ids)
    return judged, Pairs(tuple(pair for pair in pairs if pair[0] in ids), pairs.notes)


def _translation(samples: Mapping[str, tuple[JudgedCorpus, Pairs]], settings: Settings) -> Part:
    """Return the daRR tables of both years and the table of penalties, from one pass."""
    rows = list({row.spec: row for row in (*PENALTIES, *ROWS)}.values())
    ours: dict[tuple[str, str], float] = {}
    counts, notes = [], []
    for name, (judged, pairs) in samples.items():
        study = score_rows(judged, rows, settings)
        entries = taus(study, pairs)
        ours |= {(entry.metric, name): entry.tau.value for entry in entries}
        counts += [{"data": name, **entry.to_dict()} for entry in entries]
        notes += [f"{name}: {note}" for note in (*pairs.notes, *study.notes)]
    footer = [PUBLICATION.notes["ties"]]
    if settings.inputs is not None:
        footer.append(f"a sample: at most {settings.inputs} segments of a language pair")
    columns: dict[str, dict[str, str]] = {year: {} for year in YEARS}
    for name, (_, pairs) in samples.items():
        year, pair = name.split()
        columns[year][name] = f"{pair} ({len(pairs):,} pairs)"
    years = [year for year in YEARS if columns[year]]
    last = years[-1]
    explained = [
        "the paper's penalties of mass left on the candidate's and on the reference's side",
        "objective: cost and penalties together, at the first penalties",
        *([] if last == "WMT19" else ["WMT18: the paper prints this table for WMT19 only"]),
    ]
    darr = "segment level, to English"
    tables: dict[str, list[Section]] = {}
    numbers = []
    for stem, year, title, lines, published, extra in (
        *(("darr", year, darr, ROWS, PUBLISHED[year], []) for year in years),
        ("penalties", last, "penalties of Lazy-EMD", PENALTIES, PUBLISHED_PRICES, explained),
    ):
        shared = {"table": stem, "coefficient": "kendall_like"}
        about = {name: {"data": name, **shared} for name in samples}
        numbered = lines, columns[year], ours, published, settings
        lines_below = [*extra, *footer]
        table, part = compare_numbers(*numbered, digits=3, footer=lines_below, about=about)
        tables.setdefault(stem, []).append(Section(f"{year}, {title}", table))
        numbers += part
    results = {"correlations": numbers, "counts": counts, "signatures": study.signatures}
    return Part(tables, {}, results, notes, models_of(study))


def _examples(settings: Settings) -> Part:
    """Return Table 1, and the alignment of tokens under each metric in its first example."""
    metrics = [with_model(spec, settings.model) for spec in ("bertscore", "lazy_emd")]
    scorer = Scorer(metrics, runtime=settings.runtime)
    candidates = [example["candidate"] for example in EXAMPLES]
    greedy, lazy = scorer.score(candidates, [example["reference"] for example in EXAMPLES]).values()
    components = greedy.segment_components
    ours = [components["precision"], components["recall"], components["f"], lazy.segments]
    columns = [Column("example"), Column("candidate"), Column("reference")]
    for heading in ("P", "R", "F", "Lazy-EMD"):
        columns += [Column(heading, 4), Column("published", 4)]
    rows: list[tuple[Value, ...]] = []
    contents = []
    for i, example in enumerate(EXAMPLES):
        computed = [float(values[i]) for values in ours]
        texts = {"example": example["name"]} | {k: example[k] for k in ("candidate", "reference")}
        numbers = zip(computed, example["published"], strict=True)
        rows.append((*texts.values(), *(number for both in numbers for number in both)))
        contents.append({**texts, "ours": computed, "published": example["published"]})
    footer = (
        "candidate 1 is the better one for people: P, R, F should be higher, Lazy-EMD lower",
        "published: scores of another model",
    )
    pair = candidates[0], EXAMPLES[0]["reference"]
    plans = {
        name: align(*pair, metric=with_model(spec, settings.model)) for name, spec in _PLANS.items()
    }
    matchings = [_matching(name, plan) for name, plan in plans.items()]
    table = Section("Table 1", Table(tuple(columns), tuple(rows), footer))
    return Part(
        {"examples": [table], "matchings": matchings},
        {
            f"matching_{name}": partial(draw_alignment, plan, "heatmap", title=f"{name}: {pair[0]}")
            for name, plan in plans.items()
        },
        {"examples": contents, "matchings": {name: plan.to_dict() for name, plan in plans.items()}},
    )


def _matching(name: str, plan: Plan) -> Section:
    """Return the plan in percent of all mass, candidate downwards, reference to the right."""
    tokens = plan.candidate_tokens or (), plan.reference_tokens or ()
    head = [Column("candidate"), *(Column(token, 1) for token in tokens[1]), Column("own mass", 1)]
    body: list[tuple[Value, ...]] = []
    for token, moved, total in zip(tokens[0], plan.coupling, plan.a, strict=True):
        body.append((token, *(100 * float(mass) or None for mass in moved), 100 * float(total)))
    note = f"percent of the candidate's mass; cost {plan.value:.4f}, mass moved {plan.mass:.4f}"
    table = Table(tuple(head), tuple(body), (note,))
    return Section(f"Matching of {name}, example 1, candidate 1", table)
