"""ROUGE: overlap of n-grams (ROUGE-N) or of the longest common subsequence (ROUGE-L, Lsum).

Lin (2004): precision = overlap / size of the candidate, recall = overlap / size of the reference,
f = 2 P R / (P + R). The overlap is the clipped number of common n-grams (variant 1 to 9), the
length of the longest common subsequence of words (l), or, over sentences separated by newlines,
the union of the subsequences that each reference sentence shares with any candidate sentence
(lsum; ``split_summaries`` finds the sentences by NLTK's Punkt). Higher is better, 0 to 1; identical
texts get 1, a text without n-grams 0.

Words are Unicode words in any script. ``compat=rouge_score`` reproduces that package, which like
ROUGE-1.5.5 keeps only a-z and 0-9.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.custom_tokenizer import CustomTokenizer
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import Aliases, PairMetric, Side, similarity
from nlgauge.core.options import option
from nlgauge.core.versions import version_of
from nlgauge.text.edits import lcs_length, lcs_positions
from nlgauge.text.ngrams import Ngram, ngrams
from nlgauge.text.sentences import punkt_sentences
from nlgauge.text.stem import stem
from nlgauge.text.tokenize import ascii_words, split_words

Sentences: TypeAlias = list[list[str]]
Overlap: TypeAlias = Callable[[Any, Any], tuple[int, int, int]]  # common, candidate, reference
STEM_LONGER_THAN = 3  # letters, as in ROUGE-1.5.5


@dataclass(frozen=True)
class Rouge(PairMetric):
    """F-score, precision and recall of n-grams or common subsequences."""

    components = ("f", "precision", "recall")
    paper = "Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries (ACL)"
    scale = similarity()
    aliases: ClassVar[Aliases] = {
        f"rouge{name}": {"variant": name} for name in (*"123456789", "l", "lsum")
    }

    variant: str = option(
        "l",
        "Order of n-grams, or longest common subsequence of texts (l) or sentences (lsum).",
        choices=(*"123456789", "l", "lsum"),
    )
    lowercase: bool = option(True, "Lowercase both sides.")
    stem: bool = option(False, "Compare Porter stems of words with more than three letters.")
    tokenize: str | CustomTokenizer = option(
        "words",
        "words: Unicode words; ptb: as in the Penn Treebank; or a Python function.",
        choices=("words", "ptb"),
    )
    split_summaries: bool = option(
        False,
        "For lsum, find sentences by NLTK's Punkt instead of separating them at newlines.",
        server="fixed",
    )
    compat: str = option("none", "Package to reproduce.", choices=("none", "rouge_score"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.compat == "rouge_score" and not self.lowercase:
            raise OptionError(
                "options compat='rouge_score', lowercase=no: rouge_score always lowercases; "
                "leave one of them out"
            )
        if self.compat == "rouge_score" and self.tokenize == "ptb":
            raise OptionError(
                "options compat='rouge_score', tokenize='ptb': rouge_score has its own words; "
                "leave one of them out"
            )
        if self.split_summaries and self.variant != "lsum":
            raise OptionError(
                f"options split_summaries=yes, variant={self.variant}: sentences matter for "
                "variant=lsum only; leave one of them out"
            )

    @property
    def title(self) -> str:
        """ROUGE-2, ROUGE-L or ROUGE-Lsum."""
        return f"ROUGE-{self.variant.capitalize()}"

    def facts(self) -> dict[str, str]:
        """The version of NLTK, if it finds the sentences."""
        return {"nltk": version_of("nltk")} if self.split_summaries else {}

    def prepare(self, item: str, side: Side) -> Any | None:
        """Return n-gram counts, words, or the words of every sentence."""
        if self.variant == "lsum":
            sentences = punkt_sentences(item) if self.split_summaries else item.split("\n")
            return list(filter(None, map(self._words, sentences))) or None
        words = self._words(item)
        return (words if self.variant == "l" else ngrams(words, int(self.variant))) or None

    def compare(self, candidates: Sequence[Any], references: Sequence[Any]) -> Floats:
        """Return F-score, precision and recall of every pair."""
        variants: dict[str, Overlap] = {"l": _subsequence, "lsum": _union_subsequence}
        overlap = variants.get(self.variant, _common_ngrams)
        counts = np.array([*map(overlap, candidates, references)], dtype=np.float64)
        common, candidate_sizes, reference_sizes = counts.T
        precision, recall = common / candidate_sizes, common / reference_sizes
        total = precision + recall
        f = 2 * precision * recall / np.where(total > 0, total, 1)
        return np.stack([f, precision, recall], axis=1)

    def _words(self, text: str) -> list[str]:
        if self.compat == "rouge_score":
            if isinstance(self.tokenize, CustomTokenizer):
                return self.tokenize(text)  # as rouge_score does
            words = ascii_words(text)
        else:
            words = split_words(text, self.tokenize, lowercase=self.lowercase)
        if not self.stem:
            return words
        return [stem(word) if len(word) > STEM_LONGER_THAN else word for word in words]


def _common_ngrams(candidate: Counter[Ngram], reference: Counter[Ngram]) -> tuple[int, int, int]:
    return (candidate & reference).total(), candidate.total(), reference.total()


def _subsequence(candidate: list[str], reference: list[str]) -> tuple[int, int, int]:
    return lcs_length(candidate, reference), len(candidate), len(reference)


def _union_subsequence(candidate: Sentences, reference: Sentences) -> tuple[int, int, int]:
    """Lin (2004), section 3.2; counts are clipped to those of the candidate."""
    available = Counter(word for sentence in candidate for word in sentence)
    shared: Counter[str] = Counter()
    for sentence in reference:
        positions = {i for other in candidate for i in lcs_positions(sentence, other)}
        shared.update(sentence[i] for i in positions)
    return (shared & available).total(), available.total(), sum(map(len, reference))
