"""Every way the service says no: a status, a kind for programs and a sentence for people."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from nlgauge.core.errors import (
    DataError,
    FileError,
    NlgaugeError,
    NotConverged,
    OptionError,
    ShapeError,
    UnknownMetric,
    UsageError,
)

log = logging.getLogger("nlgauge.service")

# The first class that fits counts. Whatever is not listed may name a path of the server, so its
# sentence goes to the log and not to the client.
_SPOKEN: tuple[tuple[type[NlgaugeError], str], ...] = (
    (UnknownMetric, "unknown_metric"),
    (OptionError, "bad_option"),
    (UsageError, "bad_call"),
    (ShapeError, "bad_shape"),
    (DataError, "bad_data"),
    (NotConverged, "not_converged"),
)
_STATUS_KINDS = {404: "not_found", 405: "method_not_allowed"}


class Fault(HTTPException):
    """A refusal; it is an HTTPException so that the framework lets it pass."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        where: Sequence[str | int] | None = None,
        id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, message, dict(headers or {}))
        self.kind = kind
        self.where = None if where is None else list(where)
        self.id = id

    def content(self) -> dict[str, Any]:
        """The error as the answer tells it."""
        return {"kind": self.kind, "message": self.detail, "where": self.where, "id": self.id}

    def response(self) -> Response:
        """The whole answer; ASCII only, so that no text of a request can spoil it."""
        body = json.dumps({"error": self.content()})
        return Response(body, self.status_code, self.headers, media_type="application/json")


def busy(message: str, *, seconds: int) -> Fault:
    """The refusal of a server that has enough to do."""
    return Fault(429, "busy", message, headers={"Retry-After": str(seconds)})


def fault_of(error: Exception) -> Fault:
    """The refusal that an error of the library, or an unforeseen one, amounts to."""
    if isinstance(error, Fault):
        return error
    if not isinstance(error, FileError):
        for kind, name in _SPOKEN:
            if isinstance(error, kind):
                return Fault(422, name, str(error))
    number = secrets.token_hex(6)
    log.error("error %s", number, exc_info=error)
    if isinstance(error, NlgaugeError):
        return Fault(
            *(422, "not_available", "this server cannot do that; its log says why under the id"),
            id=number,
        )
    return Fault(
        500, "internal", "something went wrong here; the log has it under the id", id=number
    )


async def answer_fault(_: Request, error: Exception) -> Response:
    """The answer to any error raised while a request was handled."""
    if isinstance(error, HTTPException) and not isinstance(error, Fault):
        kind = _STATUS_KINDS.get(error.status_code, "refused")
        message = f"{str(error.detail).lower()}; /openapi.json lists what there is"
        error = Fault(error.status_code, kind, message, headers=error.headers)
    return fault_of(error).response()


async def answer_invalid(_: Request, error: Exception) -> Response:
    """The answer to a body that does not have the documented shape."""
    found = error.errors() if isinstance(error, RequestValidationError) else []
    first = found[0] if found else {"msg": "the request is not valid", "loc": ()}
    where = [part if isinstance(part, int) else str(part)[:100] for part in first["loc"][:12]]
    others = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    message = f"{' / '.join(map(str, where))}: {first['msg']}{others}"
    return Fault(422, "invalid", message, where=where).response()
