"""nlgauge layers tune as a person meets it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

BERT, MOVER = "bertscore:model=hashing", "mover:model=hashing"
ONE = ("--human", "adequacy")


def test_metrics_are_tuned_and_tested_beside_their_defaults(run, judged: Path) -> None:
    words = ("layers", "tune", judged, "-m", BERT, MOVER, *ONE)
    code, out, err = run(*words)
    assert code == 0, err
    lines = out.splitlines()
    heads = "metric default test of default chosen tune test gain 95%"
    assert " ".join(lines[0].split()) == heads
    assert lines[2].split()[:2] == ["BERTScore", "3"]
    assert lines[3].split()[:2] == ["MoverScore", "2+3+4"]
    assert "chosen on 18 inputs (tune), then tested on 18 inputs (test); seed 0" in out
    assert "human: adequacy; segment level; pearson" in out
    assert "note: 108 rows" in err
    content = json.loads(run(*words, "-f", "json")[1])
    first, second = content["layers"]
    for entry in (first, second):
        assert entry["tune"] == max(row["tune"] for row in entry["tried"])
        assert entry["gain"] == pytest.approx(entry["test"] - entry["default_test"])
        assert entry["low"] <= entry["high"]
    assert (len(first["tried"]), len(second["tried"])) == (5, 10)
    assert [row["test"] is None for row in second["tried"]].count(False) == 1
    rows = list(csv.DictReader(io.StringIO(run(*words, "-f", "tsv")[1]), delimiter="\t"))
    assert [row["layers"] for row in rows[:5]] == ["0", "1", "2", "3", "4"]
    assert rows[6]["layers"] == "1-2"


def test_every_criterion_has_a_table_and_runs_may_be_short(run, judged: Path) -> None:
    code, out, _ = run("layers", "tune", judged, "-m", MOVER, "--longest", "1", "--seed", "3")
    assert code == 0
    assert out.count("test of default") == 2
    assert "human: fluency" in out
    content = json.loads(
        run("layers", "tune", judged, "-m", MOVER, "--longest", "1", *ONE, "-f", "json")[1]
    )
    assert [row["layers"] for row in content["layers"][0]["tried"]] == [1, 2, 3, 4]


def test_curves_and_maps_are_drawn(run, judged: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    curves, maps = tmp_path / "curves.svg", tmp_path / "maps.svg"
    wmd = "wmd:model=hashing"
    assert run("layers", "tune", judged, "-m", BERT, wmd, *ONE, "--figure", curves)[0] == 0
    drawn = curves.read_text("utf-8")
    assert "segment-level pearson" in drawn
    assert "layer" in drawn
    assert run("layers", "tune", judged, "-m", MOVER, "--figure", maps)[0] == 0
    drawn = maps.read_text("utf-8")
    assert "first layer" in drawn
    assert "box: chosen, test" in drawn
    assert "fluency" in drawn


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("J", "-m", "chrf"), 2, "chrf has no layers to tune"),
        (("J", "-m", f"{BERT},layer=2"), 2, "layer=2 is set in the metric and swept as well"),
        (("J", "-m", BERT, MOVER, "--figure", "a.svg"), 2, "name one kind with --figure"),
        (("J", "-m", BERT, "--figure", "a.txt"), 2, "cannot draw to 'a.txt'"),
        (("J", "-m", BERT, "--human", "style"), 2, "nobody judged 'style'"),
        (("J", "-m", BERT, BERT), 2, "is named 2 times"),
        (("absent.jsonl", "-m", BERT), 1, "no file or folder 'absent.jsonl'"),
    ],
)
def test_mistakes_get_one_clear_sentence(run, judged: Path, words, code: int, message: str) -> None:
    got, out, err = run("layers", "tune", *(judged if word == "J" else word for word in words))
    assert (got, out) == (code, "")
    assert message in err
