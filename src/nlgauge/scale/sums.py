"""Sums of parts, added by workers in fixed ranges so that rounding is reproducible."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import FileError
from nlgauge.core.scores import Scores
from nlgauge.core.totals import CorpusScore, Resampled
from nlgauge.scale.run_folder import CHECKSUM, RunFolder
from nlgauge.scale.segments import decode_array, encode_array
from nlgauge.scoring import Scorer

RANGE = 64  # parts per range; another number could change the last bits of a sum
Pooled = dict[tuple[str, str], CorpusScore]


class Sums(NamedTuple):
    """The sums of consecutive parts."""

    counts: Counter[str]  # rows read, scored and rejected
    references: set[str]
    sources: set[bool]
    checksums: dict[str, str]
    rejected: bytes  # JSON Lines
    scores: list[dict[str, Any]]  # for `corpus_scores`


@dataclass(frozen=True)
class SumRange:
    """The names of consecutive parts of a run."""

    folder: RunFolder
    names: tuple[str, ...]
    seed: int

    @property
    def name(self) -> str:
        """The first and the last part, for messages."""
        return f"the sums of {self.names[0]} to {self.names[-1]}"

    def read(self, scorer: Scorer) -> Sums:
        """Read the sums of the parts and add them up."""
        counts, references, sources = Counter[str](), set[str](), set[bool]()
        checksums: dict[str, str] = {}
        rejected: list[bytes] = []
        pooled: Pooled = {}
        for name in self.names:
            # The segments were verified or written in this run, so only the sums are read.
            sums = self.folder.read_sums(name, check_segments=False)
            if sums is None:
                raise FileError(f"{name} was damaged during the run; run the command again")
            checksums[name] = sums[CHECKSUM]
            counts.update(read=sums["read"], scored=sums["scored"], rejected=len(sums["rejected"]))
            references.update(map(str, sums["references"]))
            sources.add(bool(sums.get("sources")))
            rejected += [(json.dumps(row) + "\n").encode() for row in sums["rejected"]]
            pool_scores(pooled, corpus_scores(scorer, sums["scores"], self.seed))
        totals = pooled.values()
        scores = [encode_sum(each, each.count, each.totals, each.resampled) for each in totals]
        return Sums(counts, references, sources, checksums, b"".join(rejected), scores)


def corpus_scores(
    scorer: Scorer, contents: Iterable[Mapping[str, Any]], seed: int
) -> Iterator[CorpusScore]:
    """Yield the corpus scores that a worker has written or returned."""
    metrics, signatures = scorer.metrics, scorer.signatures("any")
    for content in contents:
        fields: dict[str, Any] = dict(content)
        label, totals = fields.pop("metric"), decode_array(fields.pop("totals"))
        draws = {name: decode_array(a) for name, a in fields.pop("resampled", {}).items()}
        resampled = Resampled(**draws, seed=seed) if draws else None
        fields |= {"label": label, "metric": metrics[label], "signature": signatures[label]}
        yield CorpusScore(totals=totals, resampled=resampled, **fields)


def pool_scores(pooled: Pooled, scores: Iterable[CorpusScore]) -> None:
    """Add corpus scores to those of the same system and metric."""
    for total in scores:
        key = total.system, total.label
        pooled[key] = CorpusScore.pool([pooled[key], total]) if key in pooled else total


def encode_sum(
    scores: Scores | CorpusScore, count: int, totals: Floats, resampled: Resampled | None
) -> dict[str, Any]:
    """Encode the sums of one system by one metric for JSON, and for `corpus_scores`."""
    content = {
        "system": scores.system,
        "metric": scores.label,
        "count": count,
        "totals": encode_array(totals),
        "notes": dict(scores.notes),
    }
    if resampled is not None:
        arrays = {"totals": resampled.totals, "counts": resampled.counts}
        content["resampled"] = {name: encode_array(array) for name, array in arrays.items()}
    return content
