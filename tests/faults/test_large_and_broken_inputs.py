"""Very large texts and broken files give scores or an error message, never a traceback."""

from __future__ import annotations

import gzip
import io
import json
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest

from faults.processes import TIMEOUT, command, run
from generated_rows import generate_rows, write_jsonl
from nlgauge.core.errors import FileError
from nlgauge.data.systems import InputFiles
from nlgauge.scale.run import Run
from nlgauge.scoring import score

METRICS = ("bleu", "chrf", "bertscore:model=hashing")


def _run(path: Path, **options: Any) -> Run:
    given = {"metrics": METRICS, "part_rows": 10, **options}
    return Run(InputFiles([str(path)], []), folder=path.parent / "out", **given)


def test_a_text_of_a_megabyte_is_scored(tmp_path: Path) -> None:
    huge = "the cat sat on the mat . " * 40_000
    rows = [
        *generate_rows(3, systems="A"),
        {"id": "huge", "candidate": huge, "references": "the mat"},
    ]
    rows[-1]["system"] = "A"
    outcome = _run(write_jsonl(tmp_path / "rows.jsonl", rows)).execute()
    assert outcome.scored == 4
    assert 0 <= outcome.scores["A"]["chrf"].value < 100


def test_a_hundred_thousand_references_are_scored(tmp_path: Path) -> None:
    references = [f"reference number {i}" for i in range(100_000)]
    row = {"id": "1", "candidate": "reference number 99999", "references": references}
    run_ = _run(write_jsonl(tmp_path / "rows.jsonl", [row]), metrics=("bleu", "rouge"))
    outcome = run_.execute()
    assert outcome.scores["rows"]["rouge"].value == pytest.approx(1)
    assert outcome.scores["rows"]["rouge"].signature["nrefs"] == "100000"


def test_nul_bytes_are_text_and_lone_surrogates_are_rejected(tmp_path: Path) -> None:
    rows = [
        {"id": "nul", "candidate": "a\0b c", "reference": "a\0b c"},
        {"id": "half", "candidate": "a \ud800", "reference": "a"},
        {"id": "other half", "candidate": "a", "reference": ["a", "\udfff"]},
        {"id": "bad \udc80 id", "candidate": "a", "reference": "a"},
    ]
    run_ = _run(write_jsonl(tmp_path / "rows.jsonl", rows), on_error="skip")
    outcome = run_.execute()
    assert (outcome.read, outcome.scored, outcome.rejected) == (4, 1, 3)
    expected = score(["a\0b c"], ["a\0b c"], metrics=list(METRICS))
    for label, corpus_score in outcome.scores["rows"].items():
        assert corpus_score.value == pytest.approx(expected[label].value, abs=1e-9)
    reasons = (run_.folder / "rejected.jsonl").read_text("utf-8").splitlines()
    assert all("half a character" in json.loads(line)["reason"] for line in reasons)


@pytest.mark.parametrize("ending", ["jsonl.gz", "jsonl.zst", "parquet"])
def test_truncated_input_ends_the_run_before_anything_is_scored(
    tmp_path: Path, ending: str
) -> None:
    rows = generate_rows(3000, systems="A")
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    if ending == "jsonl.gz":
        whole = gzip.compress(lines)
    elif ending == "jsonl.zst":
        whole = pytest.importorskip("zstandard").ZstdCompressor().compress(lines)
    else:
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        sink = io.BytesIO()
        parquet.write_table(pa.Table.from_pylist(rows), sink)
        whole = sink.getvalue()
    path = tmp_path / f"rows.{ending}"
    path.write_bytes(whole[: len(whole) * 3 // 4])
    run_ = _run(path, metrics=("chrf",), part_rows=500, on_error="skip")
    with pytest.raises(FileError, match=r"rows\..* cannot be read"):
        run_.execute()
    assert not (run_.folder / "summary.json").exists()
    assert not list((run_.folder / "parts").iterdir())


@pytest.mark.slow
def test_running_out_of_memory_is_one_error_message(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("a b c d e\n" * 1_000_000)
    limit = 420_000_000

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    done = subprocess.run(
        command("score", "-c", path, "-r", path, "-m", "bleu"),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
        preexec_fn=limited,
        env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("nlgauge: out of memory; score in parts (--parts DIR")
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_second_run_in_the_same_folder_is_refused(table: Path, tmp_path: Path) -> None:
    from nlgauge.scale.run_folder import RunFolder

    with RunFolder(tmp_path / "out", "jsonl").open():
        done = run("score", "-c", table, "-m", "chrf", "--parts", tmp_path / "out")
    assert done.returncode == 2
    assert "another run is writing to" in done.stderr
