"""Tables of stored scores: what is a system, an item and a cluster, and what is an error."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nlgauge.core.errors import DataError, FileError, OptionError, UsageError
from nlgauge.data.columns import Columns
from nlgauge.data.score_tables import SCORE, ScoreTable, read_score_tables

WIDE = "item,document,small,large\na,d1,0,1\nb,d1,1,1\nc,d2,0,0\n"
LONG = "system,item,acc,wer\nx,a,1,.5\nx,b,0,.25\ny,b,1,.5\ny,a,1,0\n"


def read(folder: Path, text: str, names: str, name: str = "t.csv", **options) -> ScoreTable:
    (folder / name).write_text(text, "utf-8")
    return read_score_tables([str(folder / name)], names.split(","), **options)


def test_columns_of_a_table_without_systems_are_systems(tmp_path: Path) -> None:
    found = read(tmp_path, WIDE, "small,large", cluster="document")
    assert found.wide
    assert found.systems == ("small", "large") * 3
    assert found.ids == ("a", "a", "b", "b", "c", "c")
    assert found.clusters == ("d1",) * 4 + ("d2",) * 2
    assert found.scores[SCORE].tolist() == [0, 1, 1, 1, 0, 0]


def test_columns_of_a_table_with_systems_are_metrics(tmp_path: Path) -> None:
    found = read(tmp_path, LONG, "acc,wer")
    assert not found.wide
    assert found.systems == ("x", "x", "y", "y")
    assert found.ids == ("a", "b", "b", "a")
    assert found.scores["wer"].tolist() == [0.5, 0.25, 0.5, 0]


def test_every_file_is_a_system(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.tsv").write_text("id\tacc\twer\n7\t1\t2\n8\t0\t3\n")
    paths = [str(tmp_path / "one.tsv"), str(tmp_path / "two.tsv")]
    found = read_score_tables(paths, ["acc", "wer"])
    assert (found.systems, found.ids) == (("one", "one", "two", "two"), ("7", "8", "7", "8"))
    assert set(found.scores) == {"acc", "wer"}


def test_scores_may_be_in_an_object_or_have_a_prefix(tmp_path: Path) -> None:
    rows = [{"id": 1, "system": "x", "scores": {"comet": 0.5}}, {"id": 2, "system": "x"}]
    rows[1]["scores.comet"] = 0.25
    text = "\n".join(map(json.dumps, rows))
    found = read(tmp_path, text, "comet", "t.jsonl")
    assert found.scores["comet"].tolist() == [0.5, 0.25]


def test_documents_name_items_if_the_column_of_systems_is_named(tmp_path: Path) -> None:
    text = "engine,doc_id,acc\nx,d1,1\nx,d2,0\ny,d2,0\ny,d1,1\n"
    found = read(tmp_path, text, "acc", columns=Columns.of("system=engine"))
    assert (found.systems, found.ids) == (("x", "x", "y", "y"), ("d1", "d2", "d2", "d1"))


def test_truth_values_and_gaps(tmp_path: Path) -> None:
    found = read(tmp_path, "a,b\nTrue,false\n,NaN\n1,0.5\n", "a,b")
    np.testing.assert_equal(found.scores[SCORE], [1, 0, np.nan, np.nan, 1, 0.5])
    assert found.ids == ("0", "0", "1", "1", "2", "2")
    (tmp_path / "t.jsonl").write_text('{"a": true, "b": null}\n')
    found = read_score_tables([str(tmp_path / "t.jsonl")], ["a", "b"])
    np.testing.assert_equal(found.scores[SCORE], [1, np.nan])


def test_documents_name_items_only_if_each_has_one_row(tmp_path: Path) -> None:
    once = read(tmp_path, "doc_id,a,b\nx,1,2\ny,1,2\n", "a,b")
    assert once.ids == ("x", "x", "y", "y")
    again = read(tmp_path, "doc_id,a,b\nx,1,2\nx,1,2\n", "a,b")
    assert again.ids == ("0", "0", "1", "1")


def test_columns_of_ids_and_systems_may_be_named(tmp_path: Path) -> None:
    table = "who,question,acc\nx,q1,1\ny,q1,0\n"
    found = read(tmp_path, table, "acc", columns=Columns.of("system=who,id=question"))
    assert (found.systems, found.ids) == (("x", "y"), ("q1", "q1"))
    headless = read(tmp_path, "1,0\n1,1\n", "1,2", columns=Columns.of(header=False))
    assert headless.systems == ("1", "2", "1", "2")


def test_items_of_equal_numbers_in_different_tasks_are_distinct(tmp_path: Path) -> None:
    table = "system,id,task,acc\nx,0,t1,1\nx,0,t2,0\n"
    assert read(tmp_path, table, "acc").ids == ("t1/0", "t2/0")
    assert read(tmp_path, table.replace("t2", "t1").replace("x,0,t1,0", "x,1,t1,0"), "acc").ids == (
        "0",
        "1",
    )


@pytest.mark.parametrize(
    ("text", "names", "options", "error", "message"),
    [
        (WIDE, "small,huge", {}, FileError, "line 2 has no column 'huge' of scores; it has 'item'"),
        (WIDE, "small,document", {}, FileError, "'document' is 'd1', which is not a number"),
        (WIDE, "small,large", {"cluster": "prompt"}, FileError, "no column 'prompt'; it has"),
        (WIDE.replace("d1", " "), "small,large", {"cluster": "document"}, FileError, "should name"),
        (WIDE + "a,d1,1,1\n", "small,large", {}, DataError, "id 'a' occurs 2 times for system"),
        ("a,b\n1,inf\n", "a,b", {}, FileError, "'b' is 'inf', which is not a number or is inf"),
        ("a,b\n1\n", "a,b", {}, FileError, "line 2: 1 field, but the heading names 2"),
        ("a,b\n", "a,b", {}, FileError, "has no rows"),
        (LONG.replace("x,b", ",b"), "acc", {}, FileError, "'system' is ''"),
        (LONG, "acc", {"columns": Columns.of("human=acc")}, OptionError, "without texts"),
    ],
)
def test_invalid_tables_are_refused(
    tmp_path: Path, text: str, names: str, options: dict, error: type, message: str
) -> None:
    with pytest.raises(error, match=message) as raised:
        read(tmp_path, text, names, **options)
    assert "\n" not in str(raised.value)


def test_text_files_hold_no_scores(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a table of scores"):
        read(tmp_path, "1\n", "acc", "t.txt")
    with pytest.raises(FileError, match="there is no file"):
        read_score_tables([str(tmp_path / "absent.csv")], ["acc"])
