"""Request bodies: limits of size and time, and strict parsing of JSON."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, NoReturn

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from nlgauge.core.jsonable import unique_keys
from nlgauge.service.errors import ServiceError, busy
from nlgauge.service.settings import Limits

_LARGE_BODY_BYTES = 500_000  # larger bodies are parsed in a thread
_MAX_PARSERS = 2  # values take up to 30 times the memory of their JSON
_MAX_BODIES = 8  # bodies of the maximum size that are held at a time
_MAX_KEYS = 1_000
_CLOSE = {"Connection": "close"}  # the rest of the body is not read


class JsonRoute(APIRoute):
    """A route that only accepts strict JSON, unlike the default of the framework."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, which calls the endpoint with the request and the parsed body."""
        field, endpoint = self.body_field, self.endpoint
        if field is None:
            return super().get_route_handler()

        async def handler(request: Request) -> Response:
            _check_type(request)

            def validated(content: bytes) -> Any:
                if not content:
                    raise RequestValidationError([{"loc": ("body",), "msg": "Field required"}])
                received = _parse(content)
                body, errors = field.validate(received, {}, loc=("body",))
                if errors:
                    raise RequestValidationError(errors, body=received)
                return body

            body = await request.app.state.bodies.read(request, validated)
            answer: Response = await endpoint(request, body)
            return answer

        return handler


class Bodies:
    """The bodies that are being received or parsed; their total size is limited."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._large_bytes = 0
        self._parsers = asyncio.Semaphore(_MAX_PARSERS)

    async def read(self, request: Request, parse: Callable[[bytes], Any]) -> Any:
        """Return the parsed body; large ones are parsed in threads, a few at a time."""
        async with self.received(request) as body:
            if len(body) <= _LARGE_BODY_BYTES:
                return parse(body)
            async with self._parsers:
                return await asyncio.to_thread(parse, body)

    @asynccontextmanager
    async def received(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the body; raise an error if it, or all bodies, are too large, or if it is slow."""
        body, counted = bytearray(), 0
        try:
            try:
                async with asyncio.timeout(self._limits.body_seconds):
                    async for chunk in request.stream():
                        body += chunk
                        check_size(len(body), self._limits)
                        if len(body) > _LARGE_BODY_BYTES:
                            self._large_bytes += len(body) - counted
                            counted = len(body)
                            self._check_total()
            except TimeoutError:
                seconds, size = self._limits.body_seconds, len(body)
                message = f"only {size:,} bytes of the body had arrived after {seconds:g} seconds"
                raise ServiceError(408, "too_slow", message, headers=_CLOSE) from None
            yield bytes(body)
        finally:
            self._large_bytes -= counted

    def _check_total(self) -> None:
        if self._large_bytes > _MAX_BODIES * self._limits.bytes:
            raise busy("too many large bodies arrive at the same time", seconds=2, headers=_CLOSE)


def check_size(size: int, limits: Limits) -> None:
    """Raise an error if the size of a body exceeds the limit."""
    if size > limits.bytes:
        message = f"the body has {size:,} bytes or more; this server accepts {limits.bytes:,}"
        raise ServiceError(413, "too_large", message, headers=_CLOSE)


def _check_type(request: Request) -> None:
    """Raise an error if the body is not declared as JSON in UTF-8."""
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().replace('"', "")
    if kind.strip().lower() != "application/json" or charset not in ("", "charset=utf-8"):
        message = "send JSON in UTF-8, with the header Content-Type: application/json"
        raise ServiceError(415, "not_json", message)


def _parse(body: bytes) -> Any:
    try:
        text = body.decode("utf-8")
        content = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_check_object)
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


def _check_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > _MAX_KEYS:  # each unexpected key would add an error message
        raise _malformed(f"an object has {len(pairs):,} keys; at most {_MAX_KEYS:,} are accepted")
    try:
        return unique_keys(pairs)
    except ValueError as error:
        raise _malformed(str(error)) from None


def _malformed(why: str) -> ServiceError:
    return ServiceError(400, "malformed_json", f"the body is not JSON: {why}")


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not a number in JSON; write null, or leave it out"
    raise ServiceError(400, "bad_number", message)
