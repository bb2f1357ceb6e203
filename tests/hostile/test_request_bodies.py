"""Invalid request bodies get an error message and do not delay other requests."""

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
def test_hundreds_of_thousands_of_invalid_rows_delay_no_other_request(
    server: TestClient, row: str
) -> None:
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


JUDGED = {**PAIR, "human": {"da": 1}}
NUMBERS = (10**9, -1, 10**40, 1.5, "5", None, [1])
TEXTS = ("/etc/passwd", "\x00", "<script>", "a" * 100_000, "", 5)


def _cards() -> Iterator[dict[str, Any]]:
    for name in ("count", "seed"):
        yield from ({name: value} for value in NUMBERS if (name, value) != ("seed", 10**9))
    for name in ("metric", "stored", "human"):
        yield from ({"metric": None, name: value} for value in TEXTS)
    yield from ({"beside": value} for value in ([], "bleu", ["/etc/passwd"], ["bleu"] * 1000, [[]]))
    yield from ({"data": value} for value in ("a" * 100_000, "", 5))
    for cells in (
        {"human": {}},
        {"human": {"da": "good"}},
        {"human": {"a" * 100_000: 1}},
        {"human": {f"c{n}": 1 for n in range(100)}},
        {"scores": {"m": "high"}},
        {"scores": [1]},
        {"spans": [{"start": 10**40, "end": 2}]},
        {"spans": [{"start": 0, "end": 1, "severity": ""}]},
        {"spans": [5]},
        {"spans": [{"start": 0}] * 5000},
        {"document": ["d"]},
        {"document": "a" * 100_000},
        {"references": []},
        {"segment": 5},
    ):
        yield {"rows": [JUDGED, {**JUDGED, **cells}]}
    yield {"rows": [{**JUDGED, "candidate": "a" * 100_000}]}
    yield {"rows": [{**JUDGED, "system": str(n)} for n in range(100)]}
    yield {"rows": [JUDGED] * 3000}
    yield {"rows": {}}


@pytest.mark.parametrize("change", list(_cards()), ids=lambda change: str(change)[:60])
def test_hostile_cards_are_refused(server: TestClient, change: dict[str, Any]) -> None:
    body = {"rows": [JUDGED, JUDGED], "metric": "chrf", "count": 5, **change}
    answer = server.post("/v1/card", json=body)
    assert answer.status_code in (400, 413, 422), answer.text
    assert len(answer.json()["error"]["message"]) < 1000
