"""Formats of output files: the ending of -o chooses, contradictions are errors."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

SCORE = ("score", "-c", "fluent.txt", "hasty.txt", "-r", "reference.a.txt")
STARTS = {
    ".csv": "system,bleu\nfluent,",
    ".tsv": "system\tbleu\nfluent\t",
    ".json": '{\n  "scores": [',
    ".jsonl": '{"metric": "bleu", "system": "fluent"',
    ".md": "| system | BLEU ↑ |",
    ".tex": "\\begin{tabular}{lr}",
    ".html": "<table>",
    ".txt": "system  BLEU ↑",
}


@pytest.mark.parametrize("ending", STARTS)
def test_the_ending_chooses_the_format(run, tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"scores{ending}"
    assert run(*SCORE, "-m", "bleu", "-o", file)[0] == 0
    assert file.read_text("utf-8").startswith(STARTS[ending])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-o", "x.xlsx"), "known endings are .txt, .json, .jsonl, .csv, .tsv, .md, .tex, .html"),
        (("-o", "x.CSV"), "known endings are"),
        (
            ("-f", "csv", "-o", "x.tsv"),
            "-f csv contradicts the ending of 'x.tsv', which is for tsv",
        ),
        (("-f", "json", "-o", "x.png"), "names a figure, but here -o writes .txt, .json, "),
    ],
)
def test_unknown_formats_are_refused_before_scoring(run, words, message: str) -> None:
    code, out, err = run(*SCORE, "-m", "bleu", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert not Path(words[-1]).exists()


def test_a_figure_contradicts_a_format(run, judged: Path) -> None:
    code, _, err = run("matrix", judged, "-m", "bleu", "chrf", "-f", "csv", "-o", "x.svg")
    assert code == 2
    assert "-f csv contradicts the ending of 'x.svg', which is for figure" in err


def test_a_format_may_have_any_other_ending(run, tmp_path: Path) -> None:
    for name in ("scores.dat", "scores"):
        file = tmp_path / name
        assert run(*SCORE, "-m", "bleu", "-f", "csv", "-o", file)[0] == 0
        assert file.read_text("utf-8").startswith(STARTS[".csv"])


def test_mbr_refuses_a_contradiction(run) -> None:
    words = ("mbr", "fluent.txt", "--samples", "2", "-m", "chrf", "-f", "text", "-o", "x.jsonl")
    code, _, err = run(*words)
    assert code == 2
    assert "-f text contradicts the ending of 'x.jsonl', which is for jsonl" in err


def test_every_number_has_a_column_of_its_own_in_csv(run) -> None:
    words = (*SCORE, "-m", "bleu", "chrf", "--confidence", "--resamples", "50", "-f", "csv")
    first, _ = csv.DictReader(io.StringIO(run(*words)[1]))
    names = ["bleu", "bleu.low", "bleu.high", "chrf", "chrf.low", "chrf.high"]
    assert list(first) == ["system", *names]
    assert float(first["bleu.low"]) < float(first["bleu"]) < float(first["bleu.high"])
    words = (*SCORE, "-m", "ter", "--paired", "bootstrap", "--resamples", "50", "-f", "csv")
    baseline, other = csv.DictReader(io.StringIO(run(*words)[1]))
    assert baseline["ter.p"] == ""
    assert 0 <= float(other["ter.p"]) <= 1


def test_verbose_shows_the_details_of_scores(run) -> None:
    code, out, err = run(*SCORE, "-m", "bleu", "ter", "rouge", "nist", "-v")
    assert code == 0, err
    lines = [" ".join(line.split()) for line in out.splitlines()]
    heading = "BLEU precision 1 precision 2 precision 3 precision 4 brevity penalty"
    assert f"{heading} candidate length reference length" in lines
    assert "TER edits reference length" in lines
    assert "ROUGE-L precision recall" in lines
    assert not any(line.startswith("NIST") for line in lines)
    content = json.loads(run(*SCORE, "-m", "bleu", "ter", "-f", "json")[1])
    for entry in content["scores"]:
        shown = [line for line in lines if line.startswith(f"{entry['system']} ")]
        expected = [
            f"{v:.4f}" if isinstance(v, float) else str(v) for v in entry["details"].values()
        ]
        assert f"{entry['system']} {' '.join(expected)}" in shown
    row = next(csv.DictReader(io.StringIO(run(*SCORE, "-m", "ter", "-v", "-f", "csv")[1])))
    assert list(row) == ["system", "ter", "ter.edits", "ter.reference_length"]


def test_runs_in_parts_have_the_same_details(run, tmp_path: Path) -> None:
    words = (*SCORE, "-m", "bleu", "chrf", "ter", "-f", "json")
    whole = json.loads(run(*words)[1])["scores"]
    pooled = json.loads(run(*words, "--parts", tmp_path / "out", "--part-rows", "7")[1])["scores"]
    for one, other in zip(whole, pooled, strict=True):
        assert one["details"] == pytest.approx(other["details"], rel=1e-12)
        assert len(one["details"]) >= 2


def test_segments_as_csv(run) -> None:
    out = run(*SCORE, "-m", "chrf++", "rouge", "--segments", "-f", "csv")[1]
    assert out.startswith("system,segment,chrf++,rouge,rouge.precision,rouge.recall\nfluent,0,")
