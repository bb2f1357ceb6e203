"""External: a metric that is computed by another program in its own environment.

It is for COMET, BLEURT, MetricX and other metrics with conflicting dependencies. The command is
started once and keeps running. It first writes one line of JSON, ``{"name": ..., "version": ...}``,
which becomes part of the signature. Then it reads rows ``{"candidate": ..., "references": [...]}``,
one per line, up to an empty line, answers each with a line ``{"score": ...}``, and waits for more.
If the texts have sources, every row has a ``"source"`` too, and the signature states this. The
options set direction and range; the corpus score is the mean over segments.

``source=required`` is for programs such as COMET that need sources, and ``references=optional`` for
quality estimation, which needs no references; the list in its rows may be empty. A row with an
empty candidate or an empty required text gets the worst value and is not sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.errors import ModelError, OptionError
from nlgauge.core.metric import VOID_NOTE, Metric, Rows, Scale, Sources, SourceUse
from nlgauge.core.options import option
from nlgauge.metrics._child_process import child_process


@dataclass(frozen=True)
class External(Metric):
    """The score of an external program."""

    requires = "a program"
    on_server: ClassVar[bool] = False  # it runs programs

    command: str | None = option(None, "The program and its arguments, as in a shell.")
    direction: str = option("higher", "Which scores are better.", choices=("higher", "lower"))
    low: float = option(0.0, "Lower end of the range.")
    high: float = option(1.0, "Upper end of the range.")
    source: str = option(
        "optional", "Whether the program needs sources.", choices=("optional", "required")
    )
    references: str = option(
        "required", "Whether the program needs references.", choices=("required", "optional")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.low < self.high:
            raise OptionError(f"external: low={self.low} must be below high={self.high}")

    @property
    def title(self) -> str:
        """The command."""
        return self.command or "External"

    @property
    def scale(self) -> Scale:
        """Direction and range of the options."""
        higher = self.direction == "higher"
        void = self.low if higher else self.high
        return Scale("higher" if higher else "lower", self.low, self.high, void=void)

    @property
    def programs(self) -> tuple[str, ...]:
        """The command."""
        return () if self.command is None else (self.command,)

    def facts(self) -> dict[str, str]:
        """The name and version that the program reports."""
        return child_process(self._command).facts

    @property
    def source_use(self) -> SourceUse:
        """Sources are sent if there are any."""
        return "required" if self.source == "required" else "optional"

    @property
    def needs_references(self) -> bool:
        """Whether the option ``references`` is required."""
        return self.references == "required"

    def rows(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Rows:
        """Return the program's score of every segment."""
        return self.rows_with_sources(candidates, references, None)

    def rows_with_sources(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], sources: Sources
    ) -> Rows:
        """Return the program's score of every segment, with its source if there is one."""
        rows: list[dict[str, Any]] = [
            {"candidate": text, "references": list(group)}
            for text, group in zip(candidates, references, strict=True)
        ]
        for row, text in zip(rows, sources or (), strict=sources is not None):
            row["source"] = text
        void = np.array([not self._complete(row) for row in rows], dtype=bool)
        scores = np.full(len(rows), self.scale.void)
        sent = [row for row, empty in zip(rows, void, strict=True) if not empty]
        if sent:
            scores[~void] = child_process(self._command).score(sent)
        outside = scores[(scores < self.low) | (scores > self.high)]
        if len(outside):
            raise ModelError(
                f"{self._command!r} gave {outside[0]:g}, outside of low={self.low:g} to "
                f"high={self.high:g}; set external's low and high to its range"
            )
        return Rows(scores[:, None], {VOID_NOTE: void})

    def _complete(self, row: dict[str, Any]) -> bool:
        """Return whether all texts that the program needs are non-empty."""
        needed = [row["candidate"].strip()]
        if self.source == "required":
            needed.append(row.get("source", "").strip())
        if self.references == "required":
            needed.append("".join(row["references"]).strip())
        return all(needed)

    @property
    def _command(self) -> str:
        if self.command is None:
            raise OptionError(
                "external needs a program: -m 'external:command=python my_metric.py'; "
                "`nlgauge metrics external` describes what it reads and writes"
            )
        return self.command
