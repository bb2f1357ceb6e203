"""Plans between words keep the masses of their pieces."""

import numpy as np
import pytest

from nlgauge.core.plan import Plan
from nlgauge.core.word_plan import WordGroups, nearest_tokens


def plan(candidate: tuple[str, ...], reference: tuple[str, ...]) -> Plan:
    rng = np.random.default_rng(0)
    coupling, cost = rng.random((2, len(candidate), len(reference)))
    coupling[0, 0] = 0
    coupling /= coupling.sum()
    value = float((coupling * cost).sum())
    sides = coupling.sum(axis=1), coupling.sum(axis=0)
    return Plan(value, coupling, cost, *sides, 1.0, 0, True, value).named(candidate, reference)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (("a", "life", "##ves", "##t", "."), ("a", "lifevest", ".")),
        (("[CLS]", "un", "##seen", "##", "##x"), ("[CLS]", "unseen", "##x")),
        (("▁a", "▁life", "vest", ".", "▁b"), ("a", "lifevest", ".", "b")),
        (("A", "Ġlife", "vest", ",", "<s>"), ("A", "lifevest", ",", "<s>")),
        (("life", "vest"), ("life", "vest")),
        (("a life", "life ##vest", "##vest is"), ("a life", "lifevest", "vest is")),
        (("▁a ▁life", "▁life vest", "vest ▁is"), ("a life", "lifevest", "vest is")),
    ],
)
def test_pieces_become_words(pieces: tuple[str, ...], words: tuple[str, ...]) -> None:
    found = plan(pieces, ("x", "y"))
    assert WordGroups.of(found).join(found).candidate_tokens == words


def test_joining_keeps_mass_and_value() -> None:
    found = plan(("a", "life", "##vest"), ("the", "can", "##oe", "##s"))
    joined = WordGroups.of(found).join(found)
    assert joined.coupling.shape == (2, 2)
    np.testing.assert_allclose(joined.coupling.sum(), found.coupling.sum())
    np.testing.assert_allclose(joined.a, [found.a[0], found.a[1:].sum()])
    np.testing.assert_allclose(joined.marginal_b, joined.b)
    np.testing.assert_allclose((joined.coupling * joined.cost).sum(), found.value)


def test_directions_of_a_greedy_plan() -> None:
    cost = np.array([[0.1, 0.5], [0.2, 0.9]])
    coupling = np.array([[0.5, 0.25], [0.25, 0.0]])  # the mean of both directions
    half = np.full(2, 0.5)
    precision, recall = nearest_tokens(Plan(0.0, coupling, cost, half, half, 1.0, 0, True, 0.0))
    np.testing.assert_array_equal(precision, [[True, False], [True, False]])
    np.testing.assert_array_equal(recall, [[True, True], [False, False]])
