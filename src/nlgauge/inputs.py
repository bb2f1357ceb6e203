"""Inputs of metrics: texts, clouds or histograms; only this module opens models.

A metric declares its `Need`; every distinct text is encoded once for all metrics.
"""

import dataclasses
import os
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from nlgauge.core.cloud import Cloud
from nlgauge.core.device import Device
from nlgauge.core.errors import ModelError
from nlgauge.core.histogram import Histogram
from nlgauge.core.languages import ENGLISH, language_code
from nlgauge.core.metric import Metric, Side
from nlgauge.core.options import options_of
from nlgauge.core.requirements import ModelCard, Weighting
from nlgauge.core.signature import Signature
from nlgauge.core.versions import version_of
from nlgauge.encode import open_encoder, open_masked_lm
from nlgauge.encode import solver_device as open_solver_device
from nlgauge.encode.model_files import MODEL_VARIABLE, is_default_model_installed
from nlgauge.encode.protocols import Encoder, MaskedLm
from nlgauge.encode.run_options import RunOptions
from nlgauge.metrics import CloudMetric, metric_in
from nlgauge.metrics import metric as build_metric
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.text.filters import counted_ids, masses, weigh
from nlgauge.text.idf import IdfTable

Spec = str | Metric
GetInput = Callable[[str, Side], Any]
Histograms = dict[float, dict[Side, dict[str, Histogram]]]

_TOKENIZED_AT_ONCE = 4096  # texts


@dataclass(frozen=True)
class Tables:
    """The corpus tables of one metric (idf, n-gram counts) without its model."""

    metric: Metric
    idf: Mapping[Side, IdfTable]
    members: "tuple[Tables, ...]" = ()

    @classmethod
    def pool(cls, parts: "Sequence[Tables]") -> "Tables":
        """Return the tables of the concatenated corpora of all parts."""
        return cls(
            parts[0].metric.pool([part.metric for part in parts]),
            {side: IdfTable.pool([part.idf[side] for part in parts]) for side in parts[0].idf},
            tuple(map(cls.pool, zip(*(part.members for part in parts), strict=True))),
        )


@dataclass(frozen=True)
class BoundMetric:
    """A metric with its model and idf tables, or with its bound members."""

    label: str
    metric: Metric
    encoder: Encoder | None = None
    masked_lm: MaskedLm | None = None
    idf: Mapping[Side, IdfTable] = field(default_factory=dict)
    members: "tuple[BoundMetric, ...]" = ()
    lang: str | None = None  # language code of the texts, if given
    guessed: bool = False  # layers that neither the options nor the registry name

    def with_members(self, members: "Iterable[BoundMetric]") -> "BoundMetric":
        """Return a combined metric with its members bound or fitted."""
        bound = tuple(members)
        metric = self.metric.with_members([each.metric for each in bound])
        return dataclasses.replace(self, metric=metric, members=bound)

    @property
    def model(self) -> Encoder | MaskedLm | None:
        """The model behind the metric, of either kind."""
        return self.encoder or self.masked_lm

    @property
    def facts(self) -> dict[str, str]:
        """The keys of the signature that are not options: digests and library versions."""
        facts = dict(self.metric.facts())
        if self.model is not None:
            facts["model_sha"] = self.model.card.digest
        facts |= {f"idf_sha_{side}": table.digest for side, table in self.idf.items()}
        for number, member in enumerate(self.members, start=1):
            member_facts = member.facts.items()
            facts |= {f"{number}.{key}": fact for key, fact in member_facts if key != "nlgauge"}
        if "sacrebleu" not in self.metric.libraries:  # its signature is sacrebleu's own
            facts["nlgauge"] = version_of("nlgauge")
            libraries = self.metric.libraries + (self.model.card.libraries if self.model else ())
            facts |= {name: version_of(name) for name in dict.fromkeys(libraries)}
        return facts

    def signature(self, references: str, *, sources: bool = False) -> Signature:
        """Return the signature for this number of references per segment, and sources if any."""
        texts = {"nrefs": references}
        if sources and self.metric.source_use != "ignored":
            texts["sources"] = "yes"
        return Signature.of(self.metric.name, texts, self.metric.describe(), self.facts)

    @property
    def needs_tables(self) -> bool:
        """Whether scores depend on tables of a corpus."""
        if self.members:
            return any(member.needs_tables for member in self.members)
        if self.model is not None:
            return self.metric.needs.weighting.fitted
        return type(self.metric).fit is not Metric.fit

    @property
    def tables(self) -> Tables:
        """The fitted tables, which can be sent to other processes."""
        return Tables(self.metric, self.idf, tuple(member.tables for member in self.members))

    def with_tables(self, tables: Tables) -> "BoundMetric":
        """Return the metric with the given tables."""
        if self.members:
            pairs = zip(self.members, tables.members, strict=True)
            return self.with_members(member.with_tables(each) for member, each in pairs)
        return dataclasses.replace(self, metric=tables.metric, idf=tables.idf)

    def fit(self, groups: Sequence[Sequence[str]]) -> "BoundMetric":
        """Return the metric with tables fitted on the references of each segment."""
        if self.members:
            return self.with_members(member.fit(groups) for member in self.members)
        if self.model is None:
            return dataclasses.replace(self, metric=self.metric.fit(groups))
        if not self.metric.needs.weighting.fitted:
            return self
        texts = [text for texts in groups for text in texts]
        table = _idf_table(self.model, texts, self.metric.needs.weighting)
        return dataclasses.replace(self, idf={"reference": table})

    def fit_candidates(self, candidates: Sequence[str]) -> "BoundMetric":
        """Return the metric with an idf table of the candidates, if a compat mode needs one."""
        if self.members:
            return self.with_members(member.fit_candidates(candidates) for member in self.members)
        weighting = self.metric.needs.weighting
        separate = weighting.fitted and weighting.sides == "separate"
        if self.model is None or not separate or "candidate" in self.idf:
            return self
        table = _idf_table(self.model, candidates, weighting)
        return dataclasses.replace(self, idf={**self.idf, "candidate": table})


