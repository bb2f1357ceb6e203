"""Logs of Inspect, written in its layout, valid and hostile."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from nlgauge.core.errors import FileError
from nlgauge.data import inspect_logs, read_systems
from nlgauge.data.files import read_table
from nlgauge.data.score_tables import read_score_tables

HEADER = {"version": 2, "status": "success", "eval": {"model": "m/x", "task": "t", "run_id": "r1"}}


def sample(item: object = 1, value: object = "C", **changes) -> dict:
    message = {"role": "assistant", "content": "It is 4."}
    return {
        "id": item,
        "epoch": 1,
        "input": "2 + 2?",
        "target": "4",
        "output": {"model": "x", "choices": [{"message": message}]},
        "scores": {"match": {"value": value, "answer": "4"}},
        "metadata": {"topic": "sums", "nested": {"a": 1}},
        **changes,
    }


def write_json(folder: Path, *samples: object, **changes) -> str:
    path = folder / "log.json"
    path.write_text(json.dumps({**HEADER, "samples": samples, **changes}), "utf-8")
    return str(path)


def write_eval(folder: Path, *samples: dict, more: dict[str, str] | None = None) -> str:
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps(HEADER))
        for each in samples:
            archive.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
        archive.writestr("header.json", json.dumps(HEADER))
        for name, text in (more or {}).items():
            archive.writestr(name, text)
    return str(path)


@pytest.mark.parametrize("write", [write_json, write_eval])
def test_a_sample_is_a_row_with_scores_and_texts(tmp_path: Path, write: Callable) -> None:
    path = write(tmp_path, sample(1), sample("b", "I", target=["4", "four"]))
    (_, first), (_, second) = read_table(path)
    assert first == {
        "id": "1",
        "model": "m/x",
        "task": "t",
        "run": "r1",
        "match": 1.0,
        "metadata.topic": "sums",
        "output": "It is 4.",
        "references": ["4"],
        "source": "2 + 2?",
    }
    assert (second["match"], second["references"]) == (0.0, ["4", "four"])
    found = read_score_tables([path], ["match"], cluster="metadata.topic")
    assert (found.systems, found.ids) == (("m/x", "m/x"), ("1", "b"))
    assert found.clusters == ("sums", "sums")
    assert read_systems([path]).candidates == ("It is 4.",) * 2


@pytest.mark.parametrize(
    ("value", "number"),
    [("C", 1), ("I", 0), ("P", 0.5), ("N", 0), (0.25, 0.25), (True, 1), ("yes", 1), ("0.5", 0.5)],
)
def test_grades_are_numbers(tmp_path: Path, value: object, number: float) -> None:
    path = write_json(tmp_path, sample(1, value))
    assert read_score_tables([path], ["match"]).scores["match"].tolist() == [number]


def test_values_of_several_parts_have_their_own_names(tmp_path: Path) -> None:
    scores = {"grader": {"value": {"style": "P", "facts": 3}}, "pair": {"value": ["C", "I"]}}
    (_, row), _ = read_table(write_json(tmp_path, sample(scores=scores), sample(2)))
    assert (row["grader.style"], row["grader.facts"], row["pair.0"], row["pair.1"]) == (
        0.5,
        3,
        1,
        0,
    )
    assert row["match"] is None


def test_epochs_are_averaged_as_scores_and_separate_as_texts(tmp_path: Path) -> None:
    values = {(1, 1): "C", (1, 2): "I", (2, 1): "C", (2, 2): float("nan")}
    samples = [sample(i, v, epoch=n) for (i, n), v in values.items()]
    path = write_eval(tmp_path, *samples)
    found = read_score_tables([path], ["match"])
    assert (found.ids, found.scores["match"].tolist()) == (("1", "2"), [0.5, 1.0])
    assert found.notes == ("4 scored samples are epochs of 2; their means are compared.",)
    assert set(read_systems([path]).ids) == {f"{i} (epoch {n})" for i, n in values}


def test_a_sample_without_scores_or_output_is_a_gap(tmp_path: Path) -> None:
    path = write_json(tmp_path, sample(1), sample(2, scores=None, output={"choices": []}))
    assert str(read_score_tables([path], ["match"]).scores["match"].tolist()) == "[1.0, nan]"
    assert read_systems([path]).candidates == ("It is 4.", "")


def test_messages_and_attachments_become_texts(tmp_path: Path) -> None:
    parts = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "attachment://k"}]
    output = {"choices": [{"message": {"content": parts}}]}
    chat = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "2 + 2?"}]
    one = sample(input=chat, output=output, attachments={"k": "It is four."})
    (_, row), *_ = read_table(write_json(tmp_path, one))
    assert (row["output"], row["source"]) == ("It is four.", "2 + 2?")


def test_members_compressed_with_zstandard_are_read(tmp_path: Path) -> None:
    """As Inspect writes them since 2026; Python's zipfile cannot, so the file is built by hand."""
    pa = pytest.importorskip("pyarrow")
    body = json.dumps(sample()).encode()
    half = len(body) // 2  # two frames, as of large members
    frames = [pa.compress(part, "zstd", asbytes=True) for part in (body[:half], body[half:])]
    packed, name = b"".join(frames), b"samples/1_epoch_1.json"
    sizes = (zlib.crc32(body), len(packed), len(body))
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 63, 0, 93, 0, 0, *sizes, len(name), 0) + name
    entry = struct.pack("<4s6H3I5H2I", b"PK\1\2", 63, 63, 0, 93, 0, 0, *sizes, len(name), *[0] * 6)
    start = len(local) + len(packed)
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(entry) + len(name), start, 0)
    path = tmp_path / "log.eval"
    path.write_bytes(local + packed + entry + name + end)
    assert read_table(str(path))[0][1]["match"] == 1.0
    path.write_bytes(local + packed[:-9] + b"\0" * 9 + entry + name + end)
    with pytest.raises(FileError, match=r"is not an .eval log"):
        read_table(str(path))


