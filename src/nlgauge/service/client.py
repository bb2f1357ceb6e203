"""Client: the library's calls, answered by a server. It needs the standard library's HTTP only.

>>> client = Client("http://127.0.0.1:8000")  # doctest: +SKIP
>>> client.score(["A cat sat."], ["The cat sat."], metrics=["bleu"])  # doctest: +SKIP
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPException
from time import monotonic, sleep
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import numpy as np

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import NlgaugeError, UsageError
from nlgauge.core.plan import Plan
from nlgauge.core.scores import Scores
from nlgauge.core.signature import Signature
from nlgauge.metrics import metric

Progress = Callable[[int, int], None]
References = Sequence[str | Sequence[str | None]]
Options = Mapping[str, Any]

_AT_ONCE = 500  # rows that are sent as a request; more become a job
_POLL_SECONDS = 0.25
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ServerError(NlgaugeError):
    """What a server refused, or that it could not be reached."""

    def __init__(self, message: str, *, status: int | None = None, kind: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class _NoRedirects(HTTPRedirectHandler):
    """A token is for the server it was given for, and for no other it may point at."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Client:
    """A server at ``url``. Where it is busy, calls are repeated for up to ``patience`` seconds."""

    def __init__(
        self, url: str, *, token: str | None = None, timeout: float = 120.0, patience: float = 60.0
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"the server {url!r} is not of the form http://host:port")
        self._url = url.rstrip("/")
        self._token = token
        self._timeout = timeout
        self._patience = patience
        proxies = [ProxyHandler({})] if parts.hostname in _LOOPBACK else []
        self._opener = build_opener(_NoRedirects, *proxies)

    def health(self) -> dict[str, Any]:
        """Whether it lives, its version and models."""
        return self._ask("GET", "/health")

    def metrics(self) -> dict[str, Any]:
        """The metrics, models and limits of the server."""
        return self._ask("GET", "/v1/metrics")

    def score(
        self,
        candidates: Sequence[str],
        references: References,
        *,
        metrics: str | Sequence[str | Options] = "bleu",
        ids: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Scores]:
        """Scores of one system by metric label, as ``nlgauge.score`` gives them."""
        corpus = Corpus.of(candidates, references, ids=ids)
        (scores,) = self.score_corpus(corpus, metrics=metrics, progress=progress).values()
        return scores

    def score_corpus(
        self,
        corpus: Corpus,
        *,
        metrics: str | Sequence[str | Options] = "bleu",
        progress: Progress | None = None,
    ) -> dict[str, dict[str, Scores]]:
        """Scores by system and metric label; a large corpus is scored as a job."""
        rows = zip(corpus.candidates, corpus.references, corpus.systems, corpus.ids, strict=True)
        body = {
            "pairs": [
                {"candidate": candidate, "references": list(texts), "system": system, "id": name}
                for candidate, texts, system, name in rows
            ],
            "metrics": _listed(metrics),
            "segments": False,
            "statistics": True,
        }
        if len(corpus) > _AT_ONCE:
            answer = self.finish("score", body, progress=progress)
        else:
            answer = self._ask("POST", "/v1/score", body)
        ids = {name: [corpus.ids[row] for row in corpus.rows_of(name)] for name in corpus.systems}
        board: dict[str, dict[str, Scores]] = {}
        for entry in answer["scores"]:
            scores = _scores(entry, ids[entry["system"]])
            board.setdefault(scores.system, {})[scores.label] = scores
        return board

    def align(
        self, candidate: str, references: str | Sequence[str], *, metric: str | Options = "mover"
    ) -> Plan:
        """Which token was matched with which of the best reference, as ``nlgauge.align`` does."""
        group = [references] if isinstance(references, str) else list(references)
        body = {"candidate": candidate, "references": group, "metric": metric}
        return _plan(self._ask("POST", "/v1/align", body)["plan"])

    def compare(
        self,
        systems: Mapping[str, Sequence[str]],
        references: References,
        *,
        metrics: str | Sequence[str | Options] = "bleu",
        **options: Any,
    ) -> dict[str, Any]:
        """Paired tests of every system against a baseline, as plain values."""
        body = {
            "systems": {name: list(texts) for name, texts in systems.items()},
            "references": [_group(texts) for texts in references],
            "metrics": _listed(metrics),
            **options,
        }
        return self.finish("compare", body)

    def correlate(
        self,
        rows: Sequence[Mapping[str, Any]],
        *,
        metrics: str | Sequence[str | Options] = "bleu",
        **options: Any,
    ) -> dict[str, Any]:
        """Correlations with people, as plain values; rows are those of ``/v1/correlate``."""
        body = {"rows": [dict(row) for row in rows], "metrics": _listed(metrics), **options}
        return self.finish("correlate", body)

    def finish(
        self, kind: str, body: Mapping[str, Any], *, progress: Progress | None = None
    ) -> dict[str, Any]:
        """The result of a job, waited for; an interruption cancels it."""
        job = self._ask("POST", "/v1/jobs", {"kind": kind, "body": body})
        path = f"/v1/jobs/{job['id']}"
        try:
            while job["state"] in ("queued", "running"):
                if progress is not None and job["rows_total"]:
                    progress(job["rows_done"], job["rows_total"])
                sleep(_POLL_SECONDS)
                job = self._ask("GET", path)
        except BaseException:
            self._forget(path)
            raise
        self._forget(path)
        if job["state"] != "done":
            raise ServerError(job["error"]["message"], kind=job["error"]["kind"])
        result: dict[str, Any] = job["result"]
        return result

    def _forget(self, path: str) -> None:
        try:
            self._ask("DELETE", path)
        except ServerError:
            return  # it is gone already, or the server is

    def _ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        ends = monotonic() + self._patience
        while True:
            try:
                return self._ask_once(method, path, body)
            except _Busy as busy:
                if monotonic() + busy.seconds > ends:
                    raise ServerError(f"{self._url} is busy: {busy}", status=429) from None
                sleep(busy.seconds)

    def _ask_once(self, method: str, path: str, body: Any) -> dict[str, Any]:
        headers = {"Accept": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        request = Request(self._url + path, data, headers, method=method)
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                found: dict[str, Any] = json.loads(response.read())
                return found
        except HTTPError as error:
            raise _refusal(error, self._url) from None
        except (URLError, HTTPException, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise ServerError(
                f"the server {self._url} does not answer ({reason}); is `nlgauge serve` running?"
            ) from error


class _Busy(Exception):
    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


def _refusal(error: HTTPError, url: str) -> Exception:
    """What an answer that is no success says."""
    try:
        said = json.loads(error.read())["error"]
    except (ValueError, KeyError, TypeError, OSError):
        return ServerError(f"{url} answered {error.code}: {error.reason}", status=error.code)
    if error.code == 429:
        return _Busy(said["message"], float(error.headers.get("Retry-After", 1)))
    return ServerError(said["message"], status=error.code, kind=said["kind"])


def _listed(metrics: str | Sequence[str | Options]) -> list[str | Options]:
    return [metrics] if isinstance(metrics, str) else list(metrics)


def _group(texts: str | Sequence[str | None]) -> str | list[str]:
    return texts if isinstance(texts, str) else [text for text in texts if text is not None]


def _scores(entry: Mapping[str, Any], ids: Sequence[str]) -> Scores:
    """The scores that an entry tells, made of the same rows as on the server."""
    return Scores(
        metric=metric(entry["signature"]),
        label=entry["metric"],
        system=entry["system"],
        ids=tuple(ids),
        statistics=np.asarray(entry["statistics"], dtype=np.float64),
        signature=Signature.parse(entry["signature"]),
        notes=entry["notes"],
    )


def _plan(said: Mapping[str, Any]) -> Plan:
    arrays = {name: np.asarray(said[name], float) for name in ("coupling", "cost", "a", "b")}
    tokens = {
        name: None if said[name] is None else tuple(said[name])
        for name in ("candidate_tokens", "reference_tokens")
    }
    return Plan(**{**said, **arrays, **tokens})