def bind_metric(spec: Spec, runtime: Runtime = DEFAULT) -> BoundMetric:
    """Return the metric of a specification with its model opened and its layers resolved.

    Unset options depend on the language and precision of the runtime.
    """
    lang = None if runtime.lang is None else language_code(runtime.lang)
    metric = build_metric(spec) if runtime.lang is None else metric_in(runtime.lang, spec)
    open_options = isinstance(spec, str) and "|" not in spec
    unset = open_options and runtime.precision is not None and "precision=" not in str(spec)

    def bind(label: str, metric: Metric) -> BoundMetric:
        if metric.members:
            bound = (bind(member.label(), member) for member in metric.members)
            return BoundMetric(label, metric).with_members(bound)
        if unset and "precision" in options_of(type(metric)):
            metric = dataclasses.replace(metric, **{"precision": runtime.precision})
        need = metric.needs
        if need.kind == "text":
            return BoundMetric(label, metric)
        english = lang in (None, ENGLISH) or os.environ.get(MODEL_VARIABLE)
        default = None if english else f"lang:{lang}"
        model = default if need.model is None else need.model
        batches = runtime.device, runtime.batch_tokens, need.strip, runtime.may_download
        options = RunOptions(need.long_text, need.precision, *batches)
        try:
            if need.kind == "clouds":
                encoder = open_encoder(model, options, cache=runtime.cache)
                _require_language(encoder.card, lang)
                leaves_open = isinstance(metric, CloudMetric) and metric.leaves_layers_open
                guessed = leaves_open and not encoder.card.published
                bound_metric = metric.bind(encoder.card)
                return BoundMetric(label, bound_metric, encoder, lang=lang, guessed=guessed)
            masked_lm = open_masked_lm(model, options, cache=runtime.cache)
            return BoundMetric(label, metric.bind(masked_lm.card), masked_lm=masked_lm, lang=lang)
        except ModelError as error:
            if model == need.model:
                raise
            reason = str(error).partition(";")[0]
            allow = "Allow the download (--download or NLGAUGE_DOWNLOAD=1)"
            advice = "Check the network" if runtime.may_download else allow
            raise ModelError(
                f"texts in {lang!r}: {reason}. {advice}, or name a model that knows the language "
                f"(model=, {MODEL_VARIABLE}); the embedded model is English, and is taken for "
                "another language only if asked for: model=embedded"
            ) from error

    return bind(str(spec) if open_options else metric.label(), metric)


def _require_language(card: ModelCard, lang: str | None) -> None:
    """Raise an error if the model does not support this language."""
    if lang is not None and len(card.languages) > 1 and lang not in card.languages:
        raise ModelError(
            f"the model {card.name!r} does not know the language {lang!r}, only "
            f"{', '.join(card.languages)}; name another model (model=), or use chrf"
        )


def default_metrics(runtime: Runtime = DEFAULT) -> tuple[str, ...]:
    """Return the default metrics; gauge is included if there is a model for the language."""
    lang = None if runtime.lang is None else language_code(runtime.lang)
    suited = lang in (None, ENGLISH) or os.environ.get(MODEL_VARIABLE)
    lexical = "bleu", "chrf"
    return ("gauge", *lexical) if suited and is_default_model_installed() else lexical


def solver_device(metrics: Iterable[BoundMetric], runtime: Runtime) -> Device | None:
    """Return the device for the solvers of these metrics, None for the processor."""
    members = (each.metric for bound in metrics for each in bound.members or (bound,))
    if any(isinstance(metric, CloudMetric) and metric.regularised for metric in members):
        return open_solver_device(runtime.device)
    return None


