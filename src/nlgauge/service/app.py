"""The FastAPI application: routes, page and middleware."""

import re
from collections.abc import AsyncIterator
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
from nlgauge.service import uploads
from nlgauge.service.catalogue import catalogue
from nlgauge.service.dispatch import Dispatcher
from nlgauge.service.errors import error_response, validation_response
from nlgauge.service.handlers import encode_json
from nlgauge.service.middleware import SecurityMiddleware
from nlgauge.service.request_body import Bodies
from nlgauge.service.routes import router
from nlgauge.service.schemas import SPEC_HELP
from nlgauge.service.settings import Settings

PAGE = Path(__file__).parent / "page"


def create_app(settings: Settings | None = None) -> FastAPI:
    """Return the application; its models are opened."""
    dispatcher = Dispatcher(settings or Settings())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        dispatcher.close()

    app = FastAPI(
        title="nlgauge",
        version=version("nlgauge"),
        summary="Scores, alignments, comparisons and correlations with human judgements.",
        lifespan=lifespan,
        docs_url=None,  # these pages load scripts from other hosts
        redoc_url=None,
    )
    app.state.dispatcher = dispatcher
    app.state.bodies = Bodies(dispatcher.settings.limits)
    app.state.readers = uploads.FileReaders()
    app.state.catalogue = encode_json(catalogue(dispatcher.admission, dispatcher.settings))
    app.include_router(router)
    app.include_router(uploads.router)
    app.add_api_route("/", _index, include_in_schema=False)
    app.mount("/page", StaticFiles(directory=PAGE), name="page")
    for kind in (NlgaugeError, HTTPException):
        app.add_exception_handler(kind, error_response)
    app.add_exception_handler(RequestValidationError, validation_response)
    app.add_middleware(SecurityMiddleware, dispatcher.settings, dispatcher.measurements)
    app.openapi_schema = _openapi(app.openapi(), dispatcher)
    return app


async def _index(_: Request) -> Response:
    return FileResponse(PAGE / "index.html", headers={"Cache-Control": "no-cache"})


def _openapi(document: dict[str, Any], dispatcher: Dispatcher) -> dict[str, Any]:
    """Return the OpenAPI document with the metrics of this server and its authentication."""
    schemas = document["components"]["schemas"]
    names = list(dispatcher.admission.kinds)
    schemas["NamedMetric"]["properties"]["name"]["enum"] = names
    _add_pattern(schemas, rf"^\s*({'|'.join(map(re.escape, names))})\s*([:|][\s\S]*)?$")
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    if dispatcher.settings.token is not None:
        token = {"token": {"type": "http", "scheme": "bearer"}}
        document["components"]["securitySchemes"] = token
        document["security"] = [{"token": []}]
    return document


def _add_pattern(schema: Any, pattern: str) -> None:
    """Add a pattern of metric names to every metric spec, which is found by its description."""
    if isinstance(schema, dict) and schema.get("description") == SPEC_HELP:
        schema["pattern"] = pattern
    if isinstance(schema, dict | list):
        for part in list(schema.values()) if isinstance(schema, dict) else schema:
            _add_pattern(part, pattern)
