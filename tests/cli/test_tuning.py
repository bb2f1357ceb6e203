"""The command `nlgauge tune`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

BERT, MOVER = "bertscore:model=hashing", "mover:model=hashing"
ONE = ("--human", "adequacy")
WORDS = ("chrf", "char_order=2..4", "--human", "adequacy")


def test_every_value_is_tuned_and_one_is_tested(run, judged: Path) -> None:
    code, out, err = run("tune", judged, *WORDS)
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].split() == ["char_order", "tune", "↑", "test"]
    assert [len(line.split()) for line in lines[2:5]].count(3) == 1
    assert "chosen on 18 inputs (tune), then tested on 18 inputs (test); seed 0" in out
    assert "human: adequacy; segment level; pearson" in out
    assert "note: 108 rows" in err
    content = json.loads(run("tune", judged, *WORDS, "-f", "json")[1])
    (swept,) = content["tuned"]
    assert len(swept["tried"]) == 3
    assert swept["default"] == {"char_order": "6"}
    assert swept["gain"] == pytest.approx(swept["test"] - swept["default_test"])
    assert swept["low"] <= swept["gain"] <= swept["high"]
    assert f"default char_order=6: test {swept['default_test']:.3f}; gain" in out
    assert swept["tune"] == max(row["tune"] for row in swept["tried"])
    rows = list(
        csv.DictReader(io.StringIO(run("tune", judged, *WORDS, "-f", "tsv")[1]), delimiter="\t")
    )
    assert [float(row["tune"]) for row in rows] == [row["tune"] for row in swept["tried"]]


def test_another_seed_or_fraction_changes_the_split(run, judged: Path) -> None:
    out = run("tune", judged, *WORDS, "--fraction", ".25", "--seed", "5")[1]
    assert "chosen on 9 inputs (tune), then tested on 27 inputs (test); seed 5" in out


def test_an_undefined_coefficient_of_the_test_part_is_reported(run, judged: Path) -> None:
    words = ("tune", judged, *WORDS, "--split", "systems", "--level", "text", "--fraction", ".6")
    code, out, err = run(*words, "-f", "json")
    assert code == 0
    (swept,) = json.loads(out)["tuned"]
    assert (swept["tuned_on"], swept["test"]) == ("2 systems (tune)", None)
    assert "adequacy: undefined on the test part: 1 judged system" in err


def test_a_curve_and_a_surface_are_drawn(run, judged: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    line, plane = tmp_path / "curve.svg", tmp_path / "surface.svg"
    assert run("tune", judged, "chrf", "beta=.5,1,2", "--figure", line)[0] == 0
    drawn = line.read_text("utf-8")
    assert "segment-level pearson" in drawn
    assert "fluency" in drawn
    code, out, _ = run("tune", judged, *WORDS, "beta=1,2", "--figure", plane)
    assert code == 0
    assert "box: chosen, test" in plane.read_text("utf-8")
    assert len([line for line in out.splitlines() if line[:1].isdecimal()]) == 6


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("chrf", "beta=1,2"), 2, "the data comes before the metric: nlgauge tune DATA chrf"),
        (("J", "chrf"), 2, "no options are to be tried"),
        (("J", "chrf", "beta"), 2, "'beta' is not of the form option=values"),
        (("J", "chrf", "beta=1,2", "beta=3,4"), 2, "'beta' is named twice"),
        (("J", "chrf", "beta=2..1"), 2, "ends at 1 but starts at 2"),
        (("J", "chrf", "bta=1,2"), 2, "did you mean 'beta'?"),
        (("J", "chrf", "beta=1,2", "--fraction", "1"), 2, "fraction is 1.0"),
        (("J", "chrf", "beta=1,2", "--human", "style"), 2, "nobody judged 'style'"),
        (("J", "chrf", "beta=1,2", "--level", "word"), 2, "there is no level 'word'"),
        (
            ("J", "chrf", "beta=1,2", "char_order=1,2", "word_order=0,1", "--figure", "a.svg"),
            2,
            "not 3",
        ),
        (("J", f"{BERT},layer=2"), 2, "layer=2 is set in the metric and tuned as well"),
        (("J", BERT, "layer=runs"), 2, "bertscore uses one layer"),
        (("J", BERT, "--figure", "a.txt"), 2, "cannot draw to 'a.txt'"),
        (("absent.jsonl", "chrf", "beta=1,2"), 1, "no file or folder 'absent.jsonl'"),
    ],
)
def test_errors_are_one_sentence(run, judged: Path, words, code: int, message: str) -> None:
    got, out, err = run("tune", *(judged if word == "J" else word for word in words))
    assert (got, out) == (code, "")
    assert message in err


def test_without_options_the_layers_are_tuned(run, judged: Path) -> None:
    code, out, err = run("tune", judged, BERT, *ONE)
    assert code == 0, err
    assert [line.split()[0] for line in out.splitlines()[2:7]] == ["0", "1", "2", "3", "4"]
    assert "default layer=3: test" in out
    content = json.loads(run("tune", judged, MOVER, *ONE, "-f", "json")[1])
    assert [row["layers"] for row in content["tuned"][0]["tried"]][:3] == [1, "1-2", "1-3"]
    content = json.loads(run("tune", judged, MOVER, "layers=runs:1", *ONE, "-f", "json")[1])
    assert [row["layers"] for row in content["tuned"][0]["tried"]] == [1, 2, 3, 4]


def test_every_criterion_has_a_table_and_large_grids_show_the_best(run, judged: Path) -> None:
    words = ("tune", judged, "chrf", "char_order=1..6", "word_order=0..2", "beta=.5,1,2")
    code, out, _ = run(*words)
    assert code == 0
    assert out.count("the best 40 of 54 combinations") == 2
    assert "human: fluency" in out
    best = float(out.splitlines()[2].split()[3].rstrip("*"))
    assert all(float(line.split()[3]) <= best for line in out.splitlines()[3:42])
    rows = run(*words, *ONE, "-f", "tsv")[1].splitlines()
    assert len(rows) == 55


def test_runs_of_layers_are_drawn_as_a_map(run, judged: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    maps = tmp_path / "maps.svg"
    assert run("tune", judged, MOVER, "--figure", maps)[0] == 0
    drawn = maps.read_text("utf-8")
    assert "first layer" in drawn
    assert "box: chosen, test" in drawn
    assert "fluency" in drawn
