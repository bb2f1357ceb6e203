"""The conductor: asks metrics what they need, has every text encoded once, collects their rows.

Metrics that name the same model share one pass of it over the unique texts. Work goes through in
chunks of segments, so memory does not grow with the corpus, and rows that say the same are scored
once, so equal rows get bit-equal scores.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np

from nlgauge.core.cloud import Bools, Cloud, Floats
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, UsageError
from nlgauge.core.metric import Metric, PairMetric, Side
from nlgauge.core.plan import Plan
from nlgauge.core.scores import Scores
from nlgauge.core.signature import Signature
from nlgauge.encode import open_encoder
from nlgauge.encode.encoder import Encoder
from nlgauge.metrics import metric as build_metric
from nlgauge.text.filters import weigh
from nlgauge.text.idf import IdfTable

Progress = Callable[[int, int], None]
Spec = str | Metric

_CHUNK_ROWS = 256
_CHUNK_CHARACTERS = 200_000
_FEW_DOCUMENTS = 10


@dataclass(frozen=True)
class _Task:
    """A bound metric with the encoder and the idf tables it is served from."""

    label: str
    metric: Metric
    encoder: Encoder | None = None
    tables: Mapping[Side, IdfTable] = field(default_factory=dict)

    @property
    def facts(self) -> dict[str, str]:
        """What its signature says beyond options: digests and library versions."""
        facts = dict(self.metric.facts())
        if self.encoder is not None:
            facts["model_sha"] = self.encoder.card.digest
        facts |= {f"idf_sha_{side}": table.digest for side, table in self.tables.items()}
        if "sacrebleu" not in self.metric.libraries:  # its signature is sacrebleu's own
            facts["nlgauge"] = version("nlgauge")
            used = self.metric.libraries + (self.encoder.card.libraries if self.encoder else ())
            facts |= {name: version(name) for name in dict.fromkeys(used)}
        return facts


class Scorer:
    """Metrics made ready: models loaded and, after ``fit``, corpus tables fixed.

    Keep one to score again and again; ``nlgauge.score`` makes one for a single call.
    """

    def __init__(
        self,
        metrics: Spec | Sequence[Spec] = "bleu",
        *,
        device: str = "auto",
        batch_tokens: int = 2048,
    ) -> None:
        specs = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
        if not specs:
            raise UsageError("no metric was named; see nlgauge.metric_names() for the list")
        self._tasks = [_open_task(spec, device, batch_tokens) for spec in specs]
        self._fitted = False
        labels = Counter(task.label for task in self._tasks)
        doubled = [label for label, count in labels.items() if count > 1]
        if doubled:
            raise UsageError(f"the metric {doubled[0]!r} is named {labels[doubled[0]]} times")

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics by label, with the options that depend on models filled in."""
        return {task.label: task.metric for task in self._tasks}

    def fit(self, references: Iterable[str | Sequence[str]]) -> Scorer:
        """A scorer whose corpus tables (idf, n-gram information) come from these references.

        Without it, every call of ``score`` fits on its own references.
        """
        groups = [(texts,) if isinstance(texts, str) else tuple(texts) for texts in references]
        return self._with([_fit_task(task, groups) for task in self._tasks], fitted=True)

    def score(
        self,
        candidates: Sequence[str],
        references: Sequence[str | Sequence[str | None]],
        *,
        ids: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Scores]:
        """Scores of one system by metric label."""
        corpus = Corpus.of(candidates, references, ids=ids)
        (scores,) = self.score_corpus(corpus, progress=progress).values()
        return scores

    def score_corpus(
        self, corpus: Corpus, *, progress: Progress | None = None
    ) -> dict[str, dict[str, Scores]]:
        """Scores by system and metric label; references shared by systems are encoded once."""
        tasks = self._tasks
        if not self._fitted:
            groups = list(corpus.segment_references())
            tasks = [_fit_task(task, groups) for task in tasks]
        tasks = [_fit_candidates(task, corpus.candidates) for task in tasks]
        work = _Work(corpus, tasks)
        work.run(progress)
        return {
            system: {task.label: work.scores(number, system) for number, task in enumerate(tasks)}
            for system in corpus.system_names
        }

    def _with(self, tasks: list[_Task], *, fitted: bool) -> Scorer:
        copy = object.__new__(Scorer)
        copy._tasks, copy._fitted = tasks, fitted
        return copy


def score(
    candidates: Sequence[str],
    references: Sequence[str | Sequence[str | None]],
    *,
    metrics: Spec | Sequence[Spec] = "bleu",
    ids: Sequence[str] | None = None,
    device: str = "auto",
    batch_tokens: int = 2048,
    progress: Progress | None = None,
) -> dict[str, Scores]:
    """Scores of the candidates by metric label.

    ``references[i]`` is the reference of ``candidates[i]``, or a list of several.
    """
    scorer = Scorer(metrics, device=device, batch_tokens=batch_tokens)
    return scorer.score(candidates, references, ids=ids, progress=progress)


