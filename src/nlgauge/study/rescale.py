"""Baselines fitted: what a metric gives texts that have nothing to do with each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlgauge.core.baseline import DECIDING, Baseline
from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.metric import Metric
from nlgauge.core.options import options_of
from nlgauge.core.scores import Scores
from nlgauge.inputs import Spec
from nlgauge.metrics import metric as build_metric
from nlgauge.metrics import metric_class, metric_names
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress, Scorer
from nlgauge.stats.pair_sampling import draw_pairs, dyadic_error
from nlgauge.stats.validation import Array, Index

_FEWEST_TEXTS = 3


def fit_baseline(
    texts: Sequence[str],
    metric: Spec = "bertscore",
    *,
    pairs: int = 10_000,
    seed: int = 0,
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> Baseline:
    """The mean of a metric over random pairs of the texts, and its standard error.

    The texts should be unrelated sentences of one language, such as those to be scored. Equal texts
    count once, so none meets itself; no pair is drawn twice. Write ``to_json()`` of the result to a
    file, and name that in the metric's option ``baseline``.
    """
    built = _without_baseline(metric)
    distinct = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    if len(distinct) < _FEWEST_TEXTS:
        raise DataError(
            f"{len(texts)} texts of which {len(distinct)} differ make no baseline; at least "
            f"{_FEWEST_TEXTS} are needed, and some hundreds are better"
        )
    drawn = draw_pairs(len(distinct), pairs, seed)
    scorer = Scorer(built, runtime=runtime)
    (scores,) = scorer.score(
        [distinct[i] for i in drawn[:, 0]],
        [distinct[i] for i in drawn[:, 1]],
        progress=progress,
    ).values()
    table: Array = np.array(list(scores.segment_components.values()), dtype=np.float64)
    alive = ~(table == built.scale.void).all(axis=0)  # a text of which the model knows no word
    if alive.sum() < _FEWEST_TEXTS:
        raise DataError(
            f"of {len(drawn)} pairs {int(alive.sum())} could be compared; the model knows too few "
            "words of these texts"
        )
    notes = list(scores.warnings)
    if len(drawn) < pairs:
        notes.append(
            f"{len(distinct):,} different texts make {len(drawn):,} pairs, fewer than the "
            f"{pairs:,} asked for"
        )
    return _baseline(scores, table[:, alive], drawn[alive], len(distinct), seed, notes)


def _without_baseline(spec: Spec) -> Metric:
    built = build_metric(spec)
    if "baseline" not in options_of(type(built)):
        able = [name for name in metric_names() if "baseline" in options_of(metric_class(name))]
        raise OptionError(
            f"{built.name} has no option 'baseline' to fit; these have: {', '.join(able)}"
        )
    if built.describe()["baseline"] != "none":
        raise OptionError(f"{built.label()} is rescaled already; leave out its baseline")
    return built


def _baseline(
    scores: Scores,
    table: Array,
    pairs: Index,
    texts: int,
    seed: int,
    notes: Sequence[str],
) -> Baseline:
    components = scores.metric.components
    said = dict(scores.signature.keys)
    return Baseline(
        metric=scores.metric.name,
        model=str(scores.metric.needs.model),
        model_sha=said["model_sha"],
        settings={name: said[name] for name in DECIDING},
        mean=dict(zip(components, table.mean(axis=1).tolist(), strict=True)),
        standard_error={
            name: dyadic_error(row, pairs) for name, row in zip(components, table, strict=True)
        },
        pairs=len(pairs),
        texts=texts,
        seed=seed,
        notes=tuple(notes),
    )
