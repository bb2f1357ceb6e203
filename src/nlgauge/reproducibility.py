"""Making numbers again: what a signature says, why two differ, and whether results still hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, FileError, UsageError
from nlgauge.core.options import options_of, unescape
from nlgauge.core.signature import Signature
from nlgauge.metrics import metric_class, metric_names
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress, Scorer

Kind = Literal["metric", "option", "model", "data", "library"]

_FACTS: dict[str, tuple[Kind, str]] = {
    "nrefs": ("data", "how many references a segment has"),
    "model_sha": ("model", "the weights of the model"),
    "baseline_sha": ("data", "the file of baselines"),
    "table_sha": ("data", "the corpus that n-grams were counted in"),
    "idf_sha_reference": ("data", "the corpus that idf weights come from"),
    "idf_sha_candidate": ("data", "the candidates that idf weights come from"),
}
# sacrebleu's signatures abbreviate; these are its keys in words.
_ABBREVIATED = {
    "case": "letter case kept or folded",
    "eff": "effective order: n-gram orders that a segment has none of are left out",
    "tok": "tokeniser",
    "smooth": "smoothing of n-gram orders without a match",
    "nc": "longest character n-gram",
    "nw": "longest word n-gram",
    "space": "white space counted as characters",
    "norm": "normalisation before tokenising",
    "punct": "punctuation kept",
    "asian": "Asian characters split",
}


@dataclass(frozen=True)
class Difference:
    """One reason why two numbers are not the same: a key, both its values, what it stands for."""

    key: str
    first: str | None
    second: str | None
    kind: Kind
    meaning: str

    def __str__(self) -> str:
        return f"{self.key}: {_shown(self.first)} and {_shown(self.second)} ({self.meaning})"


def explain(first: str, second: str) -> tuple[Difference, ...]:
    """Why numbers with these two signatures may differ; nothing if nothing tells them apart.

    Differences that change the definition come first, then models, data and libraries.
    """
    one, other = Signature.parse(first.strip()), Signature.parse(second.strip())
    if one.name != other.name:
        named = "they are different metrics, so their numbers do not compare"
        return (Difference("metric", one.name, other.name, "metric", named),)
    mine, theirs = dict(one.keys), dict(other.keys)
    found = [
        Difference(key, mine.get(key), theirs.get(key), *_meaning(one.name, key))
        for key in dict.fromkeys([*mine, *theirs])
        if mine.get(key) != theirs.get(key)
    ]
    order: list[Kind] = ["option", "model", "data", "library"]
    return tuple(sorted(found, key=lambda each: order.index(each.kind)))


@dataclass(frozen=True)
class Replayed:
    """A stored number, the number made anew, and what the two signatures disagree on."""

    system: str
    metric: str
    stored: float
    made: float
    tolerance: float
    differences: tuple[Difference, ...]

    @property
    def holds(self) -> bool:
        """Whether the number came out the same, relative to its size."""
        return abs(self.made - self.stored) <= self.tolerance * max(abs(self.stored), 1.0)


@dataclass(frozen=True)
class Results:
    """The corpus scores that ``nlgauge score -f json`` wrote, and which files it read."""

    scores: tuple[Mapping[str, Any], ...]
    inputs: Mapping[str, Any]

    @classmethod
    def read(cls, path: str | Path) -> Results:
        """The results in a JSON file."""
        try:
            content = json.loads(Path(path).read_text("utf-8"))
            scores = tuple(dict(entry) for entry in content["scores"])
            for entry in scores:
                _ = entry["signature"], entry["system"], float(entry["value"])
        except OSError as error:
            raise FileError(f"file {str(path)!r} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FileError(
                f"{str(path)!r} does not hold results as `nlgauge score -f json` writes them: "
                f"{error!r}"
            ) from error
        return cls(scores, content.get("inputs", {}))

    def replay(
        self,
        corpus: Corpus,
        *,
        tolerance: float = 1e-6,
        runtime: Runtime = DEFAULT,
        progress: Progress | None = None,
    ) -> tuple[Replayed, ...]:
        """Every number made anew from the texts and its signature."""
        missing = {entry["system"] for entry in self.scores} - set(corpus.system_names)
        if missing:
            raise DataError(
                f"the results are of system {sorted(missing)[0]!r}, but the texts are of "
                f"{', '.join(map(repr, corpus.system_names))}"
            )
        if not self.scores:
            raise DataError("there are no scores in these results")
        signatures = list(dict.fromkeys(str(entry["signature"]) for entry in self.scores))
        scorer = Scorer([self._spec(text) for text in signatures], runtime=runtime)
        board = scorer.score_corpus(corpus, progress=progress)
        labels = dict(zip(signatures, scorer.metrics, strict=True))
        return tuple(
            Replayed(
                entry["system"],
                str(entry.get("metric", "")),
                float(entry["value"]),
                (made := board[entry["system"]][labels[entry["signature"]]]).value,
                tolerance,
                explain(entry["signature"], str(made.signature)),
            )
            for entry in self.scores
        )

    def _spec(self, signature: str) -> str:
        name = Signature.parse(signature).name
        if name not in metric_names():
            raise UsageError(f"the results hold a score of {name!r}, which is not installed here")
        return signature


def _meaning(metric: str, key: str) -> tuple[Kind, str]:
    key = key.lstrip("0123456789").removeprefix(".")  # of a member of an ensemble
    if key in _FACTS:
        return _FACTS[key]
    options = dict(_options(metric))
    if key in options:
        return ("model" if key == "model" else "option"), options[key]
    if key in _ABBREVIATED:
        return "option", _ABBREVIATED[key]
    return "library", f"the version of {'the library' if key == 'version' else key}"


def _options(metric: str) -> Iterator[tuple[str, str]]:
    if metric in metric_names():
        for name, known in options_of(metric_class(metric)).items():
            yield name, known.help.rstrip(".")


def _shown(value: str | None) -> str:
    return "not there" if value is None else unescape(value)


def files_of(inputs: Mapping[str, Any]) -> tuple[Sequence[str], Sequence[str]]:
    """The candidate and reference files that results name."""
    try:
        return list(inputs["candidates"]), list(inputs["references"])
    except (KeyError, TypeError):
        raise UsageError(
            "these results do not name their files; say which texts they are of: -c FILE -r FILE"
        ) from None
