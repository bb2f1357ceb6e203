"""The client returns the scores of the library, and commands print the same with a server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import numpy as np
import pytest

import nlgauge
from conftest import PROJECT, example
from nlgauge.cli import main
from nlgauge.core.errors import UsageError
from nlgauge.service import examples
from nlgauge.service.admission import Admission
from nlgauge.service.client import Client, ServerError
from nlgauge.service.settings import Settings

CANDIDATES = ["a cat sat here", "", "rain falls", "he left the house"]
REFERENCES = [["the cat sat"], ["nothing"], ["it rains", "rain is falling"], ["he has left"]]


def spec(name: str) -> str:
    needs_model = nlgauge.metric_class(name)().needs.kind != "text"
    return f"{name}:model=hashing" if needs_model else name


@pytest.fixture(scope="module")
def client(address: str) -> Client:
    return Client(address)


def test_scores_of_every_metric_equal_the_librarys(client: Client) -> None:
    specs = [
        spec(name) for name in Admission(Settings(models=("hashing",))).kinds if name != "meteor"
    ]
    for start in range(0, len(specs), 10):
        part = [*specs[start : start + 10], "meteor:synonyms=none"]
        here = nlgauge.score(CANDIDATES, REFERENCES, metrics=part)
        there = client.score(CANDIDATES, REFERENCES, metrics=part)
        assert list(there) == list(here)
        for label, scores in there.items():
            assert scores.to_dict() == here[label].to_dict()
            assert scores.warnings == here[label].warnings
            low, high = scores.resample(50).interval()
            assert (low, high) == here[label].resample(50).interval()


def test_a_large_corpus_becomes_a_job(client: Client) -> None:
    candidates = [f"text number {i}" for i in range(700)]
    references = [f"text no {i}" for i in range(700)]
    reports: list[tuple[int, int]] = []
    there = client.score(
        candidates, references, metrics="chrf", progress=lambda *pair: reports.append(pair)
    )
    here = nlgauge.score(candidates, references, metrics="chrf")
    np.testing.assert_array_equal(there["chrf"].segments, here["chrf"].segments)
    assert client.health()["jobs"] == 0


def test_alignments_comparisons_and_correlations_equal_the_librarys(client: Client) -> None:
    plan = client.align("a man in a boat", ["a man in a canoe"], metric="wmd:model=hashing")
    here = nlgauge.align("a man in a boat", "a man in a canoe", metric="wmd:model=hashing")
    assert plan.to_dict() == here.to_dict()
    body = examples.COMPARE
    compared = client.compare(body["systems"], body["references"], metrics="chrf", count=50)
    assert [entry["system"] for entry in compared["systems"]] == ["old", "new"]
    found = client.correlate(examples.CORRELATE["rows"], metrics=["chrf"], bands=2)
    assert found["correlations"][0]["metric"] == "chrf"
    assert "bleu" in [card["name"] for card in client.metrics()["metrics"]]


def test_refusals_become_errors_with_the_servers_sentence(client: Client, start: Any) -> None:
    with pytest.raises(ServerError, match="not among those this server") as refused:
        client.score(["a"], ["b"], metrics="bertscore:model=x")
    assert (refused.value.status, refused.value.kind) == (403, "model_not_allowed")
    with pytest.raises(ServerError, match="2 candidates but 1 references"):
        client.compare({"a": ["x", "y"], "b": ["x", "y"]}, ["x"])
    with pytest.raises(ServerError, match=r"does not answer .* is `nlgauge serve` running"):
        Client("http://127.0.0.1:9").health()
    with pytest.raises(UsageError, match="not of the form http"):
        Client("file:///etc/passwd")
    locked = start(token="s3cret")
    with pytest.raises(ServerError, match="token"):
        Client(locked).metrics()
    assert Client(locked, token="s3cret").metrics()["models"] == ["hashing"]


def test_a_busy_server_is_asked_again(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("nlgauge.service.client.sleep", slept.append)
    monkeypatch.setattr("nlgauge.service.scheduler.Scheduler.waiting_requests", 10_000)
    with pytest.raises(ServerError, match="is busy: 10000 requests are waiting"):
        Client(start(), patience=0.5).score(["a"], ["b"])
    assert slept == []
    client = Client(start(), patience=60)

    def relieve(seconds: float) -> None:
        slept.append(seconds)
        monkeypatch.setattr("nlgauge.service.scheduler.Scheduler.waiting_requests", 0)

    monkeypatch.setattr("nlgauge.service.client.sleep", relieve)
    assert client.score(["a b"], ["a b"])["bleu"].value >= 0
    assert slept == [1.0]


def test_the_command_prints_the_same_with_a_server(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["-c", str(PROJECT / "examples/hasty.txt"), "-r"]
    files += [str(PROJECT / "examples/reference.a.txt")]
    assert example("hasty")
    metrics = ["-m", "bleu", "bertscore:model=hashing"]
    for options in ([], ["--segments", "-f", "tsv"], ["-f", "json"], ["--confidence"]):
        main_quietly(["score", *files, *metrics, *options])
        here = capsys.readouterr()
        main_quietly(["score", *files, *metrics, *options, "--server", address])
        assert capsys.readouterr() == here
    for option in (["--device", "cpu"], ["--idf-corpus", "x"], ["--parts", str(tmp_path)]):
        assert main_quietly(["score", *files, *option, "--server", address]) == 2
        assert "cannot be combined with --server" in capsys.readouterr().err


ENTRY = {"system": "out", "metric": "bleu", "notes": {}}
ENTRY["signature"] = "bleu|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2"
STRANGE = [
    *("[]", "{}", "7", "null", '"ok"', "NaN", "", " ", "<html><body>hello</body></html>", "{" * 10),
    *("[" * 100_000, '{"scores": 3}', '{"scores": null}', '{"scores": []}', '{"scores": [{}]}'),
    *(
        json.dumps({"scores": [{**ENTRY, **other}]})
        for other in (
            {"statistics": []},
            {"statistics": "x"},
            {"statistics": [[1], [1, 2]]},
            {"statistics": [[10**400]]},
            {"statistics": {}},
            {"statistics": None},
            {"statistics": [[1.0] * 10], "notes": 3},
            {"statistics": [[1.0] * 10], "system": "another"},
            {"statistics": [[1.0] * 10], "system": ["out"]},
            {"statistics": [[1.0] * 10], "signature": 3},
            {"statistics": [[1.0] * 10], "signature": "no\x1b[2Jsuch|a:b"},
            {"statistics": [[1.0] * 10], "signature": "external|command:touch x|nrefs:1"},
        )
    ),
]


class _ConstantResponse(BaseHTTPRequestHandler):
    """A handler that answers every request with the same body."""

    status, body = 200, b""
    headers_sent: ClassVar[dict[str, str]] = {}
    seen: ClassVar[list[str]] = []

    def answer(self) -> None:
        type(self).seen.append(self.headers.get("Authorization", ""))
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.status == 0:
            self.close_connection = True
            return
        self.send_response(self.status)
        for name, value in self.headers_sent.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(self.body)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Callable[..., tuple[str, list[str]]]]:
    """Start a server that always answers the same; return its address and the tokens it saw."""
    running = []

    def start_one(body: str = "", status: int = 200, **headers: str) -> tuple[str, list[str]]:
        given = {"body": body.encode(), "status": status, "headers_sent": headers, "seen": []}
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_ConstantResponse,), given))
        running.append(server)
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}", given["seen"]

    yield start_one
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "out.txt").write_text("a b c\n")
    return ["-c", str(tmp_path / "out.txt"), "-r", str(tmp_path / "out.txt"), "-m", "bleu"]


def _only_message(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("nlgauge: ")
    assert captured.err.count("\n") == 1
    return captured.err


@pytest.mark.parametrize("body", STRANGE, ids=lambda body: repr(body)[:40])
def test_an_answer_of_another_kind_of_server_is_one_error_sentence(
    body: str, serve: Any, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    address, _ = serve(body)
    assert main_quietly(["score", *files, "--server", address]) == 1
    assert f"{address} does not answer like `nlgauge serve`" in _only_message(capsys)


@pytest.mark.parametrize("status", [0, 204, 400, 401, 404, 413, 429, 500, 503])
@pytest.mark.parametrize(
    "body", ["", "<html>", '{"error": 3}', '{"error": {}}', '{"error": {"message": [1]}}', "[]"]
)
def test_an_error_of_another_kind_of_server_is_one_error_sentence(
    body: str, status: int, serve: Any, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    dated = {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}
    address, _ = serve(body, status, **dated)
    assert main_quietly(["score", *files, "--server", address]) == 1
    assert address in _only_message(capsys)


@pytest.mark.parametrize("wait", ["Wed, 21 Oct 2026 07:28:00 GMT", "nan", "-5", "1e400", "x"])
def test_any_retry_after_is_read(wait: str, serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nlgauge.service.client.sleep", lambda _: None)
    busy = '{"error": {"message": "later", "kind": "busy"}}'
    address, _ = serve(busy, 429, **{"Retry-After": wait})
    with pytest.raises(ServerError, match="is busy: later"):
        Client(address, patience=0.2).health()


@pytest.mark.parametrize("job", [{}, {"id": 3}, {"id": "x"}, {"id": "x", "state": "failed"}])
def test_an_invalid_job_is_one_error_sentence(job: dict[str, Any], serve: Any) -> None:
    address, _ = serve(json.dumps(job))
    with pytest.raises(ServerError, match="does not answer like `nlgauge serve`"):
        Client(address).score(["a"] * 600, ["a"] * 600)
    with pytest.raises(ServerError, match="does not answer like `nlgauge serve`"):
        Client(address).align("a", "b")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_takes_no_token_and_no_text_elsewhere(
    status: int, serve: Any, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    other, stolen = serve("{}")
    address, seen = serve("", status, Location=f"{other}/v1/score")
    words = ["score", *files, "--server", address, "--token", "s3cret"]
    assert main_quietly(words) == 1
    assert f"redirects to {other}/v1/score" in _only_message(capsys)
    assert (seen, stolen) == (["Bearer s3cret"], [])


@pytest.mark.parametrize("token", ["s3cret\nX: y", "s3cret\r", "s3crét"])
def test_an_unusable_token_is_refused_without_showing_it(token: str) -> None:
    with pytest.raises(UsageError, match="printable ASCII") as refused:
        Client("http://127.0.0.1:9", token=token)
    assert "s3cr" not in str(refused.value)


def main_quietly(words: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        main(words)
    return int(ended.value.code or 0)
