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
    left, right = dict(enumerate(candidate)), dict(enumerate(reference))
    matches = _match(left, right, lambda word: {word})
    if stems:
        left = {i: stem(word) for i, word in left.items()}
        right = {j: stem(word) for j, word in right.items()}
        matches |= _match(left, right, lambda word: {word})
    if wordnet is not None:
        matches |= _match(left, right, wordnet.lemma_names)
    continued = sum(matches.get(i - 1, -2) + 1 == j for i, j in matches.items())
    return len(matches), len(matches) - continued


def _match(left: Words, right: Words, names: Callable[[str], Collection[str]]) -> dict[int, int]:
    """Remove matching words from both sides, and return their positions."""
    free: defaultdict[str, list[int]] = defaultdict(list)
    for j, word in right.items():
        free[word].append(j)
    matches: dict[int, int] = {}
    for i in sorted(left, reverse=True):
        last = [free[name] for name in names(left[i]) if free.get(name)]
        if last:
            matches[i] = max(last, key=lambda positions: positions[-1]).pop()
            del left[i], right[matches[i]]
    return matches
