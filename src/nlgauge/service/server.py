"""The HTTP server; it times out slow request headers."""

import asyncio
import socket
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from nlgauge.service.errors import ServiceError

_MAX_CONNECTIONS = 1000


def protocol_with_timeout(seconds: float) -> type[H11Protocol]:
    """A protocol that closes the connection if request headers take longer than ``seconds``."""
    message = f"the request headers were not complete after {seconds:g} seconds"
    body = bytes(ServiceError(408, "too_slow", message).response().body)
    head = "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\n"
    answer = f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body

    class HeaderTimeout(H11Protocol):
        """Times out slow headers, from the connection or the first byte of a further request."""

        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._timer = self.loop.call_later(seconds, self._time_out)

        def data_received(self, data: bytes) -> None:
            if self._timer is None and self.conn.their_state is h11.IDLE:
                self._timer = self.loop.call_later(seconds, self._time_out)
            super().data_received(data)
            if self._timer is not None and self.conn.their_state is not h11.IDLE:
                self._timer.cancel()
                self._timer = None

        def connection_lost(self, exc: Exception | None) -> None:
            if self._timer is not None:
                self._timer.cancel()
            super().connection_lost(exc)

        def _time_out(self) -> None:
            if not self.transport.is_closing():
                self.transport.write(answer)
                self.transport.close()

    return HeaderTimeout


class _Server(uvicorn.Server):
    """A server that cancels requests in progress before it waits for their responses."""

    def __init__(self, app: FastAPI, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._close = app.state.dispatcher.close

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await asyncio.to_thread(self._close)
        await super().shutdown(sockets)


def server(app: FastAPI, *, host: str, port: int, header_seconds: float) -> uvicorn.Server:
    """Return the server, not yet started."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=protocol_with_timeout(header_seconds),
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=3,
        limit_concurrency=_MAX_CONNECTIONS,
    )
    return _Server(app, config)
