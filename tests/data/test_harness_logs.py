"""Logs of lm-evaluation-harness, written in its layout, valid and hostile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nlgauge.core.errors import FileError
from nlgauge.data import read_systems
from nlgauge.data.files import read_table
from nlgauge.data.score_tables import read_score_tables

TASK = "samples_sums_2026-01-02T03-04-05.678901.jsonl"


def document(number: int, **changes) -> dict:
    """Return a line of a log of a task that generates texts."""
    return {
        "doc_id": number,
        "doc": {"question": f"{number} + 1?", "topic": "sums", "choices": ["1", "2"]},
        "target": str(number + 1),
        "arguments": {"gen_args_0": {"arg_0": f"Q: {number} + 1?\nA:", "arg_1": {"until": ["\n"]}}},
        "resps": [[f"It is {number + 1}."]],
        "filtered_resps": [str(number + 1)],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": "0",
        "prompt_hash": "0",
        "target_hash": "0",
        "exact_match": 1.0,
        **changes,
    }


def write(path: Path, *rows: object) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return str(path)


def test_a_document_is_a_row_with_scores_and_texts(tmp_path: Path) -> None:
    path = write(tmp_path / TASK, document(0), document(5, exact_match=0.0))
    (_, first), (place, second) = read_table(path)
    assert place.endswith("line 2")
    assert first == {
        "id": 0,
        "task": "sums",
        "doc.question": "0 + 1?",
        "doc.topic": "sums",
        "exact_match": 1.0,
        "output": "1",
        "references": ["1"],
        "source": "Q: 0 + 1?\nA:",
    }
    assert (second["id"], second["exact_match"]) == (5, 0.0)
    corpus = read_systems([path])
    assert (corpus.candidates, corpus.references) == (("1", "6"), (("1",), ("6",)))
    assert corpus.ids == ("0", "5")


def test_filters_of_a_document_become_one_row(tmp_path: Path) -> None:
    rows = [
        document(i, filter=name, exact_match=s)
        for name, s in (("a", 0.0), ("b", 1.0))
        for i in (1, 2)
    ]
    path = write(tmp_path / TASK, *rows)
    found = [row for _, row in read_table(path)]
    assert [row["id"] for row in found] == [1, 2]
    assert all((row["exact_match/a"], row["exact_match/b"]) == (0.0, 1.0) for row in found)
    assert all("exact_match" not in row and "output" not in row for row in found)
    assert read_systems([path], columns={"candidate": "output/b"}).candidates == ("2", "3")
    with pytest.raises(FileError, match=r"no column 'acc' of scores; it has .*'exact_match/a'"):
        read_score_tables([path], ["acc"])


def test_choices_have_scores_but_no_texts(tmp_path: Path) -> None:
    chosen = [["-1.5", "False"], ["-0.5", "True"]]
    rows = [
        document(i, filtered_resps=chosen, metrics=["acc", "acc_norm"], acc=1.0, acc_norm=0.0)
        for i in range(2)
    ]
    path = write(tmp_path / TASK, *rows)
    found = read_score_tables([path], ["acc", "acc_norm"], cluster="doc.topic")
    assert found.wide  # one file without systems: compared columns would be systems
    one = read_score_tables([path], ["acc"], cluster="doc.topic")
    assert (one.scores["acc"].tolist(), one.clusters) == ([1, 1], ("sums", "sums"))
    with pytest.raises(FileError, match="has no column 'candidate'"):
        read_systems([path])


@pytest.mark.parametrize(
    ("target", "references"),
    [
        ("['a', 'b, c']", ["a", "b, c"]),
        ("['it\\'s', \"it's\"]", ["it's", "it's"]),
        (["a", "b"], ["a", "b"]),
        ("[a, b]", ["[a, b]"]),
        ("[['a']]", ["[['a']]"]),
        ("['\\x']", ["['\\x']"]),
        ("['a\nb']", ["['a\nb']"]),
        ("['a\0b']", ["['a\0b']"]),
        ("[" * 100_000, ["[" * 100_000]),
        (3, ["3"]),
    ],
)
def test_targets_may_be_lists(tmp_path: Path, target: object, references: list[str]) -> None:
    path = write(tmp_path / "samples_x.jsonl", document(0, target=target))
    assert read_table(path)[0][1]["references"] == references


def test_folders_hold_several_tasks(tmp_path: Path) -> None:
    for run in ("one", "two"):
        for task in ("add", "multiply"):
            write(tmp_path / run / f"samples_{task}_2026-01-02T03-04-05.6.jsonl", document(0))
        (tmp_path / run / "results_2026-01-02T03-04-05.6.json").write_text('{"results": {}}')
    found = read_score_tables([str(tmp_path / "one"), str(tmp_path / "two")], ["exact_match"])
    assert found.ids == ("add/0", "multiply/0") * 2
    assert found.systems == ("one", "one", "two", "two")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"doc_id": [1], "filtered_resps": []}', "line 2: not a document of the log"),
        ('{"doc": 1}', "line 2: not a document of the log"),
        ("[1]", "line 2: not a JSON object"),
        ('{"doc_id": 1, "filtered_resps": ' + "[" * 100_000, "line 2: not JSON: it is nested"),
        (json.dumps(document(0)), "id 'x/0' occurs 2 times"),
        (json.dumps(document(1, exact_match=["a", "b"])), "'exact_match' is .'a', 'b'., which is"),
        (json.dumps(document(1, exact_match={"x": 1})), "'exact_match' is .*, which is not a num"),
        (
            json.dumps(document(1, doc=3, arguments=4, resps=5, metrics=6, filter=[])),
            "'exact_match'",
        ),
    ],
)
def test_hostile_lines_are_refused(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "samples_x.jsonl"
    path.write_text(json.dumps(document(0)) + "\n" + line + "\n")
    with pytest.raises((FileError, ValueError), match=message) as raised:
        read_score_tables([str(path)], ["exact_match"])
    assert "\n" not in str(raised.value)


def test_other_tables_are_not_logs(tmp_path: Path) -> None:
    path = write(tmp_path / "samples_x.jsonl", {"doc_id": 1, "acc": 1}, {"doc_id": 2, "acc": 0})
    assert read_table(path)[0][1] == {"doc_id": 1, "acc": 1}
    assert read_score_tables([path], ["acc"]).ids == ("1", "2")
