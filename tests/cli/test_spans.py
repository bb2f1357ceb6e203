"""The command `nlgauge spans`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import PROJECT, SHARED
from nlgauge.cli import main

DATA = str(PROJECT / "examples" / "error_spans.jsonl")
TED = SHARED / "data" / "wmt21_ted_mqm" / "zh-en.jsonl"
OPTIONS = ("-m", "wmd:model=hashing", "--resamples", "20", "-q")


def spans(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["spans", *words])
    return int(end.value.code or 0)


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("a.txt", "metric "),
        ("a.json", "{"),
        ("a.jsonl", '{"metric"'),
        ("a.csv", "metric,f1,"),
        ("a.md", "|"),
        ("a.tex", "\\begin"),
        ("a.html", "<table"),
    ],
)
def test_every_format_has_the_metric_and_three_baselines(
    tmp_path: Path, name: str, start: str
) -> None:
    path = tmp_path / name
    assert spans(DATA, *OPTIONS, "-o", str(path)) == 0
    text = path.read_text("utf-8")
    assert text.startswith(start)
    assert all(each in text for each in ("all characters", "no characters", "lexical diff"))
    if name == "a.json":
        content = json.loads(text)
        assert content["tuned_on"] == content["tested_on"] == "6 inputs (12 texts)"
        assert content["metrics"][2]["minor"] is None


def test_a_figure_and_bad_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    figure = tmp_path / "f.png"
    assert spans(DATA, *OPTIONS, "--figure", str(figure)) == 0
    assert figure.read_bytes().startswith(b"\x89PNG")
    capsys.readouterr()
    assert spans(DATA, *OPTIONS, "--human", "mqm") == 2
    assert "--human has no effect" in capsys.readouterr().err
    assert spans(str(PROJECT / "examples" / "judged.jsonl"), *OPTIONS) == 1
    assert "have no annotated spans" in capsys.readouterr().err


def test_annotated_translations_of_talks(tmp_path: Path) -> None:
    if not TED.exists():
        pytest.skip("the MQM annotations of WMT21 TED are not there")
    part = tmp_path / "part.jsonl"
    part.write_text("\n".join(TED.read_text("utf-8").splitlines()[:390]), "utf-8")
    path = tmp_path / "a.json"
    assert spans(str(part), *OPTIONS, "-o", str(path)) == 0
    f1 = {row["metric"]: row["f1"] for row in json.loads(path.read_text("utf-8"))["metrics"]}
    assert f1["all characters"] < f1["lexical diff"]
    assert f1["all characters"] < f1["wmd:model=hashing"]
