"""InfoLM (Colombo et al. 2022): measures, temperature, alpha and beta, WebNLG, distributions.

A masked language model needs a pass per token, so this recipe uses samples by default: 40 inputs of
WebNLG and 10 documents of REALSumm. Without such a model the rows of InfoLM stay empty. The paper
selects temperature, alpha and beta on all data; here they are chosen on half of the documents and
tested on the others.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from nlgauge.core.errors import ModelError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.data.judged import JudgedCorpus
from nlgauge.figures import curve as option_curve
from nlgauge.figures.surface import Surface, surfaces
from nlgauge.recipes import _summaries, _webnlg
from nlgauge.recipes._scores import bind_layers, find, score_rows
from nlgauge.recipes._tables import COEFFICIENTS, metric_pictures
from nlgauge.recipes.recipe import Part, Publication, Reproduction, Section, Settings, TableRow
from nlgauge.report.study_tables import sweep_table
from nlgauge.stats import split
from nlgauge.study import OptionSweep, Study
from nlgauge.study.tune import Values, select

PUBLICATION = Publication.load("infolm")
FILES = {"webnlg": _webnlg.FILE, "summaries": _summaries.FILE}
INPUTS = 40
DOCUMENTS = 10
TEMPERATURES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
ALPHAS = (0.25, 0.5, 0.75, 1.25, 2.0, 3.0)
BETAS = (0.25, 0.5, 1.0, 2.0)
_PRESETS = ("ab", "alpha", "gamma")
Variants = Mapping[Values, TableRow]
"""Table rows by the values of their options."""


def rebuild(data: Path, settings: Settings) -> Reproduction:
    """Return the WebNLG table, and on summaries the measures, the sweeps and the distributions."""
    paths, missing = find(data, FILES)
    no_model = _missing_model(settings)
    # Other models are encoders, not masked language models.
    settings = replace(settings, other_models=())
    parts = []
    if "webnlg" in paths:
        rows, tables = (
            _rows("data2text"),
            (PUBLICATION.tables["table3"], PUBLICATION.tables["people"]),
        )
        notes = dict.fromkeys(_webnlg.CRITERIA, PUBLICATION.notes["jeffreys"])
        sampled = replace(settings, inputs=settings.inputs or INPUTS)
        parts.append(_webnlg.webnlg(paths["webnlg"], rows, *tables, sampled, notes=notes))
    if "summaries" in paths:
        sampled = replace(settings, inputs=settings.inputs or DOCUMENTS)
        judged = _summaries.by_kind(paths["summaries"])
        of_kind = {kind: _rows(_summaries.KINDS[kind]) for kind in judged}
        footer = (PUBLICATION.notes["pictures"], PUBLICATION.notes["jeffreys"])
        part, studies = _summaries.summaries(judged, of_kind, sampled, footer=footer)
        parts += [part, *(_pictures(kind, study) for kind, study in studies.items())]
        parts += [] if no_model else _sweeps(judged, sampled)
    return Reproduction.of("infolm", PUBLICATION.paper, parts, (*missing, *no_model))


def _rows(preset: str) -> tuple[TableRow, ...]:
    """Return InfoLM with every measure and the paper's parameters for a task, and other metrics."""
    further = dict.fromkeys(_PRESETS, f",preset={preset}") | {"kl": ",symmetrised=yes"}
    measures = [
        TableRow(f"infolm {name}", f"infolm:measure={name}{further.get(name, '')}", published)
        for name, published in PUBLICATION.others["measures"].items()
    ]
    return (*measures, *PUBLICATION.rows["webnlg"])


def _missing_model(settings: Settings) -> tuple[str, ...]:
    """Return a sentence if there is no masked language model and none was named."""
    try:
        bind_layers("infolm", settings)
    except ModelError as error:
        if settings.model is not None:
            raise
        return (
            f"The rows of InfoLM have no computed numbers, and options are not tuned: {error}.",
        )
    return ()


