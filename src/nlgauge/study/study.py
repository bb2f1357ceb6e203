"""Study: judged texts, scored once with every metric, and the base class of results."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.metric import Metric
from nlgauge.core.scores import Scores
from nlgauge.core.signature import Signature
from nlgauge.data.detection import read_judged
from nlgauge.data.judged import HUMAN_PREFIX, JudgedCorpus
from nlgauge.inputs import Spec
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress, Scorer
from nlgauge.stats import Grid, Judgements, MetricScores
from nlgauge.stats.judgements import Direction, align_scores
from nlgauge.stats.levels import choose_level

Source = JudgedCorpus | str | Path
Missing = Literal["error", "keep"]
SystemScores = Mapping[str, Mapping[str, Scores]]
"""Scores by system, then by label of the metric."""

STORED = "stored:"
"""Prefix of the label of scores that come with the data."""


class Entry(Protocol):
    """One row of a study result."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""


E = TypeVar("E", bound=Entry)


@dataclass(frozen=True, eq=False)
class StudyResult(Generic[E]):
    """Entries of a study, notes on data and metrics, and the metrics' signatures by label."""

    entries: tuple[E, ...]
    notes: tuple[str, ...]
    signatures: Mapping[str, str]
    entries_key: ClassVar[str] = "entries"

    def summary(self) -> dict[str, Any]:
        """Return what precedes the entries in JSON."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            **self.summary(),
            self.entries_key: [entry.to_dict() for entry in self.entries],
            "signatures": dict(self.signatures),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False)
class Study:
    """Judged texts and the scores of every metric, the input of all analyses."""

    corpus: Corpus
    judgements: Judgements
    metrics: tuple[MetricScores, ...]
    scores: SystemScores
    data_notes: tuple[str, ...]
    missing: Missing = "error"
    """Whether a metric without a score for a judged cell is an error, or the cell stays empty."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The metrics' labels, in the given order."""
        return tuple(metric.name for metric in self.metrics)

    @property
    def first_scores(self) -> Mapping[str, Scores]:
        """The scores of the first system by label."""
        return next(iter(self.scores.values()))

    @property
    def signatures(self) -> dict[str, str]:
        """The metrics' signatures by label."""
        computed = {label: str(scores.signature) for label, scores in self.first_scores.items()}
        return {
            each.name: computed.get(each.name) or str(stored_signature(each.name, each.direction))
            for each in self.metrics
        }

    @property
    def stored(self) -> tuple[str, ...]:
        """The labels of scores that came with the data."""
        return tuple(label for label in self.labels if label not in self.first_scores)

    @property
    def negated(self) -> tuple[str, ...]:
        """The labels of distances, which are negated."""
        return tuple(metric.name for metric in self.metrics if metric.direction == "lower")

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was read, what was negated, and what the metrics noted."""
        lines = list(self.data_notes)
        if self.negated:
            lines.append(f"negated, because lower is better: {', '.join(self.negated)}.")
        total = len(self.corpus)
        for metric in self.metrics:
            label = metric.name
            if label in self.stored:
                scored = int(np.isfinite(metric.values).sum())
                lines += [f"{label}: {scored:,} of {total:,} rows have a score."] * (scored < total)
                continue
            counts = sum((Counter(each[label].notes) for each in self.scores.values()), Counter())
            lines += [f"{label}: {n:,} of {total:,} rows: {note}." for note, n in counts.items()]
        return tuple(lines)

    def criteria(self, wanted: str | Sequence[str] | None = None) -> tuple[str, ...]:
        """Return the wanted criteria, or all of them."""
        return choose_criteria(self.judgements.criteria, wanted)

    def grid(self, criterion: str, level: str = "segment") -> Grid:
        """Return the metrics and one criterion on the same cells, all higher-is-better.

        At the document level, the inputs are documents.
        """
        grid = Grid.align(self.judgements, criterion, self.metrics, missing=self.missing)
        return grid.by_document() if choose_level(level) == "document" else grid

    def only(self, labels: Collection[str]) -> "Study":
        """Return the study of these metrics."""
        return replace(self, metrics=tuple(each for each in self.metrics if each.name in labels))


def choose_criteria(known: Sequence[str], wanted: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the wanted criteria, or all known ones; an unknown one is an OptionError."""
    names = as_list(wanted) or list(known)
    for name in names:
        if name not in known:
            raise OptionError(
                f"nobody judged {name!r}; the criteria of this data are: {', '.join(known)}."
            )
    return tuple(dict.fromkeys(names))


