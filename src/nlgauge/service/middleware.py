"""The guard at the door: host, token, security headers, and nothing of our insides on the way out.

It stands around everything else, so that no answer leaves without it.
"""

from __future__ import annotations

import hmac
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nlgauge.service.errors import Fault, fault_of
from nlgauge.service.prometheus import Gauges
from nlgauge.service.settings import Settings

CONTENT_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_SIGNATURE = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
_ASKS_TOKEN = ("/v1/", "/metrics")


class Guard:
    """Lets a request in if its host and token are right, and signs every answer."""

    def __init__(self, app: ASGIApp, settings: Settings, gauges: Gauges) -> None:
        self._app = app
        self._hosts = settings.hosts
        self._token = None if settings.token is None else f"Bearer {settings.token}".encode()
        self._gauges = gauges

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = perf_counter()
        status = 0

        async def signed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], *_SIGNATURE]}
                names = {name for name, _ in message["headers"]}
                if b"cache-control" not in names:
                    # The page's files may be kept if they are asked for by their tag.
                    kept = b"no-cache" if b"etag" in names else b"no-store"
                    message["headers"].append((b"cache-control", kept))
            await send(message)

        try:
            self._check(scope)
            await self._app(scope, receive, signed)
        except Exception as error:
            fault = fault_of(error)  # which writes anything unforeseen to the log
            if not status:
                await fault.response()(scope, receive, signed)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self._gauges.answered(scope["method"], route, status, perf_counter() - begun)

    def _check(self, scope: Scope) -> None:
        headers = dict(scope["headers"])
        if self._hosts:
            host = _host(headers.get(b"host", b"").decode("latin-1"))
            if host not in self._hosts:
                # A page elsewhere could point its own name at this machine (DNS rebinding).
                message = "this server answers to other names; start it with --host to change that"
                raise Fault(421, "wrong_host", message)
        if self._token is not None and scope["path"].startswith(_ASKS_TOKEN):
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, self._token):
                message = "send the server's token in the header Authorization: Bearer ..."
                raise Fault(*(401, "unauthorized", message), headers={"WWW-Authenticate": "Bearer"})


def _host(header: str) -> str:
    """The name without its port."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()
