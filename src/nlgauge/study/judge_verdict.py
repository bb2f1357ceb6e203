"""The verdict on a judge in sentences."""

import re
from collections.abc import Sequence
from math import isnan

from nlgauge.stats.alternative_annotator import MIN_PEOPLE, AlternativeAnnotatorTest
from nlgauge.stats.intervals import Interval
from nlgauge.study.judge_agreement import Agreement
from nlgauge.study.judge_biases import LENGTH, NEUTRAL, POSITION, Bias
from nlgauge.study.label_matrix import LabelMatrix

LOWEST_ALPHA = 0.667
"""Krippendorff (2004) advises against conclusions from data with a lower alpha."""
MARGIN = 0.15
"""Largest difference of alphas that an interval may contain for agreement to be about the same."""


def write_verdict(
    matrix: LabelMatrix,
    agreement: Sequence[Agreement],
    test: AlternativeAnnotatorTest | None,
    biases: Sequence[Bias],
    *,
    pooled: bool,
) -> str:
    """Return the verdict: agreement, the alternative annotator test, and biases."""
    headline = agreement[-1]  # alpha of the scale
    sentences = [_agreement(matrix, headline, agreement[0].judge), _replacement(matrix, test)]
    people = headline.people
    if people is not None and people.value < LOWEST_ALPHA:
        sentences.append(
            f"People agree little with each other (alpha {_short(people.value)}, below .667), so "
            "that agreement with them says little about quality."
        )
    if pooled:
        sentences.append("People are pooled: a person is the k-th who labelled an item.")
    judge_biases = [bias for bias in biases if bias.rater == matrix.judge and bias.bias in NEUTRAL]
    sentences += [_bias(bias) for bias in judge_biases if bias.present]
    absent = [bias.bias for bias in judge_biases if not bias.present]
    if absent:
        sentences.append(f"No bias was found in: {', '.join(absent)}.")
    return " ".join(sentences)


def _agreement(matrix: LabelMatrix, alpha: Agreement, share: Interval) -> str:
    value = alpha.judge.value
    if isnan(value):
        percent = f"{100 * share.value:.0f} % of labels agree"
        if len(matrix.labels) == 1:
            only = f"only the label {matrix.labels[0]!r} was used"
            return f"Alpha is undefined, because {only}, as chance would have it ({percent})."
        return f"Alpha is undefined on the items that judge and people share ({percent})."
    if alpha.people is None or alpha.difference is None:
        limits = _limits(alpha.judge)
        return (
            f"The judge agrees with {matrix.people[0]} at alpha {_short(value)}{limits}. With one "
            "person it is unknown how well people agree with each other."
        )
    if isnan(alpha.people.value):
        return (
            f"The judge agrees with people at alpha {_short(value)}{_limits(alpha.judge)}; that of "
            "people with each other is undefined on the items they share."
        )
    difference = alpha.difference
    numbers = (
        f"(alpha {_short(value)} against {_short(alpha.people.value)}; difference "
        f"{_short(difference.value)}{_limits(difference)})"
    )
    if difference.low > 0:
        relation = "better than"
    elif difference.high < 0:
        relation = "less well than"
    elif max(-difference.low, difference.high) <= MARGIN:
        relation = "about as well as"
    else:
        return (
            "It is uncertain whether the judge agrees with people as well as people agree with "
            f"each other {numbers}: label more items."
        )
    return f"The judge agrees with people {relation} people agree with each other {numbers}."


def _replacement(matrix: LabelMatrix, test: AlternativeAnnotatorTest | None) -> str:
    if test is None:
        return (
            f"The alternative annotator test needs at least {MIN_PEOPLE} people; there "
            f"{'is' if len(matrix.people) == 1 else 'are'} {len(matrix.people)}."
        )
    may = "may replace" if test.passed else "may not replace"
    reason = f"omega {_short(test.winning_rate)}, rho {_short(test.advantage)}"
    return (
        f"By the alternative annotator test it {may} one of the people at epsilon "
        f"{f'{test.epsilon:g}'.removeprefix('0')} ({reason})."
    )


def _bias(bias: Bias) -> str:
    value, limits = bias.interval.value, _limits(bias.interval)
    is_higher = value > NEUTRAL[bias.bias]
    if bias.bias == POSITION:
        place = "first" if is_higher else "second"
        return f"It prefers the output shown {place} (first: {_short(value)}{limits})."
    if bias.bias == LENGTH:
        kind = "longer" if is_higher else "shorter"
        return f"It favours {kind} texts more than people do (rho {_short(value)}{limits})."
    direction = "higher" if is_higher else "lower"
    return (
        f"It rates its own outputs {direction} than people do, compared with the outputs of others "
        f"(by {_short(abs(value))}{limits})."
    )


def _limits(interval: Interval) -> str:
    if isnan(interval.low):
        return ""
    return f" [{_short(interval.low)}, {_short(interval.high)}]"


def _short(value: float) -> str:
    """Return a number with two decimals, without its leading zero or the sign of zero."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{round(value, 2) + 0.0:.2f}")