def as_list(names: str | Sequence[str] | None) -> list[str]:
    """Return one name, several or none as a list."""
    return [names] if isinstance(names, str) else list(names or ())


def read_source(
    data: Source, scores: str | Sequence[str] = (), distances: str | Sequence[str] = ()
) -> JudgedCorpus:
    """Return the judged texts of a file, folder or JudgedCorpus, with the named stored scores."""
    if isinstance(data, JudgedCorpus):
        return data
    return read_judged(data, stored=[*as_list(scores), *as_list(distances)])


def measure(
    data: Source,
    metrics: Spec | Sequence[Spec],
    *,
    scores: str | Sequence[str] = (),
    distances: str | Sequence[str] = (),
    missing: Missing = "error",
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> Study:
    """Return the judged texts, scored with all metrics in one pass.

    Parameters
    ----------
    data : JudgedCorpus, str or Path, judged texts, or a file or folder with them
    metrics : str, Metric or sequence of them; may be empty if stored scores are named
    scores, distances : names of scores stored with the data (higher or lower is better), which are
        labelled ``stored:NAME``. ``human:NAME`` is another criterion.
    missing : "error" or "keep", whether a judged cell without a stored score is an error or empty
    runtime : Runtime, device, batch size, cache and the like
    progress : callable, optional

    Returns
    -------
    Study

    Raises
    ------
    DataError
        If a named stored score has no values.

    Examples
    --------
    >>> corpus = Corpus.of(["a b", "a c", "d"], ["a b", "a b", "a b"])
    >>> measure(JudgedCorpus(corpus, {"da": [3, 2, 1]}, ()), ["bleu", "ter"]).labels
    ('bleu', 'ter')
    """
    judged = read_source(data, scores, distances)
    corpus = judged.corpus
    columns = corpus.systems, corpus.ids, judged.human, judged.documents
    judgements = Judgements.from_columns(*columns)
    stored = [_read_stored(judged, judgements, name, "higher") for name in as_list(scores)]
    stored += [_read_stored(judged, judgements, name, "lower") for name in as_list(distances)]
    specs = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    if not specs and stored:
        nothing: SystemScores = {name: {} for name in corpus.system_names}
        return Study(corpus, judgements, tuple(stored), nothing, judged.notes, missing)
    scorer = Scorer(specs, runtime=runtime)
    scored = scorer.score_corpus(corpus, progress=progress)
    computed = []
    for label, metric in scorer.metrics.items():
        of_metric = [scored[system][label] for system in judgements.systems]
        values = place([each.segments for each in of_metric], of_metric, judgements.segments)
        computed.append(MetricScores.like(judgements, label, values, metric.scale.direction))
    return Study(corpus, judgements, (*computed, *stored), scored, judged.notes, missing)


def place(rows: Sequence[Floats], scores: Sequence[Scores], segments: Sequence[str]) -> Floats:
    """Return rows of each system's scores, one per segment id, as an array; NaN without a row."""
    column = {name: i for i, name in enumerate(segments)}
    values = np.full((len(rows), len(segments), *rows[0].shape[1:]), np.nan)
    for i, (row, each) in enumerate(zip(rows, scores, strict=True)):
        values[i, [column[name] for name in each.ids]] = row
    return values


def stored_signature(label: str, direction: Direction) -> Signature:
    """Return the signature of stored scores, with or without the prefix of their label."""
    return Signature.of(label.removeprefix(STORED), {"scores": "stored", "better": direction})


def stored_label(label: str, signature: str) -> str:
    """Return the label that a study gives to scores of this label and signature."""
    return STORED + label if "scores:stored" in signature.split("|") else label


def _read_stored(
    judged: JudgedCorpus, judgements: Judgements, name: str, direction: Direction
) -> MetricScores:
    """Return scores that came with the data, NaN where there are none."""
    rows = list(judged.stored_rows(name))
    if not rows:
        raise DataError(f"the data names {name!r} but has no score of it in {len(judged)} rows.")
    label = name if name.startswith(HUMAN_PREFIX) else STORED + name
    values = align_scores(MetricScores.from_rows(label, rows), judgements)
    return MetricScores.like(judgements, label, values, direction)
