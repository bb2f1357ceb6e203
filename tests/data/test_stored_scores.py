"""Scores of other tools are joined to their rows, or refused with the reason."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from nlgauge.core.errors import DataError, FileError, OptionError
from nlgauge.data import read_judged
from nlgauge.data.judged import JudgedCorpus
from nlgauge.data.stored_scores import read_stored_scores


def _lines(path: Path, *rows: dict) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two systems on two segments, in JSON Lines, each row with an id of its own."""
    return _lines(
        tmp_path / "judged.jsonl",
        *(
            {
                "id": f"{system}-{segment}",
                "segment": segment,
                "system": system,
                "candidate": "c",
                "references": ["r"],
                "human": {"q": i, "n": 3},
            }
            for i, (system, segment) in enumerate([("A", 1), ("A", 2), ("B", 1), ("B", 2)])
        ),
    )


def test_rows_are_found_by_system_and_segment_by_id_and_by_order(
    table: Path, tmp_path: Path
) -> None:
    cells = tmp_path / "cells.tsv"
    cells.write_text("system\tsegment\tcomet\nB\t2\t.4\nB\t1\t.3\nA\t1\t.1\nA\t2\t\nC\t1\t9\n")
    named = _lines(
        tmp_path / "named.jsonl",
        *({"id": f"{k}", "scores": {"comet": v}} for k, v in [("B-2", 0.4), ("B-1", 0.3)]),
        *({"id": f"{k}", "scores": {"comet": v}} for k, v in [("A-1", 0.1), ("A-2", None)]),
    )
    order = _lines(tmp_path / "order.jsonl", {"column": "comet", "scores": [0.1, None, 0.3, 0.4]})
    for path in (cells, named, order):
        judged = read_judged(table, scores=path)
        np.testing.assert_array_equal(judged.stored["comet"], [0.1, math.nan, 0.3, 0.4])
    messages = read_judged(table, scores=cells).notes[-1]
    assert "1 metrics (comet) for 4 of 4 rows" in messages
    assert "1 rows of it are not in the data and are ignored" in messages


def test_segments_identify_rows_if_each_has_one_row(table: Path, tmp_path: Path) -> None:
    scores = tmp_path / "s.csv"
    scores.write_text("segment,comet\n1,.1\n2,.2\n")
    alone = read_judged(table).without("B")
    assert read_stored_scores(str(scores)).join(alone).stored["comet"].tolist() == [0.1, 0.2]
    with pytest.raises(DataError, match=r"none of the rows of .* is a row of the data"):
        read_judged(table, scores=scores)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.tsv", "system\tsegment\tx\nA\t1\t1\nA\t1\t2\n", r"\('A', '1'\) occurs 2 times"),
        ("s.tsv", "system\tsegment\tx\nA\t1\tgood\n", "line 2: 'x' is 'good'"),
        ("s.tsv", "system\tsegment\nA\t1\n", "has no column of scores; it has: system, segment"),
        ("s.tsv", "system\tx\nA\t1\n", "give columns 'system' and 'segment', or 'id'"),
        ("s.tsv", "system\tsegment\tx\nZ\t1\t1\n", "its first is .'Z', '1'., the data's first"),
        ("s.jsonl", '{"column": "x", "scores": [1, 2]}', "2 scores .* the data has 4 rows"),
        ("s.jsonl", '{"column": "x", "scores": 1}', "line 1 has no 'column' or no list"),
        ("s.jsonl", "", "has no scores: it is empty"),
        ("s.txt", "1\n", "is not a table of scores"),
    ],
)
def test_scores_that_do_not_join_are_refused(table, tmp_path, name, content, message) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(FileError if "data" not in message else DataError, match=message):
        read_judged(table, scores=tmp_path / name)


def test_scores_under_an_existing_name_are_refused(table: Path, tmp_path: Path) -> None:
    scores = _lines(tmp_path / "s.jsonl", {"column": "x", "scores": [1, 2, 3, 4]})
    judged = read_judged(table, scores=scores)
    with pytest.raises(DataError, match="scores of 'x' came with the data already"):
        read_stored_scores(str(scores)).join(judged)


def test_scores_in_the_judged_table_are_read(tmp_path: Path) -> None:
    row = {"candidate": "c", "references": ["r"], "human": {"q": 1}, "system": "A"}
    objects = _lines(
        tmp_path / "a.jsonl",
        {**row, "segment": 1, "scores": {"comet": 0.5}},
        {**row, "segment": 2, "scores_bleurt": 0.25},
    )
    judged = read_judged(objects)
    assert set(judged.stored) == {"comet", "bleurt"}
    np.testing.assert_array_equal(judged.stored["comet"], [0.5, math.nan])
    flat = tmp_path / "a.tsv"
    flat.write_text("segment\tsystem\tcandidate\tref\thuman.q\tscores.comet\n1\tA\tc\tr\t1\t.5\n")
    assert read_judged(flat).stored["comet"].tolist() == [0.5]
    _lines(objects, {**row, "segment": 1, "scores": {"comet": "high"}})
    with pytest.raises(FileError, match="line 1: score 'comet' is 'high'"):
        read_judged(objects)


def test_the_number_of_judgements_is_no_criterion(table: Path) -> None:
    judged = read_judged(table)
    assert judged.criteria == ("q",)
    assert "'n' is the number of judgements in 4 rows, not a criterion." in judged.notes


def test_a_criterion_can_be_used_as_a_metric(table: Path) -> None:
    judged = read_judged(table)
    assert list(judged.stored_rows("human:q"))[-1] == ("B", "2", 3.0)
    with pytest.raises(OptionError, match="there are: human:q"):
        next(judged.stored_rows("q"))


def test_systems_are_left_out_by_pattern(table: Path) -> None:
    judged: JudgedCorpus = read_judged(table)
    assert judged.without("A*").corpus.system_names == ("B",)
    assert judged.without("A*").names == ("B-1", "B-2")
    with pytest.raises(OptionError, match=r"no system is called 'C\*'"):
        judged.without("C*")


def test_requested_scores_of_mt_metrics_eval_folders_are_read(tmp_path: Path) -> None:
    for name, text in {
        "sources/en-de.txt": "s\nt\n",
        "references/en-de.refA.txt": "r\nq\n",
        "system-outputs/en-de/A.txt": "a\nb\n",
        "system-outputs/en-de/B.txt": "c\nd\n",
        "human-scores/en-de.wmt.seg.score": "A\t1\nA\t2\nB\t3\nB\tNone\n",
        "metric-scores/en-de/BLEU-refA.seg.score": "A\t.1\nA\t.2\nB\t.3\nB\t.4\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert read_judged(tmp_path).stored == {}
    judged = read_judged(tmp_path, stored=["BLEU-refA", "human:wmt"])
    assert judged.stored["BLEU-refA"].tolist() == [0.1, 0.2, 0.3]
    with pytest.raises(FileError, match="stored scores: BLEU-refA"):
        read_judged(tmp_path, stored=["COMET"])
