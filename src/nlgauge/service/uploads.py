"""POST /v1/read: parses an uploaded file like the commands, and returns its rows or lines."""

import asyncio
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from nlgauge.core.arrays import Floats
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import NlgaugeError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.data.detection import read_judged
from nlgauge.data.files import format_of, open_bytes, read_cells, read_lines
from nlgauge.data.rater_labels import read_labels
from nlgauge.data.systems import read_systems
from nlgauge.service import responses
from nlgauge.service.errors import ServiceError, busy
from nlgauge.service.handlers import Answer, encode_json
from nlgauge.service.routes import error_responses
from nlgauge.service.settings import Limits

FileName = Annotated[
    str,
    Query(min_length=1, max_length=200, description="File name; its ending determines the format."),
]
ColumnNames = Annotated[
    str | None,
    Query(max_length=1000, description="Names of columns: candidate=mt,reference=ref."),
]
Content = Literal["outputs", "judgements", "labels"]
_BINARY = "application/octet-stream"
_MAX_CONCURRENT = 2
_BYTES_PER_CHARACTER = 4
_MAX_WAITING = 16
_LINES_PER_CSV_ROW = 5  # a quoted cell may have several lines
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")  # Gzip and Zstandard
_MAX_COLUMNS = 256
_STEM = "uploaded-file"

router = APIRouter()


