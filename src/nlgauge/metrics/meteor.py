"""METEOR: words matched exactly, by stem or as synonyms, with a fragmentation penalty.

Banerjee and Lavie (2005), with the parameters of Lavie and Agarwal (2007) as NLTK names them:
P = m / |candidate|, R = m / |reference| for m matched words, F = P R / (a P + (1 - a) R), and
METEOR = F (1 - g (chunks / m)^b), with a = 0.9, b = 3, g = 0.5. A chunk is a run of matches that
are adjacent in both texts. As in METEOR 1.5, a complete match in one chunk has no penalty.
Higher is better, 0 to 1; identical texts get 1, an empty text 0.

The alignment maximises the number of matches, then minimises the number of chunks; exact, stem and
synonym matches count the same. Synonyms are words that share a WordNet synset. The words themselves
are looked up (NLTK looks up their stems and misses many).

``compat=nltk`` reproduces NLTK's meteor_score for words split at spaces: its alignment and
synonyms, and a penalty also for identical texts.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.custom_tokenizer import CustomTokenizer
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import PairMetric, Rows, Side, similarity
from nlgauge.core.options import option
from nlgauge.measure.precision_recall import f_measure
from nlgauge.metrics._meteor_compat import nltk_alignment
from nlgauge.text.chunks import fewest_chunks
from nlgauge.text.stem import stem
from nlgauge.text.tokenize import split_words
from nlgauge.text.wordnet import WordNet, find_wordnet

NO_WORDNET_NOTE = (
    "no WordNet was found, so synonyms do not match; pip install 'nlgauge[meteor]', "
    "or set synonyms=none"
)


@dataclass(frozen=True)
class Meteor(PairMetric):
    """Harmonic mean of word precision and recall, with a fragmentation penalty."""

    title = "METEOR"
    requires = "WordNet, for synonyms"
    components = ("score", "precision", "recall")
    paper = "Banerjee and Lavie 2005, METEOR: An Automatic Metric for MT Evaluation (ACL)"
    language_options: ClassVar[Mapping[str, Mapping[str, str | bool]]] = {
        "other": {"stem": False, "synonyms": "none"}  # both are English
    }
    scale = similarity()

    alpha: float = option(0.9, "Weight of recall in the mean.", low=0.0, high=1.0)
    beta: float = option(3.0, "Exponent of the penalty.", low=0.0)
    gamma: float = option(0.5, "Largest penalty.", low=0.0, high=1.0)
    stem: bool = option(True, "Match words with the same Porter stem.")
    synonyms: str = option(
        "auto",
        "WordNet folder; auto searches the usual folders, none disables synonyms.",
        server={"auto": "the WordNet of the server, if any", "none": "no synonyms"},
    )
    tokenize: str | CustomTokenizer = option(
        "words",
        "words: Unicode words; ptb: as in the Penn Treebank; or a Python function.",
        choices=("words", "ptb"),
    )
    punctuation: bool = option(True, "Count punctuation marks as words.")
    compat: str = option(
        "none", "Package to reproduce; nltk: words are split at spaces.", choices=("none", "nltk")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.compat == "nltk" and not self.punctuation:
            raise OptionError(
                "options compat='nltk', punctuation=no: nltk counts marks; leave one of them out"
            )
        if self.compat == "nltk" and self.tokenize == "ptb":
            raise OptionError(
                "options compat='nltk', tokenize='ptb': nltk takes words; leave one of them out"
            )

    def facts(self) -> dict[str, str]:
        """The version of WordNet."""
        wordnet = find_wordnet(self.synonyms)
        return {"wordnet": wordnet.version if wordnet else "none"}

    def rows(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Rows:
        """Return the score of every segment."""
        rows = super().rows(candidates, references)
        missing = np.full(len(candidates), self.synonyms == "auto" and find_wordnet() is None)
        return Rows(rows.statistics, {**rows.notes, NO_WORDNET_NOTE: missing})

    def prepare(self, item: str, side: Side) -> list[str] | None:
        """Return the lowercased words."""
        if self.compat == "nltk" and self.tokenize == "words":
            return item.lower().split() or None
        return split_words(item, self.tokenize, marks=self.punctuation) or None

    def compare(self, candidates: Sequence[list[str]], references: Sequence[list[str]]) -> Floats:
        """Return score, precision and recall of every pair."""
        wordnet = find_wordnet(self.synonyms)
        pairs = zip(candidates, references, strict=True)
        return np.array([self._score(*pair, wordnet) for pair in pairs])

    def _score(
        self, candidate: list[str], reference: list[str], wordnet: WordNet | None
    ) -> tuple[float, float, float]:
        as_nltk = self.compat == "nltk"
        if as_nltk:
            matches, chunks = nltk_alignment(candidate, reference, stems=self.stem, wordnet=wordnet)
        else:
            matches, chunks = fewest_chunks(self._partners(candidate, reference, wordnet))
        if not matches:
            return 0.0, 0.0, 0.0
        precision, recall = matches / len(candidate), matches / len(reference)
        mean = f_measure(precision, recall, self.alpha)
        complete = chunks == 1 and matches == len(candidate) == len(reference)
        penalty = 0.0 if complete and not as_nltk else self.gamma * (chunks / matches) ** self.beta
        return mean * (1 - penalty), precision, recall

    def _partners(
        self, candidate: list[str], reference: list[str], wordnet: WordNet | None
    ) -> list[tuple[int, ...]]:
        """Return the reference positions that each word of the candidate can match."""
        positions: defaultdict[str, set[int]] = defaultdict(set)
        for j, word in enumerate(reference):
            for key in self._keys(word, wordnet):
                positions[key].add(j)
        partners: dict[str, tuple[int, ...]] = {}
        for word in set(candidate):
            shared = (positions[key] for key in self._keys(word, wordnet))
            partners[word] = tuple(sorted(set().union(*shared)))
        return [partners[word] for word in candidate]

    def _keys(self, word: str, wordnet: WordNet | None) -> Iterator[str]:
        """Yield the word or its stem, and its synsets; matching words share one of them."""
        yield stem(word) if self.stem else word
        if wordnet is not None:
            yield from wordnet.synsets(word)
