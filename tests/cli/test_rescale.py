"""The command `nlgauge rescale fit`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SPEC = "bertscore:model=hashing"


def test_a_baseline_is_fitted_written_and_used(run, tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    words = ("rescale", "fit", "reference.a.txt", "-m", SPEC, "--pairs", "100", "--seed", "2")
    code, out, err = run(*words, "-o", file)
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split() == ["bertscore", "baseline", "standard", "error"]
    assert "100 pairs of 36 texts; seed 2" in out
    assert "model hashing (none), layer=3, ngram=1, weights=uniform" in out
    content = json.loads(file.read_text("utf-8"))
    assert (content["pairs"], content["seed"], content["settings"]["layer"]) == (100, 2, "3")
    scored = ("score", "-c", "fluent.txt", "-r", "reference.a.txt", "-f", "json", "-m")
    values = []
    for spec in (SPEC, f"{SPEC},baseline={file}"):
        (entry,) = json.loads(run(*scored, spec)[1])["scores"]
        values.append(entry["value"])
    mean = content["mean"]["f"]
    assert values[1] == pytest.approx((values[0] - mean) / (1 - mean))
    code, _, err = run(*scored, f"{SPEC},layer=1,baseline={file}")
    assert code == 2
    assert "was fitted with layer=3, but the metric has layer=1; fit one for it: nlgauge" in err
    assert "-m bertscore:model=hashing,layer=1 -o FILE" in err


def test_a_table_gives_its_first_references_and_few_pairs_are_reported(run, judged: Path) -> None:
    code, out, err = run("rescale", "fit", judged, "-m", SPEC)
    assert code == 0
    assert "630 pairs of 36 texts" in out  # each once, though three systems share it
    assert "note: 36 different texts make 630 pairs, fewer than the 10,000 requested" in err
    assert run("rescale", "fit", judged, "-m", SPEC, "-q")[2] == ""


def test_a_table_of_texts_is_read(run, tmp_path: Path) -> None:
    table = tmp_path / "texts.jsonl"
    rows = [{"text": text} for text in ("a cat sat", "rain fell", "the sun", "two dogs")]
    table.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert "6 pairs of 4 texts" in run("rescale", "fit", table, "-m", SPEC)[1]
    table.write_text('{"body": "a"}\n', "utf-8")
    code, _, err = run("rescale", "fit", table, "-m", SPEC)
    assert code == 1
    assert "line 1 has no column 'text' (accepted: text, references" in err
    table.write_text('{"text": 3}\n', "utf-8")
    assert "text is 3, not a text or a list of texts" in run("rescale", "fit", table)[2]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("absent.txt",), 1, "absent.txt"),
        (("reference.a.txt", "-m", "chrf"), 2, "chrf has no option 'baseline' to fit"),
        (("reference.a.txt", "-m", SPEC, "-o", "no/such/folder.json"), 1, "cannot write"),
        (("reference.a.txt", "-m", SPEC, "-o", "x.foo"), 2, "known endings are .json"),
    ],
)
def test_errors_are_one_sentence(run, words, code: int, message: str) -> None:
    got, out, err = run("rescale", "fit", *words)
    assert (got, out) == (code, "")
    assert message in err
