"""A run in parts has the scores of a list, the bytes of an uninterrupted run, and every row."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

from generated_rows import generate_rows, read_files, write_jsonl
from nlgauge.core.errors import DataError, FileError, UsageError
from nlgauge.data.systems import InputFiles, read_systems
from nlgauge.runtime import Runtime
from nlgauge.scale import run_folder
from nlgauge.scale.engine import ProcessPool
from nlgauge.scale.run import Run, RunResult
from nlgauge.scale.signals import Interrupted
from nlgauge.scale.worker import Worker, WorkerConfig
from nlgauge.scoring import Scorer

SPECS = ("bleu", "chrf", "nist", "cider", "bertscore:model=hashing,weights=idf")
ROWS = generate_rows(60)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "rows.jsonl", ROWS)


def _run(table: Path, folder: str = "out", **options: Any) -> Run:
    sources = InputFiles([str(table)], [])
    given = {"metrics": ("chrf",), "part_rows": 20, **options}
    return Run(sources, folder=table.parent / folder, **given)


def _assert_like_a_list(outcome: RunResult, paths: list[str], references: list[str]) -> None:
    """The outcome, intervals included, is that of the whole corpus at once, to 1e-9."""
    board = Scorer(SPECS).score_corpus(read_systems(paths, references))
    assert list(outcome.scores) == list(board)
    for system, of_system in board.items():
        assert list(outcome.scores[system]) == list(of_system)
        for label, scores in of_system.items():
            corpus_score = outcome.scores[system][label]
            assert corpus_score.components == pytest.approx(scores.components, abs=1e-9)
            assert corpus_score.details == pytest.approx(scores.details, abs=1e-9)
            assert str(corpus_score.signature) == str(scores.signature)
            assert corpus_score.notes == scores.notes
            expected = scores.resample(100, seed=3).interval(0.9)
            assert corpus_score.interval(0.9) == pytest.approx(expected, abs=1e-9)


def test_a_table_of_several_systems_scores_as_a_list_does(table: Path) -> None:
    run = _run(table, metrics=SPECS, part_rows=17, confidence=0.9, resamples=100, seed=3)
    outcome = run.execute()
    assert (outcome.read, outcome.scored, outcome.rejected) == (120, 120, 0)
    _assert_like_a_list(outcome, [str(table)], [])
    summary = json.loads((run.folder / "summary.json").read_text())
    assert summary["scores"] == [
        corpus_score.to_dict(confidence=0.9)
        for of_system in outcome.scores.values()
        for corpus_score in of_system.values()
    ]


def test_text_files_score_as_a_list_does(tmp_path: Path) -> None:
    for name in "AB":
        lines = [row["candidate"] for row in ROWS if row["system"] == name]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    for i in (0, 1):
        lines = [row["references"][i] for row in ROWS[::2]]
        (tmp_path / f"r{i}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    paths = [str(tmp_path / "A.txt"), str(tmp_path / "B.txt")]
    references = [str(tmp_path / "r0.txt"), str(tmp_path / "r1.txt")]
    run = Run(
        InputFiles(paths, references),
        SPECS,
        tmp_path / "out",
        part_rows=13,
        confidence=0.9,
        resamples=100,
        seed=3,
    )
    _assert_like_a_list(run.execute(), paths, references)


def test_systems_in_files_of_their_own_share_their_segments(tmp_path: Path) -> None:
    """Tables count the references of a segment once, also if its rows are parts away."""
    paths = []
    for name in "AB":
        rows = [{**row} for row in ROWS if row["system"] == name]
        paths.append(str(write_jsonl(tmp_path / f"{name}.jsonl", rows)))
    options = {"part_rows": 7, "confidence": 0.9, "resamples": 100, "seed": 3}
    run = Run(InputFiles(paths, []), SPECS, tmp_path / "out", **options)
    _assert_like_a_list(run.execute(), paths, [])


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_scores_of_segments_are_those_of_a_list(table: Path, form: str) -> None:
    run = _run(table, metrics=("chrf", "bertscore:model=hashing"), segments=form)
    run.execute()
    files = sorted((run.folder / "parts").glob(f"*.{form}"))
    assert len(files) == 6
    if form == "parquet":
        pa = pytest.importorskip("pyarrow.parquet")
        rows = [row for file in files for row in pa.read_table(file).to_pylist()]
    else:
        rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    board = Scorer(run.metrics).score_corpus(read_systems([str(table)], []))
    for system, of_system in board.items():
        mine = [row for row in rows if row["system"] == system]
        chrf, bert = of_system.values()
        assert tuple(row["id"] for row in mine) == chrf.ids
        assert [row["chrf"] for row in mine] == chrf.segments.tolist()
        recalls = [row["bertscore:model=hashing.recall"] for row in mine]
        assert recalls == bert.segment_components["recall"].tolist()


def test_blocks_change_neither_scores_nor_rejected_rows(tmp_path: Path) -> None:
    """One block or many, with ids that are repeated in blocks far from each other."""
    lines: list[Any] = [*ROWS[:30], [1], *ROWS[30:], *ROWS[5:8]]
    table = write_jsonl(tmp_path / "rows.jsonl", lines)
    options = {"metrics": SPECS, "confidence": 0.9, "resamples": 50, "on_error": "skip"}
    whole = _run(table, "whole", **options).execute()
    for workers in (1, 2):
        run = _run(table, f"blocks {workers}", **options, block_bytes=3000, workers=workers)
        divided = run.execute()
        assert (divided.read, divided.scored, divided.rejected) == (124, 120, 4)
        for system, label in ((system, label) for system in "AB" for label in SPECS):
            one, other = whole.scores[system][label], divided.scores[system][label]
            assert other.components == pytest.approx(one.components, abs=1e-9)
            assert other.interval(0.9) == pytest.approx(one.interval(0.9), abs=1e-9)
    listed = [read_files(tmp_path / name)["rejected.jsonl"] for name in ("whole", "blocks 1")]
    assert listed[0] == listed[1]
    assert read_files(tmp_path / "blocks 1") == read_files(tmp_path / "blocks 2")
    parts = [{*(tmp_path / name / "parts").glob("*.json")} for name in ("whole", "blocks 1")]
    assert {file.name for file in parts[0]} != {file.name for file in parts[1]}


def test_a_repeated_id_in_a_later_block_stops_the_run(tmp_path: Path) -> None:
    table = write_jsonl(tmp_path / "rows.jsonl", [*ROWS, ROWS[9], ROWS[0]])
    with pytest.raises(DataError, match=r"line 121: segment id 's4' occurs before for system 'B'"):
        _run(table, block_bytes=2000).execute()


def test_a_row_that_changes_while_parts_are_read_is_an_error(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score = Worker.score

    def shortened(worker: Worker, part: Any) -> Any:
        table.write_bytes(table.read_bytes()[:-400])
        return score(worker, part)

    monkeypatch.setattr(Worker, "score", shortened)
    with pytest.raises(FileError, match="changed while it was read"):
        _run(table).execute()


def test_a_signal_while_rows_are_checked(table: Path) -> None:
    def interrupt(stage: str, rows: int) -> None:
        assert (stage, rows) == ("checking rows", 120)
        signal.raise_signal(signal.SIGTERM)

    run = _run(table)
    with pytest.raises(Interrupted, match="interrupted; run the same command again to resume"):
        run.execute(interrupt)
    assert read_files(run.folder).keys() == {"run.lock"}
    run.execute()


def test_an_interrupted_run_resumes_with_the_missing_parts(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = _run(table, "whole")
    whole.execute()
    scored: list[str] = []
    score = Worker.score

    def watched(worker: Worker, part: Any) -> Any:
        if len(scored) == 2:
            raise KeyboardInterrupt
        scored.append(part.name)
        return score(worker, part)

    monkeypatch.setattr(Worker, "score", watched)
    broken = _run(table, "broken")
    with pytest.raises(KeyboardInterrupt):
        broken.execute()
    monkeypatch.setattr(Worker, "score", lambda w, part: scored.append(part.name) or score(w, part))
    outcome = broken.execute()
    assert len(scored) == len(set(scored)) == 6
    assert outcome.reused_parts == 2
    assert read_files(broken.folder) == read_files(whole.folder)
    again = broken.execute()
    assert (again.reused_parts, len(scored)) == (6, 6)
    assert again.scores["A"]["chrf"].value == outcome.scores["A"]["chrf"].value
    assert read_files(broken.folder) == read_files(whole.folder)


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_a_damaged_part_is_scored_again_and_noted(table: Path, ending: str) -> None:
    run = _run(table)
    run.execute()
    whole = read_files(run.folder)
    file = sorted((run.folder / "parts").glob(f"*.{ending}"))[2]
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    outcome = run.execute()
    assert outcome.repaired_parts == (file.stem,)
    assert outcome.reused_parts == 5
    assert read_files(run.folder) == whole


@pytest.mark.parametrize(
    ("changed", "messages"),
    [
        ({"metrics": ("chrf:char_order=5",)}, 'specs[0]: then "chrf", now "chrf:char_order=5"'),
        ({"part_rows": 21}, "part_rows: then 20, now 21"),
        ({"block_bytes": 99}, "block_bytes: then 33554432, now 99"),
        ({"segments": "parquet"}, 'segments: then "jsonl", now "parquet"'),
        ({"confidence": 0.95}, "confidence: then null, now 0.95"),
        ({"seed": 1}, "seed: then 0, now 1"),
        ({"on_error": "skip"}, 'on_error: then "stop", now "skip"'),
        ({"runtime": Runtime(batch_tokens=1)}, "batch_tokens: then 2048, now 1"),
    ],
)
def test_other_options_are_refused(table: Path, changed: dict[str, Any], messages: str) -> None:
    run = _run(table)
    run.execute()
    before = read_files(run.folder)
    with pytest.raises(UsageError) as raised:
        dataclasses.replace(run, **changed).execute()
    assert messages in str(raised.value)
    assert read_files(run.folder) == before


def test_changed_input_is_refused_before_any_work(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = _run(table, metrics=("cider",))
    run.execute()
    monkeypatch.setattr(Worker, "fit", None)
    write_jsonl(table, [*ROWS[:-1], {**ROWS[-1], "candidate": "other"}])
    with pytest.raises(UsageError, match=r"inputs\[0\].sha256: then"):
        run.execute()


def test_files_with_another_role_are_refused(tmp_path: Path) -> None:
    for name in "crs":
        (tmp_path / f"{name}.txt").write_text("a b\n")
    c, r, s = (str(tmp_path / f"{name}.txt") for name in "crs")
    run = Run(InputFiles([c], [r], sources=s), ("chrf",), tmp_path / "run")
    run.execute()
    run.execute()
    with pytest.raises(UsageError, match=r'sources: then "s\.txt", now null'):
        dataclasses.replace(run, inputs=InputFiles([c], [r, s])).execute()


def test_input_that_changes_during_the_run_is_reported(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score = Worker.score

    def change_input(worker: Worker, part: Any) -> Any:
        with table.open("a") as out:
            out.write("\n")
        return score(worker, part)

    monkeypatch.setattr(Worker, "score", change_input)
    with pytest.raises(FileError, match="changed while it was read"):
        _run(table).execute()


def test_bad_rows_are_skipped_listed_and_counted(tmp_path: Path) -> None:
    lines: list[Any] = [*ROWS[:30], [1], *ROWS[30:50], {"candidate": "x"}, ROWS[3], *ROWS[50:]]
    table = write_jsonl(tmp_path / "rows.jsonl", lines)
    run = _run(table, on_error="skip")
    outcome = run.execute()
    assert (outcome.read, outcome.scored, outcome.rejected) == (123, 120, 3)
    listed = [json.loads(line) for line in (run.folder / "rejected.jsonl").read_text().splitlines()]
    assert [row["place"] for row in listed] == [f"{table}, line {i}" for i in (31, 52, 53)]
    assert "not a JSON object" in listed[0]["reason"]
    assert "no column 'references'" in listed[1]["reason"]
    assert "occurs before" in listed[2]["reason"]
    clean = _run(write_jsonl(tmp_path / "clean.jsonl", ROWS), "clean").execute()
    for system in "AB":
        assert outcome.scores[system]["chrf"].value == pytest.approx(
            clean.scores[system]["chrf"].value, abs=1e-12
        )
    whole = read_files(run.folder)
    run.execute()
    assert read_files(run.folder) == whole


def test_a_bad_row_stops_the_run_before_anything_is_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Worker, "score", None)
    table = write_jsonl(tmp_path / "rows.jsonl", [*ROWS[:50], [1], *ROWS[50:]])
    with pytest.raises(FileError, match=r"line 51: not a JSON object .*use --on-error skip"):
        _run(table).execute()


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_a_row_without_references_stops_the_run_before_anything_is_scored(
    tmp_path: Path, on_error: str
) -> None:
    rows: list[Any] = [{**row, "source": "a"} for row in ROWS]
    table = write_jsonl(tmp_path / "rows.jsonl", [*rows, {**rows[0], "id": "x", "references": []}])
    message = r"chrf needs references, but .*rows.jsonl, line 121 has none"
    with pytest.raises(DataError, match=message):
        _run(table, on_error=on_error).execute()
    assert not list((tmp_path / "out" / "parts").iterdir())


def test_a_doubled_id_stops_the_run(tmp_path: Path) -> None:
    table = write_jsonl(tmp_path / "rows.jsonl", [*ROWS, ROWS[0]])
    with pytest.raises(DataError, match=r"line 121: segment id 's0' occurs before for system 'A'"):
        _run(table).execute()


@pytest.mark.parametrize(
    ("lines", "messages"),
    [([], "has no rows"), ([[1], [2]], "none of the 2 rows read can be scored")],
)
def test_input_without_rows_is_an_error(tmp_path: Path, lines: list[Any], messages: str) -> None:
    table = write_jsonl(tmp_path / "rows.jsonl", lines)
    with pytest.raises(DataError, match=messages):
        _run(table, on_error="skip").execute()


def test_segments_with_different_numbers_of_references(tmp_path: Path) -> None:
    rows = [{**row, "references": row["references"][: 1 + i % 2]} for i, row in enumerate(ROWS)]
    outcome = _run(write_jsonl(tmp_path / "rows.jsonl", rows)).execute()
    assert outcome.scores["A"]["chrf"].signature["nrefs"] == "var"


def test_a_part_without_any_good_row_has_the_columns_of_the_others(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = write_jsonl(tmp_path / "rows.jsonl", [*ROWS[:20], *[[1]] * 20, *ROWS[20:40]])
    run = _run(table, on_error="skip", segments="parquet")
    run.execute()
    files = sorted((run.folder / "parts").glob("*.parquet"))
    schemas = [parquet.read_schema(file) for file in files]
    assert [parquet.read_metadata(file).num_rows for file in files] == [20, 0, 20]
    assert schemas[0] == schemas[1] == schemas[2]


def test_the_manifest_describes_the_run(table: Path) -> None:
    run = _run(table)
    run.execute()
    manifest = json.loads((run.folder / "manifest.json").read_text())
    assert manifest["inputs"][0]["name"] == "rows.jsonl"
    assert manifest["metrics"]["chrf"].startswith("chrf|nrefs:any|")
    for name, checksum in manifest["parts"].items():
        content = (run.folder / "parts" / f"{name}.jsonl").read_bytes()
        assert hashlib.sha256(content).hexdigest() == checksum


def test_results_do_not_depend_on_the_date(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _run(table, "today", confidence=0.9, resamples=20).execute()
    monkeypatch.setattr("time.time", lambda: 0.0)
    monkeypatch.setattr("time.time_ns", lambda: 0)
    _run(table, "long ago", confidence=0.9, resamples=20).execute()
    assert read_files(table.parent / "today") == read_files(table.parent / "long ago")


def test_every_stage_is_reported_to_the_callback(table: Path) -> None:
    heard: list[tuple[str, int]] = []
    _run(table, metrics=("cider",), part_rows=50).execute(lambda *messages: heard.append(messages))
    assert heard == [
        ("checking rows", 120),
        *[("fitting tables", rows) for rows in (50, 100, 120)],
        *[("scoring", rows) for rows in (50, 100, 120)],
    ]


def test_a_part_of_no_rows_is_refused(table: Path) -> None:
    with pytest.raises(UsageError, match="invalid part size of 0 rows"):
        _run(table, part_rows=0)


@pytest.mark.parametrize("workers", [1, 2])
def test_tables_and_scores_share_one_scorer_and_one_pool(
    table: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def count(owner: type, name: str) -> None:
        real = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda self: made.append(name) or real(self))

    count(WorkerConfig, "make_scorer")
    count(ProcessPool, "_start")
    _run(table, metrics=("cider", "bertscore:model=hashing,weights=idf"), workers=workers).execute()
    assert made.count("make_scorer") == 1
    assert made.count("_start") == workers - 1


def test_segments_are_hashed_once_when_written_and_once_when_reused(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[bytes] = []
    sha256 = run_folder._sha256
    monkeypatch.setattr(run_folder, "_sha256", lambda given: hashed.append(given) or sha256(given))
    run = _run(table)
    for _ in range(2):
        hashed.clear()
        run.execute()
        files = sorted((run.folder / "parts").glob("*.jsonl"))
        assert [hashed.count(file.read_bytes()) for file in files] == [1] * 6


def test_two_workers_with_tables_write_the_bytes_of_one(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables are in the folder of the run, so that a killed run leaves no file elsewhere."""
    monkeypatch.setattr(tempfile, "tempdir", str(table.parent / "missing"))
    for workers in (1, 2):
        _run(table, str(workers), metrics=SPECS, confidence=0.9, workers=workers).execute()
    assert read_files(table.parent / "1") == read_files(table.parent / "2")
