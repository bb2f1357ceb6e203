"""The folder of a run: only complete parts are used, by one run at a time."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nlgauge.core.errors import FileError, UsageError
from nlgauge.scale.run_folder import RunFolder
from nlgauge.scale.segments import PartScores

SCORED = PartScores("part-000000-abc", b'{"id": "1"}\n', {"read": 1, "scored": 1, "rejected": []})


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made = RunFolder(tmp_path / "out", "jsonl")
    with made.open():
        pass
    return made


def test_a_stored_part_is_found(folder: RunFolder) -> None:
    assert folder.read_sums(SCORED.name) is None
    assert not folder.has_part(SCORED.name)
    folder.write_part(SCORED)
    sums = folder.read_sums(SCORED.name)
    assert sums is not None
    assert sums["read"] == 1
    assert sorted(file.name for file in (folder.path / "parts").iterdir()) == [
        "part-000000-abc.json",
        "part-000000-abc.jsonl",
    ]


@pytest.mark.parametrize("ending", ["json", "jsonl"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "emptied", "gone", "longer"])
def test_a_damaged_part_does_not_count(folder: RunFolder, ending: str, damage: str) -> None:
    folder.write_part(SCORED)
    file = folder.path / "parts" / f"{SCORED.name}.{ending}"
    whole = file.read_bytes()
    changed = {
        "cut": whole[: len(whole) // 2],
        "flipped": whole[:5] + bytes([whole[5] ^ 4]) + whole[6:],
        "emptied": b"",
        "gone": b"",
        "longer": whole + b"{}",
    }
    file.write_bytes(changed[damage])
    if damage == "gone":
        file.unlink()
    assert folder.read_sums(SCORED.name) is None
    assert folder.has_part(SCORED.name) == (not (damage == "gone" and ending == "json"))


def test_a_flipped_bit_in_any_byte_of_the_sums_is_found(folder: RunFolder) -> None:
    folder.write_part(SCORED)
    file = folder.path / "parts" / f"{SCORED.name}.json"
    whole = file.read_bytes()
    for place in range(len(whole) - 1):  # the last byte is a line feed
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        file.write_bytes(changed)
        found = folder.read_sums(SCORED.name)
        assert found is None or json.loads(changed) == json.loads(whole)


def test_unfinished_files_are_deleted(folder: RunFolder) -> None:
    left = folder.path / "parts" / "part-000000-abc.jsonl.unfinished"
    left.write_bytes(b"half")
    with folder.open():
        assert not left.exists()


def test_another_plan_is_refused_and_the_difference_shown(folder: RunFolder) -> None:
    plan = {"inputs": [{"name": "a", "sha256": "1"}], "seed": 0, "specs": ["bleu"]}
    folder.write_plan(plan)
    folder.write_plan(plan)
    folder.write("manifest.json", {**plan, "parts": {"p": "q"}})
    folder.write_plan(plan)
    with pytest.raises(UsageError) as raised:
        folder.write_plan({**plan, "inputs": [{"name": "a", "sha256": "2"}], "seed": 1})
    assert 'inputs[0].sha256: then "1", now "2"' in str(raised.value)
    assert "seed: then 0, now 1" in str(raised.value)
    assert "specs" not in str(raised.value)
    with pytest.raises(UsageError, match="specs"):
        folder.check_plan({"specs": ["bleu", "chrf"]})


def test_a_damaged_manifest_is_reported(folder: RunFolder) -> None:
    (folder.path / "manifest.json").write_bytes(b'{"inputs": [')
    with pytest.raises(FileError, match="damaged"):
        folder.write_plan({"seed": 0})


def test_a_folder_in_use_is_refused_even_to_another_process(folder: RunFolder) -> None:
    program = (
        "import sys; from nlgauge.scale.run_folder import RunFolder\n"
        "with RunFolder(sys.argv[1], 'jsonl').open(): pass"
    )
    with folder.open():
        with (
            pytest.raises(UsageError, match="another run is writing"),
            RunFolder(folder.path, "jsonl").open(),
        ):
            pass
        command = [sys.executable, "-c", program, str(folder.path)]
        other = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "another run is writing" in other.stderr
    with folder.open():
        pass


def test_a_full_disk_is_reported_and_leaves_no_partial_file(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="is full; finished parts are kept"):
        folder.write_part(SCORED)
    assert list((folder.path / "parts").iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(FileError, match="cannot write to"),
        RunFolder(tmp_path / "file", "jsonl").open(),
    ):
        pass


def test_the_folder_may_be_a_relative_path(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = RunFolder("run", "jsonl")
    with folder.open():
        folder.write_plan({})
        folder.write_part(SCORED)
        assert folder.read_sums(SCORED.name) is not None
    assert (tmp_path / "run" / "parts" / f"{SCORED.name}.jsonl").is_file()
