"""A client of the HTTP service with the functions of the library; needs no extra package."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPException
from time import monotonic, sleep
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import numpy as np

from nlgauge.core.corpus import Corpus, References
from nlgauge.core.errors import NlgaugeError, UsageError
from nlgauge.core.plan import Plan
from nlgauge.core.scores import Scores
from nlgauge.core.signature import Signature
from nlgauge.metrics import metric

Progress = Callable[[int, int], None]
Options = Mapping[str, Any]
Metrics = str | Sequence[str | Options]

_REQUEST_ROWS = 500  # larger corpora are scored as jobs
_POLL_SECONDS = 0.25
_BUSY_STATUS = 429
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MAX_BYTES = 2**30  # of a response
# Exceptions of reading the response of a program other than nlgauge.
_MALFORMED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


class ServerError(NlgaugeError):
    """An error response of a server, or a server that cannot be reached."""

    seconds: float | None = None  # to wait before the next attempt, if the server is busy

    def __init__(self, message: str, *, status: int | None = None, kind: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class _NoRedirects(HTTPRedirectHandler):
    """Rejects redirects, so that texts and token are not sent to another server."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Client:
    """A client of a running `nlgauge serve`.

    Parameters
    ----------
    url : str
        URL of the server, such as ``http://host:port``.
    token : str, optional
        The server's token.
    timeout : float
        Timeout of an HTTP request in seconds.
    patience : float
        Seconds for which calls are retried while the server is busy.

    Raises
    ------
    UsageError
        If the URL is not an HTTP URL.
    ServerError
        In all calls, if the server rejects the request or cannot be reached.

    Examples
    --------
    >>> client = Client("http://127.0.0.1:8000")
    >>> client.score(["A cat sat."], ["The cat sat."], metrics=["bleu"])  # doctest: +SKIP
    """

    def __init__(
        self, url: str, *, token: str | None = None, timeout: float = 120.0, patience: float = 60.0
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"the server {url!r} is not of the form http://host:port")
        self._url = url.rstrip("/")
        self._headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if token:
            if not (token.isascii() and token.isprintable()):
                raise UsageError("a token consists of printable ASCII characters")
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout = timeout
        self._patience = patience
        proxies = [ProxyHandler({})] if parts.hostname in _LOOPBACK else []
        self._opener = build_opener(_NoRedirects, *proxies)

    def health(self) -> dict[str, Any]:
        """Return the version, models and load of the server."""
        return self._call("GET", "/health")

    def metrics(self) -> dict[str, Any]:
        """Return the metrics, models and limits of the server."""
        return self._call("GET", "/v1/metrics")

    def score(
        self,
        candidates: Sequence[str],
        references: References,
        *,
        sources: Sequence[str] | None = None,
        metrics: Metrics = "bleu",
        ids: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Scores]:
        """Return the scores of one system by metric, as `nlgauge.score` does."""
        corpus = Corpus.of(candidates, references, sources=sources, ids=ids)
        (scores,) = self.score_corpus(corpus, metrics=metrics, progress=progress).values()
        return scores

    def score_corpus(
        self, corpus: Corpus, *, metrics: Metrics = "bleu", progress: Progress | None = None
    ) -> dict[str, dict[str, Scores]]:
        """Return the scores by system and metric; a large corpus is scored as a job."""
        body = {
            "pairs": [
                {"candidate": candidate, "references": list(texts), "system": system, "id": name}
                | ({} if source is None else {"source": source})
                for candidate, texts, system, name, source in corpus.rows()
            ],
            "metrics": _as_list(metrics),
            "segments": False,
            "statistics": True,
        }
        if len(corpus) > _REQUEST_ROWS:
            answer = self.finish("score", body, progress=progress)
        else:
            answer = self._call("POST", "/v1/score", body)
        board: dict[str, dict[str, Scores]] = {system: {} for system in corpus.systems}
        with self._reading():
            for entry in answer["scores"]:
                system, label = entry["system"], str(entry["metric"])
                scores = Scores(
                    metric=metric(entry["signature"]),
                    label=label,
                    system=system,
                    ids=corpus.ids_of(system),
                    statistics=np.asarray(entry["statistics"], dtype=np.float64),
                    signature=Signature.parse(entry["signature"]),
                    notes={str(note): int(count) for note, count in entry["notes"].items()},
                )
                if len(scores.segments) != len(scores):
                    raise ValueError("a segment has no score")
                board[system][label] = scores
            ((_, *_),) = {tuple(by_metric) for by_metric in board.values()}  # the same, and some
        return board

    def align(
        self, candidate: str, references: str | Sequence[str], *, metric: str | Options = "mover"
    ) -> Plan:
        """Return the alignment with the best reference, as `nlgauge.align` does."""
        body = {"candidate": candidate, "references": _group(references), "metric": metric}
        with self._reading():
            plan = self._call("POST", "/v1/align", body)["plan"]
            for name in ("coupling", "cost", "a", "b"):
                plan[name] = np.asarray(plan[name], float)
            for name in ("candidate_tokens", "reference_tokens"):
                plan[name] = None if plan[name] is None else tuple(plan[name])
            return Plan(**plan)

    def compare(
        self,
        systems: Mapping[str, Sequence[str]],
        references: References,
        *,
        metrics: Metrics = "bleu",
        **options: Any,
    ) -> dict[str, Any]:
        """Return the response of ``/v1/compare``: paired tests against a baseline."""
        body = {
            "systems": {name: list(texts) for name, texts in systems.items()},
            "references": [_group(texts) for texts in references],
            "metrics": _as_list(metrics),
            **options,
        }
        return self.finish("compare", body)

    def correlate(
        self, rows: Sequence[Mapping[str, Any]], *, metrics: Metrics = "bleu", **options: Any
    ) -> dict[str, Any]:
        """Return the response of ``/v1/correlate`` for rows in its format."""
        body = {"rows": [dict(row) for row in rows], "metrics": _as_list(metrics), **options}
        return self.finish("correlate", body)

    def card(self, rows: Sequence[Mapping[str, Any]], **options: Any) -> dict[str, Any]:
        """Return the response of ``/v1/card`` for rows in its format and a metric or scores."""
        return self.finish("card", {"rows": [dict(row) for row in rows], **options})

    def judge(
        self, labels: Mapping[str, Sequence[Any]], judge: str, **options: Any
    ) -> dict[str, Any]:
        """Return the response of ``/v1/judge`` for labels by rater."""
        columns = {rater: list(cells) for rater, cells in labels.items()}
        return self._call("POST", "/v1/judge", {"labels": columns, "judge": judge, **options})

    def finish(
        self, kind: str, body: Mapping[str, Any], *, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Run a job and return its result; an interruption cancels the job."""
        job = self._call("POST", "/v1/jobs", {"kind": kind, "body": body})
        with self._reading():
            path = f"/v1/jobs/{quote(job['id'], safe='')}"
            try:
                while job["state"] in ("queued", "running"):
                    if progress is not None and job["rows_total"]:
                        progress(int(job["rows_done"]), int(job["rows_total"]))
                    sleep(_POLL_SECONDS)
                    job = self._call("GET", path)
            finally:
                with suppress(ServerError):  # the job is already deleted, or the server has stopped
                    self._call("DELETE", path)
            if job["state"] != "done":
                raise ServerError(str(job["error"]["message"]), kind=job["error"]["kind"])
            return dict(job["result"])

    def _call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        ends = monotonic() + self._patience
        while True:
            try:
                return self._send(method, path, body)
            except ServerError as error:
                if error.seconds is None:
                    raise
                if monotonic() + error.seconds > ends:
                    raise ServerError(
                        f"{self._url} is busy: {error}", status=_BUSY_STATUS
                    ) from None
                sleep(error.seconds)

    def _send(self, method: str, path: str, body: Any) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = Request(self._url + path, data, self._headers, method=method)
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                content = response.read(_MAX_BYTES)
        except HTTPError as error:
            with error:
                raise _server_error(error, self._url) from None
        except (URLError, HTTPException, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            message = f"the server {self._url} does not answer ({reason})"
            raise ServerError(f"{message}; is `nlgauge serve` running?") from error
        with self._reading():
            return {**json.loads(content)}

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Raise ServerError if a response is not in the format of `nlgauge serve`."""
        try:
            yield
        except ServerError:
            raise
        except (*_MALFORMED, NlgaugeError) as error:
            reason = f" ({error})" if isinstance(error, NlgaugeError) else ""
            message = f"{self._url} does not answer like `nlgauge serve`{reason}"
            raise ServerError(f"{message}; check the address and the server's version") from error


def _server_error(error: HTTPError, url: str) -> ServerError:
    """Return the error for an error response."""
    if 300 <= error.code < 400:
        location = error.headers.get("Location")
        message = f"{url} redirects to {location}, which is not followed; name the address itself"
        return ServerError(message, status=error.code)
    try:
        content = json.loads(error.read(_MAX_BYTES))["error"]
        server_error = ServerError(str(content["message"]), status=error.code, kind=content["kind"])
    except (*_MALFORMED, OSError, HTTPException):
        return ServerError(f"{url} answered {error.code}: {error.reason}", status=error.code)
    if error.code == _BUSY_STATUS:
        seconds = error.headers.get("Retry-After", "")
        server_error.seconds = min(float(seconds), 60.0) if seconds.isdecimal() else 1.0
    return server_error


def _as_list(metrics: Metrics) -> list[str | Options]:
    return [metrics] if isinstance(metrics, str) else list(metrics)


def _group(texts: str | Sequence[str | None]) -> str | list[str]:
    return texts if isinstance(texts, str) else [text for text in texts if text is not None]
