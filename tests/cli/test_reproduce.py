"""The command `nlgauge reproduce`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import example


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [
        {"segment": i, "system": name, "candidate": example(name)[i]}
        | {"references": [example("reference.a")[i]], "human": {"da_raw": 50}}
        for i in range(3)
        for name in ("fluent", "hasty")
    ]
    folder = tmp_path / "wmt18_darr"
    (folder / "pairs").mkdir(parents=True)
    (folder / "cs-en.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    pairs = "segment\tbetter\tworse\n0\tfluent\thasty\n1\tfluent\thasty\n"
    (folder / "pairs" / "cs-en.darr.tsv").write_text(pairs, "utf-8")
    return tmp_path


def test_reproduce_prints_the_table_and_writes_the_folder(run, data: Path) -> None:
    folder = data / "out"
    words = ("lazy_emd", "--data", data, "-o", folder, "--model", "hashing")
    code, out, err = run("reproduce", *words)
    assert code == 0, err
    assert "cs-en (2 pairs) ↑  published" in out
    assert "Ours: computed here; model: hashing." in out
    assert "Missing in the data folder" in out
    assert "wmt18_darr/tr-en.jsonl" in out
    assert "note: WMT18 cs-en: 2 pairs of 2 systems on 2 segments" in err
    assert json.loads((folder / "summary.json").read_text("utf-8"))["recipe"] == "lazy_emd"
    assert r"\begin{tabular}" in (folder / "darr.tex").read_text("utf-8")
    assert "| SENTBLEU |" in (folder / "darr.md").read_text("utf-8")
    assert run("reproduce", *words, "-q")[2] == ""


def test_reproduce_refuses_unknown_papers_and_missing_data(run, tmp_path: Path) -> None:
    code, _, err = run("reproduce", "barry", "--data", tmp_path, "-o", tmp_path)
    assert code == 2
    assert err == (
        "nlgauge: there is no recipe 'barry'; the recipes are: bary, benchmark, infolm, lazy_emd, "
        "mover\n"
    )
    code, _, err = run("reproduce", "bary", "--data", tmp_path, "-o", tmp_path)
    assert code == 1
    assert "wmt15_da/cs-en.jsonl" in err
    file = tmp_path / "file"
    file.write_text("", "utf-8")
    code, _, err = run("reproduce", "bary", "--data", file, "-o", tmp_path)
    assert code == 1
    assert "there is no folder" in err
    code, _, err = run("reproduce", "bary", "--data", tmp_path, "-o", file)
    assert code == 2
    assert "is a file; -o names the folder" in err
