"""Logs of Inspect (inspect_ai), .eval and .json, as rows of a table.

An .eval file is a zip file with a member ``samples/<id>_epoch_<n>.json`` for each sample; a .json
log is an object with a list ``samples``. A sample has scores by scorer:

    {"id": 1, "epoch": 1, "target": "4", "output": {...}, "scores": {"match": {"value": "C"}}}

It becomes ``id``, ``model``, ``task``, ``run``, ``match`` (C is 1, P .5, I and N 0),
``metadata.<field>`` and the texts ``output``, ``references`` and ``source``. With several epochs,
``id`` includes the epoch, and there are columns ``sample`` and ``epoch``. Nothing is written to
disk, and sizes are limited.
"""

import io
import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from nlgauge.core.errors import FileError
from nlgauge.data.files import (
    NumberedRows,
    decode,
    load_json,
    open_file,
    require_pyarrow,
)
from nlgauge.data.urls import Url

MAX_SAMPLE = 1 << 28
"""Maximum bytes of one member of an .eval file."""
MAX_LOG = 1 << 32
"""Maximum bytes of all samples of an .eval file."""
MAX_JSON = 1 << 30
"""Maximum bytes of a .json log, which is read at once."""

_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:version|status|eval)"\s*:')
_ZSTANDARD = 93  # a compression method that Python's zipfile supports since 3.14
_LOCAL_HEADER = struct.Struct("<4s22xHH")  # signature; lengths of the name and of the extra field
_DAMAGED = (BadZipFile, OSError, EOFError, RuntimeError, ValueError, OverflowError)
_ATTACHMENT = "attachment://"
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def starts_log(head: bytes) -> bool:
    """Return whether a JSON file with this head is a log, not a list of rows."""
    return _START.match(head) is not None


def json_log_rows(path: str, content: IO[bytes]) -> NumberedRows:
    """Yield the samples of a .json log."""
    data = content.read(MAX_JSON + 1)
    if len(data) > MAX_JSON:
        raise FileError(f"{path} has more than {MAX_JSON:,} bytes; write the log as .eval")
    log = _parse(data, path)
    samples = log.get("samples")
    if not isinstance(samples, list):
        status = f" (its status is {log['status']!r:.40})" if "status" in log else ""
        raise FileError(f"{path} is a log without samples{status}")
    yield from _rows(log, samples)


def eval_rows(path: str) -> NumberedRows:
    """Yield the samples of an .eval file."""
    if not isinstance(path, Url) and not Path(path).is_file():
        raise FileError(f"there is no file {path!r}")
    try:
        with open_file(path) as content, ZipFile(content) as archive:
            members = _members(path, archive)
            samples = [name for name in members if name.startswith("samples/")]
            start = next((m for m in ("header.json", "_journal/start.json") if m in members), None)
            log = {} if start is None else _parse(_content(path, archive, members[start]), path)
            parsed = (_parse(_content(path, archive, members[name]), name) for name in samples)
            rows = list(_rows(log, parsed))
    except FileError:
        raise
    except (*_DAMAGED, zlib.error, struct.error) as error:
        raise FileError(f"{path} is not an .eval log: {error}") from error
    if not rows:
        raise FileError(f"{path} is a log without samples")
    yield from rows


def _members(path: str, archive: ZipFile) -> dict[str, ZipInfo]:
    """Return the members by name (the last one if names repeat); raise an error if too large."""
    members = {info.filename: info for info in archive.infolist()}
    for name, info in members.items():
        parts = PurePosixPath(name).parts
        if name.startswith(("/", "\\")) or ".." in parts or ":" in name.partition("/")[0]:
            raise FileError(f"{path} has a member {name!r:.80}, which is no part of a log")
        if info.file_size > MAX_SAMPLE:
            size = f"{info.file_size:,} bytes, more than {MAX_SAMPLE:,}"
            raise FileError(f"{path}: the member {name!r:.80} has {size}")
    total = sum(info.file_size for info in archive.infolist())
    if total > MAX_LOG:
        raise FileError(f"{path} unpacks to {total:,} bytes, more than {MAX_LOG:,}")
    return {name: info for name, info in members.items() if name.endswith(".json")}


def _content(path: str, archive: ZipFile, info: ZipInfo) -> bytes:
    if info.compress_type != _ZSTANDARD:
        return archive.read(info)
    with open_file(path) as raw:
        raw.seek(info.header_offset)
        signature, name, extra = _LOCAL_HEADER.unpack(raw.read(_LOCAL_HEADER.size))
        if signature != b"PK\x03\x04":
            raise BadZipFile(f"{info.filename!r:.80} has no local header")
        raw.seek(name + extra, io.SEEK_CUR)
        packed = raw.read(info.compress_size)
    stream = require_pyarrow("this .eval log").CompressedInputStream(io.BytesIO(packed), "zstd")
    data: bytes = stream.read(info.file_size + 1)
    if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
        raise BadZipFile(f"{info.filename!r:.80} is damaged")
    return data