class FileReaders:
    """Reads a few files at a time in threads, so that they do not block other requests."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(_MAX_CONCURRENT)
        self._waiting = 0

    async def run(self, read: Callable[[], bytes]) -> bytes:
        """Return the result of ``read``, or raise an error if too many files are waiting."""
        if self._waiting >= _MAX_WAITING:
            raise busy(f"{self._waiting} uploaded files are waiting to be read", seconds=2)
        self._waiting += 1
        try:
            async with self._free:
                return await asyncio.to_thread(read)
        finally:
            self._waiting -= 1


@router.post(
    "/v1/read",
    response_model=responses.ReadAnswer,
    responses=error_responses(400, 408, 413, 415, 422, 429),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {_BINARY: {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def read(
    request: Request, name: FileName, content: Content = "outputs", columns: ColumnNames = None
) -> Response:
    """Read a file of texts, outputs, human judgements or labels; nothing is stored."""
    if request.headers.get("content-type", "").strip().lower() != _BINARY:
        message = f"send the bytes of the file, with the header Content-Type: {_BINARY}"
        raise ServiceError(415, "not_binary", message)
    state = request.app.state
    limits: Limits = state.dispatcher.settings.limits
    async with state.bodies.received(request) as body:
        answer = await state.readers.run(
            lambda: encode_json(read_upload(body, name, content, limits, columns))
        )
    return Response(answer, media_type="application/json")


def read_upload(
    body: bytes, name: str, content: Content, limits: Limits, columns: str | None = None
) -> Answer:
    """Return the rows or lines of a file, or raise an error that names the file."""
    form = format_of(name)
    if form == "parquet":
        raise _refusal(f"{name}: Parquet files are not accepted here; send JSONL, JSON, TSV or CSV")
    if form == "text" and content != "outputs":
        raise _refusal(f"{name} is not a table; its name should end in .jsonl, .json, .tsv or .csv")
    stem = name.partition(".")[0] or name
    answer: Answer = {"name": stem, "kind": "table", "lines": None, "rows": None}
    answer |= {"criteria": [], "notes": [], "labels": None}
    with TemporaryDirectory() as folder, _explain_errors(name, folder):
        path = Path(folder) / (_STEM if form == "text" else f"{_STEM}.{form}")
        path.write_bytes(body)
        path.write_bytes(_decompress(str(path), name, limits))
        if form != "text":
            _check_table(str(path), form, name, limits)
        if form == "text":
            lines = read_lines(str(path))
            if not lines:
                raise _refusal(f"file {name!r} has no lines")
            answer |= {"kind": "text", "lines": lines}
        elif content == "judgements":
            answer |= _judgements(str(path), columns)
        elif content == "labels":
            answer |= _labels(str(path), columns)
        else:
            answer |= {"rows": _outputs(str(path), stem, columns)}
    rows = len(answer["lines"] or answer["rows"] or ())
    if rows > limits.job_rows:
        raise _too_many_rows(name, f"{rows:,}", limits)
    return answer


@contextmanager
def _explain_errors(name: str, folder: str) -> Iterator[None]:
    """Turn errors of the reader into error responses with the name of the uploaded file."""
    try:
        yield
    except NlgaugeError as error:
        message, stem = str(error), str(Path(folder) / _STEM)
        for ending in (".jsonl", ".json", ".tsv", ".csv", ""):
            message = message.replace(stem + ending, name)
        message = message.replace("--columns ", "the query parameter columns=")
        raise _refusal(message) from None


def _decompress(path: str, name: str, limits: Limits) -> bytes:
    """Return the decompressed content, which may be many times larger than the upload."""
    with open_bytes(path) as stream:
        content = stream.read(limits.bytes + 1)
    if len(content) > limits.bytes:
        message = f"{name} has more than {limits.bytes:,} bytes when decompressed; send less"
        raise ServiceError(413, "too_large", message)
    if content.startswith(_COMPRESSED):
        raise _refusal(f"{name} is compressed twice; decompress it once")
    form = format_of(name)
    if form == "json":  # a row may have many lines, or all rows may be on one line
        return content
    lines = limits.job_rows * (_LINES_PER_CSV_ROW if form == "csv" else 1) + 1
    if content.count(b"\n") > lines:
        raise _too_many_rows(name, "too many", limits)
    longest = _BYTES_PER_CHARACTER * limits.text_characters * limits.references
    if any(len(line) > longest for line in BytesIO(content)):
        message = f"{name} has a line of more than {longest:,} bytes; texts are shorter here"
        raise ServiceError(413, "too_long_text", message)
    return content


def _check_table(path: str, form: str, name: str, limits: Limits) -> None:
    """Raise an error for too many rows or columns: a criterion is a column over all rows."""
    columns: set[str] = set()
    for row, (_, cells) in enumerate(read_cells(path, form)):
        if row >= limits.job_rows:
            raise _too_many_rows(name, "too many", limits)
        if isinstance(cells, str):
            continue  # the reader reports the error of this row
        columns.update(cells)
        for cell in cells.values():
            columns.update(cell if isinstance(cell, dict) else ())
        if len(columns) > _MAX_COLUMNS:
            message = f"{name} has more than {_MAX_COLUMNS} columns and criteria; send fewer"
            raise ServiceError(413, "too_many_columns", message)


def _outputs(path: str, name: str, columns: str | None) -> list[Answer]:
    corpus = read_systems([path], columns=columns)
    rows = [{"id": corpus.ids[i], **_texts(corpus, i)} for i in range(len(corpus))]
    return [{**row, "system": name} if row["system"] == _STEM else row for row in rows]


def _judgements(path: str, columns: str | None) -> Answer:
    judged = read_judged(path, columns=columns)
    corpus = judged.corpus
    rows = [
        {
            "segment": corpus.ids[i],
            **_texts(corpus, i),
            "human": _numbers(judged.human, i),
            **({"scores": _numbers(judged.stored, i)} if judged.stored else {}),
            **({"document": judged.documents[i]} if judged.documents else {}),
            **({"spans": [vars(span) for span in judged.spans[i]]} if judged.spans else {}),
        }
        for i in range(len(corpus))
    ]
    return {"rows": rows, "criteria": list(judged.human), "notes": list(judged.notes)}


def _numbers(columns: Mapping[str, Floats], row: int) -> Answer:
    """Return the numbers of a row, None for missing ones."""
    return {
        name: None if math.isnan(values[row]) else float(values[row])
        for name, values in columns.items()
    }


def _labels(path: str, columns: str | None) -> Answer:
    table = read_labels(path, columns=columns)
    cells = {role: to_jsonable(cells) for role, cells in table.columns.items()}
    labels = {rater: list(values) for rater, values in table.labels.items()}
    return {
        "labels": {"items": list(table.items), "labels": labels, **cells},
        "notes": [*table.notes],
    }


def _texts(corpus: Corpus, row: int) -> Answer:
    """Return the system and the texts of a row, with its source if there is one."""
    source = corpus.sources[row] if corpus.sources else None
    return {
        "system": corpus.systems[row],
        "candidate": corpus.candidates[row],
        "references": list(corpus.references[row]),
        **({} if source is None else {"source": source}),
    }


def _refusal(message: str) -> ServiceError:
    return ServiceError(400, "unreadable_file", message)


def _too_many_rows(name: str, rows: str, limits: Limits) -> ServiceError:
    message = f"{name} has {rows} rows; this server accepts at most {limits.job_rows:,}"
    return ServiceError(413, "too_many_rows", message)
