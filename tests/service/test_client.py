"""The client gives what the library gives, and the command prints what it prints without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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


def test_every_metrics_scores_travel(client: Client) -> None:
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
    told: list[tuple[int, int]] = []
    there = client.score(
        candidates, references, metrics="chrf", progress=lambda *pair: told.append(pair)
    )
    here = nlgauge.score(candidates, references, metrics="chrf")
    np.testing.assert_array_equal(there["chrf"].segments, here["chrf"].segments)
    assert client.health()["jobs"] == 0


def test_alignments_comparisons_and_correlations_travel(client: Client) -> None:
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
        assert "does not go with --server" in capsys.readouterr().err


def main_quietly(words: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        main(words)
    return int(ended.value.code or 0)
