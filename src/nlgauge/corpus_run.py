"""One run over a corpus, chunk by chunk; equal rows are scored once, with bit-equal scores."""

import inspect
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, groupby, product, takewhile
from typing import Any

import numpy as np

from nlgauge.core.arrays import Bools, Floats
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, NothingToAlign, UnknownTokensWarning, UsageError
from nlgauge.core.languages import ENGLISH, in_latin_letters
from nlgauge.core.metric import Alignment, PairMetric, Rows, Sources
from nlgauge.core.plan import Plan
from nlgauge.core.scores import Scores
from nlgauge.core.signature import Signature
from nlgauge.core.spans import WordCosts
from nlgauge.inputs import BoundMetric, ModelInputs
from nlgauge.runtime.memory import MemoryTrimmer
from nlgauge.runtime.progress import RunProgress, counted
from nlgauge.runtime.threads import one_ahead
from nlgauge.text.lexical_diff import error_factors
from nlgauge.text.tokenize import find_words

Progress = Callable[[int, int], None]
Inputs = tuple[list[Any], list[list[Any]]]  # of the candidates, and of their references

_CHUNK_ROWS = 256
_WINDOW_ROWS = 2048  # that are sorted by length
_HISTOGRAM_ROWS = 32  # a histogram is as long as the vocabulary and takes many passes
_FIRST_CHUNK_ROWS = 8  # of the first chunk, for an early estimate of the run time
_TEXT_ROWS = 32  # of a metric of texts between two reports of progress
_ENCODING_SHARE = 0.5  # of the progress of a chunk, if texts are encoded
_SEGMENT_ROWS = 4096  # rows of one segment that are kept together, because they share texts
_CHUNK_CHARACTERS = 200_000
_TRIM_FROM_ROWS = 512  # for larger corpora, freed memory is returned to the system
_TRIM_SECONDS = 0.5
_MIN_DOCUMENTS = 10
UNKNOWN_NOTE = "a text has tokens that the model does not know"


@dataclass(frozen=True, eq=False)
class Aligned:
    """One aligned pair: its plan, the index of its reference, and the scores of the segment."""

    plan: Plan
    reference: int
    scores: Scores
    word_costs: WordCosts | None = None  # None if the metric compares sentences or whole texts


