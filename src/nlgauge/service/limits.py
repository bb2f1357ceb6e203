"""Limits: what a request brings and asks for, counted before any of it is done."""

from __future__ import annotations

from collections.abc import Iterable

from nlgauge.service.errors import Fault
from nlgauge.service.schemas import (
    AlignRequest,
    ComparePairs,
    CompareSystems,
    CorrelateRequest,
    References,
    ScorePairs,
    ScoreSystems,
    Work,
)
from nlgauge.service.settings import Limits

_JOB = "; post it to /v1/jobs"


def check_work(request: Work, limits: Limits, *, job: bool) -> None:
    """Refuse a request that brings or asks for more than the limits allow."""
    _most(len(request.metrics), limits.metrics, "too_many_metrics", "metrics")
    candidates, references, systems = _texts(request)
    _most(systems, limits.systems, "too_many_systems", "systems")
    rows = limits.job_rows if job else limits.rows
    _most(len(candidates), rows, "too_many_rows", "rows", way="" if job else _JOB)
    total = limits.job_characters if job else limits.characters
    _check_texts(candidates, references, limits, total, job=job)
    most = limits.job_resamples if job else limits.resamples
    _most(_resamples(request, systems), most, "too_many_resamples", "resamples")


def check_pair(request: AlignRequest, limits: Limits) -> None:
    """Refuse a pair that is larger than the limits allow."""
    _check_texts([request.candidate], [request.references], limits, limits.characters, job=False)


def _texts(request: Work) -> tuple[list[str], list[References], int]:
    """All candidates, the references of every row or segment, and the number of systems."""
    if isinstance(request, ScoreSystems | CompareSystems):
        texts = [text for of_system in request.systems.values() for text in of_system]
        return texts, request.references, len(request.systems)
    rows = request.rows if isinstance(request, CorrelateRequest) else request.pairs
    systems = len({row.system for row in rows})
    return [row.candidate for row in rows], [row.references for row in rows], systems


def _resamples(request: Work, systems: int) -> int:
    """How many resampled numbers are asked for."""
    if isinstance(request, ScorePairs | ScoreSystems):
        return 0
    if isinstance(request, ComparePairs | CompareSystems):  # every pair, and every system alone
        return request.count * len(request.metrics) * systems * (systems + 1) // 2
    if request.confidence is None:
        return 0
    criteria = {name for row in request.rows for name in row.human}
    kinds = len(request.coefficients) * len(request.levels or ("segment", "system"))
    return request.count * len(request.metrics) * kinds * len(criteria)


def _check_texts(
    candidates: Iterable[str],
    references: Iterable[References],
    limits: Limits,
    total: int,
    *,
    job: bool,
) -> None:
    characters = 0
    for text in candidates:
        characters += _length(text, limits)
    for group in references:
        texts = [group] if isinstance(group, str) else group
        _most(len(texts), limits.references, "too_many_references", "references of one row")
        characters += sum(_length(text, limits) for text in texts)
    _most(characters, total, "too_many_characters", "characters", way="" if job else _JOB)


def _length(text: str, limits: Limits) -> int:
    _most(len(text), limits.text_characters, "too_long_text", "characters in one text")
    return len(text)


def _most(amount: int, most: int, kind: str, what: str, *, way: str = "") -> None:
    if amount > most:
        raise Fault(413, kind, f"{amount:,} {what}, but here at most {most:,} are allowed{way}")
