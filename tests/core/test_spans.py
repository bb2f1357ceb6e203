"""Predicted error spans: words from tokens, runs of words, thresholds, and texts of all scripts."""

import math

import numpy as np
import pytest

import nlgauge
from nlgauge.core.errors import OptionError, UsageError
from nlgauge.core.plan import Plan
from nlgauge.core.spans import Span, WordCosts, find_runs, run_means
from nlgauge.metrics.lazy_emd import LazyEmd
from nlgauge.text.lexical_diff import error_factors
from nlgauge.text.tokenize import find_words

HASHING = "wmd:model=hashing,special=drop,layer=0"


def test_words_take_the_mean_of_their_tokens_by_mass_and_characters() -> None:
    offsets = np.array([[0, 0], [0, 2], [2, 6], [6, 9], [9, 9]])
    costs, masses = np.array([9.0, 1.0, 0.4, 0.2, np.nan]), np.array([0.2, 0.1, 0.3, 0.4, 0.0])
    found = WordCosts.of([(0, 4), (4, 6), (7, 9), (20, 22)], offsets, costs, masses).costs
    first = (2 * 0.1 * 1.0 + 2 * 0.3 * 0.4) / (2 * 0.1 + 2 * 0.3)
    np.testing.assert_allclose(found, [first, 0.4, 0.2, np.nan])


def by_loop(costs: list[float], minor: float, major: float) -> list[tuple[int, int, str]]:
    """Runs of words by a loop: first and last word, severity."""
    runs: list[list[int]] = []
    for at, cost in enumerate(costs):
        if cost >= minor:
            if runs and runs[-1][-1] == at - 1:
                runs[-1].append(at)
            else:
                runs.append([at])
    means = [sum(costs[at] for at in run) / len(run) for run in runs]
    names = ["major" if mean >= major else "minor" for mean in means]
    return [(run[0], run[-1], name) for run, name in zip(runs, names, strict=True)]


@pytest.mark.parametrize("seed", range(20))
def test_spans_are_runs_of_costly_words(seed: int) -> None:
    rng = np.random.default_rng(seed)
    costs = rng.choice([0.0, 0.3, 0.6, 0.9, np.nan, np.inf], int(rng.integers(9)))
    offsets = np.array([[4 * i, 4 * i + 3] for i in range(len(costs))]).reshape(-1, 2)
    for minor, major in ((0.3, 0.6), (0.6, 0.6), (0.5, math.inf), (math.inf, math.inf)):
        found = WordCosts(offsets, costs).spans(minor, major)
        expected = [
            Span(4 * i, 4 * j + 3, name) for i, j, name in by_loop(costs.tolist(), minor, major)
        ]
        assert list(found) == expected


def test_words_that_differ_cost_twice_and_punctuation_half() -> None:
    factors = error_factors("a dog sat, 😀!", ["a cat sat, 🙂."])
    assert factors.tolist() == [1.0, 2.0, 1.0, 0.5, 2.0, 1.0], "an emoji is no punctuation"
    assert error_factors("a dog", ["a cat", "one dog"]).tolist() == [1.0, 1.0]
    assert error_factors("a dog", []).tolist() == [2.0, 2.0]
    assert error_factors("", ["a"]).tolist() == []
    costs = np.array([0.4, np.inf, np.nan, 0.0])
    words = WordCosts(np.array([[0, 1], [2, 5], [6, 7], [8, 9]]), costs)
    scaled = words.scaled(np.array([1.0, 2.0, 0.5, 2.0]))
    np.testing.assert_array_equal(scaled.costs, [0.4, np.inf, np.nan, 0.0])


def test_spans_are_predicted_from_scaled_costs() -> None:
    scores = nlgauge.score(["a dog sat!"], ["a cat sat."], metrics=HASHING)[HASHING]
    costs = scores.word_costs(0).costs
    plan = scores.plan(0)  # each token is one word, so its cost is that of its only flow
    raw = (plan.coupling * plan.cost).sum(axis=1) / plan.a
    np.testing.assert_allclose(costs, raw * [1.0, 2.0, 1.0, 1.0])
    assert costs[1] > 0 and costs[3] > 0
    minor = float(costs[1])
    assert scores.spans(0, minor=minor, major=9)[0] == Span(2, 5, "minor")


def test_runs_stop_where_a_text_starts() -> None:
    first, last = find_runs(np.array([True, True, True, False, True]), np.array([0, 2, 2, 5]))
    assert (first.tolist(), last.tolist()) == ([0, 2, 4], [1, 2, 4])
    assert run_means(np.array([1.0, 3, 5, 9, 7]), first, last).tolist() == [2, 5, 7]


