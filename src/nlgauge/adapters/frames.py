"""Scores of the rows of a frame: pandas, polars, or a Hugging Face dataset."""

from __future__ import annotations

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
    system: str | None = None,
    id: str | None = None,
    metrics: Spec | Sequence[Spec] = "bleu",
    runtime: Runtime = DEFAULT,
) -> Any:
    """A tidy frame of the same kind: system, segment, metric, component, value.

    ``reference`` names a column of texts or of lists of texts, or several columns of texts. For
    ``frame.pipe(nlgauge.score_frame, candidate="hyp", reference="ref", metrics=["chrf"])``.
    """
    columns = [reference] if isinstance(reference, str) else list(reference)
    sets = [_column(frame, name) for name in columns]
    groups = sets[0] if len(sets) == 1 else [list(texts) for texts in zip(*sets, strict=True)]
    corpus = Corpus.of(
        _column(frame, candidate),
        [_group(each) for each in groups],
        systems=None if system is None else [str(name) for name in _column(frame, system)],
        ids=None if id is None else [str(name) for name in _column(frame, id)],
    )
    scorer = Scorer(metrics, runtime=runtime)
    board = scorer.score_corpus(corpus)
    rows: dict[str, list[Any]] = {
        name: [] for name in ("system", "segment", "metric", "component", "value")
    }
    for scores in (each for of_system in board.values() for each in of_system.values()):
        for component, values in scores.segment_components.items():
            rows["system"] += [scores.system] * len(scores)
            rows["segment"] += scores.ids
            rows["metric"] += [scores.label] * len(scores)
            rows["component"] += [component] * len(scores)
            rows["value"] += values.tolist()
    return _of_kind(frame, rows)


def _column(frame: Any, name: str) -> list[Any]:
    names = list(getattr(frame, "column_names", None) or getattr(frame, "columns", []))
    if name not in names:
        raise UsageError(f"the frame has no column {name!r}; it has {', '.join(map(repr, names))}")
    return list(frame[name])


def _group(value: Any) -> Any:
    """A reference cell: a text, or a list of texts however the frame spells lists."""
    if value is None or isinstance(value, str):
        return value
    return list(value) if hasattr(value, "__iter__") else value


def _of_kind(frame: Any, rows: dict[str, list[Any]]) -> Any:
    """The rows in the kind of frame that was given."""
    library = type(frame).__module__.partition(".")[0]
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame(rows)
    if library == "polars":
        import polars as pl

        return pl.DataFrame(rows)
    if library == "datasets":
        import datasets

        return datasets.Dataset.from_dict(rows)
    raise DataError(
        f"a {type(frame).__name__} of {library} is no frame known here; give a pandas or polars "
        "frame or a Hugging Face dataset, or call nlgauge.score with lists"
    )
