"""Bodies of requests that are wrong in every way are answered with a sentence, and delay nobody."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra 'service' is not installed")

from starlette.testclient import TestClient

from nlgauge.service.app import create_app
from nlgauge.service.settings import Settings

HEAD = {"Content-Type": "application/json"}
PAIR = {"candidate": "a b", "references": ["a b"]}


@pytest.fixture(scope="module")
def server() -> Iterator[TestClient]:
    settings = Settings(models=("hashing",), hosts=frozenset(), token="secret")
    with TestClient(create_app(settings)) as client:
        client.headers["Authorization"] = "Bearer secret"
        yield client


def _post(server: TestClient, text: str) -> tuple[int, str]:
    answer = server.post("/v1/score", content=text, headers=HEAD)
    return answer.status_code, answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "text",
    [
        '{"metrics": ["bleu"], "pairs": [], "metrics": ["ter"]}',
        '{"metrics": ["bleu"], "pairs": [{"candidate": "a", "references": "b", "candidate": "c"}]}',
    ],
)
def test_repeated_keys_are_refused(server: TestClient, text: str) -> None:
    status, message = _post(server, text)
    assert status == 400
    assert "occurs twice" in message


@pytest.mark.parametrize("row", ["1", '{"a": 1}', "[]", '{"candidate": 1, "references": 2}'])
def test_hundreds_of_thousands_of_wrong_rows_delay_nobody(server: TestClient, row: str) -> None:
    text = f'{{"metrics": ["bleu"], "pairs": [{",".join([row] * 600_000)}]}}'
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(_post(server, text)))
    thread.start()
    longest = 0.0
    while thread.is_alive():
        begun = time.monotonic()
        assert server.get("/health").status_code == 200
        longest = max(longest, time.monotonic() - begun)
        time.sleep(0.02)
    thread.join()
    assert longest < 30, "a minute if all rows were validated on the event loop"
    status, message = answers[0]
    assert status in (413, 422)
    assert len(message) < 500


def test_objects_with_thousands_of_keys_are_refused(server: TestClient) -> None:
    keys = {f"key{n}": n for n in range(5_000)}
    for body in (keys, {"metrics": ["bleu"], "pairs": [{**PAIR, **keys}]}):
        status, message = _post(server, json.dumps(body))
        assert status == 400
        assert "keys; at most 1,000" in message


@pytest.mark.parametrize("metric", ["bleu", "bertscore", "bary", "rouge", "chrf"])
@pytest.mark.parametrize(
    "options",
    [
        {name: value}
        for name in ("spec", "lang", "self", "cls", "allow_external", "name", "options", "bound")
        for value in (5, None, "x", True)
    ],
    ids=str,
)
def test_options_with_the_names_of_parameters_are_refused(
    server: TestClient, metric: str, options: dict[str, Any]
) -> None:
    body = {"metrics": [{"name": metric, "options": options}], "pairs": [PAIR]}
    answer = server.post("/v1/score", json=body)
    assert answer.status_code in (403, 422), answer.text


def test_the_description_of_the_api_needs_the_token(server: TestClient) -> None:
    assert server.get("/openapi.json").status_code == 200
    refused = server.get("/openapi.json", headers={"Authorization": "Bearer wrong"})
    assert refused.status_code == 401
