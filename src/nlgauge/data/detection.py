"""Detects the layout of a file or folder of human judgements and reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nlgauge.core.errors import FileError, OptionError
from nlgauge.data.files import TABULAR, format_of, open_bytes, parse_json_row
from nlgauge.data.judged import HUMAN_PREFIX
from nlgauge.data.stored_scores import read_stored_scores

if TYPE_CHECKING:
    from nlgauge.data.judged import JudgedCorpus


class _Layout(NamedTuple):
    reader: str
    """Module and function, imported at first use."""
    description: str
    options: tuple[str, ...] = ()
    patterns: tuple[tuple[str, ...], ...] = ()
    """Files of which a folder has all of one tuple."""
    file: str = ""
    """The one file of a data set that consists of one."""


_LAYOUTS = {
    "rows": _Layout("judged_tables.read_judged_rows", "JSONL, TSV or CSV with human columns"),
    "wmt-daseg": _Layout(
        "wmt.read_daseg",
        "a folder of newstest2015.{source,reference,mt-system,human}.<pair>",
        ("part",),
        (("*.human.*", "*.mt-system.*"),),
    ),
    "mt-metrics-eval": _Layout(
        "mt_metrics_eval.read_mt_metrics_eval",
        "a folder of sources, references, system-outputs, human-scores",
        ("part", "metrics"),
        (("sources", "system-outputs", "human-scores"),),
    ),
    "tac": _Layout(
        "tac.read_tac",
        "a folder of models, peers and manual scores",
        (),
        (("peers", "models"), ("ROUGE/peers", "ROUGE/models")),
    ),
    "realsumm": _Layout(
        "realsumm.read_realsumm",
        "abs.pkl, ext.pkl, or their folder",
        (),
        (("*.pkl",), ("scores_dicts/*.pkl",)),
    ),
    "summeval": _Layout(
        "summeval.read_summeval",
        "model_annotations.aligned.jsonl",
        file="model_annotations*.jsonl*",
    ),
    "webnlg2020": _Layout(
        "webnlg.read_webnlg2020",
        "the folder of the challenge: submissions and human evaluation",
        ("references",),
        (("**/rdf2text/en", "**/*humeval*.json"),),
    ),
    "novikova2017": _Layout(
        "novikova.read_novikova2017",
        "emnlp_data_medians.csv",
        ("part", "references"),
        file="emnlp_data_medians.csv",
    ),
}
KINDS = tuple(_LAYOUTS)
_MAX_LINE = 4_000_000


def read_judged(
    path: str | Path,
    *,
    kind: str | None = None,
    part: str | None = None,
    references: str | Path | None = None,
    scores: str | Path | None = None,
    stored: Sequence[str] = (),
) -> JudgedCorpus:
    """Read human judgements and the texts they belong to.

    Parameters
    ----------
    path
        A file or folder.
    kind
        Its layout, one of ``KINDS``; None to detect it.
    part
        Language pair or data set to read if there are several.
    references
        File of references where the layout keeps them apart (webnlg2020, novikova2017).
    scores
        A table with more metric scores of the same rows.
    stored
        Names of metric scores to read from an mt-metrics-eval folder, which has a file for each.

    Returns
    -------
    JudgedCorpus

    Raises
    ------
    FileError
        If a file is missing or malformed, or its layout is unknown.
    OptionError
        If an option does not apply to the layout, or its value is unknown.
    """
    place = str(path)
    if kind is not None and kind not in KINDS:
        raise OptionError(f"unknown kind {kind!r} of judgement data; kinds: {_listed()}")
    if not Path(place).exists():
        raise FileError(f"there is no file or folder {place!r}")
    chosen = kind or detect_kind(place)
    layout = _LAYOUTS[chosen]
    given = {"part": part, "references": None if references is None else str(references)}
    options: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    for name in sorted(set(options) - set(layout.options)):
        takers = ", ".join(other for other in KINDS if name in _LAYOUTS[other].options)
        raise OptionError(f"data of kind {chosen!r} takes no {name!r}; these do: {takers}")
    extra = None if scores is None else read_stored_scores(str(scores))
    if "metrics" in layout.options:
        elsewhere = () if extra is None else extra.columns
        options["metrics"] = [
            name for name in stored if name not in elsewhere and not name.startswith(HUMAN_PREFIX)
        ]
    module, _, name = layout.reader.partition(".")
    reader: Callable[..., JudgedCorpus] = getattr(import_module(f"nlgauge.data.{module}"), name)
    judged = reader(_single_file(place, layout.file), **options)
    return judged if extra is None else extra.join(judged)


def detect_kind(path: str) -> str:
    """Return the layout, by the names in a folder or by a file's name and first line."""
    kind = _kind_of_folder(Path(path)) if Path(path).is_dir() else _kind_of_file(path)
    if kind is None:
        raise FileError(
            f"the layout of {path!r} is unknown; name it with kind=. Kinds: {_listed()}"
        )
    return kind


def _listed() -> str:
    return "; ".join(f"{kind} ({layout.description})" for kind, layout in _LAYOUTS.items())


def _single_file(path: str, pattern: str) -> str:
    """The file of a data set that consists of one, or the path."""
    if not pattern or not Path(path).is_dir():
        return path
    found = sorted(Path(path).glob(pattern))
    if len(found) != 1:
        names = ", ".join(file.name for file in found)
        raise FileError(
            f"folder {path!r} holds {len(found)} files {pattern} ({names}); name the file"
        )
    return str(found[0])


def _kind_of_folder(folder: Path) -> str | None:
    for kind, layout in _LAYOUTS.items():
        for patterns in (*layout.patterns, *([(layout.file,)] if layout.file else [])):
            if all(any(folder.glob(pattern)) for pattern in patterns):
                return kind
    return None


def _kind_of_file(path: str) -> str | None:
    if path.endswith(".pkl"):
        return "realsumm"
    form = format_of(path)
    if form not in TABULAR:
        return None
    with open_bytes(path) as stream:
        line = stream.readline(_MAX_LINE)
    names = set(line.decode("utf-8", "replace").replace('"', "").strip().split(","))
    if form == "csv" and {"sys_ref", "informativeness"} <= names:
        return "novikova2017"
    cells = parse_json_row(line) if form == "jsonl" else ""
    if {"decoded", "model_id", "expert_annotations"} <= set(cells):
        return "summeval"
    return "rows"
