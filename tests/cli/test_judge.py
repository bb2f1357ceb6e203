"""The command `nlgauge judge`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

WORDS = ("judge", "labels.csv", "--judge", "model", "--human", "anna", "ben", "carla")
FEW = ("--resamples", "50")


def test_tables_and_verdict(run) -> None:
    code, out, err = run(*WORDS, *FEW)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    heading = "coefficient judge and people 95% people 95% difference 95%"
    assert " ".join(lines[0].split()) == heading
    assert "model and 3 people; 80 rows of 40 items; interval scale" in out
    assert "alternative annotator test, epsilon 0.1, labels compared by rmse" in out
    assert lines[-1].startswith("The judge agrees with people better than people agree with each")
    found = json.loads(run(*WORDS, *FEW, "-f", "json")[1])
    assert found["verdict"] == lines[-1]
    assert found["people"] == ["anna", "ben", "carla"]
    assert found["agreement"][-1]["coefficient"] == "alpha_interval"
    assert sum(map(sum, found["confusion"])) == 80 + 80 + 72
    assert found["alternative_test"]["winning_rate"] == 1
    assert [bias["bias"] for bias in found["biases"]] == ["length"]


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "markdown", "latex", "html"])
def test_other_formats(run, format: str) -> None:
    code, out, _ = run(*WORDS, *FEW, "-f", format)
    assert code == 0
    rows = out.splitlines()
    if format == "jsonl":
        assert {json.loads(row)["statistic"] for row in rows} >= {"kappa", "omega", "length"}
    elif format in ("csv", "tsv"):
        mark = "," if format == "csv" else "\t"
        assert rows[0].split(mark) == ["statistic", "raters", "value", "low", "high", "n", "p"]
        assert len({row.count(mark) for row in rows}) == 1
    else:
        assert "The judge agrees with people better than people" in out


def test_long_tables_positions_and_files(run, tmp_path: Path) -> None:
    result = tmp_path / "judge.json"
    code, out, err = run("judge", "preferences.csv", "--judge", "model", *FEW, "-o", result)
    assert (code, out) == (0, "")
    assert "note: labels never used by model: tie." in err
    found = json.loads(result.read_text("utf-8"))
    assert (found["items"], found["rows"], found["scale"]) == (24, 48, "nominal")
    kinds = {(bias["bias"], bias["rater"]): bias["value"] for bias in found["biases"]}
    assert kinds["position", "model"] == pytest.approx(2 / 3)
    assert kinds["consistency", "anna"] == 1
    assert run("judge", "preferences.csv", "--judge", "model", *FEW, "-q")[2] == ""


def test_options(run, tmp_path: Path) -> None:
    words = (*WORDS, *FEW, "-f", "json")
    found = json.loads(run(*words, "--own", "north", "--epsilon", "0.2", "--scale", "ordinal")[1])
    assert found["alternative_test"]["epsilon"] == 0.2
    assert found["scale"] == "ordinal"
    assert [bias["bias"] for bias in found["biases"]] == ["length", "self-preference"]
    pooled = json.loads(run(*words, "--pool")[1])
    assert pooled["people"] == ["person 1", "person 2", "person 3"]
    ordered = json.loads(run(*words, "--order", "1,2,3,4,5,6")[1])
    assert ordered["labels"] == ["1", "2", "3", "4", "5", "6"]
    assert "labels never used by model: 6." in ordered["notes"]
    other = tmp_path / "other.tsv"
    other.write_text("task\twho\tstars\n1\ta\t5\n1\tm\t4\n2\ta\t3\n2\tm\t3\n", "utf-8")
    named = ("--columns", "item=task,rater=who,label=stars")
    assert run("judge", other, "--judge", "m", *named, *FEW)[0] == 0
    seeds = [run(*words, "--seed", str(seed))[1] for seed in (0, 0, 1)]
    assert seeds[0] == seeds[1] != seeds[2]


def test_the_confusion_matrix_is_drawn(run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert run(*WORDS, *FEW, "--figure", tmp_path / "c.svg")[0] == 0
    drawn = (tmp_path / "c.svg").read_text("utf-8")
    assert ">people<" in drawn
    assert ">model<" in drawn
    many = tmp_path / "many.csv"
    many.write_text("a,m\n" + "".join(f"{i},{i}\n" for i in range(25)), "utf-8")
    words = ("judge", many, "--judge", "m", "--human", "a", *FEW)
    code, out, err = run(*words, "--figure", tmp_path / "d.svg")
    assert (code, out) == (2, "")
    assert "there are 25 different labels, too many for the confusion matrix" in err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("labels.csv",), 2, "Missing option '--judge'"),
        (("labels.csv", "--judge", "model"), 2, "the only rater is the judge 'model'"),
        (("labels.csv", "--judge", "gpt", "--human", "anna"), 1, "has no column 'gpt'"),
        (("preferences.csv", "--judge", "gpt"), 2, "no rater 'gpt'; the 3 raters are: anna, ben"),
        (("absent.csv", "--judge", "model"), 1, "there is no file 'absent.csv'"),
        (("fluent.txt", "--judge", "model"), 1, "is not a table of labels"),
        ((*WORDS[1:], "--epsilon", "2"), 2, "less than or equal to 1"),
        ((*WORDS[1:], "--order", "1,2"), 1, "labels are not in the order 1, 2"),
        ((*WORDS[1:], "--columns", "candidate=a"), 2, "unknown role 'candidate'"),
        ((*WORDS[1:], "--own", "west"), 2, "no output is of system 'west'"),
        ((*WORDS[1:], "--columns", "position=system"), 1, "which is not a label"),
        ((*WORDS[1:], "-o", "c.svg"), 2, "write it with --figure c.svg"),
    ],
)
def test_errors_are_one_sentence(run, words, code: int, message: str) -> None:
    got, out, err = run("judge", *words, *FEW)
    assert (got, out) == (code, "")
    assert message in err
