"""Invalid, large and slow bodies get an error, and the server goes on."""

from __future__ import annotations

import json
import select
import socket
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from nlgauge.service import examples
from nlgauge.service.settings import Limits

JSON = {"Content-Type": "application/json"}


def post(api: TestClient, body: bytes | str, **headers: str) -> tuple[int, str]:
    answer = api.post("/v1/score", content=body, headers={**JSON, **headers})
    return answer.status_code, answer.json()["error"]["kind"]


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ("", 422, "invalid"),
        ("{", 400, "malformed_json"),
        (b"\xff\xfe", 400, "malformed_json"),
        ("[" * 100_000, 400, "malformed_json"),
        ('{"a":' * 50_000, 400, "malformed_json"),
        ('{"pairs": NaN}', 400, "bad_number"),
        ('{"pairs": -Infinity}', 400, "bad_number"),
        ('{"pairs": ' + "9" * 5000 + "}", 400, "bad_number"),
        ("[]", 422, "invalid"),
        ("null", 422, "invalid"),
        ('{"pairs": [], "metrics": ["bleu"]}', 422, "invalid"),
        ('{"pairs": [{"candidate": "\\ud800", "references": "a"}], "metrics": ["bleu"]}', 400,
         "malformed_json"),
        ('{"systems": {"\\udfff": ["a"]}, "references": ["a"], "metrics": ["bleu"]}', 400,
         "malformed_json"),
        ('{"pairs": [{"candidate": 1, "references": "a"}], "metrics": ["bleu"]}', 422, "invalid"),
        ('{"pairs": [{"candidate": "a", "references": []}], "metrics": ["bleu"]}', 422, "invalid"),
        ('{"pairs": [{"candidate": "a", "references": "a"}], "metrics": []}', 422, "invalid"),
    ],
)  # fmt: skip
def test_malformed_bodies(api: TestClient, body: bytes | str, status: int, kind: str) -> None:
    assert post(api, body) == (status, kind)


def test_numbers_that_overflow_to_infinity_are_refused(api: TestClient) -> None:
    body = json.dumps(examples.CORRELATE).replace("4.5", "1e999")
    answer = api.post("/v1/correlate", content=body, headers=JSON)
    assert answer.json()["error"]["kind"] == "invalid"
    assert "human" in answer.json()["error"]["where"]


@pytest.mark.parametrize(
    ("path", "body", "where"),
    [
        ("score", {"pairs": [{"candidate": "a", "references": [1]}], "metrics": ["bleu"]},
         ["pairs", 0, "references"]),
        ("score", {"candidates": ["a"], "metrics": ["bleu"]}, ["references"]),
        ("score", {"systems": {"a": ["x"]}, "references": ["x"], "metrics": [5]}, ["metrics", 0]),
        ("score", {"candidates": ["a"], "references": ["b"], "metrics": ["bleu"], "pair": 1},
         ["pair"]),
        ("compare", {"systems": {"systems": 1}, "references": ["b"], "metrics": ["bleu"]},
         ["systems", "systems"]),
        ("jobs", {"kind": "score", "body": {"pairs": [{"candidate": 1, "references": "a"}],
                                            "metrics": ["bleu"]}},
         ["body", "pairs", 0, "candidate"]),
        ("correlate", {**examples.CORRELATE, "pairs": 1}, ["pairs"]),
        ("judge", {"labels": {"str": [[1]], "m": ["x"]}, "judge": "m"}, ["labels", "str", 0]),
    ],
)  # fmt: skip
def test_the_place_of_an_error_is_a_path_in_the_body(
    api: TestClient, path: str, body: Any, where: list[Any]
) -> None:
    error = api.post(f"/v1/{path}", json=body).json()["error"]
    assert error["where"] == ["body", *where]
    assert error["message"].startswith(" / ".join(map(str, error["where"])) + ": ")


def test_only_json_in_utf8_is_read(api: TestClient) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json; charset=x"):
        assert post(api, "{}", **{"Content-Type": kind}) == (415, "not_json")
    good = json.dumps(examples.SCORE)
    headers = {"Content-Type": 'Application/JSON; charset="UTF-8"'}
    assert api.post("/v1/score", content=good, headers=headers).status_code == 200


SMALL = Limits(
    rows=3, job_rows=5, characters=100, text_characters=50, references=4, metrics=2, systems=2,
    resamples=1000,
)  # fmt: skip


