"""Baselines: the mean of a metric over pairs of unrelated texts."""

from collections.abc import Sequence

import numpy as np

from nlgauge.core.baseline import BASELINE_OPTIONS, Baseline
from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.metric import Metric
from nlgauge.core.options import options_of
from nlgauge.inputs import Spec
from nlgauge.metrics import metric as build_metric
from nlgauge.metrics import metric_class, metric_names
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress, Scorer
from nlgauge.stats.pair_sampling import draw_pairs, dyadic_error

_MIN_TEXTS = 3


def fit_baseline(
    texts: Sequence[str],
    metric: Spec = "bertscore",
    *,
    pairs: int = 10_000,
    seed: int = 0,
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> Baseline:
    """Return the mean of a metric over random pairs of texts, and its standard error.

    Write ``to_json()`` of the result to a file and name it in the metric's option ``baseline``.

    Parameters
    ----------
    texts : sequence of str, unrelated sentences of one language; equal ones count once
    metric : str or Metric with the option ``baseline``
    pairs, seed : number of distinct pairs to draw, and the seed
    runtime, progress : as in `measure`

    Returns
    -------
    Baseline

    Raises
    ------
    DataError or OptionError
        For fewer than 3 different texts; for a metric without the option.

    Examples
    --------
    >>> fit_baseline(["a b", "c d", "e f"], "bertscore:model=hashing").pairs
    3
    """
    built = _build_without_baseline(metric)
    distinct = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    if len(distinct) < _MIN_TEXTS:
        raise DataError(
            f"{len(texts)} texts of which {len(distinct)} differ do not make a baseline; at least "
            f"{_MIN_TEXTS} are needed, and some hundreds are better"
        )
    sampled = draw_pairs(len(distinct), pairs, seed)
    columns = ([distinct[i] for i in side] for side in sampled.T)
    (scores,) = Scorer(built, runtime=runtime).score(*columns, progress=progress).values()
    table = np.array(list(scores.segment_components.values()), dtype=np.float64)
    known = ~(table == built.scale.void).all(axis=0)  # pairs with words that the model knows
    if known.sum() < _MIN_TEXTS:
        share = f"{int(known.sum())} of {len(sampled)} pairs could be compared"
        raise DataError(f"{share}; the model knows too few words of these texts")
    notes = list(scores.warnings)
    if len(sampled) < pairs:
        reason = f"{len(distinct):,} different texts make {len(sampled):,} pairs"
        notes.append(f"{reason}, fewer than the {pairs:,} requested")
    components = scores.metric.components
    keys = dict(scores.signature.keys)
    table, sampled = table[:, known], sampled[known]
    return Baseline(
        metric=scores.metric.name,
        model=str(scores.metric.needs.model),
        model_sha=keys["model_sha"],
        settings={name: keys[name] for name in BASELINE_OPTIONS},
        mean=dict(zip(components, table.mean(axis=1).tolist(), strict=True)),
        standard_error={
            name: dyadic_error(row, sampled) for name, row in zip(components, table, strict=True)
        },
        pairs=len(sampled),
        texts=len(distinct),
        seed=seed,
        notes=tuple(notes),
    )


def _build_without_baseline(spec: Spec) -> Metric:
    built = build_metric(spec)
    if "baseline" not in options_of(type(built)):
        able = [name for name in metric_names() if "baseline" in options_of(metric_class(name))]
        raise OptionError(
            f"{built.name} has no option 'baseline' to fit; these have: {', '.join(able)}"
        )
    if built.describe()["baseline"] != "none":
        raise OptionError(f"{built.label()} is rescaled already; leave out its baseline")
    return built
