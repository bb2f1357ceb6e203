"""Listening: the HTTP server, which does not wait for ever for a request to be said."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

_CONNECTIONS = 1000


def patient(seconds: float) -> type[H11Protocol]:
    """A protocol that gives a client so many seconds for the head of a request."""
    message = f"after {seconds:g} seconds the head of the request was not complete"
    body = json.dumps(
        {"error": {"kind": "too_slow", "message": message, "where": None, "id": None}}
    ).encode()
    head = "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\n"
    answer = f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body

    class Patient(H11Protocol):
        """Counts from the connection, or from the first byte of a further request."""

        _alarm: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._alarm = self.loop.call_later(seconds, self._too_late)

        def data_received(self, data: bytes) -> None:
            if self._alarm is None and self.conn.their_state is h11.IDLE:
                self._alarm = self.loop.call_later(seconds, self._too_late)
            super().data_received(data)
            if self._alarm is not None and self.conn.their_state is not h11.IDLE:
                self._alarm.cancel()
                self._alarm = None

        def connection_lost(self, exc: Exception | None) -> None:
            if self._alarm is not None:
                self._alarm.cancel()
            super().connection_lost(exc)

        def _too_late(self) -> None:
            if not self.transport.is_closing():
                self.transport.write(answer)
                self.transport.close()

    return Patient


def server(app: FastAPI, *, host: str, port: int, header_seconds: float) -> uvicorn.Server:
    """The server, ready to run."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host=host,
            port=port,
            http=patient(header_seconds),
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=5,
            limit_concurrency=_CONNECTIONS,
        )
    )
