"""Logs of lm-evaluation-harness (samples_*.jsonl) as rows of a table.

A line of the log is a document under one filter of the outputs, with its metrics:

    {"doc_id": 3, "doc": {...}, "target": "4", "filtered_resps": ["4"], "filter": "none", "acc": 1}

becomes ``id`` 3, ``acc`` 1, ``doc.<field>`` and, if the output is a text, ``output``,
``references`` and ``source``. Several filters of a document become one row, with the filter in the
names: ``exact_match/strict-match``.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from nlgauge.data.files import Cells, NumberedRows, first_line, parse_json_row

_FIELDS = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash"),
}
_TASK = re.compile(r"samples_(.+?)(?:_\d{4}-\d{2}-\d{2}T[\d.:-]+)?\.jsonl")
_LITERAL = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_LIST = re.compile(rf"\[(?:{_LITERAL})(?:, (?:{_LITERAL}))*\]", re.DOTALL)
_MAX_DEPTH = 3  # of nested lists around a single output


def is_harness_log(path: str) -> bool:
    """Return whether a file of JSON Lines is such a log."""
    return is_document(parse_json_row(first_line(path)))


def is_document(cells: Cells) -> bool:
    """Return whether a row is a line of a log."""
    return not isinstance(cells, str) and {"doc_id", "filtered_resps"} <= cells.keys()


def document_rows(path: str, rows: Iterable[tuple[int, Cells]]) -> NumberedRows:
    """Yield a row for each document of a log whose lines are given."""
    lines: list[tuple[int, str, Cells]] = []
    for number, cells in rows:
        if isinstance(cells, str):
            lines.append((number, "", cells))
        elif not is_document(cells) or not isinstance(cells["doc_id"], int | str):
            lines.append((number, "", "not a document of the log: it has no doc_id or no output"))
        else:
            lines.append((number, str(cells.get("filter", "none")), _compact(cells)))
    several = len({name for _, name, cells in lines if not isinstance(cells, str)}) > 1
    task = _TASK.fullmatch(Path(path).name.removesuffix(".gz").removesuffix(".zst"))
    named = {"task": task[1]} if task else {}
    merged: dict[Any, tuple[int, dict[str, Any]]] = {}
    # A repeated filter gives a separate row, which is then an error.
    times: Counter[Any] = Counter()
    for number, name, cells in lines:
        if isinstance(cells, str):
            yield number, cells
            continue
        key = cells["id"], times[cells["id"], name]
        times[cells["id"], name] += 1
        shared = {**named, **cells["shared"]}
        own = {f"{each}/{name}" if several else each: v for each, v in cells["own"].items()}
        _, before = merged.get(key, (number, {"id": cells["id"]}))
        merged[key] = number, {**before, **shared, **own}
    yield from merged.values()


def _compact(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return the id of a line, values of its document, and values of its filter."""
    listed = cells.get("metrics")
    names = [name for name in cells if name not in _FIELDS]
    if isinstance(listed, list):
        names = [name for name in listed if isinstance(name, str) and name in cells]
    own = {name: cells[name] for name in names}
    doc = cells.get("doc")
    shared: dict[str, Any] = {}
    for name, value in doc.items() if isinstance(doc, Mapping) else ():
        if isinstance(value, str | int | float):
            shared[f"doc.{name}"] = value
    text = _single_text(cells["filtered_resps"])
    if text is not None:
        own["output"] = text
        shared["references"] = _targets(cells.get("target"))
        prompt = _prompt(cells.get("arguments"))
        shared |= {} if prompt is None else {"source": prompt}
    return {"id": cells["doc_id"], "shared": shared, "own": own}


def _single_text(value: Any) -> str | None:
    """Return the only text in nested lists, or None, as for log-likelihoods of choices."""
    for _ in range(_MAX_DEPTH):
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
    return value if isinstance(value, str) else None


def _targets(target: Any) -> list[str]:
    """Return the references; the harness writes a list of them as its Python repr."""
    if isinstance(target, str) and _LIST.fullmatch(target):
        with suppress(SyntaxError, ValueError):  # it only looks like one
            return list(ast.literal_eval(target))
    values: Sequence[Any] = target if isinstance(target, list) else [target]
    return [str(value) for value in values]


def _prompt(arguments: Any) -> str | None:
    """Return the prompt: the first argument of the first request."""
    if isinstance(arguments, Mapping):
        arguments = [arguments.get("gen_args_0")]
    request = arguments[0] if isinstance(arguments, list) and arguments else None
    if isinstance(request, Mapping):
        request = [request.get("arg_0")]
    prompt = request[0] if isinstance(request, list) and request else None
    return prompt if isinstance(prompt, str) else None
