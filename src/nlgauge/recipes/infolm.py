"""InfoLM (Colombo et al. 2022): measures, temperature, alpha and beta, WebNLG, distributions.

A masked language model reads a text once for each of its tokens, so that this recipe takes samples
unless told otherwise: 40 inputs of WebNLG and 10 documents of REALSumm, each with all systems; the
tables say how many. Parameters are the paper's. Where no masked language model can be opened, and
none was named, the other metrics are set beside the paper and the lines of InfoLM stay empty.

The paper picks temperature, alpha and beta where they agree best with people on all the data. Here
they are chosen on half of the documents and tested on the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from nlgauge.core.errors import ModelError
from nlgauge.data.judged import JudgedCorpus
from nlgauge.figures import curve as option_curve
from nlgauge.figures.distributions import distributions
from nlgauge.figures.matrix import coefficients, heat
from nlgauge.figures.surface import Surface, surfaces
from nlgauge.recipes import _summaries, _webnlg
from nlgauge.recipes._data import find
from nlgauge.recipes._distributions import curves
from nlgauge.recipes._published import plain, typed
from nlgauge.recipes._scores import bound, measured
from nlgauge.recipes.recipe import Line, Paper, Part, Rebuilt, Section, Setting
from nlgauge.report.study_tables import matrix_table, sweep_table
from nlgauge.stats import split, sweep
from nlgauge.study import Study, Swept, matrix

PAPER = Paper(
    "InfoLM: A New Metric to Evaluate Summarization & Data2Text Generation",
    "Colombo et al. 2022 (AAAI), Tables 2 and 3, absolute correlations x 100",
    "BERT (which one is not said); temperature 1, parameters of appendix B.5",
)
FILES = {"webnlg": _webnlg.FILE, "summaries": _summaries.FILE}
INPUTS = 40
DOCUMENTS = 10
TEMPERATURES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
ALPHAS = (0.25, 0.5, 0.75, 1.25, 2.0, 3.0)
BETAS = (0.25, 0.5, 1.0, 2.0)
_MEASURES = {
    "ab": "D_AB",
    "alpha": "D_alpha",
    "gamma": "D_beta",
    "l1": "L_1",
    "l2": "L_2",
    "linf": "L_inf",
    "fisher_rao": "R",
    "kl": "JS",
}
Tried = Mapping[tuple[float, ...], Line]
"""By the values of the options that are tried, the line that has them."""

_PRESETS = ("ab", "alpha", "gamma")
_OTHERS = (
    Line("bertscore", "bertscore", "BertS"),
    Line("mover", "mover", "MoverS"),
    Line("bleu", "bleu", "BLEU"),
    Line("rouge-1", "rouge:variant=1", "R-1"),
    Line("rouge-2", "rouge:variant=2", "R-2"),
    Line("rouge_we", "rouge_we:model=glove", "R-WE"),
    Line("meteor", "meteor", "METEOR"),
    Line("ter", "ter", "TER"),
)
# Table 3, a row for each metric: five criteria with r, rho, tau each.
_TABLE_3 = {
    "D_AB": "88.8 89.3 76.6  81.8 82.6 70.0  86.6 92.0 76.6  89.8 87.9 73.3  86.6 91.4 75.0",
    "D_alpha": "88.8 89.3 76.6  81.8 82.6 70.0  86.6 92.0 76.6  89.8 87.9 73.3  86.6 91.4 75.0",
    "D_beta": "81.4 50.0 71.6  48.4 79.7 65.0  44.8 84.7 76.6  49.3 72.3 60.0  48.0 83.8 75.0",
    "L_1": "75.2 33.8 61.6  32.4 53.8 40.0  22.7 83.5 73.3  32.2 57.9 45.0  25.6 83.2 71.6",
    "L_2": "67.0 21.9 56.6  21.6 37.9 33.3  11.9 75.2 58.3  20.1 43.8 38.3  14.8 75.5 60.0",
    "L_inf": "63.2 33.0 46.6  30.4 36.4 26.6  67.6 65.0 46.6  29.1 49.1 35.0  67.2 65.2 46.6",
    "R": "89.7 86.0 75.0  78.7 70.5 51.6  93.3 95.7 85.3  87.6 84.4 70.0  92.4 93.8 81.6",
    "JS": "79.4 81.1 70.0  69.3 75.5 60.0  89.4 91.4 75.0  81.7 70.5 60.0  91.9 91.1 73.3",
    "BertS": "85.5 83.4 73.3  74.7 68.2 53.3  92.3 95.5 85.0  83.3 79.4 65.0  91.9 95.0 83.3",
    "MoverS": "84.1 84.1 73.3  78.7 66.2 53.3  91.2 92.1 78.3  82.1 77.4 65.0  90.1 91.4 76.3",
    "BLEU": "77.6 66.3 60.0  55.7 50.2 36.6  89.4 90.5 78.3  63.0 65.2 51.6  88.5 89.1 76.6",
    "R-1": "80.6 65.0 65.0  61.1 59.6 48.3  76.5 76.3 60.3  64.3 69.2 56.7  75.9 77.5 58.3",
    "R-2": "73.6 63.3 58.3  54.7 43.1 35.0  86.4 81.9 63.4  62.0 60.8 46.7  86.5 80.5 61.7",
    "R-WE": "60.9 73.4 60.0  40.2 58.2 40.1  61.4 84.7 61.3  49.9 64.1 48.3  60.2 85.9 60.0",
    "METEOR": "86.5 66.3 70.0  77.3 50.2 46.6  86.7 90.5 78.3  82.1 65.2 58.6  86.2 89.1 76.6",
    "TER": "79.6 78.3 58.0  69.7 58.2 38.0  89.1 93.5 80.0  75.0 70.2 77.6  89.5 91.1 78.6",
}
_PEOPLE = {
    "Correctness, DataCoverage": "97.6 85.2 73.3",
    "Correctness, Fluency": "80.0 81.1 61.6",
    "Correctness, Relevance": "99.1 89.7 75.0",
    "Correctness, TextStructure": "80.1 80.8 60.0",
    "DataCoverage, Fluency": "71.8 51.7 38.3",
    "DataCoverage, Relevance": "96.0 93.8 81.6",
    "DataCoverage, TextStructure": "71.6 51.4 36.6",
    "Fluency, Relevance": "77.0 61.4 46.6",
    "Fluency, TextStructure": "99.5 99.7 98.3",
    "Relevance, TextStructure": "77.2 61.1 45.0",
}
_PICTURES = "the paper shows this as a picture (Figures 1 and 8)"
_JEFFREYS = "JS is the paper's name for the mean of both KL divergences (Jeffreys)"


def rebuild(data: Path, setting: Setting) -> Rebuilt:
    """The WebNLG table, and on summaries the measures, the sweeps and the distributions."""
    found, missing = find(data, FILES)
    unopened = _unopened(setting)
    parts = []
    if "webnlg" in found:
        sampled = replace(setting, inputs=setting.inputs or INPUTS)
        people = typed(_PEOPLE, list(_webnlg.COEFFICIENTS))
        parts.append(
            _webnlg.webnlg(
                *(found["webnlg"], _lines("data2text"), _webnlg.printed(_TABLE_3), people, sampled),
                dict.fromkeys(_webnlg.CRITERIA, _JEFFREYS),
            )
        )
    if "summaries" in found:
        sampled = replace(setting, inputs=setting.inputs or DOCUMENTS)
        judged = _summaries.by_kind(found["summaries"])
        parts += _on_summaries(judged, sampled, swept=not unopened)
    return Rebuilt.of("infolm", PAPER, parts, (*missing, *unopened))


def _lines(preset: str) -> tuple[Line, ...]:
    """InfoLM with every measure and the paper's parameters for a task, then the other metrics."""
    further = dict.fromkeys(_PRESETS, f",preset={preset}") | {"kl": ",symmetrised=yes"}
    ours = [
        Line(f"infolm {name}", f"infolm:measure={name}{further.get(name, '')}", published)
        for name, published in _MEASURES.items()
    ]
    return (*ours, *_OTHERS)


