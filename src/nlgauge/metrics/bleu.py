"""BLEU: n-gram precision with a brevity penalty, computed by sacrebleu.

Papineni, Roukos, Ward, Zhu (2002): BLEU = 100 min(1, e^(1 - r/c)) (p1 p2 p3 p4)^(1/4), with
clipped n-gram precisions p_n of the whole corpus and the lengths c of the candidates and r of the
closest references. Higher is better, 0 to 100; identical texts of four words or more get 100.
An empty candidate or reference gets 0.

The corpus value is sacrebleu's corpus BLEU. Segments are scored with effective order (without
orders for which the candidate has no n-grams), as in sacrebleu's sentence level;
``effective_order=yes`` or ``no`` applies to both. ``weights``, as in NLTK, replace the exponents
1/4, and are scaled to sum to 1 over the orders in use.

``Scores.details`` are the n-gram precisions in percent (smoothed), the brevity penalty and the two
lengths in tokens of the corpus: sacrebleu's ``precisions``, ``bp``, ``sys_len`` and ``ref_len``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from sacrebleu.metrics.bleu import BLEU

from nlgauge.core.arrays import Floats
from nlgauge.core.custom_tokenizer import CustomTokenizer
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import Aliases, similarity
from nlgauge.core.options import escape, format_value, option
from nlgauge.metrics._bleu_weights import parse_weights, weighted_bleu
from nlgauge.metrics._sacrebleu import SacrebleuMetric

_DOWNLOADED = ("spm", "flores101", "flores200", "spBLEU-1K")  # tokenizer models from the web


@dataclass(frozen=True)
class Bleu(SacrebleuMetric):
    """BLEU of a corpus, and smoothed BLEU of its segments."""

    title = "BLEU"
    language_options: ClassVar[Mapping[str, Mapping[str, str | bool]]] = {
        "zh": {"tokenize": "zh"},
        "ja": {"tokenize": "ja-mecab"},
        "ko": {"tokenize": "ko-mecab"},
        # Languages without spaces; sacrebleu's tokenizers for them need a download.
        **{code: {"tokenize": "char"} for code in ("th", "lo", "km", "my", "bo")},
    }
    paper = "Papineni et al. 2002, BLEU: a Method for Automatic Evaluation of MT (ACL)"
    aliases: ClassVar[Aliases] = {"sacrebleu": {}}
    sacrebleu_class = BLEU
    scale = similarity(0.0, 100.0)

    tokenize: str | CustomTokenizer = option(
        "13a",
        "sacrebleu's tokenizer (zh for Chinese, ja-mecab for Japanese, ko-mecab for Korean), or a "
        "Python function.",
        choices=tuple(BLEU.TOKENIZERS),
        server=tuple(name for name in BLEU.TOKENIZERS if name not in _DOWNLOADED),
    )
    lowercase: bool = option(False, "Lowercase both sides.")
    smooth_method: str = option(
        "exp", "Smoothing of orders without a match.", choices=tuple(BLEU.SMOOTH_DEFAULTS)
    )
    smooth_value: float | None = option(
        None, "Value of floor (default 0.1) or add-k (default 1) smoothing.", low=0.0, high=1e6
    )
    max_ngram_order: int = option(4, "Longest n-grams.", low=1, high=100)
    weights: str | None = option(
        None,
        "Weights of the n-gram orders, such as 0.5+0.3+0.2; none: the same for all.",
        server="text",
    )
    effective_order: str = option(
        "auto",
        "Leave out orders without n-grams; auto: for segments, not for the corpus.",
        choices=("auto", "yes", "no"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smooth_value is not None and BLEU.SMOOTH_DEFAULTS[self.smooth_method] is None:
            raise OptionError(
                f"option smooth_value={self.smooth_value}: smooth_method="
                f"{self.smooth_method!r} takes no value; choose floor or add-k, or leave it out"
            )
        if self.smooth_method == "floor" and (self.smooth_value or 0) > 1:
            raise OptionError(f"option smooth_value={self.smooth_value}: a floor is at most 1")
        if self.weights is not None:
            parse_weights(self.weights, self.max_ngram_order)  # raises an error for others

    def arguments(self, *, for_segments: bool) -> dict[str, Any]:
        """Return the arguments of sacrebleu's BLEU."""
        arguments = super().arguments(for_segments=for_segments)
        del arguments["weights"]
        if isinstance(self.tokenize, CustomTokenizer):
            arguments["tokenize"] = "none"
        effective_order = self.effective_order in ("yes", "auto" if for_segments else "yes")
        # force: no warning about tokenized input
        return {**arguments, "effective_order": effective_order, "force": True}

    def configure(self, tool: Any) -> None:
        """Set the user's tokenizer; sacrebleu splits its words at spaces."""
        split = self.tokenize
        if isinstance(split, CustomTokenizer):
            tool.tokenizer = lambda line: " ".join(split(line))
            tool.tokenizer_signature = escape(str(split))

    def value_of(self, score: Any, tool: Any) -> float:
        """Return sacrebleu's score, or the weighted geometric mean of its precisions."""
        if self.weights is None:
            return super().value_of(score, tool)
        weights = parse_weights(self.weights, self.max_ngram_order)
        return weighted_bleu(score, weights, effective_order=tool.effective_order)

    def parts_of(self, score: Any, totals: Floats) -> dict[str, float]:
        """Return the precisions in percent, the brevity penalty and the lengths in tokens."""
        precisions: dict[str, float] = {
            f"precision_{order}": value for order, value in enumerate(score.precisions, start=1)
        }
        lengths = {"candidate_length": score.sys_len, "reference_length": score.ref_len}
        return {**precisions, "brevity_penalty": score.bp, **lengths}

    def extra_keys(self) -> dict[str, str]:
        """Return the n-gram order and weights, an exact smoothing value, and segeff."""
        keys = {}
        if self.max_ngram_order != 4:
            keys["order"] = str(self.max_ngram_order)
        if self.smooth_value is not None and self.smooth_value != round(self.smooth_value, 2):
            keys["k"] = format_value(self.smooth_value)
        if self.effective_order == "no":
            keys["segeff"] = "no"
        if self.weights is not None:
            keys["weights"] = self.weights
        return keys

    @classmethod
    def rebuild(cls, keys: Mapping[str, str]) -> Self:
        """Return the metric of sacrebleu's keys: case, eff, tok, smooth."""
        method, _, rounded = keys["smooth"].rstrip("]").partition("[")  # floor[0.10]
        text = keys.get("k", rounded)
        value = float(text) if text else None
        # The name of the mecab tokenizers is followed by the version of their dictionary.
        known = (name for name in BLEU.TOKENIZERS if keys["tok"].startswith(name))
        return cls(
            tokenize=max(known, key=len, default=keys["tok"]),
            lowercase=keys["case"] == "lc",
            smooth_method=method,
            smooth_value=None if value == BLEU.SMOOTH_DEFAULTS.get(method) else value,
            max_ngram_order=int(keys.get("order", 4)),
            weights=keys.get("weights"),
            effective_order="yes" if keys["eff"] == "yes" else keys.get("segeff", "auto"),
        )
