"""The endpoints: each checks, admits, hands over to the workshop, and answers."""

from __future__ import annotations

import asyncio
import json
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import PlainTextResponse

from nlgauge.service import examples, handlers, responses, schemas
from nlgauge.service.limits import check_pair, check_work
from nlgauge.service.progress import Effort
from nlgauge.service.prometheus import resident_bytes
from nlgauge.service.request_body import JsonRoute
from nlgauge.service.scheduler import Workshop

JobId = Annotated[str, Path(min_length=1, max_length=64, pattern="^[A-Za-z0-9_-]+$")]
_REASONS = {
    400: "The body is not JSON.",
    401: "The token is missing or wrong.",
    403: "The model or option is not allowed here.",
    404: "There is no such job.",
    408: "The body came too slowly.",
    413: "More than the limits allow.",
    415: "The body does not say that it is JSON.",
    421: "The server answers to other names.",
    422: "The body, a metric, an option or the texts are wrong.",
    429: "Too many requests are waiting.",
    500: "Something went wrong; the log has it under the id.",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says of these statuses, and of those that any route may give."""
    every = sorted({401, 421, 500, *statuses})
    found: dict[int | str, dict[str, Any]] = {
        status: {"model": responses.Refusal, "description": _REASONS[status]} for status in every
    }
    if 429 in found:
        seconds = {"description": "Seconds to wait.", "schema": {"type": "integer"}}
        found[429]["headers"] = {"Retry-After": seconds}
    return found


router = APIRouter(route_class=JsonRoute)
_WORK = refusals(400, 403, 408, 413, 415, 422, 429)


def _examples(*bodies: dict[str, Any]) -> dict[str, Any]:
    """What the OpenAPI document shows as request bodies."""
    named = {f"example {n}": {"value": body} for n, body in enumerate(bodies, start=1)}
    return {"requestBody": {"content": {"application/json": {"examples": named}}}}


def _json(content: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(content, status, headers, media_type="application/json")


def _shop(request: Request) -> Workshop:
    found: Workshop = request.app.state.shop
    return found


@router.post(
    "/v1/score",
    response_model=responses.ScoreAnswer,
    responses=_WORK,
    openapi_extra=_examples(examples.SCORE, examples.SCORE_SYSTEMS),
)
async def score(request: Request, body: schemas.ScoreRequest) -> Response:
    """Score pairs, or systems on the same segments, with any metrics."""
    shop = _shop(request)
    check_work(body, shop.settings.limits, job=False)
    return _json(await shop.score(request, body))


@router.post(
    "/v1/align",
    response_model=responses.AlignAnswer,
    responses=_WORK,
    openapi_extra=_examples(examples.ALIGN),
)
async def align(request: Request, body: schemas.AlignRequest) -> Response:
    """Show which token a metric matched with which, how much of it, and at what cost."""
    shop = _shop(request)
    check_pair(body, shop.settings.limits)

    def aligned(effort: Effort) -> bytes:
        with effort.underway():
            return handlers.written(handlers.align(body, shop.gate))

    return _json(await shop.run(request, aligned))


@router.post(
    "/v1/compare",
    response_model=responses.CompareAnswer,
    responses=_WORK,
    openapi_extra=_examples(examples.COMPARE),
)
async def compare(request: Request, body: schemas.CompareRequest) -> Response:
    """Test every system against a baseline, for every metric."""
    shop = _shop(request)
    check_work(body, shop.settings.limits, job=False)
    return _json(await shop.run(request, lambda effort: shop.perform(body, effort)))


@router.post(
    "/v1/correlate",
    response_model=responses.CorrelateAnswer,
    responses=_WORK,
    openapi_extra=_examples(examples.CORRELATE),
)
async def correlate(request: Request, body: schemas.CorrelateRequest) -> Response:
    """Hold metrics against human judgements."""
    shop = _shop(request)
    check_work(body, shop.settings.limits, job=False)
    return _json(await shop.run(request, lambda effort: shop.perform(body, effort)))


@router.get("/v1/metrics", response_model=responses.MetricsAnswer, responses=refusals())
async def list_metrics(request: Request) -> Response:
    """List the metrics with a JSON schema of their options, the models and the limits."""
    return _json(request.app.state.catalogue)


@router.post(
    "/v1/jobs",
    status_code=202,
    response_model=responses.JobAnswer,
    responses={
        202: {"headers": {"Location": {"schema": {"type": "string"}}}},
        **_WORK,
    },
    openapi_extra=_examples(examples.JOB),
)
async def post_job(request: Request, body: schemas.JobRequest) -> Response:
    """Start long work; the answer names the job, which is then looked at."""
    shop, asked = _shop(request), body.body
    check_work(asked, shop.settings.limits, job=True)
    await asyncio.to_thread(shop.gate.prepare, asked.metrics)
    content = shop.jobs.put(body.kind, lambda effort: shop.perform(asked, effort))
    return _json(content, 202, {"Location": f"/v1/jobs/{json.loads(content)['id']}"})


@router.get("/v1/jobs/{job}", response_model=responses.JobAnswer, responses=refusals(404, 422))
async def get_job(request: Request, job: JobId) -> Response:
    """Tell how far a job is, and its result once it is done."""
    return _json(_shop(request).jobs.get(job))


@router.delete("/v1/jobs/{job}", response_model=responses.JobAnswer, responses=refusals(404, 422))
async def delete_job(request: Request, job: JobId) -> Response:
    """Cancel a job, or forget its result."""
    return _json(_shop(request).jobs.cancel(job))


@router.get("/health", response_model=responses.Health, responses=refusals())
async def health(request: Request) -> responses.Health:
    """Tell that the server lives."""
    shop = _shop(request)
    return responses.Health(
        status="ok",
        version=version("nlgauge"),
        models=list(shop.settings.models),
        token=shop.settings.token is not None,
        waiting=shop.waiting,
        jobs=len(shop.jobs),
    )


@router.get("/metrics", response_class=PlainTextResponse, responses=refusals())
async def prometheus(request: Request) -> Response:
    """Count requests, batches and pairs, in Prometheus's text format."""
    shop = _shop(request)
    now: dict[str, tuple[str, float]] = {
        "nlgauge_waiting_requests": ("Requests that wait.", shop.waiting),
        "nlgauge_long_running": ("Longer requests underway.", shop.long_running),
        "nlgauge_jobs": ("Jobs that wait or run.", len(shop.jobs)),
    }
    memory = resident_bytes()
    if memory is not None:
        now["process_resident_memory_bytes"] = ("Memory held.", memory)
    text = shop.gauges.exposition(now)
    return Response(text, media_type="text/plain; version=0.0.4")