@pytest.mark.parametrize(("minor", "major"), [(0.5, 0.4), (math.nan, 1.0), (0.1, math.nan)])
def test_thresholds_in_the_wrong_order_are_refused(minor: float, major: float) -> None:
    with pytest.raises(OptionError, match="minor at most major"):
        WordCosts(np.zeros((0, 2), int), np.zeros(0)).spans(minor, major)


def test_a_word_has_its_lowest_cost_over_the_references() -> None:
    offsets = np.array([[0, 1], [2, 3], [4, 5]])
    parts = [WordCosts(offsets, np.array(costs)) for costs in ([0.1, 0.9, np.nan], [0.5, 0.3, 1])]
    np.testing.assert_array_equal(WordCosts.combine(parts).costs, [0.1, 0.3, np.nan])


def test_unmatched_mass_costs_the_penalty() -> None:
    def cost(flow: float, price: float, penalty: float) -> float:
        arrays = np.array([[flow]]), np.array([[price]]), np.ones(1), np.ones(1)
        plan = Plan(flow * price, *arrays, flow, 1, True, 0.0)
        metric = LazyEmd(penalty_candidate=penalty, penalty_reference=1.0)
        return float(metric.token_costs(plan)[0])

    assert cost(0.0, 0.8, 0.3) == pytest.approx(0.3)  # all of it stays
    assert cost(1.0, 0.8, 0.3) == pytest.approx(0.8)  # all of it moves
    half = 0.5 * 0.8 + 0.3 * (0.5 * math.log(0.5) - 0.5 + 1)
    assert cost(0.5, 0.8, 0.3) == pytest.approx(half)
    assert cost(0.5, 0.8, 0.0) == pytest.approx(0.4)


def predicted(candidate: str, *references: str, metric: str = HASHING) -> list[str]:
    (scores,) = nlgauge.score([candidate], [references], metrics=metric).values()
    return [candidate[span.start : span.end] for span in scores.spans(0, minor=0.2, major=0.8)]


@pytest.mark.parametrize(
    ("candidate", "reference", "errors"),
    [
        ("a cat sat down", "a dog sat down", ["cat"]),
        ("The Very Big Cat", "the cat", ["Very Big"]),
        ("我喜歡貓。", "我喜歡貓。", []),
        ("İyi bir kedi", "İyi bir köpek", ["kedi"]),
        ("ok 😀 fine", "ok 🙂 fine", ["😀"]),
        ("שלום לך עולם", "שלום לכם עולם", ["לך"]),
        ("un cafe\u0301 noir", "un thé noir", ["cafe\u0301"]),
        ("cat", "dog", ["cat"]),
        ("", "dog", []),
        ("a cat", "", ["a cat"]),
    ],
)
def test_errors_are_marked_in_texts_of_any_script(
    candidate: str, reference: str, errors: list[str]
) -> None:
    assert predicted(candidate, reference) == errors


def test_a_word_of_any_reference_is_no_error() -> None:
    assert predicted("a cat sat", "a dog sat") == ["cat"]
    assert predicted("a cat sat", "a dog sat", "the cat ran") == []


def test_ngrams_mark_the_words_they_share() -> None:
    metric = "gauge:model=hashing,ngram=3,layers=0"
    found = predicted("one two three four red six", "one two three four five six", metric=metric)
    assert any("red" in text for text in found)
    assert predicted("one two three", "one two three", metric=metric) == []


def test_metrics_without_words_or_thresholds_are_refused() -> None:
    (scores,) = nlgauge.score(["a cat"], ["a dog"], metrics=HASHING).values()
    with pytest.raises(UsageError, match=r"no thresholds are known .* nlgauge spans DATA -m wmd"):
        scores.spans(0)
    with pytest.raises(UsageError, match="only one threshold is given"):
        scores.spans(0, minor=0.1)
    (sentences,) = nlgauge.score(["a"], ["b"], metrics="sms:model=hashing").values()
    with pytest.raises(UsageError, match="sms:model=hashing compares sentences or whole texts"):
        sentences.spans(0, minor=0.1, major=0.2)
    (words,) = nlgauge.score(["a"], ["b"], metrics="chrf").values()
    with pytest.raises(UsageError, match="chrf does not match tokens"):
        words.spans(0, minor=0.1, major=0.2)


def test_words_have_places_in_texts_of_several_scripts() -> None:
    text = "Hé, 我👍 ok"
    assert [text[w.start : w.end] for w in find_words(text)] == ["Hé", ",", "我", "👍", "ok"]