def score_systems(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str | Sequence[str | None]],
    *,
    metrics: Spec | Sequence[Spec] = "bleu",
    device: str = "auto",
    batch_tokens: int = 2048,
    progress: Progress | None = None,
) -> dict[str, dict[str, Scores]]:
    """Scores by system and metric label, of systems that answered the same segments."""
    corpora = [
        Corpus.of(texts, references, systems=[name] * len(texts)) for name, texts in systems.items()
    ]
    joined = Corpus.of(
        [text for corpus in corpora for text in corpus.candidates],
        [texts for corpus in corpora for texts in corpus.references],
        systems=[name for corpus in corpora for name in corpus.systems],
        ids=[name for corpus in corpora for name in corpus.ids],
    )
    scorer = Scorer(metrics, device=device, batch_tokens=batch_tokens)
    return scorer.score_corpus(joined, progress=progress)


def align(candidate: str, reference: str | Sequence[str], *, metric: Spec = "bertscore") -> Plan:
    """Which token of the candidate was matched with which of its best reference, and how much."""
    group = [reference] if isinstance(reference, str) else list(reference)
    (scores,) = score([candidate], [group], metrics=metric).values()
    return scores.plan(0)


def _open_task(spec: Spec, device: str, batch_tokens: int) -> _Task:
    metric = build_metric(spec)
    label = spec if isinstance(spec, str) and "|" not in spec else metric.label()
    need = metric.needs
    if need.kind == "text":
        return _Task(label, metric)
    encoder = open_encoder(
        need.model,
        long_text=need.long_text,
        precision=need.precision,
        device=device,
        batch_tokens=batch_tokens,
    )
    return _Task(label, metric.bind(encoder.card), encoder)


def _fit_task(task: _Task, groups: Sequence[Sequence[str]]) -> _Task:
    if task.encoder is None:
        return dataclasses.replace(task, metric=task.metric.fit(groups))
    if not task.metric.needs.weighting.fitted:
        return task
    table = _idf_table(task.encoder, [text for texts in groups for text in texts])
    return dataclasses.replace(task, tables={"reference": table})


def _fit_candidates(task: _Task, candidates: Sequence[str]) -> _Task:
    """The task with a table of the candidates' own, where a compatibility mode asks for one."""
    weighting = task.metric.needs.weighting
    if task.encoder is None or not weighting.fitted or weighting.sides == "shared":
        return task
    tables = {**task.tables, "candidate": _idf_table(task.encoder, candidates)}
    return dataclasses.replace(task, tables=tables)


def _idf_table(encoder: Encoder, texts: Sequence[str]) -> IdfTable:
    parts = (texts[start : start + 4096] for start in range(0, len(texts), 4096))
    return IdfTable.fit(tokens.ids for part in parts for tokens in encoder.tokenize(part))


def _server(
    task: _Task, clouds: Mapping[str, Cloud], available: Sequence[int]
) -> Callable[[str, Side], Any]:
    """A function from a text and its side to what the task's metric asked to be handed.

    ``available`` are the layers that ``clouds`` hold.
    """
    if task.encoder is None:
        return lambda text, _: text
    need = task.metric.needs
    places = [available.index(layer) for layer in need.layers]
    shared = need.weighting.sides == "shared"
    served: dict[tuple[str, Side], Cloud] = {}

    def serve(text: str, side: Side) -> Cloud:
        key = (text, "reference" if shared else side)
        if key not in served:
            table = task.tables.get(key[1])
            served[key] = weigh(clouds[text].at(places), need.weighting, table)
        return served[key]

    return serve


def _align(task: _Task, candidate: str, references: Sequence[str]) -> Plan:
    """The alignment of a candidate with the reference that suits it best."""
    metric = task.metric
    if not isinstance(metric, PairMetric):
        raise UsageError(f"{metric.name} does not match tokens, so it has no alignment to show")
    texts = list(dict.fromkeys([candidate, *references]))
    layers = metric.needs.layers
    clouds = task.encoder.encode(texts, layers) if task.encoder else []
    serve = _server(task, dict(zip(texts, clouds, strict=False)), layers)
    left = serve(candidate, "candidate")
    rights = [serve(text, "reference") for text in references]
    rows = metric.rows([left] * len(rights), [[right] for right in rights]).statistics
    best = rights[int(np.argmax(metric.scale.sign * metric.finish_segments(rows)[:, 0]))]
    prepared = metric.prepare(left, "candidate"), metric.prepare(best, "reference")
    if None in prepared:
        raise DataError("there is nothing to align: a text is empty or without weight")
    return metric.align(*prepared)


