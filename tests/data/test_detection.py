"""The layout of judgement data is guessed from names and contents, or named."""

from __future__ import annotations

import codecs
import gzip
import subprocess
import sys
from pathlib import Path

import pytest

import nlgauge.data
from nlgauge.core.errors import FileError, OptionError
from nlgauge.data import KINDS, read_judged
from nlgauge.data.detection import detect_kind

SUMMEVAL = b'{"id":"1","decoded":"d","model_id":"M","expert_annotations":[],"references":[]}'
MQM = b"System\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("wmt-daseg", ["newstest2015.human.cs-en", "newstest2015.mt-system.cs-en"]),
        ("mt-metrics-eval", ["sources/a-b.txt", "system-outputs/a-b/x.txt", "human-scores/y"]),
        ("realsumm", ["scores_dicts/abs.pkl"]),
        ("realsumm", ["ext.pkl"]),
        ("tac", ["ROUGE/peers/x", "ROUGE/models/y"]),
        ("tac", ["peers/x", "models/y"]),
        ("webnlg2020", ["submissions/rdf2text/en/t/primary.en", "e/f/english_humeval.json"]),
        ("summeval", ["model_annotations.aligned.paired.jsonl"]),
        ("novikova2017", ["emnlp_data_medians.csv"]),
    ],
)
def test_folders_are_known_by_the_names_in_them(tmp_path: Path, kind: str, names) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert detect_kind(str(tmp_path)) == kind


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.pkl", b"", "realsumm"),
        ("a.jsonl", b'{"candidate":"c"}', "rows"),
        ("a.jsonl", b"oops", "rows"),
        ("a.tsv", b"candidate\treference\n", "rows"),
        ("a.csv", b"candidate,reference\n", "rows"),
        ("a.csv", b'"dataset","sys_ref","informativeness"\n', "novikova2017"),
        ("a.jsonl", SUMMEVAL, "summeval"),
        ("a.jsonl.gz", gzip.compress(SUMMEVAL, mtime=0), "summeval"),
        ("a.jsonl", b"\n" + SUMMEVAL, "summeval"),
        ("a.jsonl", codecs.BOM_UTF8 + SUMMEVAL, "summeval"),
        ("a.tsv", codecs.BOM_UTF8 + MQM, "mqm"),
        ("a.eval", b"PK\x03\x04", "rows"),
    ],
)
def test_files_are_known_by_name_and_first_line(tmp_path, name, content, kind) -> None:
    (tmp_path / name).write_bytes(content)
    assert detect_kind(str(tmp_path / name)) == kind


def test_an_unknown_layout_is_an_error_that_lists_the_kinds(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    for path in (tmp_path, tmp_path / "a.txt"):
        with pytest.raises(FileError, match="is unknown; name it with --kind ") as caught:
            read_judged(path)
        assert all(kind in str(caught.value) for kind in KINDS)
    with pytest.raises(OptionError, match=r"unknown kind 'wmt'.*kinds: rows .*wmt-daseg"):
        read_judged(tmp_path, kind="wmt")
    with pytest.raises(FileError, match="there is no file or folder"):
        read_judged(tmp_path / "absent", kind="rows")


def test_options_a_layout_does_not_take_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"candidate":"c","reference":"r","human":1}')
    with pytest.raises(OptionError, match="kind 'rows' takes no 'part'; these do: wmt-daseg"):
        read_judged(tmp_path / "a.jsonl", part="cs-en")
    with pytest.raises(OptionError, match="takes no 'references'; these do: webnlg2020, novi"):
        read_judged(tmp_path / "a.jsonl", references="x")


def test_a_folder_of_two_such_files_is_ambiguous(tmp_path: Path) -> None:
    for name in ("model_annotations.aligned.jsonl", "model_annotations.aligned.paired.jsonl"):
        (tmp_path / name).write_bytes(SUMMEVAL)
    with pytest.raises(FileError, match=r"has 2 files model_annotations.*name the file"):
        read_judged(tmp_path)


def test_readers_are_imported_when_used() -> None:
    check = (
        "import sys\nbefore = set(sys.modules)\nimport nlgauge.data, nlgauge.data.files\n"
        "print([m for m in sorted(set(sys.modules) - before)"
        " if m in ('numpy', 'pickle', 'xml.etree.ElementTree') or m.startswith('nlgauge.data.')])"
    )
    words = [sys.executable, "-c", check]
    shown = subprocess.run(words, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == str(
        [
            f"nlgauge.data.{name}"
            for name in (
                "columns",
                "csv_records",
                "cursors",
                "encodings",
                "files",
                "json_rows",
                "urls",
            )
        ]
    )
    assert dir(nlgauge.data) == sorted(nlgauge.data.__all__)
    with pytest.raises(AttributeError, match="no attribute 'read_all'"):
        _ = nlgauge.data.read_all
