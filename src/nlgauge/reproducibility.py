"""Reproduction of scores: differences of signatures, and recomputation of stored results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, FileError, UsageError
from nlgauge.core.options import options_of, unescape
from nlgauge.core.signature import Signature
from nlgauge.data.files import read_json
from nlgauge.metrics import from_signature, metric_class, metric_names
from nlgauge.metrics._signatures import SHORT_VERSION, is_short, read_signature
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress, Scorer

Kind = Literal["metric", "option", "model", "data", "library"]

_MEANINGS: dict[str, tuple[Kind, str]] = {
    "nrefs": ("data", "the number of references per segment"),
    "model_sha": ("model", "the weights of the model"),
    "baseline_sha": ("data", "the baseline file"),
    "table_sha": ("data", "the corpus of the n-gram counts"),
    "idf_sha_reference": ("data", "the corpus of the idf weights"),
    "idf_sha_candidate": ("data", "the candidates of the idf weights"),
    "sources": ("data", "whether the texts had sources, which the metric reads"),
    # Abbreviated keys of sacrebleu's signatures.
    "case": ("option", "letter case"),
    "eff": ("option", "effective order: n-gram orders without n-grams are left out"),
    "tok": ("option", "tokenizer"),
    "smooth": ("option", "smoothing of n-gram orders without a match"),
    "nc": ("option", "longest character n-gram"),
    "nw": ("option", "longest word n-gram"),
    "space": ("option", "spaces in character n-grams"),
    "norm": ("option", "normalisation before tokenization"),
    "punct": ("option", "punctuation kept"),
    "asian": ("option", "Asian characters split"),
    "scores": ("data", "whether they were computed from texts or stored"),
    "better": ("data", "the direction of stored scores"),
    "test": ("data", "the test set"),
    "subset": ("data", "the subset of the test set"),
    "origlang": ("data", "the original language of the sources"),
    "bs": ("data", "bootstrap samples of the interval; the score does not depend on them"),
    "ar": ("data", "trials of approximate randomization; the score does not depend on them"),
    "seed": ("data", "the seed of the interval or test; the score does not depend on it"),
}


@dataclass(frozen=True)
class Difference:
    """A key on which two signatures differ, its two values, and its meaning."""

    key: str
    first: str | None
    second: str | None
    kind: Kind
    meaning: str

    def __str__(self) -> str:
        values = ("absent" if v is None else unescape(v) for v in (self.first, self.second))
        return f"{self.key}: {' and '.join(values)} ({self.meaning})"


def explain(first: str, second: str) -> tuple[Difference, ...]:
    """Return the differences of two signatures: options first, then model, data and library.

    Parameters
    ----------
    first, second
        Signatures of scores, also as sacrebleu prints them.

    Returns
    -------
    tuple of Difference
        Empty if the signatures agree.

    Raises
    ------
    UsageError
        If a text is not a signature.

    Examples
    --------
    >>> print(*explain("bleu|case:mixed|tok:13a", "bleu|case:lc|tok:13a"))
    case: mixed and lc (letter case)
    """
    for text in (first, second):
        if "|" not in text:
            raise UsageError(f"{text!r} is not a signature of the form name|key:value|...")
    one, other = read_signature(first), read_signature(second)
    if one.name != other.name:
        meaning = "different metrics, whose scores are not comparable"
        return (Difference("metric", one.name, other.name, "metric", meaning),)
    keys_a, keys_b = _all_options(one), _all_options(other)
    differences = [
        Difference(key, keys_a.get(key), keys_b.get(key), *_meaning(one.name, key))
        for key in dict.fromkeys([*keys_a, *keys_b])
        if keys_a.get(key) != keys_b.get(key)
        and (key in keys_a or not is_short(one))  # short signatures have no digests and libraries
        and (key in keys_b or not is_short(other))
    ]
    order: list[Kind] = ["option", "model", "data", "library"]
    return tuple(sorted(differences, key=lambda each: order.index(each.kind)))


def _all_options(signature: Signature) -> dict[str, str]:
    """Return the keys of a signature, including options that a short signature omits."""
    keys = dict(signature.keys)
    if not is_short(signature):
        return keys
    keys["nlgauge"] = keys.pop(SHORT_VERSION)
    return {**metric_class(signature.name).rebuild(keys).describe(), **keys}


@dataclass(frozen=True)
class Replayed:
    """A stored score, the recomputed score, and the differences of their signatures."""

    system: str
    metric: str
    stored: float
    made: float
    tolerance: float
    differences: tuple[Difference, ...]

    @property
    def holds(self) -> bool:
        """Whether the scores agree within the relative tolerance."""
        return abs(self.made - self.stored) <= self.tolerance * max(abs(self.stored), 1.0)


@dataclass(frozen=True)
class Results:
    """The corpus scores of ``nlgauge score -f json`` and the names of its input files."""

    scores: tuple[Mapping[str, Any], ...]
    inputs: Mapping[str, Any]

    @classmethod
    def read(cls, path: str | Path) -> "Results":
        """Return the results of a JSON file."""
        content = read_json(str(path))
        try:
            scores = tuple(dict(entry) for entry in content["scores"])
            inputs = dict(content.get("inputs") or {})
            texts = [entry[key] for entry in scores for key in ("signature", "system")]
            texts += [inputs.get(key) or "" for key in ("sources", "wanted")]
            lists = [inputs.get(key, []) for key in ("candidates", "references")]
            texts += chain(*lists, *dict(inputs.get("columns") or {}).values())
            if not all(isinstance(text, str) for text in texts):
                raise TypeError("a name is not a text")
            _ = [float(entry["value"]) for entry in scores]
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            reason = f"a value is of the wrong kind ({error})"
            if isinstance(error, KeyError):
                reason = f"it has no {error}"
            message = f"{str(path)!r} is not a result of `nlgauge score -f json`: {reason}"
            raise FileError(message) from error
        return cls(scores, inputs)

    def replay(
        self,
        corpus: Corpus,
        *,
        tolerance: float = 1e-6,
        allow_external: Sequence[str] = (),
        runtime: Runtime = DEFAULT,
        progress: Progress | None = None,
    ) -> tuple[Replayed, ...]:
        """Recompute every score from the texts and its signature.

        A signature that runs a program is an error unless ``allow_external`` contains its command.
        """
        missing = {entry["system"] for entry in self.scores} - set(corpus.system_names)
        if missing:
            raise DataError(
                f"the results are of system {sorted(missing)[0]!r}, but the texts are of "
                f"{', '.join(map(repr, corpus.system_names))}"
            )
        if not self.scores:
            raise DataError("there are no scores in these results")
        signatures = list(dict.fromkeys(str(entry["signature"]) for entry in self.scores))
        for name in (read_signature(text).name for text in signatures):
            if name not in metric_names():
                raise UsageError(f"the results have a score of {name!r}, which is not installed")
        metrics = [from_signature(text, allow_external) for text in signatures]
        scorer = Scorer(metrics, runtime=runtime)
        scores = scorer.score_corpus(corpus, progress=progress)
        labels = dict(zip(signatures, scorer.metrics, strict=True))
        return tuple(
            Replayed(
                entry["system"],
                str(entry.get("metric", "")),
                float(entry["value"]),
                (recomputed := scores[entry["system"]][labels[entry["signature"]]]).value,
                tolerance,
                explain(entry["signature"], str(recomputed.signature)),
            )
            for entry in self.scores
        )


def _meaning(metric: str, key: str) -> tuple[Kind, str]:
    key = key.lstrip("0123456789").removeprefix(".")  # number of a member of an ensemble
    options = options_of(metric_class(metric)) if metric in metric_names() else {}
    if key in options:
        return ("model" if key == "model" else "option"), options[key].help.rstrip(".")
    if key == "lang" and metric in ("bleu", "chrf", "ter"):
        return "data", "the languages of the test set"
    library = f"the version of {'the library' if key == 'version' else key}"
    return _MEANINGS.get(key, ("library", library))


_FILES = ("candidates", "references", "sources", "wanted", "columns", "header")


def files_of(
    inputs: Mapping[str, Any],
    candidates: Sequence[str] | None = None,
    references: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the arguments of `read_systems` for the files of results, or for those given."""
    stored = {name: inputs[name] for name in _FILES if name in inputs}
    if candidates:
        settings = {name: value for name, value in stored.items() if name in _FILES[3:]}
        return {**settings, "candidates": candidates, "references": references or []}
    if not set(_FILES[:2]) <= stored.keys():
        message = "these results do not name their files; give the texts with -c FILE -r FILE"
        raise UsageError(message)
    return stored
