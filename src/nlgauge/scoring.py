"""The public scoring functions `score`, `score_systems` and `align`, and `Scorer`."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from nlgauge.core.corpus import Corpus
from nlgauge.core.device import solving_on
from nlgauge.core.errors import UsageError
from nlgauge.core.metric import Metric
from nlgauge.core.plan import Plan
from nlgauge.core.scores import Scores
from nlgauge.core.signature import Signature
from nlgauge.core.spans import WordCosts
from nlgauge.corpus_run import Aligned, CorpusRun, Progress, check_references
from nlgauge.inputs import BoundMetric, Spec, Tables, bind_metric, default_metrics, solver_device
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.runtime.threads import limit_threads


class Scorer:
    """Metrics with their models loaded, for scoring several corpora.

    Parameters
    ----------
    metrics
        One specification or several: name, ``name:option=value,...``, signature or `Metric`.
    runtime
        Device, batch size, precision, cache, downloads, language and threads.

    Raises
    ------
    UnknownMetric or OptionError
        If a metric or an option of a specification does not exist.
    ModelError or MissingExtra
        If a model or a library is not installed.

    Examples
    --------
    >>> from nlgauge import Scorer
    >>> scorer = Scorer(["chrf", "ter"])
    >>> scores = scorer.score(["A cat sat."], ["The cat sat."])
    >>> {name: round(each.value, 1) for name, each in scores.items()}
    {'chrf': 61.1, 'ter': 33.3}
    """

    def __init__(
        self, metrics: Spec | Sequence[Spec] = "bleu", *, runtime: Runtime = DEFAULT
    ) -> None:
        self._specs = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
        if not self._specs:
            raise UsageError("no metric was named; see nlgauge.metric_names() for the list")
        self._bound = [bind_metric(spec, runtime) for spec in self._specs]
        self._runtime = runtime
        self._fitted = False
        labels = Counter(bound.label for bound in self._bound)
        doubled = [label for label, count in labels.items() if count > 1]
        if doubled:
            raise UsageError(f"the metric {doubled[0]!r} is named {labels[doubled[0]]} times")

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics by label, with options that depend on models resolved."""
        return {bound.label: bound.metric for bound in self._bound}

    def fitted(self, references: Iterable[str | Sequence[str]]) -> "Scorer":
        """Return a new scorer with corpus tables fitted on these references, for all calls.

        The scorer itself is not changed: ``scorer = Scorer("cider").fitted(references)``.
        """
        groups = [(texts,) if isinstance(texts, str) else tuple(texts) for texts in references]
        return self._with([bound.fit(groups) for bound in self._bound])

    @property
    def needs_tables(self) -> bool:
        """Whether any score depends on tables of a corpus."""
        return any(bound.needs_tables for bound in self._bound)

    def fit_tables(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]]
    ) -> tuple[Tables, ...]:
        """Return the tables of all candidates and of the references of every segment, by metric."""
        fitted = [bound.fit(references).fit_candidates(candidates) for bound in self._bound]
        return tuple(bound.tables for bound in fitted)

    def with_tables(self, tables: Sequence[Tables]) -> "Scorer":
        """Return a scorer with the given tables, one entry per metric."""
        pairs = zip(self._bound, tables, strict=True)
        return self._with([bound.with_tables(each) for bound, each in pairs])

    def signatures(self, references: str, *, sources: bool = False) -> dict[str, Signature]:
        """Return the signature of every metric for this number of references per segment."""
        return {bound.label: bound.signature(references, sources=sources) for bound in self._bound}

    def _with(self, bound: list[BoundMetric]) -> "Scorer":
        fitted = object.__new__(type(self))
        vars(fitted).update(vars(self), _bound=bound, _fitted=True)
        return fitted

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the specifications and tables; models are opened again by name."""
        tables = [bound.tables for bound in self._bound] if self._fitted else None
        return _reopen, (self._specs, self._runtime, tables)

    def score(
        self,
        candidates: Sequence[str],
        references: Sequence[str | Sequence[str | None]] | None = None,
        *,
        sources: Sequence[str] | None = None,
        ids: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Scores]:
        """Return the scores of one system by metric label; see `nlgauge.score`."""
        corpus = Corpus.of(candidates, references, sources=sources, ids=ids)
        (scores,) = self.score_corpus(corpus, progress=progress).values()
        return scores

    def score_corpus(
        self, corpus: Corpus, *, progress: Progress | None = None
    ) -> dict[str, dict[str, Scores]]:
        """Return scores by system and metric label; shared references are encoded once."""
        run = CorpusRun(corpus, self._fitted_on(corpus))
        with self._running():
            run.score(progress)
        run.warn()
        labels = [bound.label for bound in self._bound]
        return {
            system: {label: run.scores(number, system) for number, label in enumerate(labels)}
            for system in corpus.system_names
        }

    def align(self, candidate: str, references: str | Sequence[str]) -> dict[str, Aligned]:
        """Return the alignment of one candidate with its best reference, by metric label."""
        corpus = Corpus.of([candidate], [references])
        with self._running():
            run = CorpusRun(corpus, self._fitted_on(corpus))
            aligned = run.align()
        run.warn()
        return aligned

    def word_costs(
        self, corpus: Corpus, *, progress: Progress | None = None
    ) -> dict[str, list[WordCosts]]:
        """Return the costs of the words of every row's candidate, by metric label."""
        run = CorpusRun(corpus, self._fitted_on(corpus))
        with self._running():
            costs = run.word_costs(progress)
        run.warn()
        return costs

    @contextmanager
    def _running(self) -> Iterator[None]:
        """Apply the settings of the runtime to the threads and solvers of the block."""
        device = solver_device(self._bound, self._runtime)
        with limit_threads(self._runtime.threads), solving_on(device):
            yield

    def _fitted_on(self, corpus: Corpus) -> list[BoundMetric]:
        fitted = self._bound
        check_references(corpus, fitted)
        if not self._fitted:
            groups = list(corpus.segment_references())
            fitted = [bound.fit(groups) for bound in fitted]
        return [bound.fit_candidates(corpus.candidates) for bound in fitted]


