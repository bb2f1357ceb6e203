"""Interpretation of score differences: the probability that people prefer an output or system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.errors import DataError, OptionError, UsageError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.data.files import read_json
from nlgauge.reproducibility import explain
from nlgauge.stats.calibration import Curve, Fit, ScorePairs, Ties, calibrate, score_pairs
from nlgauge.stats.judgements import Direction, Grid
from nlgauge.stats.levels import choose_level
from nlgauge.study.study import Study, StudyResult, as_list, stored_label
from nlgauge.study.system_scores import corpus_scores

_MIN_SYSTEMS = 3  # with fewer there is at most one pair
_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)  # of the data's differences
_NUMBERS = ("differences", "probabilities", "low", "high")


@dataclass(frozen=True, eq=False)
class Calibration:
    """The probability of human preference by score difference, and the data of the fit."""

    metric: str
    signature: str
    direction: Direction
    level: str
    criterion: str
    data: str
    """Name of the judged data."""
    curve: Curve
    fit: str
    ties: str
    confidence: float
    count: int
    seed: int
    pairs: int
    """Pairs with different scores; without those that people tie, if ties are dropped."""
    metric_ties: int
    human_ties: int
    agreement: float
    """Share of all pairs in which people prefer the one with the better score."""
    usual: tuple[float, ...]
    """Quantiles (.1, .25, .5, .75, .9) of the differences in the data."""
    digits: int = 2

    def check(self, signature: str) -> None:
        """Raise OptionError unless it was fitted for scores with this signature."""
        if signature == self.signature:
            return
        try:
            differing = explain(self.signature, signature)
            listed = "; ".join(str(each) for each in differing if each.kind != "library")
        except UsageError:  # stored scores have no keys
            listed = f"{self.signature} and {signature}"
        if listed:
            raise OptionError(
                f"the calibration of {self.metric} is for another signature than the scores: "
                f"{listed}. Fit one for these scores with nlgauge interpret DATA -m METRIC"
            )

    def interpret(self, difference: float) -> "Preference":
        """Return the probability that people prefer A, if A's score minus B's is this much."""
        better = -difference if self.direction == "lower" else difference
        return Preference(self, difference, *self.curve.at(better), self.curve.covers(better))

    def to_dict(self) -> dict[str, Any]:
        """Return the content of a stored calibration."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        fields |= {name: getattr(fields["curve"], name).tolist() for name in _NUMBERS}
        del fields["curve"]
        return {key: to_jsonable(value) for key, value in fields.items()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Calibration":
        """Return the calibration of `to_dict`; DataError if it is not one."""
        try:
            fields = {name: content[name] for name in cls.__dataclass_fields__ if name != "curve"}
            limits = [np.array(content[name], dtype=np.float64) for name in _NUMBERS]
            if len({each.shape for each in limits}) > 1 or not (np.diff(limits[0]) > 0).all():
                raise ValueError("its differences do not increase, or a list is shorter")
            if not ((limits[1] >= 0) & (limits[1] <= 1)).all():
                raise ValueError("a probability is not between 0 and 1")
            fields |= {"curve": Curve(*limits), "usual": tuple(fields["usual"])}
            return cls(**fields)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"this is not a calibration of nlgauge interpret: {error}") from error


