"""Shared by tests of commands: a call in process, and the example with judgements."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import PROJECT, example
from nlgauge.cli import main

SYSTEMS = ("fluent", "literal", "hasty")


@pytest.fixture(scope="session")
def judged_rows() -> list[dict]:
    """The shipped example with two criteria, one of them with gaps, and stored scores."""
    rows = []
    for k, system in enumerate(SYSTEMS):
        for i, text in enumerate(example(system)):
            human = {"adequacy": 80 - 20 * k + (7 * i) % 13}
            if i % 5:
                human["fluency"] = 70 - 9 * k + (5 * i) % 17
            references = [example(name)[i] for name in ("reference.a", "reference.b")]
            row = {"segment": i, "system": system, "candidate": text, "references": references}
            scores = {"length": len(text), "gap": abs(len(text) - len(references[0]))}
            rows.append({**row, "human": human, "scores": scores})
    return rows


@pytest.fixture(scope="session")
def judged(judged_rows: list[dict], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("judged") / "judged.jsonl"
    path.write_text("\n".join(map(json.dumps, judged_rows)), "utf-8")
    return path


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """A function that runs a command in the folder of examples: exit code, stdout, stderr."""
    monkeypatch.chdir(PROJECT / "examples")
    monkeypatch.setenv("COLUMNS", "80")

    def call(*words: str | Path) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return call
