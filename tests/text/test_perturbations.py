"""Perturbed texts: what changes, and texts without anything to change."""

from collections import Counter

import numpy as np
import pytest

from nlgauge.text import perturbations

TEXT = "She is 35 years old and has 2 cats in a house of 10 rooms ."


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_a_fifth_of_the_words_is_dropped(rng: np.random.Generator) -> None:
    changed = perturbations.drop_words(TEXT, rng).split()
    assert len(changed) == len(TEXT.split()) - 3
    assert not Counter(changed) - Counter(TEXT.split())
    assert len(perturbations.drop_words("two words", rng).split()) == 1


def test_shuffled_words_are_the_same_words(rng: np.random.Generator) -> None:
    changed = perturbations.shuffle_words(TEXT, rng)
    assert changed != TEXT
    assert sorted(changed.split()) == sorted(TEXT.split())


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("She is old.", "She is not old."),
        ("It Would work.", "It Would not work."),
        ("He does not know.", "He does know."),
        ("They can't go.", "They ca go."),
        ("No verb here", "No verb here"),
    ],
)
def test_negation(text: str, negated: str, rng: np.random.Generator) -> None:
    assert perturbations.negate(text, rng) == negated


def test_every_number_becomes_another_of_as_many_digits(rng: np.random.Generator) -> None:
    for _ in range(50):
        changed = perturbations.change_numbers("9 cats, 10 dogs, 0 birds, 2026", rng)
        numbers = [word.strip(",") for word in changed.split() if word[0].isdigit()]
        assert [len(number) for number in numbers] == [1, 2, 1, 4]
        assert all(a != b for a, b in zip(numbers, ["9", "10", "0", "2026"], strict=True))
        assert all(number[0] != "0" for number in numbers)
    assert perturbations.change_numbers("no number", rng) == "no number"


def test_the_second_half_is_repeated(rng: np.random.Generator) -> None:
    assert perturbations.repeat_end("a b c d", rng) == "a b c d c d"


@pytest.mark.parametrize("name", perturbations.CHANGES)
@pytest.mark.parametrize("text", ["", " ", "x", "我喜欢猫", "🙂🙂 🙂", "שלום עולם"])
def test_any_text_can_be_changed(name: str, text: str, rng: np.random.Generator) -> None:
    assert isinstance(perturbations.CHANGES[name](text, rng), str)


def test_texts_without_spaces_are_changed_by_characters(rng: np.random.Generator) -> None:
    assert len(perturbations.drop_words("我喜欢猫和狗", rng)) == 5
    assert sorted(perturbations.shuffle_words("我喜欢猫", rng)) == sorted("我喜欢猫")