class CorpusRun:
    """One run over a corpus: the rows of every metric, filled chunk by chunk."""

    def __init__(self, corpus: Corpus, metrics: Sequence[BoundMetric]) -> None:
        self._corpus = corpus
        self._metrics = metrics
        self._sources = _check_sources(corpus, metrics)
        first: dict[tuple[object, ...], int] = {}
        # Row -> the equal row scored for it; metrics that read sources need equal sources too.
        self._twin = np.empty(len(corpus), dtype=np.int64)
        self._twin_with_source = self._twin if self._sources is None else self._twin.copy()
        for row in corpus.by_segment():
            key: tuple[object, ...] = (corpus.candidates[row], corpus.references[row])
            self._twin[row] = first.setdefault(key, row)
            if self._sources is not None:
                twin = first.setdefault((*key, self._sources[row]), row)
                self._twin_with_source[row] = twin
        self._unique = self._sort_by_length(list(dict.fromkeys(first.values())))
        self._of_system: dict[str, list[int]] = defaultdict(list)
        for row, name in enumerate(corpus.systems):
            self._of_system[name].append(row)
        large = any(each.masked_lm for bound in metrics for each in (bound, *bound.members))
        self._chunk_rows = _HISTOGRAM_ROWS if large else _CHUNK_ROWS
        self._statistics: dict[int, Floats] = {}
        self._unknown: dict[str, dict[str, int]] = {}  # model -> text -> its unknown tokens
        self._notes: list[dict[str, Bools]] = [
            defaultdict(lambda: np.zeros(len(corpus), dtype=bool)) for _ in metrics
        ]

    @cached_property
    def _signatures(self) -> list[Signature]:
        references = self._corpus.reference_count()
        sources = self._corpus.sources is not None
        return [bound.signature(references, sources=sources) for bound in self._metrics]

    def score(self, progress: Progress | None) -> None:
        """Score all chunks and report the number of finished rows to `progress`."""
        finished = characters = 0
        trimmer = MemoryTrimmer(_TRIM_SECONDS)
        total = sum(map(self._characters, self._unique))
        run = RunProgress(progress, len(self._unique))
        encoding = _ENCODING_SHARE * any(
            each.encoder for bound in self._metrics for each in (bound, *bound.members)
        )

        def encode(rows: list[int]) -> tuple[list[int], ModelInputs]:
            with run.phase("the encoding of texts", encoding * len(rows)):
                return self._encode(rows)

        run.report(0)
        with run.listening():
            for rows, inputs in one_ahead(encode, self._chunks()):
                each_share = (1 - encoding) * len(rows) / len(self._metrics)
                for number, bound in enumerate(self._metrics):
                    run.report()  # it may raise to cancel the run
                    with run.phase(bound.label, each_share):
                        items = self._inputs(inputs, bound, rows)
                        sources = self._sources and [self._sources[row] for row in rows]
                        self._store(number, rows, _compute_rows(bound, items, sources), items)
                finished += len(rows)
                characters += sum(map(self._characters, rows))
                if finished > _TRIM_FROM_ROWS:
                    trimmer.trim()
                run.report(finished)
                run.estimate(finished, characters / max(total, 1))

    def align(self) -> dict[str, Aligned]:
        """Return the alignment and the scores of the only row by every metric."""
        (system,) = self._corpus.systems
        _, inputs = self._encode([0])
        aligned = {}
        for number, bound in enumerate(self._metrics):
            best = self._align_row(number, 0, inputs)
            scores, costs = self.scores(number, system), self._word_costs(number, 0, best)
            aligned[bound.label] = Aligned(best.plan, best.reference, scores, costs)
        return aligned

    def word_costs(self, progress: Progress | None = None) -> dict[str, list[WordCosts]]:
        """Return the costs of the words of every candidate, by metric."""
        costs_by_metric: list[dict[int, WordCosts]] = [{} for _ in self._metrics]
        finished = 0
        for rows, inputs in one_ahead(self._encode, self._chunks()):
            for (number, costs), row in product(enumerate(costs_by_metric), rows):
                costs[row] = self._row_word_costs(number, row, inputs)
            finished += len(rows)
            if progress is not None:
                progress(finished, len(self._unique))
        labels = (bound.label for bound in self._metrics)
        twins = self._twin.tolist()
        return {
            label: [costs[row] for row in twins]
            for label, costs in zip(labels, costs_by_metric, strict=True)
        }

    def _row_word_costs(self, number: int, row: int, inputs: ModelInputs) -> WordCosts:
        try:
            costs = self._word_costs(number, row, self._align_row(number, row, inputs))
        except NothingToAlign:  # no word has a partner
            return self._scale_costs(row, WordCosts.unmatched(self._words(row)))
        if costs is None:
            raise UsageError(
                f"{self._metrics[number].label} compares sentences or whole texts, so it cannot "
                "tell which words are wrong; take gauge, bertscore, mover or lazy_emd"
            )
        return costs

    def _words(self, row: int) -> list[tuple[int, int]]:
        return [(word.start, word.end) for word in find_words(self._corpus.candidates[row])]

    def _word_costs(self, number: int, row: int, best: Alignment) -> WordCosts | None:
        """Return the costs of words, None if the metric does not align parts of the text."""
        metric = self._metrics[number].metric
        if best.offsets is None or not isinstance(metric, PairMetric):
            return None
        words = self._words(row)
        costs = (metric.token_costs(plan) for plan in best.plans)
        per_plan = [WordCosts.of(words, best.offsets, each, best.plan.a) for each in costs]
        return self._scale_costs(row, WordCosts.combine(per_plan))

    def _scale_costs(self, row: int, costs: WordCosts) -> WordCosts:
        texts = self._corpus.candidates[row], self._corpus.references[row]
        return costs.scaled(error_factors(*texts))

    def _align_row(self, number: int, row: int, inputs: ModelInputs) -> Alignment:
        """Return the alignment of a row, and store its statistics and notes."""
        bound = self._metrics[number]
        if not isinstance(bound.metric, PairMetric):
            reason = "does not match tokens, so it has no alignment to show"
            raise UsageError(f"{bound.metric.name} {reason}")
        items = self._inputs(inputs, bound, [row])
        best = bound.metric.align_best(items[0][0], items[1][0])
        self._store(number, [row], best.rows, items)
        return best

    def warn(self) -> None:
        """Warn once about all tokens that a model does not know."""
        total = len({*self._corpus.candidates, *chain.from_iterable(self._corpus.references)})
        counts = [
            f"{sum(texts.values()):,} tokens in {len(texts):,} of {total:,} texts are unknown to "
            f"the model {name}"
            for name, texts in self._unknown.items()
        ]
        if counts:
            names = (each.frame.f_globals["__name__"] for each in inspect.stack(0))
            own_frames = list(takewhile(lambda name: name.startswith("nlgauge."), names))
            warnings.warn(
                f"{', '.join(counts)}: they match equal words only (each other with compat=), and "
                "texts of nothing else get the worst value; name a model that knows the language "
                "(lang=, model=), or use lexical metrics such as chrf",
                UnknownTokensWarning,
                stacklevel=len(own_frames) + 1,
            )

    def _inputs(self, inputs: ModelInputs, bound: BoundMetric, rows: list[int]) -> Inputs:
        get = inputs.for_metric(bound)
        candidates = [get(self._corpus.candidates[row], "candidate") for row in rows]
        texts = (self._corpus.references[row] for row in rows)
        return candidates, [[get(text, "reference") for text in group] for group in texts]

    def _encode(self, rows: list[int]) -> tuple[list[int], ModelInputs]:
        """Return a chunk with its texts encoded."""
        candidates = [self._corpus.candidates[row] for row in rows]
        references = [text for row in rows for text in self._corpus.references[row]]
        inputs = ModelInputs(self._metrics, candidates, references)
        inputs.encode()
        return rows, inputs

    def scores(self, number: int, system: str) -> Scores:
        """Return the scores of one system by the metric of this number."""
        bound = self._metrics[number]
        rows = self._of_system[system]
        ignored = bound.metric.source_use == "ignored"
        twins = (self._twin if ignored else self._twin_with_source)[rows]
        counts = {note: int(mask[twins].sum()) for note, mask in self._notes[number].items()}

        def run(segment: int) -> CorpusRun:
            row = rows[segment]
            pair = Corpus.of([self._corpus.candidates[row]], [self._corpus.references[row]])
            return CorpusRun(pair, [bound])

        return Scores(
            metric=bound.metric,
            label=bound.label,
            system=system,
            ids=tuple(self._corpus.ids[row] for row in rows),
            statistics=self._statistics[number][twins],
            signature=self._signatures[number],
            notes={note: count for note, count in counts.items() if count},
            aligner=lambda segment: run(segment).align()[bound.label].plan,
            word_costs=lambda segment: run(segment).word_costs()[bound.label][0],
        )

    def _chunks(self) -> Iterator[list[int]]:
        """Yield chunks of rows, split between segments so that references are encoded once."""
        chunk: list[int] = []
        characters = 0
        limit = min(_FIRST_CHUNK_ROWS, self._chunk_rows)
        for row in self._unique:
            size = self._characters(row)
            full = len(chunk) >= limit or characters + size > _CHUNK_CHARACTERS
            same_segment = chunk and self._corpus.ids[chunk[-1]] == self._corpus.ids[row]
            if chunk and full and (not same_segment or len(chunk) >= _SEGMENT_ROWS):
                yield chunk
                chunk, characters, limit = [], 0, self._chunk_rows
            chunk.append(row)
            characters += size
        if chunk:
            yield chunk

    def _sort_by_length(self, rows: list[int]) -> list[int]:
        """Return rows of similar length one after another, so that batches need little padding.

        Rows of equal references stay together. Windows are sorted, not all rows, so that the
        estimate of a long run soon comes from texts of all lengths.
        """
        groups = [list(group) for _, group in groupby(rows, self._corpus.references.__getitem__)]
        sizes = accumulate((len(group) for group in groups), initial=0)
        windows = [size // _WINDOW_ROWS for size in sizes][:-1]
        lengths = [self._characters(group[0]) for group in groups]
        order = sorted(range(len(groups)), key=lambda k: (windows[k], lengths[k]))
        return [row for k in order for row in groups[k]]

    def _characters(self, row: int) -> int:
        return len(self._corpus.candidates[row]) + sum(map(len, self._corpus.references[row]))

    def _store(self, number: int, rows: list[int], computed: Rows, inputs: Inputs) -> None:
        if number not in self._statistics:
            self._statistics[number] = np.zeros((len(self._corpus), computed.statistics.shape[1]))
        self._statistics[number][rows] = computed.statistics
        for note, mask in computed.notes.items():
            self._notes[number][note][rows] |= mask
        items = [(text, *group) for text, group in zip(*inputs, strict=True)]
        self._add_notes(number, self._metrics[number], rows, items)

    def _add_notes(
        self, number: int, bound: BoundMetric, rows: list[int], items: Sequence[tuple[Any, ...]]
    ) -> None:
        """Add notes about models, languages and small tables to the affected rows."""
        for k, member in enumerate(bound.members):
            self._add_notes(number, member, rows, [tuple(each[k] for each in i) for i in items])
        if bound.model is None:
            return
        notes, card = self._notes[number], bound.model.card
        for row, inputs in zip(rows, items, strict=True):
            for note in {note for each in inputs for note in each.notes}:
                notes[f"a text is {note}"][row] = True
            texts = self._corpus.candidates[row], *self._corpus.references[row]
            for text, each in zip(texts, inputs, strict=True):
                if each.unknown:
                    notes[UNKNOWN_NOTE][row] = True
                    self._unknown.setdefault(card.name, {})[text] = each.unknown
        if card.languages == (ENGLISH,):
            self._note_languages(notes, bound, rows)
        if bound.guessed:
            layers = "+".join(map(str, bound.metric.needs.layers))
            notes[f"layer {layers} of {card.depth} is a guess for this model"][rows] = True
        for table in bound.idf.values():
            if table.documents < _MIN_DOCUMENTS:
                notes[f"idf weights come from only {table.documents} texts"][rows] = True

    def _note_languages(self, notes: dict[str, Bools], bound: BoundMetric, rows: list[int]) -> None:
        """Note texts of other languages, by `lang` or by their script, for an English model."""
        model = f"the model {bound.metric.needs.model} knows English only"
        if bound.lang is not None:
            if bound.lang != ENGLISH:
                notes[f"{model}, not {bound.lang}"][rows] = True
            return
        for row in rows:
            texts = (self._corpus.candidates[row], *self._corpus.references[row])
            if not all(map(in_latin_letters, texts)):
                notes[f"{model}, but a text is not in Latin letters; see --lang"][row] = True


def check_references(corpus: Corpus, metrics: Sequence[BoundMetric]) -> None:
    """Raise an error if rows have no reference and a metric needs them."""
    missing = sum(not texts for texts in corpus.references)
    for bound in metrics if missing else ():
        if bound.metric.needs_references:
            hint = "-r FILE, a column 'references' (or --columns reference=COLUMN), or references="
            raise DataError(
                f"{bound.label} needs references, but {missing:,} of {len(corpus):,} rows have "
                f"none: give {hint}"
            )


def _check_sources(corpus: Corpus, metrics: Sequence[BoundMetric]) -> tuple[str, ...] | None:
    """Return the sources if a metric reads them; raise an error if they are missing."""
    readers = [bound for bound in metrics if bound.metric.source_use != "ignored"]
    hint = "-s FILE, a column 'source', or sources= in Python"
    for bound in readers:
        if corpus.sources is None and bound.metric.source_use == "required":
            raise DataError(
                f"{bound.label} needs the source texts, but there are none: give {hint}"
            )
    if corpus.sources is None or not readers:
        return None
    present = tuple(text for text in corpus.sources if text is not None)
    if len(present) < len(corpus):
        row = corpus.sources.index(None)
        raise DataError(
            f"{len(corpus) - len(present):,} of {len(corpus):,} rows have no source, the first is "
            f"segment {corpus.ids[row]!r} of {corpus.systems[row]!r}; {readers[0].label} reads the "
            f"sources, so give them for all rows ({hint}) or for none"
        )
    return present


def _compute_rows(bound: BoundMetric, inputs: Inputs, sources: Sources) -> Rows:
    """Return the rows of a chunk; those of texts, which are independent, in small portions."""
    metric = bound.metric
    if metric.needs.kind != "text" or metric.members or metric.programs:
        return metric.rows_with_sources(*inputs, sources)
    starts = range(0, len(inputs[0]), _TEXT_ROWS)
    slices = [slice(start, start + _TEXT_ROWS) for start in starts]
    parts = [
        metric.rows_with_sources(inputs[0][part], inputs[1][part], sources and sources[part])
        for part in counted(slices)
    ]
    notes = {note: np.concatenate([part.notes[note] for part in parts]) for note in parts[0].notes}
    return Rows(np.concatenate([part.statistics for part in parts]), notes)
