"""REALSumm: metrics against human recall, for abstractive and extractive systems, at two levels."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nlgauge.core.errors import DataError
from nlgauge.data.detection import read_judged
from nlgauge.data.judged import JudgedCorpus
from nlgauge.figures.bars import Bar, Panel, bars
from nlgauge.recipes._scores import models_of, score_rows
from nlgauge.recipes._tables import COEFFICIENTS
from nlgauge.recipes.recipe import Part, Section, Settings, TableRow
from nlgauge.report.study_tables import agreement_tables
from nlgauge.study import Study, correlate

FILE = "realsumm/realsumm.jsonl"
STORED_FILE = "realsumm/stored_metric_scores.jsonl"
KINDS = {"abs": "abstractive", "ext": "extractive"}
LEVELS = ("system", "text")
CRITERION = "litepyramid_recall"
STORED = ("rouge_1_recall", "rouge_2_recall", "bert_recall_score", "mover_score")
_STORED = "stored: scores stored with the data; ours are F-scores, except bertscore R"
_RESAMPLES = 500


def by_kind(path: Path, scores: Path | None = None) -> dict[str, JudgedCorpus]:
    """Return the judged summaries by kind of system, with the stored scores."""
    judged = read_judged(path, scores=scores)
    corpora = {}
    for kind, word in KINDS.items():
        systems = enumerate(judged.corpus.systems)
        keep = [row for row, name in systems if name.startswith(f"{kind}/")]
        if keep:
            corpora[kind] = judged.take(keep, f"{word} systems: {len(keep):,} rows.")
    if not corpora:
        raise DataError(
            f"{path}: none of the {len(judged.corpus.system_names)} systems is called abs/... or "
            "ext/..., so that abstractive and extractive ones cannot be separated"
        )
    return corpora


def summaries(
    found: Mapping[str, JudgedCorpus],
    rows_of: Mapping[str, Sequence[TableRow]],
    settings: Settings,
    *,
    footer: Sequence[str] = (),
) -> tuple[Part, dict[str, Study]]:
    """Return tables and bars by kind of system and level, and the studies by kind."""
    studies = {}
    for kind, judged in found.items():
        stored = [name for name in STORED if name in judged.stored]
        studies[kind] = score_rows(judged, rows_of[kind], settings, stored=stored)
    sections, panels, numbers = [], [], []
    for level in LEVELS:
        for kind, study in studies.items():
            rows = _rows(study, level)
            notes = [f"{len(study.judgements.segments)} documents", *footer]
            notes += [_STORED] if study.stored else []
            (table,) = agreement_tables(rows, digits=3, footer=notes)
            sections.append(Section(f"REALSumm, {KINDS[kind]}, {level} level", table))
            panels.append(_panel(f"{KINDS[kind]}\n{level} level", rows))
            numbers += [{"data": "REALSumm", "systems": KINDS[kind], **row} for row in rows]
    first = next(iter(studies.values()))
    results = {"correlations": numbers, "signatures": first.signatures}
    notes = [f"REALSumm: {note}" for study in studies.values() for note in study.notes]
    tables, figures = {"summaries": sections}, {"summaries": partial(bars, panels)}
    return Part(tables, figures, results, notes, models_of(first)), studies


def _rows(study: Study, level: str) -> list[dict[str, Any]]:
    """Return every correlation at one level with its interval."""
    resampling: dict[str, Any] = {"confidence": 0.95, "over": "both", "count": _RESAMPLES}
    names = list(COEFFICIENTS)
    result = correlate(study, human=CRITERION, levels=level, coefficients=names, **resampling)
    return [{**entry.to_dict(), "resampled": "systems and documents"} for entry in result.entries]


def _panel(title: str, rows: Sequence[Mapping[str, Any]]) -> Panel:
    groups = tuple(dict.fromkeys(row["metric"] for row in rows))
    series: dict[str, list[Bar]] = {}
    for row in rows:
        bar = Bar(row["value"], row["low"], row["high"])
        series.setdefault(COEFFICIENTS[row["coefficient"]], []).append(bar)
    return Panel(title, groups, series)
