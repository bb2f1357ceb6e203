"""Request bodies: limits of size and time while they arrive, and strict JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nlgauge.service.errors import ServiceError
from nlgauge.service.settings import Limits

_LARGE_BODY = 500_000  # bytes; larger bodies are parsed in a thread, so that others need not wait
_CLOSE = {"Connection": "close"}  # the rest of the body is not read


class BoundedBody:
    """Middleware that refuses a body that is too large or too slow."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared[:20]) > self._limits.bytes:
            await self._too_large(int(declared[:20])).response()(scope, receive, send)
            return
        await self._app(scope, self._limited(receive), send)

    def _limited(self, receive: Receive) -> Receive:
        ends = asyncio.get_running_loop().time() + self._limits.body_seconds
        received = 0
        complete = False

        async def limited() -> Message:
            nonlocal received, complete
            if complete:
                return await receive()
            try:
                async with asyncio.timeout_at(ends):
                    message = await receive()
            except TimeoutError:
                raise self._too_slow(received) from None
            received += len(message.get("body", b""))
            if received > self._limits.bytes:
                raise self._too_large(received)
            complete = not message.get("more_body", False)
            return message

        return limited

    def _too_large(self, size: int) -> ServiceError:
        most = self._limits.bytes
        message = f"the body has {size:,} bytes or more, but this server accepts at most {most:,}"
        return ServiceError(413, "too_large", message, headers=_CLOSE)

    def _too_slow(self, size: int) -> ServiceError:
        seconds = self._limits.body_seconds
        message = f"after {seconds:g} seconds only {size:,} bytes of the body had arrived"
        return ServiceError(408, "too_slow", message, headers=_CLOSE)


class JsonRoute(APIRoute):
    """A route that reads its body as strict JSON, with none of the framework's other formats."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, which calls the endpoint with the request and the parsed body."""
        field, endpoint = self.body_field, self.endpoint
        if field is None:
            return super().get_route_handler()

        async def handler(request: Request) -> Response:
            json_request = JsonRequest(request.scope, request.receive)
            body, wrong = field.validate(await json_request.json(), {}, loc=("body",))
            if wrong:
                raise RequestValidationError(wrong)
            answer: Response = await endpoint(json_request, body)
            return answer

        return handler


class JsonRequest(Request):
    """A request whose body is JSON in UTF-8, without NaN and deep nesting."""

    async def body(self) -> bytes:
        """The bytes, if the header declares them as JSON."""
        kind, _, parameters = self.headers.get("content-type", "").partition(";")
        charset = parameters.strip().lower().replace('"', "")
        if kind.strip().lower() != "application/json" or charset not in ("", "charset=utf-8"):
            message = "send JSON in UTF-8, with the header Content-Type: application/json"
            raise ServiceError(415, "not_json", message)
        return await super().body()

    async def json(self) -> Any:
        """The parsed body."""
        body = await self.body()
        if not body:
            raise RequestValidationError([{"loc": ("body",), "msg": "Field required"}])
        if len(body) > _LARGE_BODY:
            return await asyncio.to_thread(_parse, body)
        return _parse(body)


def _parse(body: bytes) -> Any:
    try:
        content = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
        if b"\\ud" in body.lower():
            json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _malformed("an escape \\ud... is half of a surrogate pair") from None
    except UnicodeDecodeError as error:
        raise _malformed(f"byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _malformed(f"{error.msg.lower()}, {where}") from None
    except RecursionError:
        raise _malformed("it is nested too deeply") from None
    except ValueError:  # an integer of thousands of digits
        raise ServiceError(400, "bad_number", "a number in the body has too many digits") from None
    return content


def _malformed(why: str) -> ServiceError:
    return ServiceError(400, "malformed_json", f"the body is not JSON: {why}")


def _refuse_constant(name: str) -> NoReturn:
    raise ServiceError(
        400, "bad_number", f"{name} is not a number in JSON; write null, or leave it out"
    )