class _Work:
    """One run over a corpus: the rows of every task, filled chunk by chunk."""

    def __init__(self, corpus: Corpus, tasks: Sequence[_Task]) -> None:
        self._corpus = corpus
        self._tasks = tasks
        first: dict[tuple[str, tuple[str, ...]], int] = {}
        self._twin = np.empty(len(corpus), dtype=np.int64)  # row -> the equal row scored for it
        for row in corpus.by_segment():
            key = (corpus.candidates[row], corpus.references[row])
            self._twin[row] = first.setdefault(key, row)
        self._unique = list(first.values())
        self._statistics: list[Floats | None] = [None] * len(tasks)
        self._notes: list[dict[str, Bools]] = [
            defaultdict(lambda: np.zeros(len(corpus), dtype=bool)) for _ in tasks
        ]

    def run(self, progress: Progress | None) -> None:
        """Score all chunks, telling ``progress`` how many rows are done of how many."""
        done = 0
        for rows in self._chunks():
            clouds = self._encode(rows)
            for number, task in enumerate(self._tasks):
                self._score(number, task, rows, clouds.get(id(task.encoder), {}))
            done += len(rows)
            if progress is not None:
                progress(done, len(self._unique))

    def scores(self, number: int, system: str) -> Scores:
        """What task ``number`` said of one system."""
        task, statistics = self._tasks[number], self._statistics[number]
        rows = list(self._corpus.rows_of(system))
        twins = self._twin[rows]
        if statistics is None:
            raise UsageError("scores were asked for before the work was run")
        counts = {note: int(mask[twins].sum()) for note, mask in self._notes[number].items()}
        return Scores(
            metric=task.metric,
            label=task.label,
            system=system,
            ids=tuple(self._corpus.ids[row] for row in rows),
            statistics=statistics[twins],
            signature=Signature.of(
                task.metric.name,
                {"nrefs": self._corpus.reference_count()},
                task.metric.describe(),
                task.facts,
            ),
            notes={note: count for note, count in counts.items() if count},
            aligner=lambda segment: _align(
                task,
                self._corpus.candidates[rows[segment]],
                self._corpus.references[rows[segment]],
            ),
        )

    def _chunks(self) -> Iterator[list[int]]:
        """Rows in portions, cut between segments, so that shared references fall into one."""
        chunk: list[int] = []
        characters = 0
        for row in self._unique:
            size = len(self._corpus.candidates[row]) + sum(map(len, self._corpus.references[row]))
            full = len(chunk) >= _CHUNK_ROWS or characters + size > _CHUNK_CHARACTERS
            same = chunk and self._corpus.ids[chunk[-1]] == self._corpus.ids[row]
            if chunk and full and (not same or len(chunk) >= 4 * _CHUNK_ROWS):
                yield chunk
                chunk, characters = [], 0
            chunk.append(row)
            characters += size
        if chunk:
            yield chunk

    def _encode(self, rows: list[int]) -> dict[int, dict[str, Cloud]]:
        """Clouds of the chunk's texts by encoder, with the layers of all its metrics."""
        texts = dict.fromkeys(
            text
            for row in rows
            for text in (self._corpus.candidates[row], *self._corpus.references[row])
        )
        encoded = {}
        for encoder, layers in self._layers().values():
            clouds = encoder.encode(list(texts), layers)
            encoded[id(encoder)] = dict(zip(texts, clouds, strict=True))
        return encoded

    def _layers(self) -> dict[int, tuple[Encoder, tuple[int, ...]]]:
        """For every encoder, the layers that its metrics want together."""
        wanted: dict[int, tuple[Encoder, tuple[int, ...]]] = {}
        for task in self._tasks:
            if task.encoder is not None:
                _, before = wanted.get(id(task.encoder), (None, ()))
                union = tuple(sorted({*before, *task.metric.needs.layers}))
                wanted[id(task.encoder)] = (task.encoder, union)
        return wanted

    def _score(self, number: int, task: _Task, rows: list[int], clouds: dict[str, Cloud]) -> None:
        serve = _server(task, clouds, self._layers().get(id(task.encoder), (None, ()))[1])
        candidates = [serve(self._corpus.candidates[row], "candidate") for row in rows]
        references = [
            [serve(text, "reference") for text in self._corpus.references[row]] for row in rows
        ]
        made = task.metric.rows(candidates, references)
        if self._statistics[number] is None:
            self._statistics[number] = np.zeros((len(self._corpus), made.statistics.shape[1]))
        whole = self._statistics[number]
        if whole is not None:
            whole[rows] = made.statistics
        for note, mask in made.notes.items():
            self._notes[number][note][rows] |= mask
        self._remark(number, task, rows, zip(candidates, references, strict=True))

    def _remark(
        self, number: int, task: _Task, rows: list[int], items: Iterable[tuple[Any, list[Any]]]
    ) -> None:
        """Carry what encoders and small tables have to say over to the rows concerned."""
        if task.encoder is None:
            return
        notes = self._notes[number]
        for row, (candidate, references) in zip(rows, items, strict=True):
            for remark in {r for cloud in (candidate, *references) for r in cloud.remarks}:
                notes[f"a text is {remark}"][row] = True
        if not task.encoder.card.published:
            layers = "+".join(map(str, task.metric.needs.layers))
            notes[f"layer {layers} of {task.encoder.card.depth} is a guess for this model"][
                rows
            ] = True
        for table in task.tables.values():
            if table.documents < _FEW_DOCUMENTS:
                notes[f"idf weights come from only {table.documents} texts"][rows] = True
