"""What metrics are handed: every text encoded once, in the layers, weights or histograms asked for.

This is the only door through which models are opened; metrics say what they need and are served.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from nlgauge.core.cloud import Cloud, Floats, Tokens
from nlgauge.core.errors import ModelError
from nlgauge.core.histogram import Histogram
from nlgauge.core.languages import ENGLISH, language_code
from nlgauge.core.metric import Metric, Side
from nlgauge.core.requirements import Weighting
from nlgauge.core.signature import Signature
from nlgauge.core.versions import version_of
from nlgauge.encode import open_encoder, open_masked_lm
from nlgauge.encode.encoder import Encoder, MaskedLm
from nlgauge.encode.model_files import MODEL_VARIABLE
from nlgauge.encode.run_options import RunOptions
from nlgauge.metrics import metric as build_metric
from nlgauge.metrics import metric_in
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.text.filters import masses, weigh
from nlgauge.text.idf import IdfTable

Spec = str | Metric
Serve = Callable[[str, Side], Any]


@dataclass(frozen=True)
class Learnt:
    """What a task took from a corpus, apart from its model: small, and fit to travel."""

    metric: Metric
    tables: Mapping[Side, IdfTable]
    members: tuple[Learnt, ...] = ()

    @classmethod
    def pool(cls, parts: Sequence[Learnt]) -> Learnt:
        """What would have been learnt from all parts at once."""
        sides = parts[0].tables
        return cls(
            parts[0].metric.pool([part.metric for part in parts]),
            {side: IdfTable.pool([part.tables[side] for part in parts]) for side in sides},
            tuple(map(cls.pool, zip(*(part.members for part in parts), strict=True))),
        )


@dataclass(frozen=True)
class Task:
    """A bound metric with the model and the idf tables it is served from, or with its members."""

    label: str
    metric: Metric
    encoder: Encoder | None = None
    masked_lm: MaskedLm | None = None
    tables: Mapping[Side, IdfTable] = field(default_factory=dict)
    members: tuple[Task, ...] = ()
    lang: str | None = None
    """The code of the texts' language, where it was said."""

    @classmethod
    def of_members(cls, label: str, metric: Metric, members: Iterable[Task]) -> Task:
        """The task of a metric that is made of others."""
        opened = tuple(members)
        bound = metric.with_members([member.metric for member in opened])
        return cls(label, bound, members=opened)

    @property
    def model(self) -> Encoder | MaskedLm | None:
        """The model behind the metric, whichever kind it is."""
        return self.encoder or self.masked_lm

    @property
    def facts(self) -> dict[str, str]:
        """What its signature says beyond options: digests and library versions."""
        facts = dict(self.metric.facts())
        if self.model is not None:
            facts["model_sha"] = self.model.card.digest
        facts |= {f"idf_sha_{side}": table.digest for side, table in self.tables.items()}
        for number, member in enumerate(self.members, start=1):
            facts |= {
                f"{number}.{key}": fact for key, fact in member.facts.items() if key != "nlgauge"
            }
        if "sacrebleu" not in self.metric.libraries:  # its signature is sacrebleu's own
            facts["nlgauge"] = version_of("nlgauge")
            used = self.metric.libraries + (self.model.card.libraries if self.model else ())
            facts |= {name: version_of(name) for name in dict.fromkeys(used)}
        return facts

    def signature(self, references: str) -> Signature:
        """How its numbers are made, over so many ``references`` a segment."""
        described = self.metric.describe()
        return Signature.of(self.metric.name, {"nrefs": references}, described, self.facts)

    @property
    def learns(self) -> bool:
        """Whether its scores depend on tables of a corpus."""
        if self.members:
            return any(member.learns for member in self.members)
        if self.model is not None:
            return self.metric.needs.weighting.fitted
        return type(self.metric).fit is not Metric.fit

    @property
    def learnt(self) -> Learnt:
        """What it took from the corpus it was fitted on."""
        return Learnt(self.metric, self.tables, tuple(member.learnt for member in self.members))

    def taught(self, learnt: Learnt) -> Task:
        """The task as if it had been fitted on the corpus of what was learnt."""
        if self.members:
            pairs = zip(self.members, learnt.members, strict=True)
            taught = [member.taught(each) for member, each in pairs]
            return Task.of_members(self.label, self.metric, taught)
        return dataclasses.replace(self, metric=learnt.metric, tables=learnt.tables)

    def fit(self, groups: Sequence[Sequence[str]]) -> Task:
        """The task with the corpus tables of the references of each segment."""
        if self.members:
            fitted = [member.fit(groups) for member in self.members]
            return Task.of_members(self.label, self.metric, fitted)
        if self.model is None:
            return dataclasses.replace(self, metric=self.metric.fit(groups))
        if not self.metric.needs.weighting.fitted:
            return self
        table = _idf_table(self.model, [text for texts in groups for text in texts])
        return dataclasses.replace(self, tables={"reference": table})

    def fit_candidates(self, candidates: Sequence[str]) -> Task:
        """The task with a table of the candidates' own, where a compatibility mode wants one."""
        if self.members:
            fitted = [member.fit_candidates(candidates) for member in self.members]
            return Task.of_members(self.label, self.metric, fitted)
        weighting = self.metric.needs.weighting
        if self.model is None or not weighting.fitted or weighting.sides == "shared":
            return self
        if "candidate" in self.tables:  # taught a table of more candidates than these
            return self
        tables = {**self.tables, "candidate": _idf_table(self.model, candidates)}
        return dataclasses.replace(self, tables=tables)


