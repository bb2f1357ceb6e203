"""Outermost middleware: host and token checks, security headers, measurements."""

import hmac
from time import perf_counter

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nlgauge.service.errors import ServiceError, service_error
from nlgauge.service.prometheus import Measurements
from nlgauge.service.request_body import check_size
from nlgauge.service.settings import Settings

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
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
_TOKEN_PATHS = ("/v1/", "/metrics", "/openapi.json")


class SecurityMiddleware:
    """Rejects wrong hosts, wrong tokens and large bodies; adds security headers to responses."""

    def __init__(self, app: ASGIApp, settings: Settings, measurements: Measurements) -> None:
        self._app = app
        self._hosts = settings.hosts
        self._limits = settings.limits
        self._token = None if settings.token is None else f"Bearer {settings.token}".encode()
        self._measurements = measurements

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = perf_counter()
        status, method = 0, scope["method"]
        if method == "HEAD":  # the HTTP server leaves out the body
            scope = {**scope, "method": "GET"}

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                # Browsers may cache the files of the page, but have to revalidate their ETag.
                headers.setdefault("Cache-Control", "no-cache" if "etag" in headers else "no-store")
            await send(message)

        try:
            self._check(scope)
            await self._app(scope, receive, send_with_headers)
        except Exception as error:
            response = service_error(error).response()  # unexpected errors are logged
            if not status:
                await response(scope, receive, send_with_headers)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            seconds = perf_counter() - begun
            self._measurements.record_response(method, route, status, seconds)

    def _check(self, scope: Scope) -> None:
        headers = dict(scope["headers"])
        if self._hosts and _host(headers.get(b"host", b"").decode("latin-1")) not in self._hosts:
            # Another site could resolve its own host name to this machine (DNS rebinding).
            message = "this host name is not allowed; add it with --allow-host"
            raise ServiceError(421, "wrong_host", message)
        authorization = headers.get(b"authorization", b"")
        needs_token = self._token is not None and scope["path"].startswith(_TOKEN_PATHS)
        if needs_token and not hmac.compare_digest(authorization, self._token or b""):
            message = "send the server's token in the header Authorization: Bearer ..."
            raise ServiceError(401, "unauthorized", message, headers={"WWW-Authenticate": "Bearer"})
        declared = headers.get(b"content-length", b"")
        if declared.isdigit():
            check_size(int(declared[:20]), self._limits)


def _host(header: str) -> str:
    """Return the host name without its port."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()
