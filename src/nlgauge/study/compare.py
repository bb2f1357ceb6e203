"""Paired tests between systems, for any metric computed on texts or for stored scores."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np

from nlgauge.core.arrays import Floats
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, OptionError, UsageError
from nlgauge.core.scores import Scores
from nlgauge.data.columns import Columns, Given
from nlgauge.data.systems import clusters_by_id
from nlgauge.inputs import Spec
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress, Scorer
from nlgauge.stats import (
    holm,
    mcnemar,
    paired_bootstrap,
    paired_permutation,
    paired_randomisation,
    rank_clusters,
    sum_groups,
)
from nlgauge.stats.paired_tests import PairedTest
from nlgauge.study.comparison import Comparison, ComparisonEntry, SystemPair, order_of
from nlgauge.study.stored_scores import MissingScores, Table, read_stored
from nlgauge.study.study import SystemScores

Method = Literal["bootstrap", "randomisation", "permutation", "mcnemar", "mcnemar-midp"]
References = Sequence[str | Sequence[str | None]]
_RESAMPLING = {
    "bootstrap": paired_bootstrap,
    "randomisation": paired_randomisation,
    "permutation": paired_permutation,
}
_METHODS = (*_RESAMPLING, "mcnemar", "mcnemar-midp")


def compare(
    systems: Mapping[str, Sequence[str]] | Corpus | Table,
    references: References = (),
    *,
    sources: Sequence[str] | None = None,
    metrics: Spec | Sequence[Spec] | None = None,
    scores: str | Sequence[str] = (),
    distances: str | Sequence[str] = (),
    columns: Given | Columns = None,
    format: str | None = None,
    missing: MissingScores = "error",
    cluster: str | Sequence[Hashable] | None = None,
    method: Method = "bootstrap",
    count: int = 1000,
    seed: int = 0,
    alpha: float = 0.05,
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> Comparison:
    """Return paired tests of every system against the first, for every metric, and clusters.

    With `scores` or `distances`, `systems` is a table of stored scores and no text is needed: a
    data frame, a mapping of columns, a file, or a list of files with one system each. In a table
    with a column of systems (or in several files) every name is a metric; in a single table without
    one, every name is the column of a system.

    Parameters
    ----------
    systems : mapping or Corpus, candidates of the same segments by system, the baseline first; or a
        table of stored scores
    references, sources : sequence, texts per segment; not for a Corpus, which has its own
    metrics : str, Metric or sequence of them; by default bleu
    scores, distances : names of columns of stored scores (higher or lower is better)
    columns : names of the columns of a table, such as ``{"id": "question"}``
    format : format of the files, such as "csv"; by default that of their names
    missing : "error" or "drop", what happens to items that lack a stored score in a system
    cluster : label of every segment of the first system, such as its document; for a table, the
        name of a column. Segments of a cluster are resampled or exchanged together.
    method : "bootstrap", "randomisation" (approximate), "permutation" (exact if few segments
        differ), "mcnemar" (exact) or "mcnemar-midp" for outcomes 0 and 1
    count, seed : resamples and their seed
    alpha : float, level of the two-sided uncorrected tests between systems of different clusters
    runtime, progress : as in `nlgauge.score`

    Returns
    -------
    Comparison, whose entries have the two-sided p uncorrected and Holm-corrected over the systems

    Raises
    ------
    UsageError or DataError or OptionError
        For a single system, for different segments, for an unknown method.

    Examples
    --------
    >>> found = compare({"a": ["x y", "z"], "b": ["x y", "w"]}, ["x y", "z"], metrics="chrf")
    >>> round(found.entries[1].value)
    83
    >>> table = {"a": [1, 1, 1, 0], "b": [0, 0, 0, 0]}
    >>> compare(table, scores=["a", "b"], method="mcnemar").entries[1].test.p
    0.25
    """
    options: dict[str, Any] = {"method": method, "count": count, "seed": seed, "alpha": alpha}
    if scores or distances:
        if references or sources is not None or metrics is not None:
            raise UsageError(
                "stored scores are compared without texts; leave out references, sources and "
                "metrics, or scores and distances"
            )
        stored = read_stored(systems, scores, distances, columns, format, cluster, missing)
        return compare_scored(
            None, stored.scores, clusters=stored.clusters, notes=stored.notes, **options
        )
    if isinstance(systems, Corpus):
        if references or sources is not None:
            raise UsageError("a Corpus has its own references and sources; leave these out")
        corpus = systems
    else:
        corpus = _corpus(systems, references, sources)
    if columns is not None or format is not None or missing != "error":
        raise UsageError("columns, format and missing are for stored scores; name these")
    ids = {name: corpus.ids_of(name) for name in corpus.system_names}
    _check(ids, method)
    clusters = _clusters(cluster, next(iter(ids.values())))
    specs = "bleu" if metrics is None else metrics
    scored = Scorer(specs, runtime=runtime).score_corpus(corpus, progress=progress)
    return compare_scored(corpus, scored, clusters=clusters, **options)


def compare_scored(
    corpus: Corpus | None,
    scores: SystemScores,
    *,
    clusters: Mapping[str, Hashable] | None = None,
    method: Method = "bootstrap",
    count: int = 1000,
    seed: int = 0,
    alpha: float = 0.05,
    notes: Sequence[str] = (),
) -> Comparison:
    """Return the tests of `compare` on existing scores, by system and label of the metric.

    `clusters` maps the ids of segments to those of their clusters.
    """
    first = next(iter(scores.values()), {})
    if not first:
        raise UsageError("a comparison needs scores of at least 1 metric, but there are none")
    ids = next(iter(first.values())).ids
    by_system = {name: next(iter(each.values())).ids for name, each in scores.items()}
    _check(by_system, method, stored=corpus is None)
    groups = None if clusters is None else [clusters[name] for name in ids]
    if groups and method.startswith("mcnemar"):
        raise OptionError(
            "McNemar's test assumes independent items, so it has no clusters; use permutation."
        )
    entries: list[ComparisonEntry] = []
    pairs: list[SystemPair] = []
    for label in first:
        of_metric = [each[label] for each in scores.values()]
        rows, test = _rows_and_test(of_metric, ids, groups, method, count, seed)
        tests = {(i, j): test(rows[i], rows[j]) for j, i in combinations(range(len(rows)), 2)}
        entries += _entries(of_metric, tests, alpha)
        names = [each.system for each in of_metric]
        pairs += [
            SystemPair(label, names[i], names[j], each.difference, each.p, each.method)
            for (i, j), each in tests.items()
        ]
    warnings = [
        f"{system}, {label}: {warning}"
        for system, by_label in scores.items()
        for label, result in by_label.items()
        for warning in result.warnings
    ]
    signatures = {label: str(result.signature) for label, result in first.items()}
    tests_done = [entry.test for entry in entries if entry.test is not None]
    return Comparison(
        *(tuple(entries), (*notes, *warnings), signatures, next(iter(scores)), corpus, scores),
        method=" or ".join(dict.fromkeys(each.method for each in tests_done)),
        count=max(each.count for each in tests_done),
        seed=seed,
        segments=len(ids),
        units=len(ids) if groups is None else len(set(groups)),
        alpha=alpha,
        pairs=tuple(pairs),
        clusters=clusters,
    )


def _rows_and_test(
    scores: Sequence[Scores],
    ids: Sequence[str],
    groups: Sequence[Hashable] | None,
    method: str,
    count: int,
    seed: int,
) -> tuple[list[Floats], Callable[[Floats, Floats], PairedTest]]:
    """Return the rows of every system under one metric, and the test of two of them."""
    order = [order_of(each, ids) for each in scores]
    if method not in _RESAMPLING:
        rows = [_outcomes(each)[at] for each, at in zip(scores, order, strict=True)]
        return rows, partial(mcnemar, mid_p=method == "mcnemar-midp")
    # Clusters differ in size, so the number of segments is one of the statistics.
    one = np.ones(len(ids))
    rows = [
        np.column_stack([each.statistics[at], one]) for each, at in zip(scores, order, strict=True)
    ]
    if groups is not None:
        rows = [sum_groups(table, groups) for table in rows]

    def finish(total: Floats) -> float:
        return float(scores[0].metric.finish(total[None, :-1], total[-1:])[0, 0])

    return rows, partial(_RESAMPLING[method], finish=finish, count=count, seed=seed)


def _outcomes(scores: Scores) -> Floats:
    """Return the scores of all segments; raise an error unless they are 0 or 1."""
    wrong = scores.segments[~np.isin(scores.segments, (0, 1))]
    if wrong.size:
        raise DataError(
            f"{wrong.size} of {len(scores)} scores of {scores.system!r} ({scores.label!r}) are "
            f"not 0 or 1 (such as {wrong[0]:g}); McNemar's test is for binary outcomes, use "
            "permutation for other scores"
        )
    return scores.segments


def _check(ids: Mapping[str, Collection[str]], method: str, *, stored: bool = False) -> None:
    """Raise unless the method is known and at least two systems have the same segments."""
    if method not in _METHODS:
        known = " or ".join([", ".join(map(repr, _METHODS[:-1])), repr(_METHODS[-1])])
        raise OptionError(f"method is {method!r}; it is {known}.")
    first, *others = ids
    if not others:
        advice = "`nlgauge score` scores a single one"
        if stored:
            advice = "name 2 tables, 2 columns of a table without systems, or the column of systems"
        reason = f"there is 1 ({first!r}); {advice}"
        raise UsageError(f"a comparison needs at least 2 systems, but {reason}")
    expected = set(ids[first])
    for name in others:
        segments = set(ids[name])
        if segments != expected:
            raise DataError(
                f"{name!r} and {first!r} do not have the same segments: {len(segments - expected)} "
                f"are only in {name!r}, {len(expected - segments)} only in {first!r}, "
                f"{len(segments & expected)} in both; a paired test needs the same ones"
            )


def _clusters(
    cluster: str | Sequence[Hashable] | None, ids: Sequence[str]
) -> dict[str, Hashable] | None:
    """Return the cluster of every segment by its id."""
    if isinstance(cluster, str):
        raise UsageError(
            f"cluster is {cluster!r}, the name of a column, but these are texts; give a label for "
            f"each of the {len(ids)} segments"
        )
    return None if cluster is None else clusters_by_id(ids, cluster)


def _corpus(systems: Any, references: References, sources: Sequence[str] | None) -> Corpus:
    if not isinstance(systems, Mapping):
        kind = type(systems).__name__
        raise UsageError(
            f"systems is a {kind}, not texts by system; name the columns of a table of stored "
            "scores with scores= or distances="
        )
    if not systems:
        raise UsageError("a comparison needs at least 2 systems, but there is none")
    return Corpus.of_systems(systems, references or None, sources=sources)


def _entries(
    scores: Sequence[Scores], tests: Mapping[tuple[int, int], PairedTest], alpha: float
) -> list[ComparisonEntry]:
    """Return all systems under one metric: tests against the first, clusters from all pairs."""
    n, sign = len(scores), scores[0].scale.sign
    # The p-values that are printed: with one-sided ones (half as large, as at WMT) a system with a
    # printed p of .06 could be in another cluster than the baseline.
    p = np.full((n, n), np.nan)
    for (i, j), test in tests.items():
        p[i, j] = p[j, i] = test.p
    names = [each.system for each in scores]
    values = [float(each.value) for each in scores]
    clusters = rank_clusters(names, sign * np.asarray(values), p, alpha=alpha)
    rank = {name: k for k, cluster in enumerate(clusters, start=1) for name in cluster.names}
    first = [tests[i, 0] for i in range(1, n)]
    corrected = [None, *holm([test.p for test in first]).tolist()]
    label, ranks = scores[0].label, [rank[name] for name in names]
    columns = zip(names, [label] * n, values, ranks, [None, *first], corrected, strict=True)
    return [ComparisonEntry(*column) for column in columns]