def open_task(spec: Spec, runtime: Runtime = DEFAULT) -> Task:
    """The metric of a spec with its model opened and its options made concrete.

    Options that the spec leaves open suit the language, if that is said.
    """
    lang = runtime.lang
    metric = build_metric(spec) if lang is None else metric_in(lang, spec)
    code = None if lang is None else language_code(lang)

    def opened(label: str, metric: Metric) -> Task:
        if metric.members:
            members = [opened(member.label(), member) for member in metric.members]
            return Task.of_members(label, metric, members)
        need = metric.needs
        options = RunOptions(
            need.long_text,
            need.precision,
            runtime.device,
            runtime.batch_tokens,
            runtime.may_download,
        )
        if need.kind == "text":
            return Task(label, metric)
        model = _model_for(code) if need.model is None else need.model
        try:
            if need.kind == "clouds":
                encoder = open_encoder(model, options, cache=runtime.cache)
                return Task(label, metric.bind(encoder.card), encoder, lang=code)
            masked_lm = open_masked_lm(model, options, cache=runtime.cache)
            return Task(label, metric.bind(masked_lm.card), masked_lm=masked_lm, lang=code)
        except ModelError as error:
            if model == need.model:
                raise
            raise _lacking(code, error) from error

    named = isinstance(spec, str) and "|" not in spec
    return opened(str(spec) if named else metric.label(), metric)


def _model_for(code: str | None) -> str | None:
    """The model of a metric that names none; None for the usual one, which knows English."""
    usual = code in (None, ENGLISH) or os.environ.get(MODEL_VARIABLE)
    return None if usual else f"lang:{code}"


def _lacking(code: str | None, error: ModelError) -> ModelError:
    reason = str(error).partition(";")[0]
    return ModelError(
        f"texts in {code!r}: {reason}. Allow the download (--download or NLGAUGE_DOWNLOAD=1), or "
        f"name a model that knows the language (model=, {MODEL_VARIABLE}); the embedded model is "
        "English, and is taken for another language only if asked for: model=embedded"
    )


