"""The conductor: hands texts out in portions, collects the metrics' rows, makes scores of them.

Metrics that name the same model share one pass of it over the unique texts. Work goes through in
chunks of segments, so memory does not grow with the corpus, and rows that say the same are scored
once, so equal rows get bit-equal scores.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from nlgauge.core.cloud import Bools, Floats
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, UsageError
from nlgauge.core.languages import ENGLISH, in_latin_letters
from nlgauge.core.metric import Metric, PairMetric
from nlgauge.core.plan import Plan
from nlgauge.core.scores import Scores
from nlgauge.core.signature import Signature
from nlgauge.inputs import Learnt, Servings, Spec, Task, open_task
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.runtime.memory import Tidier
from nlgauge.runtime.threads import limit_threads, one_ahead

Progress = Callable[[int, int], None]

_CHUNK_ROWS = 256
_HISTOGRAM_ROWS = 32  # a histogram is as long as the vocabulary, and each takes many passes anyway
_SEGMENT_ROWS = 4096  # of one segment are kept together, as they share texts
_CHUNK_CHARACTERS = 200_000
_MANY_ROWS = 512  # from which on memory is worth being tidied
_TIDY_SECONDS = 0.5
_FEW_DOCUMENTS = 10
_KNOW_ENGLISH = ("embedded", "glove")


class Scorer:
    """Metrics made ready: models loaded and, after ``fit``, corpus tables fixed.

    Keep one to score again and again; ``nlgauge.score`` makes one for a single call. ``cache``
    names a folder in which embeddings are kept between runs (None: that of ``NLGAUGE_CACHE``, if
    it is set; an empty name: none). ``lang``, as ``"ja"``, gives each metric the tokenizer, model
    or prices that suit the language, where its spec does not say otherwise.
    """

    def __init__(
        self,
        metrics: Spec | Sequence[Spec] = "bleu",
        *,
        runtime: Runtime = DEFAULT,
    ) -> None:
        specs = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
        if not specs:
            raise UsageError("no metric was named; see nlgauge.metric_names() for the list")
        self._tasks = [open_task(spec, runtime) for spec in specs]
        self._runtime = runtime
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
        return self._with([task.fit(groups) for task in self._tasks])

    @property
    def learns(self) -> bool:
        """Whether any score depends on tables of a corpus."""
        return any(task.learns for task in self._tasks)

    def learn(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]]
    ) -> tuple[Learnt, ...]:
        """The tables of these texts, one entry per metric; ``Learnt.pool`` adds parts up.

        ``references`` holds every segment once, so it need not be as long as ``candidates``.
        """
        fitted = [task.fit(references).fit_candidates(candidates) for task in self._tasks]
        return tuple(task.learnt for task in fitted)

    def taught(self, learnt: Sequence[Learnt]) -> Scorer:
        """A scorer with these tables, one entry per metric, wherever they were learnt."""
        pairs = zip(self._tasks, learnt, strict=True)
        return self._with([task.taught(each) for task, each in pairs])

    def signatures(self, references: str) -> dict[str, Signature]:
        """How the numbers of every metric are made, over so many ``references`` a segment."""
        return {task.label: task.signature(references) for task in self._tasks}

    def _with(self, tasks: list[Task]) -> Scorer:
        fitted = object.__new__(Scorer)
        fitted._tasks = tasks
        fitted._runtime = self._runtime
        fitted._fitted = True
        return fitted

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
            tasks = [task.fit(groups) for task in tasks]
        work = _Work(corpus, [task.fit_candidates(corpus.candidates) for task in tasks])
        with limit_threads(self._runtime.threads):
            work.run(progress)
        return {
            system: {task.label: work.scores(number, system) for number, task in enumerate(tasks)}
            for system in corpus.system_names
        }


_NAMED_ELSEWHERE = {
    **dict.fromkeys(("predictions", "hypotheses", "preds", "cands", "hyps"), "candidates"),
    **dict.fromkeys(("refs", "target", "targets"), "references"),
}
Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def _by_other_names(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """The function, taking candidates and references also by the names other libraries use."""

    @wraps(function)
    def call(*texts: Given.args, **named: Given.kwargs) -> Returned:
        ours: dict[str, Any] = {}
        for name, value in named.items():
            key = _NAMED_ELSEWHERE.get(name, name)
            if key in ours:
                raise UsageError(f"{key} are given twice, once as {name}")
            ours[key] = value
        return function(*texts, **ours)

    return call


@_by_other_names
def score(
    candidates: Sequence[str],
    references: Sequence[str | Sequence[str | None]],
    *,
    metrics: Spec | Sequence[Spec] = "bleu",
    ids: Sequence[str] | None = None,
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> dict[str, Scores]:
    """Scores of the candidates by metric label.

    ``references[i]`` is the reference of ``candidates[i]``, or a list of several. With a folder as
    ``cache``, texts that a model has seen before are read from there. ``lang`` is the language of
    the texts, as ``"ja"``; the signatures say what it changed.
    """
    scorer = Scorer(metrics, runtime=runtime)
    return scorer.score(candidates, references, ids=ids, progress=progress)


def score_systems(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str | Sequence[str | None]],
    *,
    metrics: Spec | Sequence[Spec] = "bleu",
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> dict[str, dict[str, Scores]]:
    """Scores by system and metric label, of systems that answered the same segments."""
    corpora = [
        Corpus.of(texts, references, systems=[name] * len(texts)) for name, texts in systems.items()
    ]
    scorer = Scorer(metrics, runtime=runtime)
    return scorer.score_corpus(Corpus.join(corpora), progress=progress)


def align(candidate: str, reference: str | Sequence[str], *, metric: Spec = "mover") -> Plan:
    """Which token of the candidate was matched with which of its best reference, and how much."""
    group = [reference] if isinstance(reference, str) else list(reference)
    (scores,) = score([candidate], [group], metrics=metric).values()
    return scores.plan(0)


def _align(task: Task, candidate: str, references: Sequence[str]) -> Plan:
    """The alignment of a candidate with the reference that suits it best."""
    metric = task.metric
    if not isinstance(metric, PairMetric) or type(metric).align is PairMetric.align:
        raise UsageError(f"{metric.name} does not match tokens, so it has no alignment to show")
    serve = Servings([task], [candidate], references).to(task)
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

    def __init__(self, corpus: Corpus, tasks: Sequence[Task]) -> None:
        self._corpus = corpus
        self._tasks = tasks
        first: dict[tuple[str, tuple[str, ...]], int] = {}
        self._twin = np.empty(len(corpus), dtype=np.int64)  # row -> the equal row scored for it
        for row in corpus.by_segment():
            key = (corpus.candidates[row], corpus.references[row])
            self._twin[row] = first.setdefault(key, row)
        self._unique = list(first.values())
        self._of_system: dict[str, list[int]] = defaultdict(list)
        for row, name in enumerate(corpus.systems):
            self._of_system[name].append(row)
        large = any(each.masked_lm for task in tasks for each in (task, *task.members))
        self._rows = _HISTOGRAM_ROWS if large else _CHUNK_ROWS
        self._statistics: dict[int, Floats] = {}
        self._notes: list[dict[str, Bools]] = [
            defaultdict(lambda: np.zeros(len(corpus), dtype=bool)) for _ in tasks
        ]

    @cached_property
    def _signatures(self) -> list[Signature]:
        """How every task's numbers are made, the same for all systems."""
        references = self._corpus.reference_count()
        return [task.signature(references) for task in self._tasks]

    def run(self, progress: Progress | None) -> None:
        """Score all chunks, telling ``progress`` how many rows are done of how many."""
        done = 0
        tidier = Tidier(_TIDY_SECONDS)
        if progress is not None:
            progress(0, len(self._unique))
        for rows, servings in one_ahead(self._served, self._chunks()):
            for number, task in enumerate(self._tasks):
                if number and progress is not None:  # which may end what nobody waits for any more
                    progress(done, len(self._unique))
                self._score(number, task, rows, servings)
            done += len(rows)
            if done > _MANY_ROWS:
                tidier.tidy()
            if progress is not None:
                progress(done, len(self._unique))

    def _served(self, rows: list[int]) -> tuple[list[int], Servings]:
        """A chunk with its texts encoded, while the metrics still work on the one before."""
        servings = Servings(
            self._tasks,
            [self._corpus.candidates[row] for row in rows],
            [text for row in rows for text in self._corpus.references[row]],
        )
        servings.encode()
        return rows, servings

    def scores(self, number: int, system: str) -> Scores:
        """What task ``number`` said of one system."""
        task = self._tasks[number]
        rows = self._of_system[system]
        twins = self._twin[rows]
        counts = {note: int(mask[twins].sum()) for note, mask in self._notes[number].items()}
        return Scores(
            metric=task.metric,
            label=task.label,
            system=system,
            ids=tuple(self._corpus.ids[row] for row in rows),
            statistics=self._statistics[number][twins],
            signature=self._signatures[number],
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
            full = len(chunk) >= self._rows or characters + size > _CHUNK_CHARACTERS
            same = chunk and self._corpus.ids[chunk[-1]] == self._corpus.ids[row]
            if chunk and full and (not same or len(chunk) >= _SEGMENT_ROWS):
                yield chunk
                chunk, characters = [], 0
            chunk.append(row)
            characters += size
        if chunk:
            yield chunk

    def _score(self, number: int, task: Task, rows: list[int], servings: Servings) -> None:
        serve = servings.to(task)
        candidates = [serve(self._corpus.candidates[row], "candidate") for row in rows]
        references = [
            [serve(text, "reference") for text in self._corpus.references[row]] for row in rows
        ]
        made = task.metric.rows(candidates, references)
        if number not in self._statistics:
            self._statistics[number] = np.zeros((len(self._corpus), made.statistics.shape[1]))
        self._statistics[number][rows] = made.statistics
        for note, mask in made.notes.items():
            self._notes[number][note][rows] |= mask
        self._remark(number, task, rows, zip(candidates, references, strict=True))

    def _remark(
        self, number: int, task: Task, rows: list[int], items: Iterable[tuple[Any, list[Any]]]
    ) -> None:
        """Carry what models and small tables have to say over to the rows concerned."""
        if task.members:
            served = list(items)
            for k, member in enumerate(task.members):
                own = [(candidate[k], [text[k] for text in group]) for candidate, group in served]
                self._remark(number, member, rows, own)
        if task.model is None:
            return
        notes = self._notes[number]
        for row, (candidate, references) in zip(rows, items, strict=True):
            for remark in {r for item in (candidate, *references) for r in item.remarks}:
                notes[f"a text is {remark}"][row] = True
        card = task.model.card
        if card.name in _KNOW_ENGLISH:
            self._remark_languages(notes, task, rows)
        if task.encoder is not None and not card.published:
            layers = "+".join(map(str, task.metric.needs.layers))
            notes[f"layer {layers} of {card.depth} is a guess for this model"][rows] = True
        for table in task.tables.values():
            if table.documents < _FEW_DOCUMENTS:
                notes[f"idf weights come from only {table.documents} texts"][rows] = True

    def _remark_languages(self, notes: dict[str, Bools], task: Task, rows: list[int]) -> None:
        """Say where a model that knows English meets another language, as told or as written."""
        model = f"the model {task.metric.needs.model} knows English only"
        if task.lang is not None:
            if task.lang != ENGLISH:
                notes[f"{model}, not {task.lang}"][rows] = True
            return
        for row in rows:
            texts = (self._corpus.candidates[row], *self._corpus.references[row])
            if not all(map(in_latin_letters, texts)):
                notes[f"{model}, but a text is not in Latin letters; see --lang"][row] = True
