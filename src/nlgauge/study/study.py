"""Study: judged texts, scored once with every metric, beside the scores that came with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.metric import Metric
from nlgauge.core.scores import Scores
from nlgauge.data.detection import read_judged
from nlgauge.data.judged import PEOPLE, Judged
from nlgauge.inputs import Spec
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress, Scorer
from nlgauge.stats import Grid, Judgements, Measured
from nlgauge.stats.judgements import Direction

Source = Judged | str | Path
Missing = Literal["error", "keep"]

STORED = "stored:"
"""Before the name of a metric whose scores came with the data."""


@dataclass(frozen=True, eq=False)
class Study:
    """Judged texts and what every metric said of them, ready for any question of agreement."""

    corpus: Corpus
    judgements: Judgements
    measured: tuple[Measured, ...]
    board: Mapping[str, Mapping[str, Scores]]
    said: tuple[str, ...]
    missing: Missing = "error"
    """Whether a metric that lacks a judged cell is refused, or the cell left empty and counted."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The metrics' labels, in the order they were named."""
        return tuple(metric.name for metric in self.measured)

    @property
    def signatures(self) -> dict[str, str]:
        """How every metric was made, by label."""
        first = next(iter(self.board.values()))
        made = {label: str(scores.signature) for label, scores in first.items()}
        for metric in self.measured:
            made.setdefault(metric.name, f"{metric.name}|{metric.direction} is better")
        return made

    @property
    def stored(self) -> tuple[str, ...]:
        """The labels of scores that came with the data."""
        first = next(iter(self.board.values()))
        return tuple(label for label in self.labels if label not in first)

    @property
    def negated(self) -> tuple[str, ...]:
        """The metrics that are distances and were turned round."""
        return tuple(metric.name for metric in self.measured if metric.direction == "lower")

    def criteria(self, wanted: str | Sequence[str] | None = None) -> tuple[str, ...]:
        """The criteria asked for, or all of them; an unknown one is refused with the list."""
        return choose_criteria(self.judgements.criteria, wanted)

    def grid(self, criterion: str) -> Grid:
        """The metrics and one criterion on the same cells, all higher-is-better."""
        return Grid.align(self.judgements, criterion, self.measured, missing=self.missing)

    def remarks(self) -> tuple[str, ...]:
        """What was read, what was negated, and what the metrics noted, in sentences."""
        lines = list(self.said)
        if self.negated:
            lines.append(f"negated, because lower is better: {', '.join(self.negated)}.")
        total = len(self.corpus)
        for metric in self.measured:
            label = metric.name
            if label in self.stored:
                scored = int(np.isfinite(metric.values).sum())
                lines += [f"{label}: {scored:,} of {total:,} rows have a score."] * (scored < total)
                continue
            counts: Counter[str] = Counter()
            for scores_of in self.board.values():
                counts.update(scores_of[label].notes)
            lines += [f"{label}: {n:,} of {total:,} rows: {note}." for note, n in counts.items()]
        return tuple(lines)


def choose_criteria(known: Sequence[str], wanted: str | Sequence[str] | None) -> tuple[str, ...]:
    """The criteria asked for, or all that are known; an unknown one is refused with the list."""
    names = [wanted] if isinstance(wanted, str) else list(wanted or known)
    for name in names:
        if name not in known:
            raise OptionError(
                f"nobody judged {name!r}; the criteria of this data are: {', '.join(known)}."
            )
    return tuple(dict.fromkeys(names))


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
    """The judged texts scored with all metrics in one pass; data is a file, folder or Judged.

    ``scores`` and ``distances`` name scores that came with the data, of which higher or lower is
    better; with them ``metrics`` may be empty. They are labelled ``stored:NAME``. ``human:NAME``
    takes what people said of another criterion. ``missing="keep"`` leaves judged cells that stored
    scores lack empty and counts them.
    """
    judged = (
        data
        if isinstance(data, Judged)
        else read_judged(data, stored=[*listed(scores), *listed(distances)])
    )
    judgements = Judgements.from_rows(judged.rows())
    stored = [_stored(judged, judgements, name, "higher") for name in listed(scores)]
    stored += [_stored(judged, judgements, name, "lower") for name in listed(distances)]
    specs = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    if not specs and stored:
        nothing: dict[str, dict[str, Scores]] = {name: {} for name in judged.corpus.system_names}
        return Study(judged.corpus, judgements, tuple(stored), nothing, judged.said, missing)
    scorer = Scorer(specs, runtime=runtime)
    board = scorer.score_corpus(judged.corpus, progress=progress)
    measured = [
        Measured.from_rows(
            label,
            [
                (system, segment, float(value))
                for system, scores_of in board.items()
                for segment, value in zip(
                    scores_of[label].ids, scores_of[label].segments, strict=True
                )
            ],
            metric.scale.direction,
        )
        for label, metric in scorer.metrics.items()
    ]
    return Study(judged.corpus, judgements, (*measured, *stored), board, judged.said, missing)


def listed(names: str | Sequence[str] | None) -> list[str]:
    """The names as a list, also if there is one or none."""
    return [names] if isinstance(names, str) else list(names or ())


def _stored(judged: Judged, judgements: Judgements, name: str, direction: Direction) -> Measured:
    """Scores that came with the data, NaN where there are none."""
    row = {system: i for i, system in enumerate(judgements.systems)}
    column = {segment: i for i, segment in enumerate(judgements.segments)}
    values = np.full((len(row), len(column)), np.nan)
    for system, segment, score in judged.stored_rows(name):
        values[row[system], column[segment]] = score
    if not np.isfinite(values).any():
        raise DataError(f"the data names {name!r} but holds no score of it in {len(judged)} rows.")
    label = name if name.startswith(PEOPLE) else STORED + name
    return Measured.like(judgements, label, values, direction)