class ModelInputs:
    """The inputs of all metrics for one chunk of texts; metrics of the same model share passes."""

    def __init__(
        self, metrics: Sequence[BoundMetric], candidates: Sequence[str], references: Sequence[str]
    ) -> None:
        self._texts: dict[Side, list[str]] = {
            "candidate": list(dict.fromkeys(candidates)),
            "reference": list(dict.fromkeys(references)),
        }
        self._all = list(dict.fromkeys([*candidates, *references]))
        self._encoders: dict[int, Encoder] = {}
        self._layers: dict[int, set[int]] = defaultdict(set)
        self._temperatures: dict[Hashable, dict[float, None]] = defaultdict(dict)
        for bound in metrics:
            for each in bound.members or (bound,):
                if each.encoder is not None:
                    self._encoders[id(each.encoder)] = each.encoder
                    self._layers[id(each.encoder)].update(each.metric.needs.layers)
                if each.masked_lm is not None:
                    self._temperatures[_pass_key(each)][each.metric.needs.temperature] = None
        self._clouds: dict[int, dict[str, Cloud]] = {}
        self._histograms: dict[Hashable, Histograms] = {}

    def encode(self) -> None:
        """Encode all texts; histograms, which are far larger, are computed on first use."""
        for encoder in self._encoders.values():
            self._clouds_of(encoder)

    def for_metric(self, bound: BoundMetric) -> GetInput:
        """Return a function from a text and its side to the metric's input."""
        if bound.members:
            getters = [self.for_metric(member) for member in bound.members]
            return lambda text, side: tuple(get(text, side) for get in getters)
        if bound.encoder is not None:
            return self._get_cloud(bound, bound.encoder)
        if bound.masked_lm is not None:
            return self._get_histogram(bound, bound.masked_lm)
        return lambda text, _: text

    def _get_cloud(self, bound: BoundMetric, encoder: Encoder) -> GetInput:
        available, clouds = self._clouds_of(encoder)
        need = bound.metric.needs
        positions = [available.index(layer) for layer in need.layers]
        weighted: dict[tuple[str, Side], Cloud] = {}

        def get(text: str, side: Side) -> Cloud:
            key = (text, _table_side(need.weighting, side))
            if key not in weighted:
                table = bound.idf.get(key[1])
                weighted[key] = weigh(clouds[text].at(positions), need.weighting, table)
            return weighted[key]

        return get

    def _clouds_of(self, encoder: Encoder) -> tuple[list[int], Mapping[str, Cloud]]:
        """Return the layers required of an encoder, and the clouds of all texts."""
        available = sorted(self._layers[id(encoder)])
        if id(encoder) not in self._clouds:
            encoded = encoder.encode(self._all, available)
            self._clouds[id(encoder)] = dict(zip(self._all, encoded, strict=True))
        return available, self._clouds[id(encoder)]

    def _get_histogram(self, bound: BoundMetric, masked_lm: MaskedLm) -> GetInput:
        key, need = _pass_key(bound), bound.metric.needs
        if key not in self._histograms:
            self._histograms[key] = self._make_histograms(bound, masked_lm)
        histograms = self._histograms[key][need.temperature]
        return lambda text, side: histograms[_table_side(need.weighting, side)][text]

    def _make_histograms(self, bound: BoundMetric, masked_lm: MaskedLm) -> Histograms:
        need, temperatures = bound.metric.needs, list(self._temperatures[_pass_key(bound)])
        shared = need.weighting.sides == "shared"
        texts_by_side: dict[Side, list[str]] = {"reference": self._all} if shared else self._texts
        histograms: Histograms = {temperature: {} for temperature in temperatures}
        options: dict[str, Any] = {"temperatures": temperatures, "whole_words": need.whole_words}
        options["unknown"] = need.weighting.unknown
        for side, texts in texts_by_side.items():
            weigh_side = partial(masses, weighting=need.weighting, table=bound.idf.get(side))
            for temperature, results in masked_lm.histograms(texts, weigh_side, **options).items():
                histograms[temperature][side] = dict(zip(texts, results, strict=True))
        return histograms


def _pass_key(bound: BoundMetric) -> Hashable:
    """Return a key shared by the metrics whose histograms come from the same forward passes."""
    tables = tuple(table.digest for table in bound.idf.values())
    return id(bound.masked_lm), dataclasses.replace(bound.metric.needs, temperature=1.0), tables


def _table_side(weighting: Weighting, side: Side) -> Side:
    """Return whose idf table weights a text: the references', unless sides are separate."""
    return "reference" if weighting.sides == "shared" else side


def _idf_table(model: Encoder | MaskedLm, texts: Sequence[str], weighting: Weighting) -> IdfTable:
    starts = range(0, len(texts), _TOKENIZED_AT_ONCE)
    parts = (texts[start : start + _TOKENIZED_AT_ONCE] for start in starts)
    tokens = (each for part in parts for each in model.tokenize(part))
    return IdfTable.fit(counted_ids(each, weighting) for each in tokens)