@dataclass(frozen=True)
class Preference:
    """The probability that people prefer A to B, given the difference of their scores."""

    calibration: Calibration
    difference: float
    probability: float
    low: float
    high: float
    covered: bool
    """Whether the judged data has differences as large as this."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        fitted = self.calibration
        fields = {
            "metric": fitted.metric,
            "level": fitted.level,
            "criterion": fitted.criterion,
            "difference": self.difference,
            "probability": self.probability,
            "low": self.low,
            "high": self.high,
            "confidence": fitted.confidence,
            "covered": self.covered,
        }
        return {key: to_jsonable(value) for key, value in fields.items()}


@dataclass(frozen=True, eq=False)
class Interpretation(StudyResult[Preference]):
    """Preferences at several differences, and the calibrations behind them."""

    calibrations: tuple[Calibration, ...]
    entries_key: ClassVar[str] = "preferences"

    def summary(self) -> dict[str, Any]:
        """Return the calibrations, which can be stored and used again."""
        return {"calibrations": [each.to_dict() for each in self.calibrations]}


def fit_preferences(
    study: Study,
    data: str,
    *,
    human: str | Sequence[str] | None = None,
    levels: str | Sequence[str] | None = None,
    fit: Fit = "isotonic",
    ties: Ties = "half",
    confidence: float = 0.95,
    count: int = 1000,
    seed: int = 0,
) -> tuple[Calibration, ...]:
    """Return calibrations of all metrics of a study: human preference by score difference.

    Parameters
    ----------
    study : Study, the result of `measure`
    data : str, name of the data, which is stored with the calibrations
    human : str or sequence of str, the criteria; all by default
    levels : "text" (two outputs for one input), "system" (corpus scores of two systems), "segment"
        (any two outputs) or several; by default text and system if there are at least 3 systems,
        text if there are 2, segment otherwise
    fit : "isotonic" or "logistic"
    ties : "half" (a pair that people rate equal counts half for each side) or "drop"
    confidence, count, seed : coverage, resamples and seed of the bootstrap over inputs, at the
        system level over systems

    Returns
    -------
    tuple of Calibration

    Raises
    ------
    DataError or OptionError
        If a level has no pair with different scores; for an unknown option.

    Examples
    --------
    >>> from nlgauge.core.corpus import Corpus
    >>> from nlgauge.data import JudgedCorpus
    >>> from nlgauge.study import measure
    >>> corpus = Corpus.of(["a b", "c"], ["a b", "a b"], systems=["x", "y"], ids=["1", "1"])
    >>> study = measure(JudgedCorpus(corpus, {"da": [90, 20]}, ()), "chrf")
    >>> fit_preferences(study, "example", count=10)[0].interpret(80).probability
    0.9
    """
    if ties not in ("half", "drop"):
        raise OptionError(f"ties is {ties!r}; it is 'half' or 'drop'.")
    systems = len(study.judgements.systems)
    usual = ["text", "system"] if systems >= _MIN_SYSTEMS else ["text"] if systems > 1 else []
    level_names = dict.fromkeys(
        choose_level(each) for each in as_list(levels) or usual or ["segment"]
    )
    options: dict[str, Any] = {"confidence": confidence, "count": count, "seed": seed}
    calibrations = []
    for criterion in study.criteria(human):
        grid = study.grid(criterion)
        for label in study.labels:
            for level in level_names:
                pairs = score_pairs(*_matrices(study, label, grid, level), level, seed=seed)
                used = pairs.without_ties() if ties == "drop" else pairs
                curve = calibrate(used, fit, **options)
                settings = {"level": level, "criterion": criterion, "fit": fit, "ties": ties}
                calibrations.append(
                    _calibration(study, label, data, curve, used, settings | options)
                )
    return tuple(calibrations)


def _matrices(study: Study, label: str, grid: Grid, level: str) -> tuple[Floats, Floats]:
    """Return scores and judgements, at the system level corpus scores and human means."""
    if level == "system" and label not in study.stored:
        return corpus_scores(study, label, grid).columns
    return grid.metric(label), grid.human


def _calibration(
    study: Study,
    label: str,
    data: str,
    curve: Curve,
    pairs: ScorePairs,
    settings: Mapping[str, Any],
) -> Calibration:
    (metric,) = study.only([label]).metrics
    scores = study.first_scores.get(label)
    return Calibration(
        metric=label,
        signature=study.signatures[label],
        direction=metric.direction,
        data=data,
        curve=curve,
        pairs=len(pairs),
        metric_ties=pairs.metric_ties,
        human_ties=pairs.human_ties,
        agreement=pairs.agreement,
        usual=tuple(np.quantile(pairs.differences, _QUANTILES).tolist()),
        digits=scores.scale.digits if scores is not None else 2,
        **settings,
    )


def interpret(
    calibrations: Sequence[Calibration],
    differences: Sequence[float] = (),
    notes: Sequence[str] = (),
) -> Interpretation:
    """Return the interpretation of score differences by every calibration.

    Parameters
    ----------
    calibrations : sequence of Calibration, of `fit_preferences` or `read_calibrations`
    differences : A's score minus B's, in the metrics' units; by default typical differences of the
        data
    notes : sentences that precede those about ties and about differences beyond the data

    Returns
    -------
    Interpretation
    """
    entries = []
    for each in calibrations:
        sign = -1 if each.direction == "lower" else 1
        usual = [sign * value for value in each.usual]
        entries += [each.interpret(value) for value in differences or usual]
    return _result(entries, calibrations, notes)


def interpret_comparison(
    calibrations: Sequence[Calibration], comparison: Mapping[str, Any]
) -> tuple[Interpretation, tuple[str, ...]]:
    """Return the interpretation of the differences of a comparison, and their systems.

    Parameters
    ----------
    calibrations : sequence of Calibration, of which those of the system level are used
    comparison : mapping, `compare(...).to_dict()` or what `nlgauge compare -f json` writes; its
        stored scores have the calibrations of the label ``stored:NAME``

    Returns
    -------
    Interpretation, and the names of the systems of its entries

    Raises
    ------
    OptionError or DataError
        If there is no calibration of these metrics at the system level, or one is of another
        signature; for another mapping.
    """
    fitted = {each.metric: each for each in calibrations if each.level == "system"}
    if not fitted:
        raise OptionError(
            "a comparison is about systems, but the calibrations are of the level "
            f"{', '.join(dict.fromkeys(each.level for each in calibrations))}; fit one with "
            "--level system"
        )
    try:
        texts = {str(name): str(text) for name, text in dict(comparison["signatures"]).items()}
        labels = {name: stored_label(name, text) for name, text in texts.items()}
        compared = [
            (str(row["system"]), labels[row["metric"]], float(row["difference"]))
            for row in comparison["systems"]
            if row["difference"] is not None
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"this is not a result of nlgauge compare -f json: {error}") from error
    signatures = {labels[name]: text for name, text in texts.items()}
    missing = [label for label in signatures if label not in fitted]
    if len(missing) == len(signatures):
        raise OptionError(
            f"the comparison has scores of {', '.join(missing)}, the calibrations are of "
            f"{', '.join(fitted)}"
        )
    notes = [f"no calibration of {label}, so its differences are left out." for label in missing]
    rows = [row for row in compared if row[1] in fitted]
    for label in dict.fromkeys(label for _, label, _ in rows):
        fitted[label].check(signatures[label])
    entries = [fitted[label].interpret(value) for _, label, value in rows]
    fitted_used = tuple(dict.fromkeys(entry.calibration for entry in entries))
    return _result(entries, fitted_used, notes), tuple(system for system, _, _ in rows)


def _result(
    entries: Sequence[Preference], calibrations: Sequence[Calibration], notes: Sequence[str]
) -> Interpretation:
    beyond = [entry for entry in entries if not entry.covered]
    all_notes = [*notes, *(line for each in calibrations for line in _calibration_notes(each))]
    if beyond:
        all_notes.append(
            f"{len(beyond)} of {len(entries)} differences are larger than any in the judged data; "
            "their probability is that of the largest one."
        )
    signatures = {each.metric: each.signature for each in calibrations}
    return Interpretation(tuple(entries), tuple(all_notes), signatures, tuple(calibrations))


def _calibration_notes(each: Calibration) -> list[str]:
    total = each.pairs + (each.human_ties if each.ties == "drop" else 0)
    effect = {"half": "count half for each side", "drop": "are left out"}[each.ties]
    lines = []
    if each.human_ties:
        lines.append(
            f"{each.metric}, {each.level} level: {each.human_ties:,} of {total:,} pairs are ties "
            f"of people and {effect}."
        )
    if isfinite(each.agreement) and each.agreement < 0.5:
        lines.append(
            f"{each.metric}, {each.level} level: people prefer the output with the worse score in "
            f"{1 - each.agreement:.0%} of pairs, so the metric says nothing about preference."
        )
    return lines


def read_calibrations(path: str) -> tuple[Calibration, ...] | None:
    """Return the calibrations of a file; None if the file is something else, such as judged data.

    Raises
    ------
    DataError
        For a file of calibrations that is damaged.
    """
    if Path(path).suffix != ".json" or not Path(path).is_file():
        return None
    content = read_json(path)
    if not isinstance(content, Mapping) or "calibrations" not in content:
        return None
    if not isinstance(content["calibrations"], list) or not content["calibrations"]:
        raise DataError(f"{path} has no list of calibrations")
    return tuple(map(Calibration.from_dict, content["calibrations"]))


def select_calibrations(
    calibrations: Sequence[Calibration],
    metrics: Sequence[str] = (),
    levels: Sequence[str] = (),
) -> tuple[Calibration, ...]:
    """Return the calibrations of these metrics and levels; OptionError if there is none."""
    names = {choose_level(level) for level in levels}
    selected = tuple(
        each
        for each in calibrations
        if (not metrics or each.metric in metrics) and (not names or each.level in names)
    )
    if not selected:
        known = ", ".join(f"{each.metric} ({each.level} level)" for each in calibrations)
        raise OptionError(f"there is no such calibration; there are: {known}")
    return selected
