"""Scores of the rows of a pandas or polars frame or of a Hugging Face dataset."""

import sys
from collections.abc import Sequence
from typing import Any

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, UsageError
from nlgauge.inputs import Spec
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Scorer


def score_frame(
    frame: Any,
    *,
    candidate: str = "candidate",
    reference: str | Sequence[str] = "reference",
    source: str | None = None,
    system: str | None = None,
    id: str | None = None,
    metrics: Spec | Sequence[Spec] = "bleu",
    runtime: Runtime = DEFAULT,
) -> Any:
    """Return the scores of a frame in long form: system, segment, metric, component, value.

    Parameters
    ----------
    frame
        A pandas or polars frame, or a Hugging Face dataset; the result is of the same type.
    candidate, reference, source, system, id
        Names of columns. ``reference`` is a column of texts or of lists of texts, or several
        columns of texts.
    metrics
        One or several metrics.
    runtime
        Device, batch size, cache and other settings.

    Returns
    -------
    frame
        One row for each segment, metric and component.

    Raises
    ------
    UsageError
        If the frame has no such column.
    DataError
        If the type of the frame is not supported.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"hyp": ["a cat"], "ref": ["a cat"]})
    >>> scores = frame.pipe(score_frame, candidate="hyp", reference="ref", metrics="chrf")
    >>> scores["value"].tolist()
    [100.0]
    """
    columns = [reference] if isinstance(reference, str) else list(reference)
    sets = [_column(frame, name) for name in columns]
    groups = sets[0] if len(sets) == 1 else [list(texts) for texts in zip(*sets, strict=True)]
    # Frames have several types of lists.
    lists = [g if isinstance(g, str) or not hasattr(g, "__iter__") else list(g) for g in groups]
    corpus = Corpus.of(
        _column(frame, candidate),
        lists,
        sources=None if source is None else _column(frame, source),
        systems=None if system is None else [str(name) for name in _column(frame, system)],
        ids=None if id is None else [str(name) for name in _column(frame, id)],
    )
    found = Scorer(metrics, runtime=runtime).score_corpus(corpus)
    rows = [
        (scores.system, segment, scores.label, component, value)
        for of_system in found.values()
        for scores in of_system.values()
        for component, values in scores.segment_components.items()
        for segment, value in zip(scores.ids, values.tolist(), strict=True)
    ]
    names = ("system", "segment", "metric", "component", "value")
    return _like(frame, dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def _column(frame: Any, name: str) -> list[Any]:
    names = list(getattr(frame, "column_names", None) or getattr(frame, "columns", []))
    if names.count(name) != 1:
        found = f"{names.count(name) or 'no'} column{'s' * (name in names)} {name!r}"
        raise UsageError(f"the frame has {found}; it has {', '.join(map(repr, names))}")
    column = frame[name]
    if hasattr(column, "notna"):  # pandas has NaN or NA in place of None
        return [cell if some else None for cell, some in zip(column, column.notna(), strict=True)]
    return list(column)


def _like(frame: Any, columns: dict[str, list[Any]]) -> Any:
    """Return the columns as a frame of the same type."""
    library = type(frame).__module__.partition(".")[0]
    if library in ("pandas", "polars"):
        return sys.modules[library].DataFrame(columns)
    if library == "datasets":
        return sys.modules[library].Dataset.from_dict(columns)
    raise DataError(
        f"a {type(frame).__name__} of {library} is not supported; give a pandas or polars frame or "
        "a Hugging Face dataset, or call nlgauge.score with lists"
    )
