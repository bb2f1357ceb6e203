"""Agreement of error spans: against loops over characters, at its limits, and bad spans."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.spans import Span, WordCosts
from nlgauge.stats.span_agreement import (
    SpanAgreement,
    Thresholds,
    bootstrap_f1,
    bootstrap_f1_difference,
    choose_thresholds,
    count_matches,
)

LENGTH = 12


def by_characters(predicted, annotated, length, credit=0.5) -> tuple[float, int, int]:
    """Matched, predicted and annotated characters, one character after the other."""
    matched, ours, people = 0.0, 0, 0
    for at in range(length):
        left = [s.severity != "minor" for s in predicted if s.start <= at < s.end]
        right = [s.severity != "minor" for s in annotated if s.start <= at < s.end]
        ours, people = ours + len(left), people + len(right)
        for severity in list(left):
            if severity in right:  # pairs of the same severity first
                left.remove(severity)
                right.remove(severity)
                matched += 1
        matched += credit * min(len(left), len(right))
    return matched, ours, people


def random_spans(rng: np.random.Generator, count: int) -> list[Span]:
    ends = [sorted(rng.choice(LENGTH + 1, 2, replace=False)) for _ in range(count)]
    names = rng.choice(["minor", "major", "critical"], count)
    return [Span(int(a), int(b), str(name)) for (a, b), name in zip(ends, names, strict=True)]


@pytest.mark.parametrize("seed", range(40))
def test_counts_are_those_of_a_loop_over_characters(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ours, people = random_spans(rng, rng.integers(5)), random_spans(rng, rng.integers(5))
    credit = float(rng.choice([0.0, 0.5, 1.0]))
    found = count_matches(ours, people, LENGTH, partial_credit=credit)
    assert found.tolist() == list(by_characters(ours, people, LENGTH, credit))


def test_a_perfect_prediction_has_f1_1_and_another_severity_half() -> None:
    people = [Span(0, 3, "minor"), Span(2, 6, "major"), Span(2, 6, "major")]
    perfect = SpanAgreement(*count_matches(people, people, LENGTH))
    assert (perfect.precision, perfect.recall, perfect.f1) == (1.0, 1.0, 1.0)
    turned = [Span(0, 3, "major"), Span(2, 6, "minor"), Span(2, 6, "minor")]
    # The character that both kinds cover matches once in each severity.
    assert count_matches(turned, people, LENGTH).tolist() == [0.5 * 2 + 2 + 0.5 + 3, 11, 11]


def test_no_predicted_or_no_annotated_spans_have_defined_values() -> None:
    one = [Span(1, 4)]
    none_predicted = SpanAgreement(*count_matches([], one, LENGTH))
    assert (none_predicted.precision, none_predicted.recall, none_predicted.f1) == (1, 0, 0)
    none_annotated = SpanAgreement(*count_matches(one, [], LENGTH))
    assert (none_annotated.precision, none_annotated.recall, none_annotated.f1) == (0, 1, 0)
    assert SpanAgreement(*count_matches([], [], 0)).f1 == 1.0


@pytest.mark.parametrize("span", [Span(0, 13), Span(-1, 2), Span(3, 3), Span(5, 2)])
def test_a_span_outside_the_text_is_refused(span: Span) -> None:
    words = f"from {span.start} to {span.end} is not within the text of 12 characters"
    for spans in (([span], []), ([], [span])):
        with pytest.raises(DataError, match=words):
            count_matches(*spans, LENGTH)


def test_unknown_severities_and_credits_are_refused() -> None:
    with pytest.raises(DataError, match=r"unknown severity 'severe' .* minor, major, critical"):
        count_matches([], [Span(0, 1, "severe")], LENGTH)
    assert count_matches([], [Span(0, 1, "Neutral")], LENGTH).tolist() == [0, 0, 0]
    for credit in (2, -0.1):
        with pytest.raises(OptionError, match=f"partial_credit is {credit}"):
            count_matches([], [], LENGTH, partial_credit=credit)


def test_intervals_contain_the_value_and_a_difference_from_itself_is_0() -> None:
    rng = np.random.default_rng(1)
    rows = np.array(
        [count_matches(random_spans(rng, 2), random_spans(rng, 2), LENGTH) for _ in range(50)]
    )
    found = bootstrap_f1(rows, count=200)
    assert found.value == pytest.approx(SpanAgreement(*rows.sum(axis=0)).f1)
    assert found.low < found.value < found.high
    same = bootstrap_f1_difference(rows, rows, count=100)
    assert (same.value, same.low, same.high) == (0, 0, 0)


def random_texts(seed: int) -> tuple[list[WordCosts], list[list[Span]]]:
    rng = np.random.default_rng(seed)
    words, people = [], []
    for _ in range(5):
        count = int(rng.integers(0, 5))
        offsets = np.array([[3 * i, 3 * i + 2] for i in range(count)]).reshape(-1, 2)
        costs = rng.choice([0.1, 0.2, 0.4, np.nan, np.inf], count, p=[0.3, 0.3, 0.2, 0.1, 0.1])
        words.append(WordCosts(offsets, costs))
        people.append(random_spans(rng, int(rng.integers(3))))
    return words, people


@pytest.mark.parametrize("seed", range(20))
def test_chosen_thresholds_are_the_best_of_all(seed: int) -> None:
    words, people = random_texts(seed)
    texts = [each.costs for each in words], [each.offsets for each in words]
    found = choose_thresholds(*texts, people, [LENGTH] * len(words))

    def f1(minor: float, major: float) -> float:
        pairs = zip(words, people, strict=True)
        rows = [by_characters(w.spans(minor, major), spans, LENGTH) for w, spans in pairs]
        return SpanAgreement(*np.sum(rows, axis=0)).f1

    values = [0.1, 0.2, 0.4, np.inf]
    best = max(f1(*pair) for pair in itertools.combinations_with_replacement(values, 2))
    assert found.f1 == pytest.approx(best)
    assert f1(found.minor, found.major) == pytest.approx(best)


def test_without_a_text_there_are_no_thresholds() -> None:
    with pytest.raises(DataError, match="0 texts"):
        choose_thresholds([], [], [], [])


def test_fifty_thresholds_are_tried() -> None:
    rng = np.random.default_rng(4)
    costs, people = rng.random(200), [Span(int(i), int(i) + 1) for i in range(0, 200, 7)]
    words = [[i, i + 1] for i in range(200)]
    text = [costs], [words], [people], [200]
    assert choose_thresholds(*text) == choose_thresholds(*text, values=50)
    assert choose_thresholds(*text) != choose_thresholds(*text, values=51)


def test_texts_without_words_have_infinite_thresholds() -> None:
    assert choose_thresholds([[]], [[]], [[Span(0, 3)]], [5]) == Thresholds(np.inf, np.inf, 0.0)
    assert choose_thresholds([[]], [[]], [[]], [5]) == Thresholds(np.inf, np.inf, 1.0)