def _reopen(specs: Sequence[Spec], runtime: Runtime, tables: Sequence[Tables] | None) -> Scorer:
    """Return a pickled or copied scorer."""
    scorer = Scorer(specs, runtime=runtime)
    return scorer if tables is None else scorer.with_tables(tables)


__all__ = [
    "Aligned",
    "Progress",
    "Scorer",
    "Spec",
    "align",
    "default_metrics",
    "score",
    "score_systems",
]

_ALIASES = {
    **dict.fromkeys(("predictions", "hypotheses", "preds", "cands", "hyps"), "candidates"),
    **dict.fromkeys(("refs", "target", "targets"), "references"),
    **dict.fromkeys(("srcs", "src"), "sources"),
}
Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def _accept_aliases(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Return the function, which also accepts the argument names of other libraries."""

    @wraps(function)
    def call(*texts: Given.args, **keywords: Given.kwargs) -> Returned:
        options: dict[str, Any] = {}
        for name, value in keywords.items():
            key = _ALIASES.get(name, name)
            if key in options:
                raise UsageError(f"{key} are given twice, once as {name}")
            options[key] = value
        return function(*texts, **options)

    return call


@_accept_aliases
def score(
    candidates: Sequence[str],
    references: Sequence[str | Sequence[str | None]] | None = None,
    *,
    sources: Sequence[str] | None = None,
    metrics: Spec | Sequence[Spec] = "bleu",
    ids: Sequence[str] | None = None,
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> dict[str, Scores]:
    """Return the scores of candidates against references, by metric label.

    Parameters
    ----------
    candidates
        One text per segment; also as ``predictions``, ``hypotheses`` or ``preds``.
    references
        ``references[i]`` is the reference of ``candidates[i]``, or a list of several. Metrics that
        compare with the sources only need no references.
    sources
        The input text of each candidate, for metrics that read it, such as ``external``.
    metrics
        One specification or several: name, ``name:option=value,...``, signature or `Metric`.
    ids
        Names of the segments; positions if not given.
    runtime
        Device, batch size, precision, cache, downloads, language and threads.
    progress
        Called with the number of finished rows and of all rows.

    Returns
    -------
    dict of str to Scores
        With the corpus value, segment values, components, direction, notes and signature.

    Raises
    ------
    ShapeError or DataError
        If the lists do not fit together, or an entry is not a text.
    UnknownMetric or OptionError or ModelError or MissingExtra
        If a metric cannot be built; see `Scorer`.

    Examples
    --------
    >>> import nlgauge
    >>> scores = nlgauge.score(["A cat sat."], [["The cat sat.", "A cat sat down."]])
    >>> round(scores["bleu"].value, 1)
    84.1
    """
    scorer = Scorer(metrics, runtime=runtime)
    return scorer.score(candidates, references, sources=sources, ids=ids, progress=progress)


def score_systems(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str | Sequence[str | None]] | None = None,
    *,
    sources: Sequence[str] | None = None,
    metrics: Spec | Sequence[Spec] = "bleu",
    runtime: Runtime = DEFAULT,
    progress: Progress | None = None,
) -> dict[str, dict[str, Scores]]:
    """Return scores by system and metric label for several systems on the same segments.

    Parameters
    ----------
    systems
        The candidates of every system, by its name.
    references, sources, metrics, runtime, progress
        As in `score`; all systems share references and sources.

    Returns
    -------
    dict of str to dict of str to Scores
        The scores of every system, by metric label.

    Examples
    --------
    >>> import nlgauge
    >>> systems = {"a": ["A cat sat."], "b": ["A dog ran."]}
    >>> scores = nlgauge.score_systems(systems, ["A cat sat."], metrics="chrf")
    >>> {name: round(each["chrf"].value, 1) for name, each in scores.items()}
    {'a': 100.0, 'b': 6.2}
    """
    corpus = Corpus.of_systems(systems, references, sources=sources)
    return Scorer(metrics, runtime=runtime).score_corpus(corpus, progress=progress)


def align(
    candidate: str,
    references: str | Sequence[str],
    *,
    metric: Spec = "mover",
    runtime: Runtime = DEFAULT,
) -> Plan:
    """Return the token alignment of a candidate with the best of its references.

    Parameters
    ----------
    candidate
        The text whose tokens are the rows of the plan.
    references
        One text or several.
    metric
        A metric that matches tokens, such as ``"mover"``, ``"bertscore"`` or ``"lazy_emd"``.
    runtime
        As in `score`.

    Returns
    -------
    Plan
        The coupling of the tokens, its cost matrix and its value.

    Raises
    ------
    UsageError or DataError
        If the metric has no alignments, or a text is empty or has no weight.

    Examples
    --------
    >>> import nlgauge
    >>> plan = nlgauge.align("a cat", "a cat", metric="wmd:model=hashing,special=drop")
    >>> plan.candidate_tokens, plan.value
    (('a', 'cat'), 0.0)
    """
    (aligned,) = Scorer(metric, runtime=runtime).align(candidate, references).values()
    return aligned.plan
