"""The application: routes, page and guards put together for one set of settings."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from nlgauge.core.errors import NlgaugeError
from nlgauge.service.catalogue import catalogue
from nlgauge.service.errors import answer_fault, answer_invalid
from nlgauge.service.handlers import written
from nlgauge.service.middleware import Guard
from nlgauge.service.request_body import BoundedBody
from nlgauge.service.routes import router
from nlgauge.service.scheduler import Workshop
from nlgauge.service.settings import Settings

PAGE = Path(__file__).parent / "page"


def create_app(settings: Settings | None = None) -> FastAPI:
    """The application with its models opened; the library's errors are raised at once."""
    shop = Workshop(settings or Settings())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        shop.close()

    app = FastAPI(
        title="nlgauge",
        version=version("nlgauge"),
        summary="Scores of generated text, alignments, comparisons and correlations with people.",
        lifespan=lifespan,
        docs_url=None,  # these would fetch their scripts from elsewhere
        redoc_url=None,
    )
    app.state.shop = shop
    app.state.catalogue = written(catalogue(shop.gate, shop.settings))
    app.include_router(router)
    app.add_api_route("/", _index, include_in_schema=False)
    app.mount("/page", StaticFiles(directory=PAGE), name="page")
    for kind in (NlgaugeError, HTTPException):
        app.add_exception_handler(kind, answer_fault)
    app.add_exception_handler(RequestValidationError, answer_invalid)
    app.add_middleware(BoundedBody, limits=shop.settings.limits)
    app.add_middleware(Guard, settings=shop.settings, gauges=shop.gauges)
    app.openapi = _documented(app, shop)  # type: ignore[method-assign]
    return app


async def _index(_: Request) -> Response:
    return FileResponse(PAGE / "index.html", headers={"Cache-Control": "no-cache"})


def _documented(app: FastAPI, shop: Workshop) -> Callable[[], dict[str, Any]]:
    """The OpenAPI document with what only this server knows: its metrics, and its token."""
    plain = app.openapi

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = plain()
            schemas = made["components"]["schemas"]
            names = list(shop.gate.kinds)
            schemas["NamedMetric"]["properties"]["name"]["enum"] = names
            pattern = rf"^\s*({'|'.join(map(re.escape, names))})\s*([:|][\s\S]*)?$"
            for schema in schemas.values():
                _add_pattern(schema, pattern)
            for name in ("HTTPValidationError", "ValidationError"):
                schemas.pop(name, None)
            if shop.settings.token is not None:
                made["components"]["securitySchemes"] = {
                    "token": {"type": "http", "scheme": "bearer"}
                }
                made["security"] = [{"token": []}]
        return app.openapi_schema or made

    return document


def _add_pattern(schema: Any, pattern: str) -> None:
    """Have every metric's text, known by its description, begin with a metric's name."""
    if isinstance(schema, dict):
        if str(schema.get("description", "")).startswith("A name, name:option"):
            schema["pattern"] = pattern
        for part in schema.values():
            _add_pattern(part, pattern)
    elif isinstance(schema, list):
        for part in schema:
            _add_pattern(part, pattern)
