"""nlgauge sweep as a person meets it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

WORDS = ("chrf", "char_order=2..4", "--human", "adequacy")


def test_every_value_is_tuned_and_one_is_tested(run, judged: Path) -> None:
    code, out, err = run("sweep", judged, *WORDS)
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].split() == ["char_order", "tune", "↑", "test"]
    assert [len(line.split()) for line in lines[2:5]].count(3) == 1
    assert "chosen on 18 inputs (tune), then tested on 18 inputs (test); seed 0" in out
    assert "human: adequacy; segment level; pearson" in out
    assert "note: 108 rows" in err
    content = json.loads(run("sweep", judged, *WORDS, "-f", "json")[1])
    (swept,) = content["sweeps"]
    assert len(swept["tried"]) == 3
    assert swept["tune"] == max(row["tune"] for row in swept["tried"])
    rows = list(
        csv.DictReader(io.StringIO(run("sweep", judged, *WORDS, "-f", "tsv")[1]), delimiter="\t")
    )
    assert [float(row["tune"]) for row in rows] == [row["tune"] for row in swept["tried"]]


def test_another_seed_and_fraction_split_otherwise(run, judged: Path) -> None:
    out = run("sweep", judged, *WORDS, "--fraction", ".25", "--seed", "5")[1]
    assert "chosen on 9 inputs (tune), then tested on 27 inputs (test); seed 5" in out


def test_a_test_part_without_a_number_is_said(run, judged: Path) -> None:
    words = ("sweep", judged, *WORDS, "--split", "systems", "--level", "text", "--fraction", ".6")
    code, out, err = run(*words, "-f", "json")
    assert code == 0
    (swept,) = json.loads(out)["sweeps"]
    assert (swept["tuned_on"], swept["test"]) == ("2 systems (tune)", None)
    assert "adequacy: undefined on the test part: 1 judged system" in err


def test_a_curve_and_a_surface_are_drawn(run, judged: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    line, plane = tmp_path / "curve.svg", tmp_path / "surface.svg"
    assert run("sweep", judged, "chrf", "beta=.5,1,2", "--figure", line)[0] == 0
    drawn = line.read_text("utf-8")
    assert "segment-level pearson" in drawn
    assert "fluency" in drawn
    code, out, _ = run("sweep", judged, *WORDS, "beta=1,2", "--figure", plane)
    assert code == 0
    assert "box: chosen, test" in plane.read_text("utf-8")
    assert len([line for line in out.splitlines() if line[:1].isdecimal()]) == 6


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("chrf", "beta=1,2"), 2, "the data comes before the metric: nlgauge sweep DATA chrf"),
        (("J", "chrf"), 2, "0 options are to be tried"),
        (("J", "chrf", "beta"), 2, "'beta' is not of the form option=values"),
        (("J", "chrf", "beta=1,2", "beta=3,4"), 2, "'beta' is named twice"),
        (("J", "chrf", "beta=2..1"), 2, "ends at 1 but starts at 2"),
        (("J", "chrf", "bta=1,2"), 2, "did you mean 'beta'?"),
        (("J", "chrf", "beta=1,2", "--fraction", "1"), 2, "fraction is 1.0"),
        (("J", "chrf", "beta=1,2", "--human", "style"), 2, "nobody judged 'style'"),
        (("J", "chrf", "beta=1,2", "--level", "word"), 2, "there is no level 'word'"),
        (("absent.jsonl", "chrf", "beta=1,2"), 1, "no file or folder 'absent.jsonl'"),
    ],
)
def test_mistakes_get_one_clear_sentence(run, judged: Path, words, code: int, message: str) -> None:
    got, out, err = run("sweep", *(judged if word == "J" else word for word in words))
    assert (got, out) == (code, "")
    assert message in err
