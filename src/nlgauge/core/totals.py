"""CorpusScore: the score of a corpus, from summed rows; scores of parts can be pooled."""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import OptionError, UsageError
from nlgauge.core.metric import Direction, Metric, Scale
from nlgauge.core.printable import printable
from nlgauge.core.resampling import draw_counts
from nlgauge.core.signature import Signature

_BLOCK = 256_000  # resamples x rows drawn at once: 2 MB, which fits into the processor's cache


@dataclass(frozen=True, eq=False)
class Resampled:
    """Sums of rows for every bootstrap resample: ``totals[b]`` is the sum of ``counts[b]`` rows."""

    totals: Floats
    counts: Floats
    seed: int

    @classmethod
    def of(cls, ids: Sequence[str], rows: Floats, resamples: int, seed: int) -> "Resampled":
        """Return the resampled sums of rows of the segments with these ids."""
        totals = np.zeros((resamples, rows.shape[1]))
        counts = np.zeros(resamples)
        size = max(_BLOCK // max(resamples, 1), 1)  # draw_counts refuses 0
        for start in range(0, len(ids), size):
            drawn = draw_counts(ids[start : start + size], resamples, seed)
            # The last bits of @ depend on the number of threads, and so on the engine.
            columns = np.ascontiguousarray(rows[start : start + size].T)
            totals += np.einsum("bn,kn->bk", drawn, columns)
            counts += drawn.sum(axis=1)
        return cls(totals, counts, seed)

    @classmethod
    def sum(cls, parts: "Sequence[Resampled]") -> "Resampled":
        """Return the sums of all parts."""
        totals = np.sum([part.totals for part in parts], axis=0)
        return cls(totals, np.sum([part.counts for part in parts], axis=0), parts[0].seed)

    def split(self, widths: Sequence[int]) -> "list[Resampled]":
        """Split the columns into tables of these widths, which had been joined."""
        pieces = np.split(self.totals, np.cumsum(widths)[:-1], axis=1)
        return [Resampled(piece, self.counts, self.seed) for piece in pieces]


@dataclass(frozen=True, eq=False, repr=False)
class CorpusScore:
    """A corpus score, its components and its signature, without the segments."""

    metric: Metric
    label: str
    system: str
    count: int
    totals: Floats
    signature: Signature
    notes: Mapping[str, int] = field(default_factory=dict)
    resampled: Resampled | None = None

    @classmethod
    def pool(cls, parts: "Sequence[CorpusScore]") -> "CorpusScore":
        """Return the corpus score of all parts together, with the signature of the first."""
        first = parts[0]
        if any((part.label, part.system) != (first.label, first.system) for part in parts):
            raise UsageError("only corpus scores of one metric and one system can be pooled")
        notes: Counter[str] = Counter()
        for part in parts:
            notes.update(part.notes)
        drawn = [part.resampled for part in parts if part.resampled is not None]
        settings = {(each.seed, len(each.counts)) for each in drawn}
        if drawn and (len(drawn) < len(parts) or len(settings) > 1):
            raise UsageError("corpus scores with different resampling cannot be pooled")
        return dataclasses.replace(
            first,
            count=sum(part.count for part in parts),
            totals=np.sum([part.totals for part in parts], axis=0),
            notes=dict(notes),
            resampled=Resampled.sum(drawn) if drawn else None,
        )

    @property
    def scale(self) -> Scale:
        """Direction and range of the first component."""
        return self.metric.scale

    @property
    def direction(self) -> Direction:
        """``"higher"`` if higher values are better, else ``"lower"``."""
        return self.scale.direction

    @property
    def value(self) -> float:
        """The corpus score."""
        return next(iter(self.components.values()))

    @cached_property
    def components(self) -> dict[str, float]:
        """Corpus values of all components."""
        values = self.metric.finish(self.totals[None, :], np.array([float(self.count)]))[0]
        return dict(zip(self.metric.components, map(float, values), strict=True))

    @property
    def details(self) -> dict[str, float]:
        """Corpus-level counts and ratios, such as the n-gram precisions of BLEU."""
        return self.metric.details(self.totals)

    @property
    def resampled_values(self) -> Floats:
        """The first component of every non-empty bootstrap resample."""
        if self.resampled is None:
            raise UsageError("this corpus score was not resampled; call Scores.resample first")
        drew = self.resampled.counts > 0
        return self.metric.finish(self.resampled.totals[drew], self.resampled.counts[drew])[:, 0]

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the bootstrap percentile interval of the corpus score."""
        if not 0 < confidence < 1:
            raise OptionError(f"confidence must lie in (0, 1), got {confidence}; .95 is usual")
        values = self.resampled_values
        if not len(values):
            empty = f"no resample contains any of the {self.count} segments"
            raise OptionError(f"{empty}; use more (--resamples)")
        tail = (1 - confidence) / 2
        low, high = np.quantile(values, [tail, 1 - tail])
        return float(low), float(high)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes as sentences with the number of segments."""
        total = f"of {self.count:,} segments"
        return tuple(f"{count:,} {total}: {note}" for note, count in self.notes.items())

    @property
    def short_signature(self) -> Signature:
        """The signature without default options, digests and library versions.

        The keys of sacrebleu's metrics are abbreviated as in its own short signatures.
        """
        keys = dict(self.signature.keys)
        version = keys.get("nlgauge", keys.get("version", ""))
        shared = {"#": keys.get("nrefs", "")}, {"v": version}
        return Signature.of(self.metric.name, shared[0], self.metric.describe_shortly(), shared[1])

    @property
    def _segments(self) -> str:
        return f"{self.count:,} segment{'s' * (self.count != 1)}"

    def __repr__(self) -> str:
        value = f"{self.label} {self.value:.{self.scale.digits}f}, {self.direction} is better"
        signature = printable(str(self.short_signature))
        return f"{type(self).__name__}({printable(value)}, {self._segments}, {signature})"

    def _repr_html_(self) -> str:
        """Return the score, its components, details and signature for notebooks."""
        names, values = [self.metric.title], [f"{self.value:.{self.scale.digits}f}"]
        for name, value in [*list(self.components.items())[1:], *self.details.items()]:
            names.append(name.replace("_", " "))
            values.append(f"{value:.4f}".rstrip("0").removesuffix("."))
        rows = [("th", [f"{names[0]} {self.scale.arrow}", *names[1:]]), ("td", values)]
        lines = (
            "".join(f"<{tag}>{escape(printable(cell))}</{tag}>" for cell in cells)
            for tag, cells in rows
        )
        note = f"{self.direction} is better; {self._segments}; {self.signature}"
        table = "".join(f"<tr>{line}</tr>" for line in lines)
        return f"<table>{table}</table><p>{escape(printable(note))}</p>"

    def __str__(self) -> str:
        low, high = self.scale.low, self.scale.high
        return f"{self.signature} = {self.value:.4f} {self.scale.arrow} [{low:g}, {high:g}]"

    def to_dict(self, *, confidence: float | None = None) -> dict[str, Any]:
        """Return JSON-serialisable values, with the interval if a confidence is given."""
        content: dict[str, Any] = {
            "metric": self.label,
            "system": self.system,
            "value": self.value,
            "components": self.components,
            "details": self.details,
            "direction": self.direction,
            "range": list(self.scale.limits),
            "segments_scored": self.count,
            "signature": str(self.signature),
            "warnings": list(self.warnings),
        }
        if confidence is not None:
            low, high = self.interval(confidence)
            content["interval"] = {"low": low, "high": high, "confidence": confidence}
        return content