def _pictures(kind: str, study: Study) -> Part:
    """Return scores of bad and good summaries (Figures 3, 9), and metrics by metrics (Figure 2)."""
    word = _summaries.KINDS[kind]
    part = metric_pictures(
        study,
        _summaries.CRITERION,
        f"{word} systems",
        (f"metrics_{kind}", f"distributions_{kind}"),
        level="system",
        bands=("worse half", "better half"),
        legend=f"human recall, {word} systems",
    )
    return replace(part, results={})


def _sweeps(judged: Mapping[str, JudgedCorpus], settings: Settings) -> list[Part]:
    """Return Figures 4 to 6: temperatures of Fisher-Rao, alpha and beta of the AB divergence."""
    temperatures: Variants = {
        (t,): TableRow(f"T={t:g}", f"infolm:temperature={t:g}") for t in TEMPERATURES
    }
    surface: Variants = {
        (a, b): TableRow(f"alpha={a:g}, beta={b:g}", f"infolm:measure=ab,alpha={a:g},beta={b:g}")
        for a, b in product(ALPHAS, BETAS)
    }
    rows = [*temperatures.values(), *surface.values()]
    studies = {
        _summaries.KINDS[kind]: score_rows(each, rows, settings) for kind, each in judged.items()
    }
    return [_temperature(studies, temperatures), _surface(studies, surface)]


def _temperature(studies: Mapping[str, Study], rows: Variants) -> Part:
    sections, figures, results = [], {}, []
    for coefficient, short in COEFFICIENTS.items():
        lines = []
        for kind, study in studies.items():
            swept = _sweep(study, {"temperature": TEMPERATURES}, rows, coefficient)
            sections.append(_section(f"Temperature, {kind}, {short}", swept))
            results.append({"data": f"REALSumm {kind}", **swept.to_dict()})
            sweep = swept.found
            tune = [trial.tuned.value for trial in sweep.tried]
            at = sweep.tried.index(sweep.chosen)
            tested = to_jsonable(sweep.tested.value)
            lines.append(option_curve.Line(kind, tuple(to_jsonable(tune)), at, tested))
        label, values = f"{short}, system level", ("temperature", TEMPERATURES, lines)
        draw = partial(option_curve.curve, *values, label=label, title="InfoLM, Fisher-Rao")
        figures[f"temperature_{coefficient}"] = draw
    return Part({"temperature": sections}, figures, {"sweeps": results})


def _surface(studies: Mapping[str, Study], rows: Variants) -> Part:
    sections, panels, results = [], [], []
    for kind, study in studies.items():
        swept = _sweep(study, {"alpha": ALPHAS, "beta": BETAS}, rows, "pearson")
        sections.append(_section(f"alpha and beta, {kind}, r", swept))
        results.append({"data": f"REALSumm {kind}", **swept.to_dict()})
        sweep = swept.found
        values = np.reshape([trial.tuned.value for trial in sweep.tried], (-1, len(BETAS)))
        at = divmod(sweep.tried.index(sweep.chosen), len(BETAS))
        axes, tested = (("alpha", "beta"), (ALPHAS, BETAS)), to_jsonable(sweep.tested.value)
        panels.append(Surface(f"AB, {kind}, r", *axes, values, at, tested))
    figure = partial(surfaces, panels)
    return Part({"alpha_beta": sections}, {"alpha_beta": figure}, {"sweeps": results})


def _sweep(
    study: Study, options: Mapping[str, Values], rows: Variants, coefficient: str
) -> OptionSweep:
    """Return the options chosen at the system level on half of the documents, and their test."""
    labels = {values: row.name for values, row in rows.items()}
    by = _summaries.CRITERION, split(len(study.judgements.segments)), "system", coefficient
    return select(study, "infolm", options, labels, *by)


def _section(title: str, swept: OptionSweep) -> Section:
    note = f"system level; tuned on {swept.found.tuned_on}, tested on {swept.found.tested_on}"
    return Section(title, sweep_table(list(swept.options), swept.tried(), footer=(note,)))
