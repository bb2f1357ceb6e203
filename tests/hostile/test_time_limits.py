"""Work that cannot be interrupted is killed at its time limit and delays no other request."""

from __future__ import annotations

import json
import multiprocessing
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("fastapi", reason="the extra 'service' is not installed")

from starlette.testclient import TestClient

from nlgauge.service.app import create_app
from nlgauge.service.settings import Limits, Settings

TIMEOUT = 120  # seconds, for a busy machine
WORDS = [f"w{n * 7919 % 263}" for n in range(2300)]
LONG = " ".join(WORDS)[:9_990]
SHUFFLED = " ".join(WORDS[n * 997 % 2300] for n in range(2300))[:9_990]
LINES = "\n".join(["a b"] * 3_300)[:9_990]
SLOW = {
    "ter": ("ter", LONG, SHUFFLED),
    "character": ("character:longest=400", LONG[:1_500], SHUFFLED[:1_500]),
    "lsum": ("rouge:variant=lsum", LINES, LINES[::-1]),
    "lazy_emd": ("lazy_emd:epsilon=0.001", LONG, SHUFFLED),
}


def _body(name: str) -> dict[str, Any]:
    spec, candidate, reference = SLOW[name]
    pairs = [{"candidate": f"{n} {candidate}", "references": [reference]} for n in range(20)]
    return {"metrics": [spec], "pairs": pairs}  # equal rows would be scored once


@pytest.fixture(scope="module")
def server() -> Iterator[TestClient]:
    settings = Settings(models=("hashing",), hosts=frozenset(), limits=Limits(seconds=6.0))
    with TestClient(create_app(settings)) as client:
        yield client


@pytest.mark.parametrize("name", SLOW)
def test_a_request_is_killed_at_its_limit_while_others_are_answered(
    name: str, server: TestClient
) -> None:
    slow: list[Any] = []
    before = set(multiprocessing.active_children())  # of other tests
    body = _body(name)
    thread = threading.Thread(target=lambda: slow.append(server.post("/v1/score", json=body)))
    thread.start()
    small = {"metrics": ["bleu"], "pairs": [{"candidate": "a b", "references": ["a b"]}]}
    others = [server.post("/v1/score", json=small).status_code for _ in range(10)]
    thread.join(TIMEOUT)
    assert others == [200] * 10
    assert slow[0].status_code == 413
    assert slow[0].json()["error"]["kind"] == "took_too_long"
    latest = time.monotonic() + TIMEOUT
    while set(multiprocessing.active_children()) - before and time.monotonic() < latest:
        time.sleep(0.05)
    assert not set(multiprocessing.active_children()) - before, "the process still computes"


def test_a_killed_process_is_replaced_and_gives_the_same_scores(server: TestClient) -> None:
    assert server.post("/v1/score", json=_body("ter")).status_code == 413
    long = {"metrics": ["chrf", "bertscore"], "pairs": [{"candidate": LONG, "references": [LONG]}]}
    limits = Settings(models=("hashing",), hosts=frozenset())
    with TestClient(create_app(limits)) as patient:
        answer = patient.post("/v1/score", json=long)
    assert answer.status_code == 200, answer.text
    values = [round(each["value"], 6) for each in answer.json()["scores"]]
    assert values == [100.0, 1.0]


def test_errors_of_a_process_are_those_of_the_server(server: TestClient) -> None:
    pairs = [{"candidate": LONG, "references": [LONG]}]
    wrong = {"metrics": ["ter"], "pairs": pairs, "segments": True}
    with TestClient(create_app(Settings(models=("hashing",), hosts=frozenset()))) as patient:
        ragged = patient.post(
            "/v1/compare",
            json={
                **{"systems": {"a": ["x"], "b": ["y"]}, "references": ["x"], "metrics": ["ter"]},
                "baseline": "nowhere",
            },
        )
    assert ragged.status_code == 422
    assert "nowhere" in ragged.json()["error"]["message"]
    assert server.post("/v1/score", json=wrong).status_code in (200, 413)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_busy_server_ends_at_a_signal(number: int) -> None:
    words = [sys.executable, "-m", "nlgauge", "serve", "--port", "0", "--model", "hashing"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None and run.stderr is not None
        address = run.stdout.readline().split()[2]
        head = {"Content-Type": "application/json"}
        request = Request(f"{address}v1/score", json.dumps(_body("ter")).encode(), head)

        statuses = []

        def ask() -> None:
            try:
                urlopen(request, timeout=TIMEOUT)
            except HTTPError as error:
                statuses.append(error.code)

        asking = threading.Thread(target=ask)
        asking.start()
        latest = time.monotonic() + TIMEOUT
        while b"nlgauge_long_running 1.0" not in urlopen(f"{address}metrics").read():
            assert time.monotonic() < latest, "the request has not arrived"
            time.sleep(0.1)
        run.send_signal(number)
        assert run.wait(timeout=TIMEOUT) in (128 + number, -number)
        asking.join(TIMEOUT)
        assert statuses == [503], "it waited for the request, which takes minutes"
        assert "Traceback" not in run.stderr.read()


def test_a_process_that_has_ended_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends when it is idle, perhaps at the moment of the next request."""
    settings = Settings(models=("hashing",), hosts=frozenset())
    body = {"metrics": ["ter"], "pairs": [{"candidate": "a b", "references": ["a c"]}]}
    with TestClient(create_app(settings)) as client:
        first = client.post("/v1/score", json=body)
        dispatcher = client.app.state.dispatcher  # type: ignore[attr-defined]
        (worker,) = [each for each in dispatcher._processes._workers if each.process is not None]
        worker.process.kill()
        worker.process.join()
        monkeypatch.setattr(worker.process, "is_alive", lambda: True)  # it has just ended
        second = client.post("/v1/score", json=body)
    assert first.status_code == second.status_code == 200
    assert first.json()["scores"][0]["value"] == second.json()["scores"][0]["value"] == 50.0


def test_a_process_that_cannot_be_started_is_an_error_of_that_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: object) -> None:
        raise OSError("no memory")

    settings = Settings(models=("hashing",), hosts=frozenset())
    body = {"metrics": ["ter"], "pairs": [{"candidate": "a b", "references": ["a c"]}]}
    with TestClient(create_app(settings)) as client:
        with monkeypatch.context() as patch:
            patch.setattr(multiprocessing.context.SpawnProcess, "start", refuse)
            refused = client.post("/v1/score", json=body)
        answered = client.post("/v1/score", json=body)
    assert (refused.status_code, refused.json()["error"]["kind"]) == (500, "worker_died")
    assert answered.status_code == 200
