"""The command `nlgauge plan`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

PILOT = ("plan", "systems", "-c", "fluent.txt", "literal.txt", "-r", "reference.a.txt")
FORMATS = ("text", "csv", "tsv", "markdown", "latex", "html")


def test_systems_get_a_table_and_a_sentence(run) -> None:
    code, out, err = run(*PILOT, "-m", "chrf", "--difference", "2", "--sizes", "100", "400")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].split() == [*("metric", "system", "segments", "power"), *lines[0].split()[4:]]
    assert [line.split()[2] for line in lines[2:4]] == ["100", "400"]
    assert "segments give power 0.8 for a difference of 2.00; two-sided, alpha 0.05" in out
    assert "pilot: 36 segments, difference -15.61 [" in out
    assert err == ""


def test_json_has_the_numbers_of_the_table(run) -> None:
    words = (*PILOT, "-m", "chrf", "bleu", "--difference", "1", "2", "--power", ".9")
    content = json.loads(run(*words, "-f", "json")[1])
    assert (content["power"], content["alpha"]) == (0.9, 0.05)
    assert [pilot["difference_to_detect"] for pilot in content["pilots"]] == [-1, -2]
    for pilot in content["pilots"]:
        row = next(
            row
            for row in content["sizes"]
            if row["metric"] == pilot["metric"] and row["size"] == pilot["segments_needed"]
        )
        assert 0.9 <= row["power"] < 0.91
    for ink in FORMATS:
        assert str(content["pilots"][0]["segments_needed"]) in run(*words, "-f", ink)[1].replace(
            ",", "" if ink == "text" else ","
        )
    rows = list(csv.DictReader(io.StringIO(run(*words, "-f", "csv")[1])))
    assert float(rows[0]["power"]) == content["sizes"][0]["power"]


def test_clusters_are_read_from_a_file(run, tmp_path: Path) -> None:
    documents = tmp_path / "documents.txt"
    documents.write_text("".join(f"{i // 4}\n" for i in range(36)), "utf-8")
    code, out, err = run(*PILOT, "-m", "chrf", "--cluster", documents)
    assert code == 0, err
    assert "9 clusters, design effect" in out
    assert "note: the pilot has 9 independent segments or clusters" in err
    documents.write_text("a\nb\n", "utf-8")
    code, _, err = run(*PILOT, "--cluster", documents)
    assert code == 1
    assert "36" in err


def test_stored_scores_are_a_pilot(run, tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    rows = [f"{i},d{i // 5},{(i * 7) % 11},{(i * 5) % 13}" for i in range(50)]
    table.write_text("\n".join(["item,document,small,large", *rows]) + "\n", "utf-8")
    words = ("plan", "systems", table, "--scores", "small,large", "--difference", "1")
    code, out, err = run(*words, "--cluster", "document")
    assert code == 0, err
    assert "score, large against small:" in out
    assert "10 clusters, design effect" in out
    content = json.loads(run(*words, "-f", "json")[1])
    assert content["pilots"][0]["clusters"] == 50
    table.write_text("\n".join(["item,small,large", "1,2,3", "2,,5"]) + "\n", "utf-8")
    assert "lack a score" in run(*words)[2]


def test_metrics_get_a_table_for_every_two(run, judged: Path) -> None:
    pytest.importorskip("scipy")
    words = ("plan", "metrics", judged, "-m", "bleu", "chrf", "eed", "--human", "adequacy")
    code, out, err = run(*words)
    assert code == 0, err
    assert out.count("Williams's test, two-sided, alpha 0.05") == 3
    content = json.loads(run(*words, "-f", "json", "--sizes", "50")[1])
    assert [row["size"] for row in content["sizes"]] == [50] * 3
    system = run(*words, "--level", "system")
    assert system[0] == 1
    assert "at least 4 points" in system[2]


def test_power_is_drawn(run, judged: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    figure = tmp_path / "power.svg"
    assert run(*PILOT, "-m", "chrf", "bleu", "--figure", figure)[0] == 0
    assert "number of segments" in figure.read_text("utf-8")
    assert "BLEU, literal" in figure.read_text("utf-8")
    words = ("plan", "metrics", judged, "-m", "bleu", "chrf", "--human", "adequacy")
    assert run(*words, "--figure", figure)[0] == 0
    assert "number of judged outputs" in figure.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "messages"),
    [
        (("--alpha", "1.2"), "alpha is 1.2; it lies between 0 and 1"),
        (("--power", "0"), "power is 0.0; it lies between 0 and 1"),
        (("--difference", "0"), "difference to detect is 0"),
        (("--difference", "nan"), "difference to detect is nan"),
        (("--difference", "1", "2"), "2 differences for 1 metrics"),
        (("--sizes", "1"), "a size is 1"),
    ],
)
def test_impossible_plans_are_refused(run, words: tuple[str, ...], messages: str) -> None:
    code, out, err = run(*PILOT, *words)
    assert (code, out) == (2, "")
    assert messages in err


def test_bad_pilots_are_refused(run, judged: Path, tmp_path: Path) -> None:
    assert "at least 2 systems" in run(*PILOT[:4], *PILOT[5:])[2]
    same = run("plan", "systems", "-c", "fluent.txt", "fluent.txt", "-r", "reference.a.txt")
    assert same[0] != 0
    one = tmp_path / "one.txt"
    one.write_text("a\n", "utf-8")
    other = tmp_path / "other.txt"
    other.write_text("b\n", "utf-8")
    assert "1 segment has no variance" in run("plan", "systems", "-c", one, other, "-r", one)[2]
    assert "at least 2 metrics, but 1 was named" in run("plan", "metrics", judged, "-m", "chrf")[2]
    both = run("plan", "metrics", judged, "-m", "chrf", "bleu")
    assert "one criterion, but there are 2 (adequacy, fluency)" in both[2]
