"""The command `nlgauge interpret`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

COMPARED = ("compare", "-c", "fluent.txt", "hasty.txt", "-m", "chrf", "--resamples", "20", "-r")
BOTH = ("reference.a.txt", "reference.b.txt")


@pytest.fixture
def calibrations(run, judged: Path, tmp_path: Path) -> Path:
    path = tmp_path / "calibrations.json"
    words = ("-m", "chrf", "ter", "--human", "adequacy", "--resamples", "30", "-o", path)
    assert run("interpret", judged, *words)[:2] == (0, "")
    return path


def test_the_table_has_the_probability_that_people_agree(run, judged: Path) -> None:
    words = ("interpret", judged, "-m", "chrf", "--human", "adequacy", "--resamples", "30")
    code, out, err = run(*words, "--level", "text", "--difference", "2", "-20")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].split()[:3] == ["metric", "level", "difference"]
    assert [line.split()[2] for line in lines[2:4]] == ["+2.00", "-20.00"]
    assert "108 pairs of judged.jsonl, human: adequacy; people agree with" in out
    content = json.loads(run(*words, "--level", "text", "--difference", "2", "-f", "json")[1])
    (row,) = content["preferences"]
    assert 0.5 <= row["low"] <= row["probability"] <= row["high"] <= 1
    percent = f"{100 * row['probability']:.0f}"
    for ink in ("text", "markdown", "latex", "html"):
        assert percent in run(*words, "--level", "text", "--difference", "2", "-f", ink)[1]
    for ink, mark in (("csv", ","), ("tsv", "\t")):
        text = run(*words, "--level", "text", "--difference", "2", "-f", ink)[1]
        (cells,) = csv.DictReader(io.StringIO(text), delimiter=mark)
        assert float(cells["probability"]) == row["probability"]


def test_a_stored_calibration_is_used_without_the_data(run, calibrations: Path) -> None:
    words = ("interpret", calibrations, "--difference", "1.3")
    code, out, err = run(*words)
    assert code == 0, err
    assert out.count("+1.30") == 4
    content = json.loads(run(*words, "-m", "chrf", "--level", "system", "-f", "json")[1])
    (row,) = content["preferences"]
    assert (row["metric"], row["level"]) == ("chrf", "system")
    assert content["calibrations"][0]["data"] == "judged.jsonl"
    assert run("interpret", calibrations)[0] == 0


def test_a_comparison_is_interpreted(run, calibrations: Path, tmp_path: Path) -> None:
    compared = tmp_path / "compared.json"
    assert run(*COMPARED, *BOTH, "-o", compared)[0] == 0
    code, out, err = run("interpret", calibrations, "--comparison", compared)
    assert code == 0, err
    assert out.splitlines()[2].split()[:3] == ["hasty", "chrF", "system"]
    assert run(*COMPARED, BOTH[0], "-o", compared)[0] == 0
    code, out, err = run("interpret", calibrations, "--comparison", compared)
    assert (code, out) == (2, "")
    assert "another signature than the scores: nrefs: 2 and 1" in err


def test_differences_without_a_calibration_are_refused(run, calibrations: Path) -> None:
    refused = run("interpret", calibrations, "--human", "adequacy", "--fit", "logistic")
    assert refused[0] == 2
    assert "contains fitted calibrations; leave out --human, --fit" in refused[2]
    assert "no such calibration" in run("interpret", calibrations, "-m", "bleu")[2]
    assert "no level 'word'" in run("interpret", calibrations, "--level", "word")[2]
    both = run("interpret", calibrations, "--comparison", "x.json", "--difference", "1")
    assert "leave out --difference" in both[2]
    assert "there is no file" in run("interpret", calibrations, "--comparison", "x.json")[2]
    wrong = run("interpret", calibrations, "-m", "chrf", "--signature", "chrf|nrefs:1")
    assert "another signature" in wrong[2]
    assert "give a finite number" in run("interpret", calibrations, "--difference", "inf")[2]
    calibrations.write_text(calibrations.read_text("utf-8").replace("direction", "way"), "utf-8")
    assert (
        "not a calibration of nlgauge interpret: 'direction'" in run("interpret", calibrations)[2]
    )


def test_probabilities_are_drawn(run, calibrations: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    figure = tmp_path / "curve.svg"
    assert run("interpret", calibrations, "--figure", figure)[0] == 0
    drawn = figure.read_text("utf-8")
    assert "improvement in chrF" in drawn
    assert "TER, system level" in drawn


def test_the_figure_of_a_comparison_is_drawn(run, calibrations: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    compared, figure = tmp_path / "compared.json", tmp_path / "curve.svg"
    run(*COMPARED, *BOTH, "-o", compared)
    words = ("interpret", calibrations, "--comparison", compared, "--figure", figure)
    assert run(*words)[0] == 0
    assert "chrF, system level" in figure.read_text("utf-8")