def _unopened(setting: Setting) -> tuple[str, ...]:
    """A sentence if there is no masked language model and none was named; else nothing."""
    try:
        bound("infolm", setting)
    except ModelError as error:
        if setting.model is not None:
            raise
        return (f"No line of InfoLM has numbers of ours, and nothing is swept: {error}.",)
    return ()


def _on_summaries(
    judged: Mapping[str, JudgedCorpus], setting: Setting, *, swept: bool
) -> list[Part]:
    """The measures by kind of system, their distributions, and the sweeps if there is a model."""
    lines = {kind: _lines(_summaries.KINDS[kind]) for kind in judged}
    table, studies = _summaries.summaries(judged, lines, setting, footer=(_PICTURES, _JEFFREYS))
    parts = [table, *(_pictures(kind, study) for kind, study in studies.items())]
    return [*parts, *_sweeps(judged, setting)] if swept else parts


def _pictures(kind: str, study: Study) -> Part:
    """Scores of bad and good summaries (Figures 3, 9), and metrics with each other (Figure 2)."""
    word = _summaries.KINDS[kind]
    found = matrix(study, human=_summaries.CRITERION, level="system", coefficient="pearson")
    panel = coefficients(found.names, found.values, title=f"Pearson, {word} systems")
    table = matrix_table("r", found.names, found.values.tolist(), digits=2)
    drawn = partial(
        distributions,
        curves(study, _summaries.CRITERION, ("worse half", "better half")),
        legend=f"human recall, {word} systems",
    )
    return Part(
        {"metrics": [Section(f"Pearson between metrics, system level, {word}", table)]},
        {f"metrics_{kind}": partial(heat, [panel]), f"distributions_{kind}": drawn},
    )


