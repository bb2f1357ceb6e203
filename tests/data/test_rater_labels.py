"""Tables of labels: wide and long, other names, blank cells, and what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from nlgauge.core.errors import DataError, FileError, OptionError, ShapeError
from nlgauge.data.rater_labels import RaterLabels, parse_label, read_labels


def _write(tmp_path: Path, text: str, name: str = "labels.csv") -> str:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return str(path)


def test_wide_and_long_tables_give_the_same(tmp_path: Path) -> None:
    wide = read_labels(_write(tmp_path, "item,a,b\n1,x,y\n2,,x\n"), ["a", "b"])
    rows = "item,rater,label\n1,a,x\n2,b,x\n1,b,y\n"
    long = read_labels(_write(tmp_path, rows), ["a"])
    assert wide.items == long.items == ("1", "2")
    assert wide.labels == long.labels == {"a": ("x", None), "b": ("y", "x")}
    assert wide.columns == long.columns == {}


def test_other_formats(tmp_path: Path) -> None:
    rows = [{"item": 1, "a": 3, "b": 4.5}, {"item": 2, "a": None, "b": float("nan")}]
    lines = "\n".join(map(json.dumps, rows))
    expected = {"a": ("3", None), "b": ("4.5", None)}
    assert read_labels(_write(tmp_path, lines, "l.jsonl"), ["a", "b"]).labels == expected
    assert read_labels(_write(tmp_path, json.dumps(rows), "l.json"), ["a", "b"]).labels == expected
    (tmp_path / "l.tsv.gz").write_bytes(gzip.compress(b"item\ta\tb\n1\t3\t4.5\n2\t\tnan\n"))
    assert read_labels(str(tmp_path / "l.tsv.gz"), ["a", "b"]).labels == expected


def test_columns_of_other_names_and_without_a_header(tmp_path: Path) -> None:
    path = _write(tmp_path, "task,who,stars,doc\n7,a,5,d1\n7,b,4,d1\n")
    named = "item=task,rater=who,label=stars,cluster=doc"
    found = read_labels(path, ["a"], columns=named)
    assert found.items == ("7",)
    assert found.labels == {"a": ("5",), "b": ("4",)}
    assert found.columns == {"cluster": ("d1",)}
    bare = read_labels(_write(tmp_path, "5,4\n3,3\n"), ["1", "2"], header=False)
    assert bare.labels == {"1": ("5", "3"), "2": ("4", "3")}
    assert bare.items == ("1", "2")  # rows are numbered if no column names items


def test_columns_without_a_role_are_raters(tmp_path: Path) -> None:
    found = read_labels(_write(tmp_path, "id,length,a,system,b\n1,9,x,s,y\n"))
    assert found.labels == {"a": ("x",), "b": ("y",)}
    assert found.columns == {"length": ("9",), "system": ("s",)}


def test_columns_of_systems_positions_and_lengths_are_kept(tmp_path: Path) -> None:
    table = "item,system,position,length,a\n1,s,A,10,A\n1,s,B,10,B\n1,t,A,20,B\n"
    found = read_labels(_write(tmp_path, table), ["a"])
    assert found.items == ("1", "1", "1")
    assert found.columns["position"] == ("A", "B", "A")
    assert found.columns["system"] == ("s", "s", "t")
    assert found.columns["length"] == ("10", "10", "20")


def test_an_order_of_something_else_is_not_a_position(tmp_path: Path) -> None:
    """A column `order` with running numbers would split the labels of an item."""
    table = "item,rater,label,order\n1,a,x,1\n1,b,x,2\n2,a,y,3\n2,b,x,4\n"
    found = read_labels(_write(tmp_path, table), ["a"])
    assert found.items == ("1", "2")
    assert "position" not in found.columns
    assert "column 'order' is not used: '1' does not name an output" in found.notes[0]


@pytest.mark.parametrize(
    ("value", "label"),
    [
        *((None, None), ("", None), ("  ", None), ("NaN", None), (float("nan"), None)),
        *(("N/A", None), ("none", "none"), (" x ", "x"), (True, "true"), (0, "0"), (1.5, "1.5")),
    ],
)
def test_labels_and_missing_ones(value: object, label: str | None) -> None:
    assert parse_label(value) == label


@pytest.mark.parametrize(
    ("text", "raters", "message"),
    [
        ("item,a\n1,x\n1,y\n", ["a"], "item '1' occurs twice, first in line 2"),
        ("item,rater,label\n1,a,x\n1,a,x\n", [], "'a' labelled item '1' twice, first in line 2"),
        ("item,a\n1,x\n", ["a", "b"], "no column 'b'; name the columns of the raters"),
        ("item,system\n1,x\n", [], "no column of a rater"),
        ("rater,label\na,x\n", [], "no column 'item' that says what was labelled"),
        ("item,rater,label\n1,,x\n", [], "line 2 names no rater"),
        ("item,rater,label\n,a,x\n", [], "line 2 names no item"),
        ("item,a\n", ["a"], "has no rows"),
        ("item,a\n1\n", ["a"], "1 field, but the heading names 2"),
        ("item,position,a\n1,A,A\n1,A,B\n", ["a"], "item '1' in position 'A' occurs twice"),
    ],
)
def test_invalid_tables_are_refused(tmp_path: Path, text: str, raters: list, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_labels(_write(tmp_path, text), raters)


def test_unknown_roles_and_columns(tmp_path: Path) -> None:
    path = _write(tmp_path, "item,a\n1,x\n")
    with pytest.raises(OptionError, match="unknown role 'candidate'; the roles are item, rater"):
        read_labels(path, ["a"], columns="candidate=a")
    with pytest.raises(FileError, match="no column 'doc', which is named as cluster"):
        read_labels(path, ["a"], columns="cluster=doc")
    with pytest.raises(FileError, match="is not a table of labels"):
        read_labels(_write(tmp_path, "x", "labels.txt"), ["a"])


def test_labels_in_memory() -> None:
    found = RaterLabels.of({"a": [1, None], "b": ["x", ""]}, length=[3, 4])
    assert found.labels == {"a": ("1", None), "b": ("x", None)}
    with pytest.raises(ShapeError, match="1 values of 'b', but 2 items"):
        RaterLabels.of({"a": [1, 2], "b": [1]})
    with pytest.raises(DataError, match="0 raters"):
        RaterLabels.of({})
    with pytest.raises(OptionError, match="unknown role 'rater'"):
        RaterLabels.of({"a": [1]}, rater=["x"])
