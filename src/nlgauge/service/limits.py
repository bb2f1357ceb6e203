"""Limits: checks of the size of a request before any computation."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nlgauge.service import schemas
from nlgauge.service.errors import ServiceError
from nlgauge.service.schemas import References
from nlgauge.service.settings import Limits

_MAX_CRITERIA = 64  # each criterion is a column over all rows
_CARD_COEFFICIENTS = 20  # at most four coefficients at five levels
_POST_JOB = "; post it to /v1/jobs"


class Size(NamedTuple):
    """The numbers of rows and characters of a request, and the length of its longest text."""

    rows: int
    characters: int
    longest: int


def check_request(request: schemas.Body, limits: Limits, *, job: bool = False) -> Size:
    """Return the size of a request; raise an error if it exceeds a limit."""
    if isinstance(request, schemas.AlignRequest):
        return _check_texts([request.candidate], [request.references], limits, job=job)
    if isinstance(request, schemas.JudgeRequest):
        return _check_labels(request, limits)
    return _check_work(request, limits, job=job)


def _check_work(request: schemas.Work, limits: Limits, *, job: bool) -> Size:
    _check(len(request.metrics), limits.metrics, "too_many_metrics", "metrics")
    if isinstance(request, schemas.ScoreSystems | schemas.CompareSystems):
        candidates = [text for texts in request.systems.values() for text in texts]
        references, systems = request.references, len(request.systems)
        sources: Sequence[str | None] = (request.sources or ()) * systems
    elif isinstance(request, schemas.ScoreLists):
        candidates, references, systems = request.candidates, request.references, 1
        sources = request.sources or ()
    else:
        rows = request.rows if isinstance(request, schemas.JudgedBody) else request.pairs
        candidates, references = [row.candidate for row in rows], [row.references for row in rows]
        sources, systems = [row.source for row in rows], len({row.system for row in rows})
        if isinstance(request, schemas.JudgedBody):
            criteria = {name for row in request.rows for name in row.human}
            _check(len(criteria), _MAX_CRITERIA, "too_many_criteria", "criteria")
    _check(systems, limits.systems, "too_many_systems", "systems")
    limit = limits.job_rows if job else limits.rows
    _check(len(candidates), limit, "too_many_rows", "rows", "" if job else _POST_JOB)
    known = [text for text in sources if text is not None]
    size = _check_texts(candidates, references, limits, sources=known, job=job)
    limit = limits.job_resamples if job else limits.resamples
    _check(_resamples(request, systems), limit, "too_many_resamples", "resamples")
    return size


def _check_labels(request: schemas.JudgeRequest, limits: Limits) -> Size:
    raters = len(request.labels)
    pairs = raters * (raters - 1) // 2
    rows = max(map(len, request.labels.values()))
    _check(rows, limits.rows, "too_many_rows", "rows")
    _check(request.count * pairs, limits.resamples, "too_many_resamples", "resamples of pairs")
    return Size(rows * pairs, 0, 0)


def _resamples(request: schemas.Work, systems: int) -> int:
    """Return the number of resampled values that a request needs."""
    if isinstance(request, schemas.ScoreBody):
        return 0
    if isinstance(request, schemas.CompareBody):
        # Every pair of systems, and every system alone.
        return request.count * len(request.metrics) * systems * (systems + 1) // 2
    metrics = len(request.metrics)
    pairs = metrics * (metrics - 1) // 2
    if isinstance(request, schemas.CardRequest):
        return request.count * (metrics + pairs) * _CARD_COEFFICIENTS
    criteria = {name for row in request.rows for name in row.human}
    kinds = len(request.coefficients) * len(request.levels or ("segment", "system"))
    intervals = 0 if request.confidence is None else metrics
    tests = pairs if request.tests == "permutation" else 0
    return request.count * (intervals + tests) * kinds * len(criteria)


def _check_texts(
    candidates: Sequence[str],
    references: Iterable[References],
    limits: Limits,
    *,
    sources: Sequence[str] = (),
    job: bool,
) -> Size:
    texts = [*candidates, *sources]
    for group in references:
        listed = [group] if isinstance(group, str) else group
        _check(len(listed), limits.references, "too_many_references", "references of one row")
        texts += listed
    longest, characters = max(map(len, texts)), sum(map(len, texts))
    _check(longest, limits.text_characters, "too_long_text", "characters in one text")
    limit, hint = (limits.job_characters, "") if job else (limits.characters, _POST_JOB)
    _check(characters, limit, "too_many_characters", "characters", hint)
    return Size(len(candidates), characters, longest)


def _check(amount: int, limit: int, kind: str, unit: str, hint: str = "") -> None:
    if amount > limit:
        message = f"{amount:,} {unit}, but this server accepts at most {limit:,}{hint}"
        raise ServiceError(413, kind, message)
