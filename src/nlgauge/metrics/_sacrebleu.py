"""SacrebleuMetric: BLEU, chrF and TER with the statistics, scores and signature of sacrebleu.

Matt Post (2018), A Call for Clarity in Reporting BLEU Scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, ClassVar

import numpy as np
import sacrebleu

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import NlgaugeError, ShapeError
from nlgauge.core.metric import VOID_NOTE, Metric, Rows
from nlgauge.core.options import options_of
from nlgauge.metrics._signatures import abbreviate


@dataclass(frozen=True)
class SacrebleuMetric(Metric):
    """A metric of sacrebleu; its options are the arguments of ``sacrebleu_class``.

    sacrebleu has no public statistics per segment. ``rows`` and ``finish`` call two private methods
    that its own significance tests use (unchanged from 2.0 to 2.6).
    """

    libraries: ClassVar[tuple[str, ...]] = ("sacrebleu",)
    empty_note: ClassVar[str] = VOID_NOTE
    sacrebleu_class: ClassVar[type[Any]]

    def arguments(self, *, for_segments: bool) -> dict[str, Any]:
        """Return the arguments of ``sacrebleu_class`` for the corpus, or for single segments."""
        return {name: getattr(self, name) for name in options_of(type(self))}

    def extra_keys(self) -> dict[str, str]:
        """Return keys for changed options that are not in sacrebleu's signature."""
        return {}

    def rows(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Rows:
        if len(candidates) != len(references):  # sacrebleu would silently drop the rest
            raise ShapeError(
                f"{len(candidates)} candidates but {len(references)} lists of references; "
                "there must be one list each"
            )
        # One stream for each first, second, ... reference; None fills the gaps of ragged sets.
        streams = list(zip_longest(*references))
        statistics = self._tool()._extract_corpus_statistics(candidates, streams)
        pairs = zip(candidates, references, strict=True)
        empty = [not (text.strip() and any(map(str.strip, group))) for text, group in pairs]
        notes = {self.empty_note: np.array(empty, dtype=bool)}
        return Rows(np.asarray(statistics, dtype=np.float64), notes)

    def finish(self, totals: Floats, counts: Floats) -> Floats:
        return self._scores(self._tool(), totals)

    def finish_segments(self, statistics: Floats) -> Floats:
        return self._scores(self._tool(for_segments=True), statistics)

    def details(self, totals: Floats) -> dict[str, float]:
        """Return the parts of sacrebleu's score object for the corpus."""
        return self.parts_of(self._tool()._compute_score_from_stats(totals.tolist()), totals)

    def value_of(self, score: Any, tool: Any) -> float:
        """Return the value of a score object of sacrebleu."""
        return float(score.score)

    def parts_of(self, score: Any, totals: Floats) -> dict[str, float]:
        """Return the parts of a score object of sacrebleu by name."""
        return {}

    def describe(self) -> dict[str, str]:
        """Return the options as sacrebleu's signature keys, then the extra keys."""
        tool = self._tool()
        tool.num_refs = 1  # required for a signature; the real number is one of the facts
        keys = dict(pair.split(":", 1) for pair in tool.get_signature().format().split("|"))
        return {k: v for k, v in keys.items() if k not in ("nrefs", "version")} | self.extra_keys()

    def describe_shortly(self) -> dict[str, str]:
        return abbreviate(self.name, self.describe())

    def facts(self) -> dict[str, str]:
        return {"version": sacrebleu.__version__}

    def configure(self, tool: Any) -> None:
        """Modify the object of ``sacrebleu_class`` beyond what its arguments allow."""

    def _tool(self, *, for_segments: bool = False) -> Any:
        try:
            tool = self.sacrebleu_class(**self.arguments(for_segments=for_segments))
            self.configure(tool)
            return tool
        except (ImportError, RuntimeError) as error:
            raise NlgaugeError(
                f"sacrebleu reports: {' '.join(str(error).split())} "
                "(tokenizers for Japanese and Korean: pip install 'sacrebleu[ja,ko]', or compare "
                "characters with tokenize=char; flores and spBLEU: pip install sentencepiece)"
            ) from error

    def _scores(self, tool: Any, table: Floats) -> Floats:
        # tolist copies: with add-k smoothing sacrebleu changes the counts in place.
        scores = (tool._compute_score_from_stats(row.tolist()) for row in table)
        values = [self.value_of(score, tool) for score in scores]
        return np.asarray(values, dtype=np.float64)[:, None]
