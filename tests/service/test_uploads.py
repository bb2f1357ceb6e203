"""Uploaded files are read as by the commands, or refused with a message."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from conftest import PROJECT
from nlgauge.data import read_judged, read_labels
from nlgauge.data.systems import read_systems
from nlgauge.service import responses, uploads
from nlgauge.service.settings import Limits
from nlgauge.study import judge

BINARY = {"Content-Type": "application/octet-stream"}
ROWS = [
    ("a", "1", "A cat sat.", "The cat sat.", "3"),
    ("a", "2", 'It "rains", now.', "It is raining.", ""),
    ("b", "1", "The cat sat.", "The cat sat.", "5"),
    ("b", "2", "Rain.", "It is raining.", " "),
]
HEADING = ("system", "segment", "candidate", "reference", "human.adequacy")


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


PACKED_TWICE = gzip.compress(gzip.compress(b"text", mtime=0), mtime=0)
TABLES = {
    "judged.csv": "".join(",".join(map(quoted, row)) + "\n" for row in (HEADING, *ROWS)),
    "judged.tsv": "".join("\t".join(row) + "\n" for row in (HEADING, *ROWS)),
    "judged.jsonl": "".join(
        json.dumps(dict(zip(HEADING, row, strict=True))) + "\n" for row in ROWS
    ),
}


def send(api: TestClient, name: str, content: bytes, kind: str = "outputs") -> Any:
    query = {"name": name, "content": kind}
    return api.post("/v1/read", params=query, content=content, headers=BINARY)


@pytest.mark.parametrize("name", ["labels.csv", "preferences.csv"])
def test_tables_of_labels_become_requests(api: TestClient, name: str) -> None:
    path = PROJECT / "examples" / name
    answer = send(api, name, path.read_bytes(), "labels").json()
    responses.ReadAnswer.model_validate(answer, strict=True)
    table = read_labels(str(path))
    assert answer["labels"]["labels"] == {r: list(cells) for r, cells in table.labels.items()}
    assert answer["labels"]["items"] == list(table.items)
    found = api.post("/v1/judge", json={**answer["labels"], "judge": "model", "count": 50})
    assert found.json() == judge(table, "model", count=50).to_dict()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read_as_the_commands_read_them(
    api: TestClient, tmp_path: Path, name: str, packed: bool
) -> None:
    content = gzip.compress(TABLES[name].encode()) if packed else TABLES[name].encode()
    full = name + ".gz" * packed
    (tmp_path / full).write_bytes(content)
    judged = read_judged(tmp_path / full)
    answer = send(api, full, content, "judgements").json()
    responses.ReadAnswer.model_validate(answer, strict=True)
    assert answer["criteria"] == ["adequacy"]
    found = [
        math.nan if r["human"]["adequacy"] is None else r["human"]["adequacy"]
        for r in answer["rows"]
    ]
    assert found == pytest.approx(judged.human["adequacy"].tolist(), nan_ok=True)
    assert sum(math.isnan(value) for value in found) == 2
    for key, column in (("candidate", "candidates"), ("system", "systems"), ("segment", "ids")):
        assert [row[key] for row in answer["rows"]] == list(getattr(judged.corpus, column))
    corpus = read_systems([str(tmp_path / full)], [])
    outputs = send(api, full, content).json()["rows"]
    assert [row["references"] for row in outputs] == [list(group) for group in corpus.references]
    assert [row["id"] for row in outputs] == list(corpus.ids)


def test_lines_end_at_line_feeds_only(api: TestClient) -> None:
    answer = send(api, "new.txt", "one\u2028still one\r\n\ntwo".encode()).json()
    assert answer["lines"] == ["one\u2028still one", "", "two"]
    assert (answer["kind"], answer["name"], answer["rows"]) == ("text", "new", None)


def test_a_table_without_systems_is_one_system_named_after_its_file(api: TestClient) -> None:
    content = b"candidate,reference\nA cat.,The cat.\n"
    (row,) = send(api, "fluent.v2.csv", content).json()["rows"]
    assert (row["system"], row["id"]) == ("fluent", "0")


def test_correlations_of_blank_cells_are_the_commands(api: TestClient, tmp_path: Path) -> None:
    import nlgauge

    texts = (PROJECT / "examples" / "fluent.txt").read_text("utf-8").splitlines()[:12]
    references = (PROJECT / "examples" / "reference.a.txt").read_text("utf-8").splitlines()[:12]
    cells = ["" if i % 2 else str((7 * i) % 5) for i in range(12)]
    rows = [
        "candidate\treference\thuman",
        *map("\t".join, zip(texts, references, cells, strict=True)),
    ]
    path = tmp_path / "half.tsv"
    path.write_text("\n".join(rows) + "\n", "utf-8")
    read = send(api, "half.tsv", path.read_bytes(), "judgements").json()
    body = {"rows": read["rows"], "metrics": ["chrf"]}
    (entry,) = api.post("/v1/correlate", json=body).json()["correlations"]
    own = nlgauge.correlate(path, "chrf")
    assert entry["value"] == own.value("chrf", "human", "segment")
    assert entry["n"] == 6


@pytest.mark.parametrize(
    ("name", "content", "kind", "message"),
    [
        ("a.jsonl", b'{"candidate": "a"\n', "outputs", "a.jsonl, line 1: not JSON"),
        ("a.jsonl", b"[1]\n", "outputs", "a.jsonl, line 1: not a JSON object"),
        ("a.jsonl", b"", "outputs", "has no rows"),
        ("a.txt", b"", "outputs", "has no lines"),
        ("a.csv", b"candidate,reference\na\n", "outputs", "a.csv, line 2: 1 field, but"),
        ("a.csv", b"text\na\n", "outputs", "no column 'candidate'"),
        ("a.csv", b"candidate,reference\na,b\n", "judgements", "a.csv has no human scores"),
        ("a.tsv", b"candidate\treference\thuman\na\tb\tgood\n", "judgements", "not a number"),
        ("a.txt", b"caf\xe9\n", "outputs", "a.txt, line 1: not UTF-8"),
        ("a.txt", b"a\n", "judgements", "a.txt is not a table"),
        ("a.txt", b"a\n", "labels", "a.txt is not a table"),
        ("a.csv", b"item,rater,label\n1,x,1\n1,x,2\n", "labels", "'x' labelled item '1' twice"),
        ("a.pkl", b"\x80\x04.", "judgements", "a.pkl is not a table"),
        ("a.parquet", b"PAR1", "outputs", "Parquet"),
        ("a.txt.gz", gzip.compress(b"text", mtime=0)[:-6], "outputs", "a.txt.gz"),
        ("a.txt.gz", PACKED_TWICE, "outputs", "compressed twice"),
        ("a.jsonl", b'{"candidate": "\\ud800", "references": "b"}', "outputs", "surrogate"),
        ("a.jsonl", b"[" * 100_000, "outputs", "line 1"),
    ],
)
def test_unreadable_files_are_refused(
    api: TestClient, name: str, content: bytes, kind: str, message: str
) -> None:
    answer = send(api, name, content, kind)
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error["kind"] == "unreadable_file"
    assert message in error["message"]
    assert "uploaded-file" not in error["message"]
    assert "/tmp" not in error["message"]


def test_names_are_not_paths(api: TestClient) -> None:
    for name in ("../../etc/passwd", "/etc/passwd", "-", "..", "a\0b", "x" * 200, "\u202e.txt"):
        assert send(api, name, b"a\n").json()["lines"] == ["a"]
    assert send(api, "x" * 201, b"a\n").status_code == 422


def test_size_is_limited_before_and_after_decompression(opened: Any) -> None:
    small = opened(limits=Limits(bytes=2000, job_rows=3))
    assert send(small, "a.txt", b"x" * 2001).json()["error"]["kind"] == "too_large"
    packed = gzip.compress(b"x" * 1_000_000)
    assert len(packed) < 2000
    answer = send(small, "a.txt.gz", packed)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (413, "too_large")
    assert send(small, "a.txt", b"a\n" * 3).status_code == 200
    assert send(small, "a.txt", b"a\n" * 4).json()["error"]["kind"] == "too_many_rows"
    table = b"candidate,reference\n" + b"a,b\n" * 4
    assert send(small, "a.csv", table[:-4]).status_code == 200
    assert send(small, "a.csv", table).json()["error"]["kind"] == "too_many_rows"
    assert send(small, "a.txt", b"\n" * 400).json()["error"]["kind"] == "too_many_rows"


def test_only_bytes_and_only_with_the_token(opened: Any) -> None:
    guarded = opened(token="a-long-secret-token")
    assert send(guarded, "a.txt", b"a\n").status_code == 401
    headers = {"Authorization": "Bearer a-long-secret-token", "Content-Type": "text/plain"}
    answer = guarded.post("/v1/read", params={"name": "a.txt"}, content=b"a\n", headers=headers)
    assert answer.status_code == 415  # which other sites may send without being asked


def test_too_many_criteria_are_refused_before_they_become_columns(api: TestClient) -> None:
    text = {"candidate": "a", "references": "b"}
    rows = [{**text, "id": str(i), "human": {f"c{i}": 1}} for i in range(300)]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    answer = send(api, "many.jsonl", content, "judgements")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (413, "too_many_columns")
    judged = [{**text, "segment": row["id"], "human": row["human"]} for row in rows[:65]]
    answer = api.post("/v1/correlate", json={"rows": judged, "metrics": ["chrf"]})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (413, "too_many_criteria")


def test_files_are_read_off_the_event_loop(api: TestClient, monkeypatch: Any) -> None:
    def read(_: str) -> list[str]:
        with pytest.raises(RuntimeError):  # no loop runs in this thread
            asyncio.get_running_loop()
        return ["read"]

    monkeypatch.setattr(uploads, "read_lines", read)
    assert send(api, "a.txt", b"a").json()["lines"] == ["read"]


def test_too_many_files_at_once_are_refused_for_the_moment(opened: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(uploads, "_MAX_WAITING", 0)
    answer = send(opened(), "a.txt", b"a")
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0


def test_a_line_longer_than_the_limit_of_texts_is_refused(opened: Any) -> None:
    small = opened(limits=Limits(text_characters=10, references=2))
    assert send(small, "a.txt", b"x" * 80).status_code == 200
    answer = send(small, "a.txt", b"short\n" + b"x" * 81)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (413, "too_long_text")


def test_the_name_of_an_upload_is_never_opened_as_an_address(api: TestClient) -> None:
    """The bytes of the request are read, whatever the name and the texts look like."""
    system = pytest.importorskip("fsspec").filesystem("memory")
    url = "memory://bucket/rows.jsonl"
    system.pipe_file("/bucket/rows.jsonl", b'{"candidate": "secret", "reference": "secret"}\n')
    body = json.dumps({"candidate": url, "reference": url}).encode()
    try:
        answer = send(api, url, body)
        assert url in answer.text
        assert "secret" not in answer.text
        scored = api.post("/v1/score", json={"candidates": [url], "references": [[url]]})
        assert "secret" not in scored.text
    finally:
        system.store.clear()
