"""Study: judged texts, scored once with every metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import OptionError
from nlgauge.core.scores import Scores
from nlgauge.data.judged import Judged
from nlgauge.data.layouts import read_judged
from nlgauge.scoring import Progress, Scorer
from nlgauge.serving import Spec
from nlgauge.study import Grid, Judgements, Measured

Source = Judged | str | Path


@dataclass(frozen=True, eq=False)
class Study:
    """Judged texts and what every metric said of them, ready for any question of agreement."""

    corpus: Corpus
    judgements: Judgements
    measured: tuple[Measured, ...]
    board: Mapping[str, Mapping[str, Scores]]
    said: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The metrics' labels, in the order they were named."""
        return tuple(metric.name for metric in self.measured)

    @property
    def signatures(self) -> dict[str, str]:
        """How every metric was made, by label."""
        first = next(iter(self.board.values()))
        return {label: str(scores.signature) for label, scores in first.items()}

    @property
    def negated(self) -> tuple[str, ...]:
        """The metrics that are distances and were turned round."""
        return tuple(metric.name for metric in self.measured if metric.direction == "lower")

    def criteria(self, wanted: str | Sequence[str] | None = None) -> tuple[str, ...]:
        """The criteria asked for, or all of them; an unknown one is refused with the list."""
        return choose_criteria(self.judgements.criteria, wanted)

    def grid(self, criterion: str) -> Grid:
        """The metrics and one criterion on the same cells, all higher-is-better."""
        return Grid.align(self.judgements, criterion, self.measured)

    def remarks(self) -> tuple[str, ...]:
        """What was read, what was negated, and what the metrics noted, in sentences."""
        lines = list(self.said)
        if self.negated:
            lines.append(f"negated, because lower is better: {', '.join(self.negated)}.")
        total = len(self.corpus)
        for label in self.labels:
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
    device: str = "auto",
    batch_tokens: int = 2048,
    progress: Progress | None = None,
) -> Study:
    """The judged texts scored with all metrics in one pass; data is a file, folder or Judged."""
    judged = data if isinstance(data, Judged) else read_judged(data)
    scorer = Scorer(metrics, device=device, batch_tokens=batch_tokens)
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
    judgements = Judgements.from_rows(judged.rows())
    return Study(judged.corpus, judgements, tuple(measured), board, judged.said)
