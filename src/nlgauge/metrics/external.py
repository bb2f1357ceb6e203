"""External: a metric that another program computes, in an environment of its own.

For COMET, BLEURT, MetricX and whatever else does not fit beside the rest. The command is started
once and kept. It first writes one line of JSON about itself, ``{"name": ..., "version": ...}``,
which goes into the signature. Then it reads rows, ``{"candidate": ..., "references": [...]}``, one
a line, until an empty line; answers each with a line ``{"score": ...}``; and waits for more rows.
Direction and range are what the options say; the corpus score is the mean over segments.

A row without a candidate or without any reference text gets the worst value and is not sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nlgauge.core.errors import ModelError, OptionError
from nlgauge.core.metric import VOID_NOTE, Metric, Rows, Scale
from nlgauge.core.options import option
from nlgauge.metrics._child_process import companion


@dataclass(frozen=True)
class External(Metric):
    """What a program of your own says."""

    on_server: ClassVar[bool] = False  # it runs programs

    command: str | None = option(None, "The program and its arguments, as in a shell.")
    direction: str = option("higher", "Which end is better.", choices=("higher", "lower"))
    low: float = option(0.0, "The lower end of its range.")
    high: float = option(1.0, "The upper end of its range.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.low < self.high:
            raise OptionError(f"external: low={self.low} must lie below high={self.high}")

    @property
    def scale(self) -> Scale:
        """As the options say."""
        worst = self.low if self.direction == "higher" else self.high
        return Scale(
            "higher" if self.direction == "higher" else "lower", self.low, self.high, worst
        )

    def facts(self) -> dict[str, str]:
        """The name and version that the program gave itself."""
        return companion(self._program()).about

    def rows(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Rows:
        """The program's score of every segment."""
        there = [
            i
            for i, (text, group) in enumerate(zip(candidates, references, strict=True))
            if text.strip() and any(each.strip() for each in group)
        ]
        scores = np.full(len(candidates), self.scale.void)
        if there:
            rows = [{"candidate": candidates[i], "references": list(references[i])} for i in there]
            scores[there] = companion(self._program()).ask(rows)
        outside = (scores < self.low) | (scores > self.high)
        if outside.any():
            raise ModelError(
                f"{self._program()!r} gave {scores[outside][0]:g}, outside of low={self.low:g} to "
                f"high={self.high:g}; set external's low and high to its range"
            )
        void = np.ones(len(candidates), dtype=bool)
        void[there] = False
        return Rows(scores[:, None], {VOID_NOTE: void})

    def _program(self) -> str:
        if self.command is None:
            raise OptionError(
                "external needs a program: -m 'external:command=python my_metric.py'; "
                "`nlgauge metrics external` tells what it has to read and write"
            )
        return self.command
