"""The option --cache and the command `nlgauge cache`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cached_encoders import corrupt_records
from conftest import PROJECT
from nlgauge.cli import main
from nlgauge.encode.cache.database import FILE_NAME

CANDIDATES = str(PROJECT / "examples" / "literal.txt")
OTHERS = str(PROJECT / "examples" / "hasty.txt")
REFERENCES = str(PROJECT / "examples" / "reference.a.txt")
METRIC = "bertscore:model=hashing"
TEXTS = {x for path in (CANDIDATES, REFERENCES) for x in Path(path).read_text("utf-8").splitlines()}
ENTRIES, RECORDS = len(TEXTS) + 1, 2 * len(TEXTS) + 1  # tokens and a layer of each, and a card


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    shown = capsys.readouterr()
    return int(stop.value.code or 0), shown.out, shown.err


def fill(capsys: pytest.CaptureFixture[str], folder: Path, *more: str) -> tuple[str, str]:
    words = ["score", "-c", CANDIDATES, "-r", REFERENCES, "-m", METRIC, "--cache", folder, *more]
    code, out, err = run(capsys, *words)
    assert code == 0, err
    return out, err


def test_scores_with_a_cache_are_the_same_and_a_note_counts_hits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "cache"
    assert fill(capsys, folder) == fill(capsys, folder)
    code, out, _ = run(capsys, "cache", "info", folder)
    assert code == 0
    assert "hashing  clouds  float32 window auto" in out
    assert "MB of 10,000 MB" in out
    content = json.loads(run(capsys, "cache", "info", folder, "--json")[1])
    (clouds,) = (row for row in content["models"] if row["kind"] == "clouds")
    assert clouds["entries"] == clouds["misses"] == clouds["hits"]


@pytest.mark.parametrize(
    "verb", ["score", "show", "compare", "correlate", "matrix", "williams", "reproduce"]
)
def test_commands_document_the_cache_option(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--cache DIR" in run(capsys, verb, "--help")[1]


@pytest.mark.parametrize(
    "verb",
    [
        ("show", "-c", "a cat", "-r", "the cat", "-m", METRIC),
        ("compare", "-c", CANDIDATES, OTHERS, "-r", REFERENCES, "-m", METRIC, "--resamples", "10"),
        ("correlate", "judged.jsonl", "-m", METRIC),
    ],
    ids=lambda verb: verb[0],
)
def test_commands_use_the_cache(
    verb: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"candidate": text, "references": ["the cat sat"], "system": "a", "human": number}
        for number, text in enumerate(["dog", "the dog", "the cat", "the cat sat"])
    ]
    lines = [json.dumps({**row, "segment": n}) for n, row in enumerate(rows)]
    (tmp_path / "judged.jsonl").write_text("\n".join(lines), "utf-8")
    code, _, err = run(capsys, *verb, "--cache", "kept")
    assert code == 0, err
    assert (tmp_path / "kept" / FILE_NAME).stat().st_size


def test_the_environment_names_the_cache(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path))
    assert run(capsys, "score", "-c", CANDIDATES, "-r", REFERENCES, "-m", METRIC)[0] == 0
    code, out, _ = run(capsys, "cache", "verify")
    assert (code, out) == (0, f"{tmp_path}: {RECORDS} valid records\n")
    code, out, _ = run(capsys, "cache", "clear")
    assert code == 0
    assert out.startswith(f"{tmp_path}: {ENTRIES} entries deleted, ")


def test_damage_is_reported_and_repaired(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, _ = fill(capsys, tmp_path / "a")
    corrupt_records(tmp_path / "a")
    code, out, err = run(capsys, "cache", "verify", tmp_path / "a")
    assert (code, err) == (1, "")
    assert out.endswith(f"0 valid records; {RECORDS} damaged records dropped\n")
    fill(capsys, tmp_path / "b")
    (tmp_path / "b" / FILE_NAME).write_text("nonsense")
    out, err = fill(capsys, tmp_path / "b")
    assert out == first
    messages = f"note: the cache {str(tmp_path / 'b')!r} had a damaged file, renamed to"
    assert sum(line.startswith(messages) for line in err.splitlines()) == 1
    (tmp_path / "b" / FILE_NAME).write_text("nonsense")
    code, out, _ = run(capsys, "cache", "verify", tmp_path / "b")
    assert code == 1
    assert out.endswith("0 valid records; the file was damaged and is replaced by an empty one\n")


def test_quiet_prints_no_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(capsys, tmp_path)
    (tmp_path / FILE_NAME).write_text("nonsense")
    assert fill(capsys, tmp_path, "-q")[1] == ""


def test_a_missing_cache_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "cache", "info", tmp_path / "none")
    assert code == 1
    assert "there is no cache" in err
    code, _, err = run(capsys, "cache", "verify")
    assert code == 2
    assert "set NLGAUGE_CACHE" in err
