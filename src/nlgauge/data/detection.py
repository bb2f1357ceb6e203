"""Detects the layout of a file or folder of human judgements and reads it."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from nlgauge.core.errors import FileError, OptionError
from nlgauge.data.columns import Columns, Given
from nlgauge.data.esa import FLAT, GROUPED
from nlgauge.data.files import TABULAR, explain_errors, first_line, format_of, parse_json_row
from nlgauge.data.judged import HUMAN_PREFIX, JudgedCorpus
from nlgauge.data.stored_scores import read_stored_scores

_READERS = {  # module and function, imported at first use
    "rows": "judged_tables.read_judged_rows",
    "wmt-daseg": "wmt.read_daseg",
    "mt-metrics-eval": "mt_metrics_eval.read_mt_metrics_eval",
    "mqm": "mqm.read_mqm",
    "esa": "esa.read_esa",
    "realsumm": "realsumm.read_realsumm",
    "summeval": "summeval.read_summeval",
    "webnlg2020": "webnlg.read_webnlg2020",
    "novikova2017": "novikova.read_novikova2017",
    "tac": "tac.read_tac",
}
_DESCRIPTIONS = {
    "rows": "JSONL, JSON, TSV or CSV with human columns",
    "wmt-daseg": "a folder of newstest2015.{source,reference,mt-system,human}.<pair>",
    "mt-metrics-eval": "a folder of sources, references, system-outputs, human-scores",
    "mqm": "a TSV file of MQM annotations, one error per line",
    "esa": "a JSONL file of ESA annotations of WMT24 or WMT25",
    "realsumm": "abs.pkl, ext.pkl, or their folder",
    "summeval": "model_annotations.aligned.jsonl",
    "webnlg2020": "the folder of the challenge: submissions and human evaluation",
    "novikova2017": "emnlp_data_medians.csv",
    "tac": "a folder of models, peers and manual scores",
}
_KINDS_WITH_OPTION = {
    "part": ("wmt-daseg", "mt-metrics-eval", "esa", "novikova2017"),
    "references": ("webnlg2020", "novikova2017", "mt-metrics-eval", "mqm", "esa"),
    "weights": ("mqm",),
    "metrics": ("mt-metrics-eval",),
    "columns": ("rows",),
}
_SINGLE_FILES = {"summeval": "model_annotations*.jsonl*", "novikova2017": "emnlp_data_medians.csv"}
_FOLDERS = (  # a folder of a kind has all of these files
    ("mt-metrics-eval", ("sources", "system-outputs", "human-scores")),
    ("wmt-daseg", ("*.human.*", "*.mt-system.*")),
    ("tac", ("peers", "models")),
    ("tac", ("ROUGE/peers", "ROUGE/models")),
    ("realsumm", ("*.pkl",)),
    ("realsumm", ("scores_dicts/*.pkl",)),
    ("webnlg2020", ("**/rdf2text/en", "**/*humeval*.json")),
    *((kind, (pattern,)) for kind, pattern in _SINGLE_FILES.items()),
)
KINDS = tuple(_READERS)
_KNOWN = "; ".join(f"{kind} ({text})" for kind, text in _DESCRIPTIONS.items())
_MQM = {"system", "doc", "rater", "target", "category", "severity"}


def read_judged(
    path: str | Path,
    *,
    kind: str | None = None,
    part: str | None = None,
    references: str | Path | None = None,
    scores: str | Path | None = None,
    stored: Sequence[str] = (),
    columns: Given | Columns = None,
    header: bool = True,
    weights: str | Mapping[str, float] | None = None,
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
        File of references for layouts with a separate file (webnlg2020, novikova2017), or names of
        references in the data (mt-metrics-eval, mqm, esa), separated by commas.
    scores
        A table with more metric scores of the same rows.
    stored
        Names of metric scores to read from an mt-metrics-eval folder, which has one file each.
    columns
        Names of the columns of a table, such as ``{"candidate": "mt", "human": "score"}``.
    header
        Whether a TSV or CSV table names its columns; otherwise they are numbered from 1.
    weights
        Weights of MQM errors that differ from the usual ones, such as ``{"major": 10}``.

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
        raise OptionError(f"unknown kind {kind!r} of judgement data; kinds: {_KNOWN}")
    with explain_errors(place):
        if not Path(place).exists():
            raise FileError(f"there is no file or folder {place!r}")
    named = columns if isinstance(columns, Columns) else Columns.of(columns, header=header)
    chosen = kind or ("rows" if named and Path(place).is_file() else detect_kind(place))
    given: dict[str, Any] = {"part": part, "columns": named or None, "weights": weights or None}
    given["references"] = None if references is None else str(references)
    options: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    for name in options:
        if chosen not in _KINDS_WITH_OPTION[name]:
            others = ", ".join(_KINDS_WITH_OPTION[name])
            raise OptionError(f"data of kind {chosen!r} takes no {name!r}; these do: {others}")
    extra = None if scores is None else read_stored_scores(str(scores), part)
    if chosen in _KINDS_WITH_OPTION["metrics"]:
        elsewhere = () if extra is None else tuple(extra.columns)
        names = (name for name in stored if not name.startswith(HUMAN_PREFIX))
        options["metrics"] = [name for name in names if name not in elsewhere]
    if chosen in _SINGLE_FILES and Path(place).is_dir():
        matching = sorted(Path(place).glob(_SINGLE_FILES[chosen]))
        if len(matching) != 1:
            listed = ", ".join(file.name for file in matching)
            what = f"{len(matching)} files {_SINGLE_FILES[chosen]} ({listed})"
            raise FileError(f"folder {place!r} has {what}; name the file")
        place = str(matching[0])
    module, _, name = _READERS[chosen].partition(".")
    reader: Callable[..., JudgedCorpus] = getattr(import_module(f"nlgauge.data.{module}"), name)
    judged = reader(place, **options)
    return judged if extra is None else extra.join(judged)


def detect_kind(path: str) -> str:
    """Return the layout, by the names in a folder or by a file's name and first line."""
    folder = Path(path)
    kinds = (k for k, names in _FOLDERS if all(any(folder.glob(name)) for name in names))
    kind = next(kinds, None) if folder.is_dir() else _kind_of_file(path)
    if kind is None:
        raise FileError(
            f"the layout of {path!r} is unknown; name it with --kind (kind= in Python). "
            f"Kinds: {_KNOWN}"
        )
    return kind


def _kind_of_file(path: str) -> str | None:
    if path.endswith(".pkl"):
        return "realsumm"
    form = format_of(path)
    if form not in TABULAR:
        return None
    line = first_line(path) if form in ("csv", "tsv", "jsonl") else b""
    heading = line.decode("utf-8", "replace").strip()
    if form == "csv" and {"sys_ref", "informativeness"} <= {*heading.replace('"', "").split(",")}:
        return "novikova2017"
    if form == "tsv" and {*heading.lower().split("\t")} >= _MQM:
        return "mqm"
    cells = parse_json_row(line) if form == "jsonl" else ""
    if any(set(keys) <= set(cells) for keys in (FLAT, GROUPED)):
        return "esa"
    return "summeval" if {"decoded", "model_id", "expert_annotations"} <= set(cells) else "rows"