def rows(count: int, text: str = "a") -> dict[str, Any]:
    pairs = [{"candidate": text, "references": "b"} for _ in range(count)]
    return {"pairs": pairs, "metrics": ["bleu"]}


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("score", rows(4), "too_many_rows"),
        ("score", rows(3, "x" * 40), "too_many_characters"),
        ("score", rows(1, "x" * 51), "too_long_text"),
        ("score", {**rows(1), "metrics": ["bleu", "chrf", "ter"]}, "too_many_metrics"),
        ("score", {"pairs": [{"candidate": "a", "references": ["b"] * 10_000}],
                   "metrics": ["bleu"]}, "too_many_references"),
        ("align", {"candidate": "a", "references": ["b"] * 5}, "too_many_references"),
        ("align", {"candidate": "x" * 51, "references": "b"}, "too_long_text"),
        ("compare", {"systems": {"a": ["x"], "b": ["x"], "c": ["x"]}, "references": ["x"],
                     "metrics": ["bleu"]}, "too_many_systems"),
        ("compare", {"systems": {"a": ["x"], "b": ["x"]}, "references": ["x"],
                     "metrics": ["bleu"], "count": 1000}, "too_many_resamples"),
        ("jobs", {"kind": "score", "body": rows(6)}, "too_many_rows"),
    ],
)  # fmt: skip
def test_limits(opened: Any, path: str, body: dict[str, Any], kind: str) -> None:
    answer = opened(limits=SMALL).post(f"/v1/{path}", json=body)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (413, kind), answer.text


def send_bytes(address: str, *parts: bytes, pause: float = 0.0, wait: float = 60.0) -> bytes:
    """Send bytes and return the answer, until the server closes or sends nothing more."""
    where = urlsplit(address)
    messages = b""
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=wait) as line:
        try:
            for part in parts:
                line.sendall(part)
                if select.select([line], [], [], pause)[0] and pause:
                    break  # the server has closed the connection
            while chunk := line.recv(65536):
                messages += chunk
        except (TimeoutError, ConnectionError):
            pass
    return messages


def head(*lines: str) -> bytes:
    return (
        "\r\n".join(
            ["POST /v1/score HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", *lines]
        ).encode()
        + b"\r\n\r\n"
    )


def is_alive(address: str) -> bool:
    """Return whether the server answers; a request that was sent too slowly is repeated."""
    request = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    answers = (send_bytes(address, request) for _ in range(10))
    return b" 200 " in next((messages for messages in answers if b" 408 " not in messages), b"")


def test_a_body_that_announces_too_much_is_not_read(address: str) -> None:
    messages = send_bytes(address, head("Content-Length: 900000000"))
    assert messages.startswith(b"HTTP/1.1 413 ") and b"too_large" in messages
    assert is_alive(address)


def test_a_body_that_grows_too_large_is_cut_off(address: str) -> None:
    chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    messages = send_bytes(address, head("Transfer-Encoding: chunked"), *[chunk] * 7)
    assert messages.startswith(b"HTTP/1.1 413 ") and b"too_large" in messages
    assert is_alive(address)


def test_large_bodies_are_limited_together(start: Any) -> None:
    """Many bodies that are sent slowly must not fill the memory; small requests go on."""
    address = start(limits=Limits(bytes=600_000, body_seconds=600.0))
    where = urlsplit(address)
    with ExitStack() as stack:
        lines = []
        for _ in range(10):
            line = socket.create_connection((where.hostname or "", where.port or 0), timeout=600)
            lines.append(stack.enter_context(line))
            line.sendall(head("Content-Length: 600000") + b" " * 599_999)
        refused = select.select(lines, [], [], 600)[0][0]
        messages = refused.recv(65536)
        assert messages.startswith(b"HTTP/1.1 429 ") and b"retry-after: 2" in messages.lower()
        assert is_alive(address)
        small = json.dumps(examples.SCORE).encode()
        lines_of_small = (f"Content-Length: {len(small)}", "Connection: close")
        assert b" 200 " in send_bytes(address, head(*lines_of_small) + small)
    large = json.dumps(examples.SCORE).encode().ljust(599_999)
    message = head(f"Content-Length: {len(large)}", "Connection: close") + large
    while (answer := send_bytes(address, message)).startswith(b"HTTP/1.1 429 "):
        pass  # the server has not noticed yet that the others are gone
    assert answer.startswith(b"HTTP/1.1 200 ")


def test_a_slow_body_times_out(address: str) -> None:
    messages = send_bytes(address, head("Content-Length: 1000"), *[b" "] * 8, pause=0.2)
    assert messages.startswith(b"HTTP/1.1 408 ") and b"too_slow" in messages
    assert is_alive(address)


@pytest.mark.parametrize("parts", [[], [b"GET /health HT"], [b"G", b"E", b"T", b" /h"]])
def test_slow_request_headers_time_out(address: str, parts: list[bytes]) -> None:
    messages = send_bytes(address, *parts, pause=0.1)
    assert messages.startswith(b"HTTP/1.1 408 ") and b"too_slow" in messages
    assert b"after 1 seconds" in messages
    assert is_alive(address)


def test_a_slow_second_request_on_a_connection_times_out(address: str) -> None:
    where = urlsplit(address)
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=60) as line:
        line.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        messages = b""
        while not messages.endswith(b"}"):
            messages += line.recv(65536)
        line.sendall(b"GET /health HT")
        assert line.recv(65536).startswith(b"HTTP/1.1 408 ")


def test_bytes_that_are_not_http_are_refused(address: str) -> None:
    assert send_bytes(address, b"\x16\x03\x01nonsense\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert is_alive(address)
