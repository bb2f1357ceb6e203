"""Files of a part are used for that part of that run only."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from generated_rows import generate_rows, write_jsonl
from nlgauge.data.systems import InputFiles
from nlgauge.scale.run import Run, RunResult
from nlgauge.scale.run_folder import RunFolder, _canonical, _sha256
from nlgauge.scale.segments import PartScores


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "rows.jsonl", generate_rows(12, systems="A"))


def _run(table: Path, folder: str = "out", **options: Any) -> Run:
    return Run(InputFiles([str(table)]), ("chrf",), table.parent / folder, part_rows=4, **options)


def _value(result: RunResult) -> float:
    return result.scores["A"]["chrf"].value


def _copy(source: Path, target: Path) -> None:
    """Copy the files of one part over those of another."""
    for ending in (".json", ".jsonl"):
        shutil.copy(source.with_suffix(ending), target.with_suffix(ending))


def test_a_part_copied_over_another_is_scored_again(table: Path) -> None:
    run = _run(table)
    first = run.execute()
    segments = {file: file.read_bytes() for file in (run.folder / "parts").iterdir()}
    one, two, three = sorted((run.folder / "parts").glob("*.json"))
    _copy(one, three)
    again = run.execute()
    assert again.repaired_parts == (three.stem,)
    assert again.reused_parts == 2
    assert _value(again) == _value(first)
    assert segments == {file: file.read_bytes() for file in (run.folder / "parts").iterdir()}
    for file in (one, two):  # exchanged: every sum and every checksum occurs once
        file.rename(file.with_suffix(".old"))
        file.with_suffix(".jsonl").rename(file.with_suffix(".oldl"))
    for source, target in ((one, two), (two, one)):
        source.with_suffix(".old").rename(target)
        source.with_suffix(".oldl").rename(target.with_suffix(".jsonl"))
    assert run.execute().repaired_parts == (one.stem, two.stem)


def test_a_part_of_a_run_with_other_options_is_scored_again(table: Path) -> None:
    runs = [
        _run(table, f"seed {seed}", confidence=0.95, resamples=20, seed=seed) for seed in (0, 1)
    ]
    expected, _ = (run.execute() for run in runs)
    for file in (runs[1].folder / "parts").glob("*.json"):
        _copy(file, runs[0].folder / "parts" / file.name)
    again = runs[0].execute()
    assert len(again.repaired_parts) == 3
    assert again.scores["A"]["chrf"].interval(0.95) == expected.scores["A"]["chrf"].interval(0.95)


def test_a_part_without_its_name_is_scored_again(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "jsonl")
    with folder.open():
        folder.write_plan({"seed": 0})
        scores = PartScores("part-000000-abc", b"{}\n", {"read": 1})
        folder.write_part(scores)
        assert folder.read_sums(scores.name) is not None
        file = tmp_path / "parts" / f"{scores.name}.json"
        for key in ("part", "run"):
            folder.write_part(scores)
            content = json.loads(file.read_text())
            del content["sha256"], content[key]
            signed = {"sha256": _sha256(_canonical(content)), **content}
            file.write_text(json.dumps(signed))
            assert folder.read_sums(scores.name) is None
            assert folder.has_part(scores.name)
