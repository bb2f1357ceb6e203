"""What metrics are handed: every text encoded once, in the layers, weights or histograms asked for.

This is the only door through which models are opened; metrics say what they need and are served.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from typing import Any

from nlgauge.core.cloud import Cloud, Floats, Tokens
from nlgauge.core.histogram import Histogram
from nlgauge.core.metric import Metric, Side
from nlgauge.core.need import Weighting
from nlgauge.encode import open_encoder, open_masked_lm
from nlgauge.encode.encoder import Encoder, MaskedLm
from nlgauge.encode.ways import Ways
from nlgauge.metrics import metric as build_metric
from nlgauge.text.filters import masses, weigh
from nlgauge.text.idf import IdfTable

Spec = str | Metric
Serve = Callable[[str, Side], Any]


@dataclass(frozen=True)
class Task:
    """A bound metric with the model and the idf tables it is served from."""

    label: str
    metric: Metric
    encoder: Encoder | None = None
    masked_lm: MaskedLm | None = None
    tables: Mapping[Side, IdfTable] = field(default_factory=dict)

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
        if "sacrebleu" not in self.metric.libraries:  # its signature is sacrebleu's own
            facts["nlgauge"] = version("nlgauge")
            used = self.metric.libraries + (self.model.card.libraries if self.model else ())
            facts |= {name: version(name) for name in dict.fromkeys(used)}
        return facts

    def fit(self, groups: Sequence[Sequence[str]]) -> Task:
        """The task with the corpus tables of the references of each segment."""
        if self.model is None:
            return dataclasses.replace(self, metric=self.metric.fit(groups))
        if not self.metric.needs.weighting.fitted:
            return self
        table = _idf_table(self.model, [text for texts in groups for text in texts])
        return dataclasses.replace(self, tables={"reference": table})

    def fit_candidates(self, candidates: Sequence[str]) -> Task:
        """The task with a table of the candidates' own, where a compatibility mode wants one."""
        weighting = self.metric.needs.weighting
        if self.model is None or not weighting.fitted or weighting.sides == "shared":
            return self
        tables = {**self.tables, "candidate": _idf_table(self.model, candidates)}
        return dataclasses.replace(self, tables=tables)


def open_task(spec: Spec, *, device: str, batch_tokens: int) -> Task:
    """The metric of a spec with its model opened and its options made concrete."""
    metric = build_metric(spec)
    label = spec if isinstance(spec, str) and "|" not in spec else metric.label()
    need = metric.needs
    ways = Ways(need.long_text, need.precision, device, batch_tokens)
    if need.kind == "clouds":
        encoder = open_encoder(need.model, ways)
        return Task(label, metric.bind(encoder.card), encoder)
    if need.kind == "histograms":
        masked_lm = open_masked_lm(need.model, ways)
        return Task(label, metric.bind(masked_lm.card), masked_lm=masked_lm)
    return Task(label, metric)


class Servings:
    """What the tasks of a run are handed for one portion of texts.

    Tasks on one encoder share a single pass over the unique texts with the layers of all of them;
    tasks that want the same histograms share those.
    """

    def __init__(
        self, tasks: Sequence[Task], candidates: Sequence[str], references: Sequence[str]
    ) -> None:
        self._texts: dict[Side, list[str]] = {
            "candidate": list(dict.fromkeys(candidates)),
            "reference": list(dict.fromkeys(references)),
        }
        self._all = list(dict.fromkeys([*candidates, *references]))
        self._layers: dict[int, set[int]] = {}
        for task in tasks:
            self._layers.setdefault(id(task.encoder), set()).update(task.metric.needs.layers)
        self._clouds: dict[int, dict[str, Cloud]] = {}
        self._histograms: dict[Hashable, Serve] = {}

    def to(self, task: Task) -> Serve:
        """A function from a text and its side to what the task's metric asked to be handed."""
        if task.encoder is not None:
            return self._serve_clouds(task, task.encoder)
        if task.masked_lm is not None:
            return self._serve_histograms(task, task.masked_lm)
        return lambda text, _: text

    def _serve_clouds(self, task: Task, encoder: Encoder) -> Serve:
        available = sorted(self._layers[id(encoder)])
        if id(encoder) not in self._clouds:
            encoded = encoder.encode(self._all, available)
            self._clouds[id(encoder)] = dict(zip(self._all, encoded, strict=True))
        clouds = self._clouds[id(encoder)]
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

    def _serve_histograms(self, task: Task, masked_lm: MaskedLm) -> Serve:
        tables = tuple(table.digest for table in task.tables.values())
        key = (id(masked_lm), task.metric.needs, tables)
        if key not in self._histograms:
            self._histograms[key] = self._make_histograms(task, masked_lm)
        return self._histograms[key]

    def _make_histograms(self, task: Task, masked_lm: MaskedLm) -> Serve:
        need = task.metric.needs
        shared = need.weighting.sides == "shared"
        wanted: dict[Side, list[str]] = {"reference": self._all} if shared else self._texts
        made: dict[Side, dict[str, Histogram]] = {}
        for side, texts in wanted.items():
            found = masked_lm.histograms(
                texts,
                partial(_token_masses, need.weighting, task.tables.get(side)),
                temperature=need.temperature,
                whole_words=need.whole_words,
            )
            made[side] = dict(zip(texts, found, strict=True))
        return lambda text, side: made[_table_side(need.weighting, side)][text]


def _table_side(weighting: Weighting, side: Side) -> Side:
    """The side whose table weighs a text: the references' serves both unless sides are apart."""
    return "reference" if weighting.sides == "shared" else side


def _token_masses(weighting: Weighting, table: IdfTable | None, tokens: Tokens) -> Floats:
    return masses(tokens, weighting, table)


def _idf_table(model: Encoder | MaskedLm, texts: Sequence[str]) -> IdfTable:
    parts = (texts[start : start + 4096] for start in range(0, len(texts), 4096))
    return IdfTable.fit(tokens.ids for part in parts for tokens in model.tokenize(part))
