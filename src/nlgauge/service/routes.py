"""The endpoints: they check limits, dispatch requests and return responses."""

import asyncio
import json
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel

from nlgauge.service import examples, responses, schemas
from nlgauge.service.card_response import CardAnswer
from nlgauge.service.dispatch import Dispatcher
from nlgauge.service.errors import client_gone
from nlgauge.service.judge_response import JudgeAnswer
from nlgauge.service.limits import check_request
from nlgauge.service.request_body import JsonRoute

F = TypeVar("F", bound=Callable[..., Any])
JobId = Annotated[str, Path(min_length=1, max_length=64, pattern="^[A-Za-z0-9_-]+$")]
_ERRORS = {
    400: "The body is not JSON.",
    401: "The token is missing or wrong.",
    403: "The model or option is not allowed on this server.",
    404: "There is no such job.",
    408: "The body arrived too slowly.",
    413: "The request exceeds a limit.",
    415: "The content type is not JSON.",
    421: "The host name is not allowed.",
    422: "The body, a metric, an option or the texts are invalid.",
    429: "Too many requests are waiting.",
    500: "Internal error; the server's log has details under the id.",
    503: "The server is shutting down.",
}


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of these error statuses and of those of all routes."""
    documentation: dict[int | str, dict[str, Any]] = {
        status: {"model": responses.Refusal, "description": _ERRORS[status]}
        for status in sorted({401, 421, 500, *statuses})
    }
    if 429 in documentation:
        seconds = {"description": "Seconds to wait.", "schema": {"type": "integer"}}
        documentation[429]["headers"] = {"Retry-After": seconds}
    return documentation


router = APIRouter(route_class=JsonRoute)
_WORK = error_responses(400, 403, 408, 413, 415, 422, 429, 503)
_ACCEPTED = {202: {"headers": {"Location": {"schema": {"type": "string"}}}}}
_JOB = error_responses(404, 422)


def _post(
    path: str, answer: type[BaseModel], *bodies: dict[str, Any], **options: Any
) -> Callable[[F], F]:
    """Return a decorator like ``router.post`` that adds the shared documentation."""
    options["responses"] = {**options.get("responses", {}), **_WORK}
    examples = {f"example {n}": {"value": body} for n, body in enumerate(bodies, start=1)}
    extra = {"requestBody": {"content": {"application/json": {"examples": examples}}}}
    return router.post(path, response_model=answer, openapi_extra=extra, **options)


def _json(content: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(content, status, headers, media_type="application/json")


def _dispatcher(request: Request) -> Dispatcher:
    dispatcher: Dispatcher = request.app.state.dispatcher
    return dispatcher


async def _answer(request: Request, body: schemas.Body) -> Response:
    return _json(await _dispatcher(request).answer(request, body))


@_post(
    "/v1/score",
    responses.ScoreAnswer,
    examples.SCORE,
    examples.SCORE_LISTS,
    examples.SCORE_SYSTEMS,
)
async def score(request: Request, body: schemas.ScoreRequest) -> Response:
    """Score pairs, lists of texts, or systems on the same segments, with any metrics."""
    return await _answer(request, body)


@_post("/v1/align", responses.AlignAnswer, examples.ALIGN)
async def align(request: Request, body: schemas.AlignRequest) -> Response:
    """Align the tokens of a pair: matches, masses and costs."""
    return await _answer(request, body)


@_post("/v1/compare", responses.CompareAnswer, examples.COMPARE)
async def compare(request: Request, body: schemas.CompareRequest) -> Response:
    """Test every system against a baseline, for every metric."""
    return await _answer(request, body)


@_post("/v1/correlate", responses.CorrelateAnswer, examples.CORRELATE)
async def correlate(request: Request, body: schemas.CorrelateRequest) -> Response:
    """Correlate metrics with human judgements."""
    return await _answer(request, body)


@_post("/v1/card", CardAnswer, examples.CARD)
async def card(request: Request, body: schemas.CardRequest) -> Response:
    """Describe a metric on judged data: agreement, biases, sensitivity, power and cost."""
    return await _answer(request, body)


@_post("/v1/judge", JudgeAnswer, examples.JUDGE)
async def judge(request: Request, body: schemas.JudgeRequest) -> Response:
    """Check whether a judge agrees with people as well as people agree with each other."""
    return await _answer(request, body)


@router.get("/v1/metrics", response_model=responses.MetricsAnswer, responses=error_responses())
async def list_metrics(request: Request) -> Response:
    """List the metrics with a JSON schema of their options, the models and the limits."""
    return _json(request.app.state.catalogue)


@_post("/v1/jobs", responses.JobAnswer, examples.JOB, status_code=202, responses=_ACCEPTED)
async def post_job(request: Request, body: schemas.JobRequest) -> Response:
    """Start a job; poll the path in the header Location for its result."""
    dispatcher, work = _dispatcher(request), body.body
    check_request(work, dispatcher.settings.limits, job=True)
    await asyncio.to_thread(dispatcher.admission.prepare, work.metrics)
    if await request.is_disconnected():  # nobody would know the id of the job
        raise client_gone()
    content = dispatcher.jobs.put(body.kind, partial(dispatcher.run_in_process, work))
    return _json(content, 202, {"Location": f"/v1/jobs/{json.loads(content)['id']}"})


@router.get("/v1/jobs/{job}", response_model=responses.JobAnswer, responses=_JOB)
async def get_job(request: Request, job: JobId) -> Response:
    """Get the progress of a job, and its result once it is done."""
    return _json(_dispatcher(request).jobs.get(job))


@router.delete("/v1/jobs/{job}", response_model=responses.JobAnswer, responses=_JOB)
async def delete_job(request: Request, job: JobId) -> Response:
    """Cancel a job, or delete its result."""
    return _json(_dispatcher(request).jobs.cancel(job))


@router.get("/health", response_model=responses.Health, responses=error_responses())
async def health(request: Request) -> responses.Health:
    """Liveness check."""
    dispatcher = _dispatcher(request)
    return responses.Health(
        status="ok",
        version=version("nlgauge"),
        models=list(dispatcher.settings.models),
        token=dispatcher.settings.token is not None,
        waiting=dispatcher.scheduler.waiting_requests,
        jobs=len(dispatcher.jobs),
    )


@router.get("/metrics", response_class=PlainTextResponse, responses=error_responses())
async def prometheus(request: Request) -> Response:
    """Counts of requests, batches and pairs in Prometheus's text format."""
    content = _dispatcher(request).measurements.exposition()
    return Response(content, media_type=CONTENT_TYPE_LATEST)
