"""The command `nlgauge darr`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

WORDS = ("-m", "bleu", "chrf", "--human", "adequacy")


def test_pairs_are_made_of_assessments(run, judged: Path, tmp_path: Path) -> None:
    code, out, err = run("darr", judged, *WORDS, "--confidence", "--resamples", "50")
    assert code == 0, err
    heading = ["metric", "tau", "↑", "95%", "concordant", "discordant", "ties", "missing"]
    assert out.splitlines()[0].split() == heading
    assert "intervals: bootstrap over segments" in out
    assert "differ by 25 or more in 'adequacy'" in err
    content = json.loads(run("darr", judged, *WORDS, "-f", "json")[1])
    for row in content["metrics"]:
        assert row["concordant"] + row["discordant"] == content["pairs"]
    lower = json.loads(run("darr", judged, *WORDS, "-f", "json", "--threshold", "10")[1])
    assert lower["pairs"] > content["pairs"]
    assert "bleu\t" in run("darr", judged, *WORDS, "-f", "tsv")[1]
    pytest.importorskip("matplotlib")
    assert run("darr", judged, *WORDS, "--figure", tmp_path / "d.svg")[0] == 0
    assert "Kendall-like tau (daRR)" in (tmp_path / "d.svg").read_text("utf-8")


def test_pairs_may_come_from_a_file_of_several_languages(run, judged: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "RR-seglevel.csv"
    pairs.write_text(
        "LP,SID,BETTER,WORSE\nxx-en,1,fluent,hasty\nxx-en,2,hasty,fluent\nyy-en,1,a,b\n"
    )
    words = ("darr", judged, "-m", "chrf", "--pairs", pairs)
    content = json.loads(run(*words, "--pairs-part", "xx-en", "-f", "json")[1])
    assert (content["pairs"], content["metrics"][0]["tau"]) == (2, 0.0)
    code, _, err = run(*words)
    assert code == 2
    assert "2 language pairs (xx-en, yy-en)" in err
    code, _, err = run(*words, "--pairs-part", "yy-en")
    assert code == 1
    assert "all of a, b among them" in err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("-m", "chrf"), 2, "2 criteria (adequacy, fluency)"),
        (("--human", "adequacy", "--human", "fluency"), 2, "name --human once"),
        (("--human", "adequacy", "--pairs", "p.tsv"), 2, "--human has no effect"),
        (("--human", "adequacy", "--pairs-part", "x"), 2, "name it with --pairs"),
        (("--human", "adequacy", "--threshold", "99"), 1, "no two outputs for one segment differ"),
        (("--human", "style"), 2, "nobody judged 'style'"),
        (("--human", "adequacy", "--without", "fluent", "--without", "hasty"), 1, "(1 systems"),
        (("--pairs", "absent.tsv"), 1, "there is no file 'absent.tsv'"),
    ],
)
def test_errors_are_one_sentence(run, judged: Path, words, code: int, message: str) -> None:
    got, out, err = run("darr", judged, *words)
    assert (got, out) == (code, "")
    assert message in err


def test_wmt18_czech(run, shared_data: Path) -> None:
    data = shared_data / "wmt18_darr" / "cs-en.jsonl.gz"
    found = json.loads(run("darr", data, "-m", "bleu", "--human", "da_raw", "-f", "json")[1])
    assert found["pairs"] == 5110
    assert found["metrics"][0]["tau"] == pytest.approx(0.225, abs=0.003)
