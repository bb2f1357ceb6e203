"""BLEU: n-gram precision with a brevity penalty, computed by sacrebleu.

Papineni, Roukos, Ward, Zhu (2002): BLEU = 100 min(1, e^(1 - r/c)) (p1 p2 p3 p4)^(1/4), with
clipped n-gram precisions p_n of the whole corpus and the lengths c of the candidates and r of the
closest references. Higher is better, 0 to 100; identical texts of four words or more get 100.
An empty candidate or reference gets 0.

The corpus value is sacrebleu's corpus BLEU. The value of a segment uses effective order (orders
for which the candidate has no n-grams are left out), as sacrebleu's command line does for
sentences; ``effective_order=yes`` or ``no`` forces one rule on both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from sacrebleu.metrics.bleu import BLEU

from nlgauge.core.errors import OptionError
from nlgauge.core.metric import similarity
from nlgauge.core.options import format_value, option
from nlgauge.metrics._sacrebleu import SacrebleuMetric, case_option

_DOWNLOADED = ("spm", "flores101", "flores200", "spBLEU-1K")  # tokenizer models from the web


@dataclass(frozen=True)
class Bleu(SacrebleuMetric):
    """BLEU of a corpus, and smoothed BLEU of its segments."""

    language_options: ClassVar[Mapping[str, Mapping[str, str | bool]]] = {
        "zh": {"tokenize": "zh"},
        "ja": {"tokenize": "ja-mecab"},
        "ko": {"tokenize": "ko-mecab"},
        # Written without spaces, and sacrebleu has no tokenizer for them without a download.
        **{code: {"tokenize": "char"} for code in ("th", "lo", "km", "my", "bo")},
    }
    paper: ClassVar[str] = (
        "Papineni et al. (2002), BLEU: a Method for Automatic Evaluation of Machine Translation"
    )
    scale = similarity(0.0, 100.0)

    tokenize: str = option(
        "13a",
        "sacrebleu's tokenizer; zh for Chinese, ja-mecab for Japanese, ko-mecab for Korean.",
        choices=tuple(BLEU.TOKENIZERS),
        server=tuple(name for name in BLEU.TOKENIZERS if name not in _DOWNLOADED),
    )
    lowercase: bool = option(False, "Lowercase both sides.")
    smooth_method: str = option(
        "exp",
        "What to do with an order that has no match.",
        choices=tuple(BLEU.SMOOTH_DEFAULTS),
    )
    smooth_value: float | None = option(
        None, "The value of floor (default 0.1) or add-k (default 1) smoothing.", low=0.0
    )
    max_ngram_order: int = option(4, "The longest n-grams.", low=1)
    effective_order: str = option(
        "auto",
        "Leave out orders without n-grams: auto does so for segments, not for the corpus.",
        choices=("auto", "yes", "no"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smooth_value is not None and BLEU.SMOOTH_DEFAULTS[self.smooth_method] is None:
            raise OptionError(
                f"option smooth_value={self.smooth_value}: smooth_method="
                f"{self.smooth_method!r} takes no value; choose floor or add-k, or leave it out"
            )

    def build(self) -> Any:
        """sacrebleu's BLEU for the corpus."""
        return self._build(effective_order=self.effective_order == "yes")

    def build_for_segments(self) -> Any:
        """sacrebleu's BLEU for segments."""
        return self._build(effective_order=self.effective_order != "no")

    def _build(self, *, effective_order: bool) -> Any:
        return BLEU(
            lowercase=self.lowercase,
            force=True,  # only silences a message about tokenized input
            tokenize=self.tokenize,
            smooth_method=self.smooth_method,
            smooth_value=self.smooth_value,
            max_ngram_order=self.max_ngram_order,
            effective_order=effective_order,
        )

    def unsaid(self) -> dict[str, str]:
        """The n-gram order, a value that two decimals do not hold, and a forced rule."""
        keys = {}
        if self.max_ngram_order != 4:
            keys["order"] = str(self.max_ngram_order)
        if self.smooth_value is not None and self.smooth_value != round(self.smooth_value, 2):
            keys["k"] = format_value(self.smooth_value)
        if self.effective_order == "no":
            keys["segeff"] = "no"
        return keys

    @classmethod
    def rebuild(cls, keys: Mapping[str, str]) -> Self:
        """The metric of sacrebleu's keys: case, eff, tok, smooth."""
        method, value = _smoothing(keys["smooth"])
        if "k" in keys:
            value = float(keys["k"])
        rule = "yes" if keys["eff"] == "yes" else keys.get("segeff", "auto")
        return cls(
            tokenize=_tokenizer(keys["tok"]),
            lowercase=case_option(keys),
            smooth_method=method,
            smooth_value=None if value == BLEU.SMOOTH_DEFAULTS.get(method) else value,
            max_ngram_order=int(keys.get("order", 4)),
            effective_order=rule,
        )


def _smoothing(text: str) -> tuple[str, float | None]:
    """``floor[0.10]`` as a method and its value."""
    method, bracket, value = text.partition("[")
    return method, float(value.rstrip("]")) if bracket else None


def _tokenizer(text: str) -> str:
    """The tokenizer's name; mecab's carries the version of its dictionary."""
    found = re.match("|".join(map(re.escape, sorted(BLEU.TOKENIZERS, key=len, reverse=True))), text)
    return found[0] if found else text