class Servings:
    """What the tasks of a run are handed for one portion of texts.

    Tasks on one encoder share a single pass over the unique texts with the layers of all of them;
    tasks that want histograms share passes, too, of which each takes its own temperature.
    """

    def __init__(
        self, tasks: Sequence[Task], candidates: Sequence[str], references: Sequence[str]
    ) -> None:
        self._texts: dict[Side, list[str]] = {
            "candidate": list(dict.fromkeys(candidates)),
            "reference": list(dict.fromkeys(references)),
        }
        self._all = list(dict.fromkeys([*candidates, *references]))
        self._encoders: dict[int, Encoder] = {}
        self._layers: dict[int, set[int]] = {}
        self._temperatures: dict[Hashable, dict[float, None]] = {}
        for task in tasks:
            for each in task.members or (task,):
                if each.encoder is not None:
                    self._encoders[id(each.encoder)] = each.encoder
                    layers = self._layers.setdefault(id(each.encoder), set())
                    layers.update(each.metric.needs.layers)
                if each.masked_lm is not None:
                    temperatures = self._temperatures.setdefault(_same_passes(each), {})
                    temperatures[each.metric.needs.temperature] = None
        self._clouds: dict[int, dict[str, Cloud]] = {}
        self._histograms: dict[
            Hashable, Mapping[float, Mapping[Side, Mapping[str, Histogram]]]
        ] = {}

    def encode(self) -> None:
        """Make all clouds now; histograms, which are far larger, wait until they are asked for."""
        for encoder in self._encoders.values():
            self._clouds_of(encoder)

    def to(self, task: Task) -> Serve:
        """A function from a text and its side to what the task's metric asked to be handed."""
        if task.members:
            serves = [self.to(member) for member in task.members]
            return lambda text, side: tuple(serve(text, side) for serve in serves)
        if task.encoder is not None:
            return self._serve_clouds(task, task.encoder)
        if task.masked_lm is not None:
            return self._serve_histograms(task, task.masked_lm)
        return lambda text, _: text

    def _serve_clouds(self, task: Task, encoder: Encoder) -> Serve:
        available, clouds = self._clouds_of(encoder)
        need = task.metric.needs
        places = [available.index(layer) for layer in need.layers]
        served: dict[tuple[str, Side], Cloud] = {}

        def serve(text: str, side: Side) -> Cloud:
            key = (text, _table_side(need.weighting, side))
            if key not in served:
                table = task.tables.get(key[1])
                served[key] = weigh(clouds[text].at(places), need.weighting, table)
            return served[key]

        return serve

    def _clouds_of(self, encoder: Encoder) -> tuple[list[int], Mapping[str, Cloud]]:
        """The layers that were asked of an encoder, and the clouds of all texts."""
        available = sorted(self._layers[id(encoder)])
        if id(encoder) not in self._clouds:
            encoded = encoder.encode(self._all, available)
            self._clouds[id(encoder)] = dict(zip(self._all, encoded, strict=True))
        return available, self._clouds[id(encoder)]

    def _serve_histograms(self, task: Task, masked_lm: MaskedLm) -> Serve:
        key = _same_passes(task)
        if key not in self._histograms:
            temperatures = list(self._temperatures[key])
            self._histograms[key] = self._make_histograms(task, masked_lm, temperatures)
        need = task.metric.needs
        made = self._histograms[key][need.temperature]
        return lambda text, side: made[_table_side(need.weighting, side)][text]

    def _make_histograms(
        self, task: Task, masked_lm: MaskedLm, temperatures: list[float]
    ) -> dict[float, dict[Side, dict[str, Histogram]]]:
        need = task.metric.needs
        shared = need.weighting.sides == "shared"
        wanted: dict[Side, list[str]] = {"reference": self._all} if shared else self._texts
        made: dict[float, dict[Side, dict[str, Histogram]]] = {t: {} for t in temperatures}
        for side, texts in wanted.items():
            found = masked_lm.histograms(
                texts,
                partial(_token_masses, need.weighting, task.tables.get(side)),
                temperatures=temperatures,
                whole_words=need.whole_words,
            )
            for temperature, histograms in found.items():
                made[temperature][side] = dict(zip(texts, histograms, strict=True))
        return made


def _same_passes(task: Task) -> Hashable:
    """What tasks have in common whose histograms come from the same passes of a model."""
    tables = tuple(table.digest for table in task.tables.values())
    return id(task.masked_lm), dataclasses.replace(task.metric.needs, temperature=1.0), tables


def _table_side(weighting: Weighting, side: Side) -> Side:
    """The side whose table weighs a text: the references' serves both unless sides are apart."""
    return "reference" if weighting.sides == "shared" else side


def _token_masses(weighting: Weighting, table: IdfTable | None, tokens: Tokens) -> Floats:
    return masses(tokens, weighting, table)


def _idf_table(model: Encoder | MaskedLm, texts: Sequence[str]) -> IdfTable:
    parts = (texts[start : start + 4096] for start in range(0, len(texts), 4096))
    return IdfTable.fit(tokens.ids for part in parts for tokens in model.tokenize(part))
