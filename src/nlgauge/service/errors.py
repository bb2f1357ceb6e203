"""Error responses: a status, a kind for programs and a message for people."""

import json
import logging
import secrets
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from nlgauge.core import errors as core

log = logging.getLogger("nlgauge.service")

# The first matching class is used. Messages of other errors may contain paths of the server, so
# they are logged and not sent to the client.
_PUBLIC: tuple[tuple[type[core.NlgaugeError], str], ...] = (
    (core.UnknownMetric, "unknown_metric"),
    (core.OptionError, "bad_option"),
    (core.UsageError, "bad_call"),
    (core.ShapeError, "bad_shape"),
    (core.DataError, "bad_data"),
    (core.NotConverged, "not_converged"),
)
# Names of the alternative schemas of a body, which pydantic inserts after "body".
_ALTERNATIVES = ("pairs", "candidates", "systems", "score", "compare", "correlate", "card")
_STATUS_KINDS = {404: "not_found", 405: "method_not_allowed"}


class ServiceError(HTTPException):
    """A rejected or failed request; the framework passes an HTTPException on unchanged."""

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

    def fields(self) -> dict[str, Any]:
        """Return the arguments to recreate the error in another process."""
        return {"status": self.status_code, "headers": self.headers, **self.to_dict()}

    def to_dict(self) -> dict[str, Any]:
        """Return the error as in the response."""
        return {"kind": self.kind, "message": self.detail, "where": self.where, "id": self.id}

    def response(self) -> Response:
        """Return the response, in ASCII because the message may quote any text of a request."""
        body = json.dumps({"error": self.to_dict()})
        return Response(body, self.status_code, self.headers, media_type="application/json")


def busy(message: str, *, seconds: int, headers: Mapping[str, str] | None = None) -> ServiceError:
    """Return the error for a full queue, with the seconds to wait before the next attempt."""
    return ServiceError(
        429, "busy", message, headers={"Retry-After": str(seconds), **(headers or {})}
    )


def client_gone() -> ServiceError:
    """Return the error for a disconnected client; other servers log this status, too."""
    return ServiceError(499, "gone", "the client has disconnected")


def service_error(error: Exception) -> ServiceError:
    """Return the error for any exception; unexpected exceptions are logged with an id."""
    if isinstance(error, ServiceError):
        return error
    if not isinstance(error, core.FileError):
        for kind, name in _PUBLIC:
            if isinstance(error, kind):
                return ServiceError(422, name, str(error))
    id = secrets.token_hex(6)
    log.error("error %s", id, exc_info=error)
    if isinstance(error, core.NlgaugeError):
        message = "this is not possible on this server; see the id in its log"
        return ServiceError(422, "not_available", message, id=id)
    return ServiceError(500, "internal", "internal error; see the id in the server's log", id=id)


async def error_response(_: Request, error: Exception) -> Response:
    """Return the response for an error that was raised while a request was handled."""
    if isinstance(error, HTTPException) and not isinstance(error, ServiceError):
        kind = _STATUS_KINDS.get(error.status_code, "refused")
        message = f"{str(error.detail).lower()}; see /openapi.json for all paths"
        error = ServiceError(error.status_code, kind, message, headers=error.headers)
    return service_error(error).response()


async def validation_response(_: Request, error: Exception) -> Response:
    """Return the response for a body that does not match the schema."""
    found = error.errors() if isinstance(error, RequestValidationError) else []
    first = found[0] if found else {"msg": "the request is not valid", "loc": ()}
    path = _path_of(first, error.body if isinstance(error, RequestValidationError) else None)
    where = [part if isinstance(part, int) else str(part)[:100] for part in path[:12]]
    others = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    reason = str(first["msg"]).removeprefix("Value error, ")  # pydantic's prefix
    message = f"{' / '.join(map(str, where))}: {reason}{others}"
    return ServiceError(422, "invalid", message, where=where).response()


def _path_of(error: Mapping[str, Any], body: Any) -> list[str | int]:
    """Return the path to an error in a body, without the names of schemas that pydantic inserts."""
    location = error["loc"]
    if body is None:
        return list(location)
    path: list[str | int] = ["body"]
    last = len(location) - 1
    for k, (before, part) in enumerate(pairwise(location), start=1):
        if before == "body" and part in _ALTERNATIVES and k < last:
            continue
        held = range(len(body)) if isinstance(body, list) else body
        if isinstance(body, dict | list) and part in held:
            path.append(part)
            body = body[part]
        elif k == last and error["type"] == "missing":
            path.append(part)
    return path