def _sweeps(judged: Mapping[str, JudgedCorpus], setting: Setting) -> list[Part]:
    """Figures 4 to 6: temperatures of Fisher-Rao, alpha and beta of the AB divergence."""
    temperatures: Tried = {
        (t,): Line(f"T={t:g}", f"infolm:temperature={t:g}") for t in TEMPERATURES
    }
    surface: Tried = {
        (a, b): Line(f"alpha={a:g}, beta={b:g}", f"infolm:measure=ab,alpha={a:g},beta={b:g}")
        for a, b in product(ALPHAS, BETAS)
    }
    lines = [*temperatures.values(), *surface.values()]
    studies = {kind: measured(each, lines, setting) for kind, each in judged.items()}
    return [_temperature(studies, temperatures), _surface(studies, surface)]


def _temperature(studies: Mapping[str, Study], lines: Tried) -> Part:
    sections, figures, results = [], {}, []
    for coefficient, short in _summaries.COEFFICIENTS.items():
        drawn = []
        for kind, study in studies.items():
            word = _summaries.KINDS[kind]
            swept = _swept(study, {"temperature": TEMPERATURES}, lines, coefficient)
            sections.append(_section(f"Temperature, {word}, {short}", swept))
            results.append({"data": f"REALSumm {word}", **swept.to_dict()})
            found = swept.found
            tune = tuple(plain(each.tuned.value) for each in found.tried)
            at = found.tried.index(found.chosen)
            drawn.append(option_curve.Line(word, tune, at, plain(found.tested.value)))
        figures[f"temperature_{coefficient}"] = partial(
            option_curve.curve,
            *("temperature", TEMPERATURES, drawn),
            label=f"{short}, system level",
            title="InfoLM, Fisher-Rao",
        )
    return Part({"temperature": sections}, figures, {"sweeps": results})


def _surface(studies: Mapping[str, Study], lines: Tried) -> Part:
    sections, panels, results = [], [], []
    for kind, study in studies.items():
        word = _summaries.KINDS[kind]
        swept = _swept(study, {"alpha": ALPHAS, "beta": BETAS}, lines, "pearson")
        sections.append(_section(f"alpha and beta, {word}, r", swept))
        results.append({"data": f"REALSumm {word}", **swept.to_dict()})
        found = swept.found
        tune = np.array([each.tuned.value for each in found.tried])
        row, column = divmod(found.tried.index(found.chosen), len(BETAS))
        panels.append(
            Surface(
                *(f"AB, {word}, r", ("alpha", "beta"), (ALPHAS, BETAS)),
                tune.reshape(len(ALPHAS), len(BETAS)),
                *((row, column), plain(found.tested.value)),
            )
        )
    drawn = partial(surfaces, panels)
    return Part({"alpha_beta": sections}, {"alpha_beta": drawn}, {"sweeps": results})


def _swept(
    study: Study,
    options: Mapping[str, tuple[float, ...]],
    lines: Tried,
    coefficient: str,
) -> Swept:
    """The options chosen at the system level on half of the documents, tested on the others."""
    grid = study.grid(_summaries.CRITERION)
    found = sweep(
        *(", ".join(options), list(lines)),
        {values: grid.metric(line.name) for values, line in lines.items()},
        *(grid.human, split(len(grid.segments))),
        level="system",
        coefficient=coefficient,
    )
    label = next(line.name for values, line in lines.items() if values == found.chosen.value)
    return Swept("infolm", options, _summaries.CRITERION, found, label)


def _section(title: str, swept: Swept) -> Section:
    said = f"system level; tuned on {swept.found.tuned_on}, tested on {swept.found.tested_on}"
    return Section(title, sweep_table(list(swept.options), swept.tried(), footer=(said,)))
