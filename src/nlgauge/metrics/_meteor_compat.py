"""The alignment of NLTK's meteor_score.

Words match in three stages: equal words, equal stems, and stems that are synonyms. In each stage
the candidate is read from its end, and a word is matched with the last free word of the reference.
If words repeat, this gives more chunks than necessary.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from nlgauge.text.stem import stem
from nlgauge.text.wordnet import WordNet

Words = dict[int, str]  # by position


def nltk_alignment(
    candidate: Sequence[str], reference: Sequence[str], *, stems: bool, wordnet: WordNet | None
) -> tuple[int, int]:
    """Return the number of matched words and of their chunks."""
    candidate_words, reference_words = dict(enumerate(candidate)), dict(enumerate(reference))
    matches = _match(candidate_words, reference_words, lambda word: {word})
    if stems:
        candidate_words = {i: stem(word) for i, word in candidate_words.items()}
        reference_words = {j: stem(word) for j, word in reference_words.items()}
        matches |= _match(candidate_words, reference_words, lambda word: {word})
    if wordnet is not None:
        matches |= _match(candidate_words, reference_words, wordnet.lemma_names)
    continued = sum(matches.get(i - 1, -2) + 1 == j for i, j in matches.items())
    return len(matches), len(matches) - continued


def _match(
    candidate: Words, reference: Words, names: Callable[[str], Collection[str]]
) -> dict[int, int]:
    """Remove matching words from both sides, and return their positions."""
    free: defaultdict[str, list[int]] = defaultdict(list)
    for j, word in reference.items():
        free[word].append(j)
    matches: dict[int, int] = {}
    for i in sorted(candidate, reverse=True):
        last = [free[name] for name in names(candidate[i]) if free.get(name)]
        if last:
            matches[i] = max(last, key=lambda positions: positions[-1]).pop()
            del candidate[i], reference[matches[i]]
    return matches
