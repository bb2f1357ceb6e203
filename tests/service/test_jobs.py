"""Jobs: submitted, polled, cancelled and deleted."""

from __future__ import annotations

import json
import socket
import time
from threading import Event
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from starlette.testclient import TestClient

from nlgauge.core.errors import DataError
from nlgauge.scoring import Scorer
from nlgauge.service import examples, responses
from nlgauge.service.admission import Admission
from nlgauge.service.errors import ServiceError
from nlgauge.service.jobs import Jobs
from nlgauge.service.scheduler import Scheduler
from nlgauge.service.settings import Settings
from nlgauge.service.task import Cancelled, FairLock, Task

TIMEOUT = 120  # seconds; the machine may be busy


def finished(api: TestClient, id: str) -> dict[str, Any]:
    ends = time.monotonic() + TIMEOUT
    while time.monotonic() < ends:
        job: dict[str, Any] = api.get(f"/v1/jobs/{id}").json()
        if job["state"] not in ("queued", "running"):
            return job
        time.sleep(0.02)
    raise AssertionError("the job does not end")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("score", examples.SCORE),
        ("compare", examples.COMPARE),
        ("correlate", examples.CORRELATE),
    ],
)
def test_a_job_gives_what_its_endpoint_gives(
    api: TestClient, kind: str, body: dict[str, Any]
) -> None:
    posted = api.post("/v1/jobs", json={"kind": kind, "body": body})
    assert posted.status_code == 202
    responses.JobAnswer.model_validate(posted.json(), strict=True)
    assert posted.headers["location"] == f"/v1/jobs/{posted.json()['id']}"
    job = finished(api, posted.json()["id"])
    responses.JobAnswer.model_validate(job, strict=True)
    assert job["state"] == "done" and job["rows_done"] == job["rows_total"] > 0
    assert job["pairs_per_second"] > 0
    assert job["result"] == api.post(f"/v1/{kind}", json=body).json()


def test_a_bad_job_is_refused_at_once_or_fails_with_a_reason(api: TestClient) -> None:
    body = {**examples.SCORE, "metrics": ["bertscore:model=/etc/passwd"]}
    assert api.post("/v1/jobs", json={"kind": "score", "body": body}).status_code == 403
    assert api.post("/v1/jobs", json={"kind": "dance", "body": {}}).status_code == 422
    wrong = {**examples.SCORE_SYSTEMS, "references": ["only one"]}
    job = finished(api, api.post("/v1/jobs", json={"kind": "score", "body": wrong}).json()["id"])
    assert job["state"] == "failed" and job["error"]["kind"] == "bad_shape"
    assert "2 candidates but 1 references" in job["error"]["message"]


def test_a_job_whose_client_has_gone_is_not_started(
    start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = urlsplit(start())
    reached, gone = Event(), Event()
    prepare = Admission.prepare

    def wait(admission: Admission, specs: Any) -> Any:
        reached.set()
        assert gone.wait(TIMEOUT)
        return prepare(admission, specs)

    monkeypatch.setattr(Admission, "prepare", wait)
    body = json.dumps({"kind": "score", "body": examples.SCORE}).encode()
    head = "POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    with socket.create_connection((where.hostname or "", where.port or 0)) as line:
        line.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert reached.wait(TIMEOUT)

    def read(path: str) -> str:
        with urlopen(where.geturl() + path, timeout=TIMEOUT) as answer:
            return str(answer.read().decode())

    read("/health")  # the server has seen all that was sent before
    gone.set()
    ends = time.monotonic() + TIMEOUT
    while 'method="POST",route="/v1/jobs"' not in (measured := read("/metrics")):
        assert time.monotonic() < ends, "the request does not end"
    assert 'method="POST",route="/v1/jobs",status="499"' in measured


def test_a_deleted_job_is_unknown(api: TestClient) -> None:
    id = api.post("/v1/jobs", json=examples.JOB).json()["id"]
    finished(api, id)
    deleted = api.delete(f"/v1/jobs/{id}")
    assert (deleted.status_code, deleted.json()["state"]) == (200, "cancelled")
    for answer in (api.get(f"/v1/jobs/{id}"), api.delete(f"/v1/jobs/{id}")):
        assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "not_found")