@pytest.mark.parametrize("name", ["/etc/passwd", "../../x.json", "C:/x.json", "\\x.json"])
def test_members_outside_of_the_log_are_refused(tmp_path: Path, name: str) -> None:
    path = write_eval(tmp_path, sample(), more={name: "{}"})
    with pytest.raises(FileError, match=r"has a member .*, which is no part of a log"):
        read_table(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["log.eval"]


def test_large_members_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_eval(tmp_path, sample(), more={"samples/2_epoch_1.json": " " * 100_000})
    assert Path(path).stat().st_size < 5000
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("it is unpacked"))
    monkeypatch.setattr(inspect_logs, "MAX_SAMPLE", 99_999)
    with pytest.raises(FileError, match="100,000 bytes, more than 99,999"):
        read_table(path)
    monkeypatch.setattr(inspect_logs, "MAX_SAMPLE", 1 << 28)
    monkeypatch.setattr(inspect_logs, "MAX_LOG", 100_000)
    with pytest.raises(FileError, match=r"unpacks to 10\d,\d+ bytes, more than 100,000"):
        read_table(path)
    monkeypatch.setattr(inspect_logs, "MAX_JSON", 100)
    with pytest.raises(FileError, match="more than 100 bytes"):
        read_table(write_json(tmp_path, sample()))


def test_a_member_may_not_be_longer_than_declared(tmp_path: Path) -> None:
    path = Path(write_eval(tmp_path, sample()))
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("samples/1_epoch_1.json")
    content = path.read_bytes()
    size = struct.pack("<I", info.file_size)
    at = content.rindex(size, 0, content.rindex(b"samples/1_epoch_1.json"))
    path.write_bytes(content[:at] + struct.pack("<I", 10) + content[at + 4 :])
    with pytest.raises(FileError, match=r"not an .eval log"):
        read_table(str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "samples/9_epoch_1.json is not JSON: it is nested"),
        ('{"id": 1, "id": 2}', "'id' occurs twice"),
        ("[]", "contains a list, not an object"),
        ('{"id": ' + "9" * 10_000 + "}", "is not JSON: Exceeds the limit"),
        ("", "is not JSON"),
        ('{"id": {}, "epoch": 1}', "the sample has the id {}"),
        ('{"id": 1, "epoch": "x"}', "the epoch 'x'"),
        ('{"id": 9, "scores": {"match": {"value": "maybe"}}}', "'match' is 'maybe', which is not"),
        ('{"id": 1, "scores": {"match": {"value": "C"}}}', "id '.*1' occurs 2 times"),
    ],
)
def test_hostile_samples_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = write_eval(tmp_path, sample(), more={"samples/9_epoch_1.json": text})
    with pytest.raises(ValueError, match=message) as raised:
        read_score_tables([path], ["match"])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"scores": [1], "output": 3, "input": 4, "target": None, "metadata": []},
        {"scores": {"match": None}, "output": {"choices": [{"message": 3}]}, "attachments": 3},
        {"scores": {"match": {}}, "output": {"choices": [3]}, "input": [3, {"role": "user"}]},
    ],
)
def test_values_of_wrong_types_are_gaps(tmp_path: Path, changes: dict) -> None:
    (_, row), *_ = read_table(write_json(tmp_path, sample(**changes), sample(2)))
    assert (row["match"], row["output"]) == (None, "")


def test_files_that_are_no_logs_are_refused(tmp_path: Path) -> None:
    for data in (b"", b"PK\3\4", b"no zip", b"\x1f\x8b"):
        (tmp_path / "x.eval").write_bytes(data)
        with pytest.raises(FileError, match=r"is not an .eval log"):
            read_table(str(tmp_path / "x.eval"))
    with pytest.raises(FileError, match="there is no file"):
        read_table(str(tmp_path / "absent.eval"))
    with pytest.raises(FileError, match="is a log without samples"):
        read_table(write_eval(tmp_path))
    with pytest.raises(FileError, match=r"a log without samples \(its status is 'error'\)"):
        read_table(write_json(tmp_path, status="error", samples=None))
    (tmp_path / "log.json").write_text('{"version": 2, "samples": [')
    with pytest.raises(FileError, match=r"log\.json is not JSON"):
        read_table(str(tmp_path / "log.json"))
    (tmp_path / "other.json").write_text('{"candidate": "a"}')
    with pytest.raises(FileError, match="is not a list of rows"):
        read_table(str(tmp_path / "other.json"))


def test_encrypted_members_are_refused(tmp_path: Path) -> None:
    path = Path(write_eval(tmp_path, sample()))
    data = bytearray(path.read_bytes())
    at = 0
    while (at := data.find(b"PK\1\2", at)) >= 0:
        data[at + 8] |= 1
        at += 4
    path.write_bytes(bytes(data))
    with pytest.raises(FileError, match="encrypted"):
        read_table(str(path))