def _parse(data: bytes, where: str) -> dict[str, Any]:
    try:
        value = load_json(decode(data, f"{where}: "))
    except ValueError as error:
        reason = str(error) if isinstance(error, FileError) else f"{where} is not JSON: {error}"
        raise FileError(reason) from None
    if not isinstance(value, dict):
        raise FileError(f"{where} contains a {type(value).__name__}, not an object of a log")
    return value


def _rows(log: Mapping[str, Any], samples: Any) -> NumberedRows:
    """Yield a row for each sample, all with the same columns of scores."""
    header = log.get("eval")
    about = header if isinstance(header, Mapping) else {}
    fields = {"model": "model", "task": "task", "run": "run_id"}
    shared = {name: about[key] for name, key in fields.items() if isinstance(about.get(key), str)}
    rows = [_cells(sample) for sample in samples]
    good = [row for row in rows if not isinstance(row, str)]
    names = dict.fromkeys(name for row in good for name in row["scores"])
    repeated = any(row["epoch"] != 1 for row in good)
    for number, row in enumerate(rows, start=1):
        if isinstance(row, str):
            yield number, row
            continue
        item, epoch = row["id"], row["epoch"]
        own = {"id": f"{item} (epoch {epoch})", "sample": item, "epoch": epoch}
        scores = {**dict.fromkeys(names), **row["scores"]}
        yield number, {**scores, **shared, **row["others"], **(own if repeated else {"id": item})}


def _cells(sample: Any) -> dict[str, Any] | str:
    """Return id, epoch, scores and other columns of a sample, or the reason for an error."""
    if not isinstance(sample, Mapping):
        return f"the sample is a {type(sample).__name__}, not an object"
    item, epoch = sample.get("id"), sample.get("epoch", 1)
    if isinstance(item, bool) or not isinstance(item, int | str) or not isinstance(epoch, int):
        return f"the sample has the id {item!r:.40} and the epoch {epoch!r:.40}"
    metadata = sample.get("metadata")
    others: dict[str, Any] = {
        f"metadata.{name}": value
        for name, value in (metadata.items() if isinstance(metadata, Mapping) else ())
        if isinstance(value, str | int | float)
    }
    attached = sample.get("attachments")
    texts = attached if isinstance(attached, Mapping) else {}
    target = sample.get("target")
    targets = target if isinstance(target, list) else [target]
    others["output"] = _output(sample.get("output"), texts)
    others["references"] = [str(text) for text in targets if text is not None]
    others["source"] = _input(sample.get("input"), texts)
    return {"id": str(item), "epoch": epoch, "scores": _scores(sample), "others": others}


def _scores(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all scorers; names of values in an object or list include the key."""
    scores = sample.get("scores")
    values: dict[str, Any] = {}
    for name, score in scores.items() if isinstance(scores, Mapping) else ():
        value = score.get("value") if isinstance(score, Mapping) else score
        if isinstance(value, Mapping | list):
            pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
            values |= {f"{name}.{key}": _number(each) for key, each in pairs}
        else:
            values[name] = _number(value)
    return values


def _number(value: Any) -> Any:
    """Convert a grade to a number as Inspect does; return other values unchanged."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        return _GRADES.get(value, _WORDS.get(value.lower(), value))
    return value


def _output(output: Any, texts: Mapping[str, Any]) -> str:
    """Return the text of the first choice; a sample that ended without one has an empty output."""
    choices = output.get("choices") if isinstance(output, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    return _text(message.get("content"), texts) if isinstance(message, Mapping) else ""


def _input(given: Any, texts: Mapping[str, Any]) -> str:
    """Return the input: a text, or the last message of the user."""
    messages: Sequence[Any] = given if isinstance(given, list) else []
    for message in reversed(messages):
        if isinstance(message, Mapping) and message.get("role") == "user":
            return _text(message.get("content"), texts)
    return _text(given if isinstance(given, str) else "", texts)


def _text(content: Any, texts: Mapping[str, Any]) -> str:
    """Return a text, or the texts among the parts of a message, with attachments resolved."""
    parts: Sequence[Any] = content if isinstance(content, list) else [content]
    contents = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    plain = [text for text in contents if isinstance(text, str)]
    return "\n".join(
        str(texts.get(text.removeprefix(_ATTACHMENT), text))
        if text.startswith(_ATTACHMENT)
        else text
        for text in plain
    )
