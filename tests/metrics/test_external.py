"""Scores of an external program are used if valid; its errors are quoted."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from conftest import NEED_OPTIONS
from nlgauge import Scorer, score
from nlgauge.core.errors import ModelError, OptionError

SPEC = NEED_OPTIONS["external"]


def _program(folder: Path, body: str) -> str:
    file = folder / "metric.py"
    file.write_text("import json, sys\n" + body)
    return f"external:command={shlex.quote(sys.executable)} {shlex.quote(str(file))}"


def test_scores_and_version_come_from_the_program() -> None:
    (scores,) = score(["a b", "", "x"], ["a c", "a", ["y", "x"]], metrics=SPEC).values()
    assert scores.segments.tolist() == [1 / 3, 0.0, 1.0]
    assert scores.signature["external_version"] == "1.0"
    assert scores.signature["external_name"] == "words of references"
    assert any("nothing to compare" in warning for warning in scores.warnings)


def test_thousands_of_rows_pass_through_without_blocking() -> None:
    texts = [f"word{i} " * 200 for i in range(700)]
    (scores,) = score(texts, texts, metrics=SPEC).values()
    assert scores.value == 1.0


def test_a_distance_is_declared_by_options(tmp_path: Path) -> None:
    body = (
        "print(json.dumps({'version': '2|3'}), flush=True)\n"
        "for line in sys.stdin:\n"
        "    if line.strip(): print(json.dumps({'score': 7}), flush=True)\n"
    )
    spec = _program(tmp_path, body) + ",direction=lower,high=10"
    (scores,) = Scorer(spec).score(["a"], ["b"]).values()
    assert scores.value == 7
    assert scores.scale.direction == "lower"
    assert scores.signature["external_version"] == "2%7C3"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit('no GPU here')", r"ended with exit code 1: no GPU here"),
        ("print('hello', flush=True)", r"wrote 'hello', not a JSON object"),
        ("print('{}', flush=True)", r"must first write"),
        ("print('{\"version\": 1}', flush=True); sys.stdin.readline()", "ended with exit code 0"),
        (
            "print('{\"version\": 1}', flush=True); sys.stdin.readline();"
            " print('{\"score\": null}', flush=True)",
            'must answer {"score": number}',
        ),
        (
            "print('{\"version\": 1}', flush=True); sys.stdin.readline();"
            " print('{\"score\": 3}', flush=True)",
            "gave 3, outside of low=0 to high=1",
        ),
    ],
)
def test_a_program_that_fails_is_quoted(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        score(["a"], ["b"], metrics=_program(tmp_path, body))


def test_scores_after_an_error_are_those_of_their_rows(tmp_path: Path) -> None:
    body = (
        "print(json.dumps({'version': 1}), flush=True)\n"
        "for line in filter(str.strip, sys.stdin):\n"
        "    text = json.loads(line)['candidate']\n"
        "    print(json.dumps({'score': None if text == 'x' else len(text) / 10}), flush=True)\n"
    )
    spec = _program(tmp_path, body)
    with pytest.raises(ModelError, match="must answer"):
        score(["x", "three", "three"], ["a"] * 3, metrics=spec)
    (scores,) = score(["a", "bb"], ["a"] * 2, metrics=spec).values()
    assert scores.segments.tolist() == [0.1, 0.2]


def test_a_program_must_be_named_and_exist() -> None:
    with pytest.raises(OptionError, match="external needs a program"):
        score(["a"], ["b"], metrics="external")
    with pytest.raises(ModelError, match="cannot be started"):
        score(["a"], ["b"], metrics="external:command=/no/such/program")
    with pytest.raises(OptionError, match=r"low=2\.0 must be below high=1\.0"):
        score(["a"], ["b"], metrics="external:command=x,low=2")
