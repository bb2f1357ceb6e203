"""Which layout a file or folder of human judgements has, and the reader that knows it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlgauge.core.errors import FileError, OptionError
from nlgauge.data.files import format_of
from nlgauge.data.judged import PEOPLE
from nlgauge.data.stored_scores import read_stored
from nlgauge.data.tables import TABULAR

if TYPE_CHECKING:
    from nlgauge.data.judged import Judged

# kind: (module, reader, the options it takes, what it looks like). Imported when asked for.
_READERS: dict[str, tuple[str, str, frozenset[str], str]] = {
    "rows": (
        "judged_tables",
        "read_judged_rows",
        frozenset(),
        "JSONL, TSV or CSV with human columns",
    ),
    "wmt-daseg": (
        *("wmt", "read_daseg", frozenset({"part"})),
        "a folder of newstest2015.{source,reference,mt-system,human}.<pair>",
    ),
    "mt-metrics-eval": (
        *("mt_metrics_eval", "read_mt_metrics_eval", frozenset({"part", "metrics"})),
        "a folder of sources, references, system-outputs, human-scores",
    ),
    "realsumm": ("realsumm", "read_realsumm", frozenset(), "abs.pkl, ext.pkl, or their folder"),
    "summeval": ("summeval", "read_summeval", frozenset(), "model_annotations.aligned.jsonl"),
    "webnlg2020": (
        *("webnlg", "read_webnlg2020", frozenset({"references"})),
        "the folder of the challenge: submissions and human evaluation",
    ),
    "novikova2017": (
        *("novikova", "read_novikova2017", frozenset({"part", "references"})),
        "emnlp_data_medians.csv",
    ),
    "tac": ("tac", "read_tac", frozenset(), "a folder of models, peers and manual scores"),
}
KINDS = tuple(_READERS)
_PEEK = 4_000_000


def read_judged(
    path: str | Path,
    *,
    kind: str | None = None,
    part: str | None = None,
    references: str | Path | None = None,
    scores: str | Path | None = None,
    stored: Sequence[str] = (),
) -> Judged:
    """The judged corpus in a file or folder, read by the layout named or guessed.

    `part` chooses a language pair or data set where there are several; `references` is the file of
    references where the layout keeps them apart (webnlg2020, novikova2017). `scores` is a table of
    more scores for the same rows. `stored` names scores that are wanted; only mt-metrics-eval needs
    to be told, because it keeps each metric in a file of its own.
    """
    place = str(path)
    if kind is not None and kind not in KINDS:
        raise OptionError(f"there is no kind {kind!r} of judgement data; kinds: {_listed()}")
    if not Path(place).exists():
        raise FileError(f"there is no file or folder {place!r}")
    chosen = kind or guess_kind(place)
    module, name, accepted, _ = _READERS[chosen]
    given = {"part": part, "references": None if references is None else str(references)}
    options: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    refused = sorted(set(options) - accepted)
    if refused:
        takers = [other for other in KINDS if refused[0] in _READERS[other][2]]
        raise OptionError(
            f"data of kind {chosen!r} takes no {refused[0]!r}; these do: {', '.join(takers)}"
        )
    extra = None if scores is None else read_stored(str(scores))
    if "metrics" in accepted:
        elsewhere = () if extra is None else extra.columns
        options["metrics"] = [
            name for name in stored if name not in elsewhere and not name.startswith(PEOPLE)
        ]
    reader: Callable[..., Judged] = getattr(import_module(f"nlgauge.data.{module}"), name)
    judged = reader(_file_of(place, chosen), **options)
    return judged if extra is None else extra.join(judged)


def guess_kind(path: str) -> str:
    """The kind of a layout by the names in a folder, or by a file's name and first line."""
    place = Path(path)
    kind = _kind_of_folder(place) if place.is_dir() else _kind_of_file(place)
    if kind is None:
        raise FileError(
            f"the layout of {path!r} is none that is known; name it with kind=. Kinds: {_listed()}"
        )
    return kind


def _listed() -> str:
    return "; ".join(f"{kind} ({looks})" for kind, (*_, looks) in _READERS.items())


_FILES = {"summeval": "model_annotations*.jsonl*", "novikova2017": "emnlp_data_medians.csv"}


def _file_of(path: str, kind: str) -> str:
    """The one file to read in a folder that holds a data set of one file."""
    if kind not in _FILES or not Path(path).is_dir():
        return path
    found = sorted(Path(path).glob(_FILES[kind]))
    if len(found) != 1:
        names = ", ".join(file.name for file in found)
        raise FileError(
            f"folder {path!r} holds {len(found)} files {_FILES[kind]} ({names}); name the file"
        )
    return str(found[0])


def _kind_of_folder(folder: Path) -> str | None:
    def has(*patterns: str) -> bool:
        return all(next(folder.glob(pattern), None) is not None for pattern in patterns)

    signs = {
        "mt-metrics-eval": has("sources", "system-outputs", "human-scores"),
        "wmt-daseg": has("*.human.*", "*.mt-system.*"),
        "tac": has("peers", "models") or has("ROUGE/peers", "ROUGE/models"),
        "realsumm": has("*.pkl") or has("scores_dicts/*.pkl"),
        "webnlg2020": has("**/rdf2text/en", "**/*humeval*.json"),
        **{kind: has(pattern) for kind, pattern in _FILES.items()},
    }
    return next((kind for kind, seen in signs.items() if seen), None)


def _kind_of_file(file: Path) -> str | None:
    if file.suffix == ".pkl":
        return "realsumm"
    form = format_of(str(file))
    if form not in TABULAR:
        return None
    first = _first_line(file)
    if form == "csv" and {"sys_ref", "informativeness"} <= set(first.replace('"', "").split(",")):
        return "novikova2017"
    if form == "jsonl" and {"decoded", "model_id", "expert_annotations"} <= _keys(first):
        return "summeval"
    return "rows"


def _first_line(file: Path) -> str:
    try:
        with file.open("rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
        with gzip.open(file) if zipped else file.open("rb") as stream:
            return stream.readline(_PEEK).decode("utf-8-sig", errors="replace").strip()
    except (OSError, EOFError) as error:
        raise FileError(f"file {str(file)!r} cannot be read: {error}") from error


def _keys(line: str) -> set[str]:
    try:
        row: Any = json.loads(line)
    except (json.JSONDecodeError, RecursionError):
        return set()
    return set(row) if isinstance(row, dict) else set()