class BlockingJobs:
    """Jobs that run until the event `go` is set."""

    def __init__(self, **changed: Any) -> None:
        settings = Settings(
            models=("hashing",), **{"jobs": 2, "kept_jobs": 2, "kept_bytes": 1000, **changed}
        )
        self.scheduler = Scheduler(settings, lambda *_: None)
        self.jobs = Jobs(self.scheduler, settings)
        self.go = Event()
        self.started = Event()
        self.stopped = 0

    def work(self, task: Task) -> bytes:
        try:
            self.started.set()
            for done in range(1, 10_000):
                task.progress(done, 10_000)
                if self.go.wait(0.002):
                    return b'{"done": true}'
        except BaseException:
            self.stopped += 1
            raise
        return b"{}"

    def put(self) -> str:
        return str(json.loads(self.jobs.put("score", self.work))["id"])

    def wait_for(self, id: str, state: str) -> None:
        ends = time.monotonic() + TIMEOUT
        while json.loads(self.jobs.get(id))["state"] != state:
            assert time.monotonic() < ends, f"the job did not become {state}"
            time.sleep(0.002)

    def run(self) -> str:
        """Submit a job, wait until it is done, and return its id."""
        self.go.set()
        id = self.put()
        self.wait_for(id, "done")
        return id


def test_a_running_job_is_cancelled_between_portions() -> None:
    blocking = BlockingJobs()
    first = blocking.put()
    assert blocking.started.wait(TIMEOUT)
    assert b'"state": "running"' in blocking.jobs.get(first)
    second = blocking.put()
    assert b'"ahead": 1' in blocking.jobs.get(second)
    blocking.started.clear()
    assert b'"state": "cancelled"' in blocking.jobs.cancel(first)
    assert blocking.started.wait(TIMEOUT), "the second job starts once the first has ended"
    assert blocking.stopped == 1
    blocking.go.set()
    blocking.scheduler.close()


def test_a_cancel_is_noticed_between_the_metrics_of_one_portion() -> None:
    task = Task("job", lambda _: b"")
    reports = []

    def progress(done: int, total: int) -> None:
        reports.append((done, total))
        if len(reports) == 2:
            task.cancel()
        task.progress(done, total)

    with pytest.raises(Cancelled), task.holding(FairLock()):
        Scorer(["bleu", "chrf"]).score(["a cat"], ["the cat"], progress=progress)
    assert reports == [(0, 1), (0, 1)], "before each metric, when no row was done yet"


def test_too_many_jobs_are_refused_and_a_queued_one_can_be_cancelled() -> None:
    blocking = BlockingJobs()
    blocking.put()
    assert blocking.started.wait(TIMEOUT)
    waiting = [blocking.put(), blocking.put()]
    with pytest.raises(ServiceError, match="2 jobs are waiting") as refused:
        blocking.put()
    assert refused.value.status_code == 429
    blocking.jobs.cancel(waiting[0])
    blocking.put()
    assert len(blocking.jobs) == 3
    blocking.scheduler.close()


def test_old_results_are_deleted() -> None:
    blocking = BlockingJobs(kept_jobs=2)
    ids = [blocking.run() for _ in range(4)]
    blocking.put()
    with pytest.raises(ServiceError, match="no such job"):
        blocking.jobs.get(ids[0])
    assert b'"result": {"done": true}' in blocking.jobs.get(ids[3])
    blocking.scheduler.close()
    small = BlockingJobs(kept_jobs=9, kept_bytes=20)
    ids = [small.run() for _ in range(2)]
    with pytest.raises(ServiceError, match="no such job"):
        small.jobs.get(ids[0])
    small.scheduler.close()
    short = BlockingJobs(kept_seconds=0.0001)
    short.go.set()
    id = short.put()
    ends = time.monotonic() + TIMEOUT
    with pytest.raises(ServiceError, match="no such job"):
        while time.monotonic() < ends:  # until it has run and kept_seconds have passed
            short.jobs.get(id)
            time.sleep(0.002)
    short.scheduler.close()


def test_a_failed_job_has_its_error_and_the_next_one_runs() -> None:
    blocking = BlockingJobs()

    def broken(_: Task) -> bytes:
        raise DataError("there is something wrong with row 3")

    id = json.loads(blocking.jobs.put("score", broken))["id"]
    blocking.wait_for(id, "failed")
    assert json.loads(blocking.jobs.get(id))["error"]["message"].endswith("row 3")
    blocking.run()
    blocking.scheduler.close()
