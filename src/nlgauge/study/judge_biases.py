"""Biases of raters, measured from further columns of a table of labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.data.rater_labels import parse_label
from nlgauge.stats.intervals import Interval
from nlgauge.stats.judge_bias import length_bias, self_preference, wilson_interval
from nlgauge.study.label_matrix import LabelMatrix, plain_label

POSITION, CONSISTENCY, LENGTH, OWN = "position", "consistency", "length", "self-preference"
NEUTRAL = {POSITION: 0.5, LENGTH: 0.0, OWN: 0.0}
"""The value of a bias that is absent."""


@dataclass(frozen=True)
class Bias:
    """One bias of one rater.

    "position": share of decided pairs in which the output shown first was preferred.
    "consistency": share of pairs shown in both orders that got the same label.
    "length": Spearman's correlation of the judge's label minus people's with the length.
    "self-preference": the same difference for the judge's own outputs minus that for others.
    """

    bias: str
    rater: str
    n: int
    interval: Interval

    @property
    def present(self) -> bool:
        """Whether the interval excludes the value of a rater without the bias."""
        neutral = NEUTRAL.get(self.bias)
        if neutral is None or np.isnan(self.interval.low):
            return False
        return not self.interval.low <= neutral <= self.interval.high

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        fields = {"bias": self.bias, "rater": self.rater, "n": self.n}
        return {**fields, "value": to_jsonable(self.interval.value), **self.interval.to_dict()}


def find_biases(
    matrix: LabelMatrix, own: Sequence[str], *, count: int, confidence: float, seed: int
) -> tuple[list[Bias], list[str]]:
    """Return the biases that can be measured with the columns of the table, and notes."""
    biases, notes = _position_biases(matrix, confidence), []
    draws: dict[str, Any] = {"count": count, "confidence": confidence, "seed": seed}
    draws["clusters"] = matrix.clusters
    requested = {LENGTH: "length" in matrix.columns, OWN: bool(own)}
    if own and "system" not in matrix.columns:
        raise OptionError(
            "own= (--own) names the judge's systems, but the table has no column 'system'; name it "
            "with --columns system=COLUMN."
        )
    gaps = matrix.gaps()
    for bias in [bias for bias, is_requested in requested.items() if is_requested]:
        if not matrix.ordered:
            notes.append(
                f"{bias} bias is not measured: it needs ordered labels; give their order, lowest "
                "first, with order= (--order)."
            )
            continue
        if bias == LENGTH:
            others = _lengths(matrix.columns["length"])
            interval = length_bias(gaps, others, **draws)
        else:
            others = _own_outputs(matrix.columns["system"], own)
            interval = self_preference(gaps, others, **draws)
        items = int((np.isfinite(gaps) & np.isfinite(others)).sum())
        biases.append(Bias(bias, matrix.judge, items, interval))
    return biases, notes


def _position_biases(matrix: LabelMatrix, confidence: float) -> list[Bias]:
    """Return the preference for the first position, and the consistency under swapping."""
    texts = [parse_label(cell) for cell in matrix.columns.get("position", ())]
    cells = [text if text is None else plain_label(text) for text in texts]
    positions = {cell for cell in cells if cell is not None}
    if not positions:
        return []
    number = dict(zip(matrix.labels, matrix.categories, strict=True))
    if not positions & set(number):
        raise DataError(
            f"the column of positions has {min(positions)!r}, which is not a label; it should name "
            f"the label of the output that was shown first: {', '.join(matrix.labels[:8])}."
        )
    # An output that nobody prefers is not among the labels.
    number |= dict.fromkeys(positions - set(number), np.inf)
    first = np.array([np.nan if cell is None else number[cell] for cell in cells])
    outputs = np.array([number[cell] for cell in positions])
    biases = []
    for rater, labels in zip((matrix.judge, *matrix.people), matrix.values.T, strict=True):
        decided = ~np.isnan(first) & np.isin(labels, outputs)  # ties prefer no position
        if decided.any():
            preferred = int((labels[decided] == first[decided]).sum())
            share = wilson_interval(preferred, int(decided.sum()), confidence=confidence)
            biases.append(Bias(POSITION, rater, int(decided.sum()), share))
        matches = _match_swapped(matrix, first, labels)
        if matches:
            share = wilson_interval(sum(matches), len(matches), confidence=confidence)
            biases.append(Bias(CONSISTENCY, rater, len(matches), share))
    return biases


def _match_swapped(matrix: LabelMatrix, first: Floats, labels: Floats) -> list[bool]:
    """Return for every pair shown in two orders whether its two labels are the same."""
    systems = matrix.columns.get("system", (None,) * len(matrix.items))
    rows_by_pair: dict[tuple[str, Any], list[int]] = {}
    for i, key in enumerate(zip(matrix.items, systems, strict=True)):
        if not np.isnan(first[i] + labels[i]):
            rows_by_pair.setdefault(key, []).append(i)
    pairs = [pair for rows in rows_by_pair.values() for pair in combinations(rows, 2)]
    return [bool(labels[i] == labels[j]) for i, j in pairs if first[i] != first[j]]


def _lengths(cells: Sequence[Any]) -> Floats:
    """Return lengths: the numbers, or the characters of texts; NaN for blank cells."""
    plain = [parse_label(cell) for cell in cells]
    try:
        return np.array([np.nan if cell is None else float(cell) for cell in plain])
    except ValueError:
        return np.array([np.nan if cell is None else float(len(cell)) for cell in plain])


def _own_outputs(systems: Sequence[Any], own_systems: Sequence[str]) -> Floats:
    """Return 1 for outputs of the judge's systems, 0 for others and NaN for unnamed ones."""
    names = [parse_label(cell) for cell in systems]
    for name in own_systems:
        if name not in names:
            listed = ", ".join(sorted({name for name in names if name is not None}))
            raise OptionError(f"no output is of system {name!r}; the systems are: {listed}.")
    return np.array([np.nan if name is None else float(name in own_systems) for name in names])
