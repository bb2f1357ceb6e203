"""What BLEU, chrF and TER share: statistics, scores and signature keys come from sacrebleu.

Matt Post (2018), A Call for Clarity in Reporting BLEU Scores. Delegated, never rewritten, so the
numbers and the signature are those of the tool that everybody quotes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, ClassVar

import numpy as np
import sacrebleu

from nlgauge.core.cloud import Floats
from nlgauge.core.errors import NlgaugeError, ShapeError
from nlgauge.core.metric import VOID_NOTE, Metric, Rows


@dataclass(frozen=True)
class SacrebleuMetric(Metric):
    """A metric of sacrebleu: ``build`` makes it, the rest is asked of it.

    sacrebleu has no public door to statistics per segment and back. The two methods beginning
    with an underscore that ``rows`` and ``finish`` call are the ones its own significance tests
    stand on (unchanged from 2.0 to 2.6); they are called nowhere else.
    """

    libraries: ClassVar[tuple[str, ...]] = ("sacrebleu",)
    empty_note: ClassVar[str] = VOID_NOTE

    @abstractmethod
    def build(self) -> Any:
        """sacrebleu's metric object for the whole corpus."""

    def build_for_segments(self) -> Any:
        """sacrebleu's metric object for single segments."""
        return self.build()

    def rows(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Rows:
        """sacrebleu's sufficient statistics of every segment, from all its references."""
        if len(candidates) != len(references):  # sacrebleu would drop the surplus silently
            raise ShapeError(
                f"{len(candidates)} candidates but {len(references)} lists of references; "
                "there must be one list each"
            )
        # One stream for each first, second, ... reference; None fills the gaps of ragged sets.
        streams = list(zip_longest(*references))
        statistics = built(self.build)._extract_corpus_statistics(candidates, streams)
        empty = [
            not candidate.strip() or not any(text.strip() for text in group)
            for candidate, group in zip(candidates, references, strict=True)
        ]
        notes = {self.empty_note: np.array(empty, dtype=bool)}
        return Rows(np.asarray(statistics, dtype=np.float64), notes)

    def finish(self, totals: Floats, counts: Floats) -> Floats:
        """sacrebleu's score of each sum of rows."""
        return _scores(built(self.build), totals)

    def finish_segments(self, statistics: Floats) -> Floats:
        """sacrebleu's score of every segment on its own."""
        return _scores(built(self.build_for_segments), statistics)

    def describe(self) -> dict[str, str]:
        """The options in sacrebleu's own keys, then those that its signature leaves out."""
        tool = built(self.build)
        tool.num_refs = 1  # a signature is refused without it; the number itself is a fact
        keys = dict(pair.split(":", 1) for pair in tool.get_signature().format().split("|"))
        return {k: v for k, v in keys.items() if k not in ("nrefs", "version")} | self.unsaid()

    def unsaid(self) -> dict[str, str]:
        """Keys for changed options that sacrebleu's signature does not show."""
        return {}

    def facts(self) -> dict[str, str]:
        """The version of sacrebleu, named as in its own signature."""
        return {"version": sacrebleu.__version__}


def case_option(keys: Mapping[str, str]) -> bool:
    """Whether sacrebleu's key ``case`` says that texts were lowercased."""
    return keys["case"] == "lc"


def built(build: Any) -> Any:
    """What ``build`` makes; a tokenizer that is not installed becomes an error with a way out."""
    try:
        return build()
    except (ImportError, RuntimeError) as error:
        raise NlgaugeError(
            f"sacrebleu cannot set itself up: {' '.join(str(error).split())} "
            "(tokenizers for Japanese and Korean: pip install 'sacrebleu[ja,ko]', or compare "
            "characters with tokenize=char; flores and spBLEU: pip install sentencepiece)"
        ) from error


def _scores(tool: Any, table: Floats) -> Floats:
    # tolist copies: with add-k smoothing sacrebleu adds to the counts it is handed.
    values = [tool._compute_score_from_stats(row.tolist()).score for row in table]
    return np.asarray(values, dtype=np.float64)[:, None]
