"""Input of a run in parts from other file systems gives the bytes of a local run."""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faults.processes import TIMEOUT, command, count_parts, wait_for
from generated_rows import generate_rows, read_files, write_jsonl
from nlgauge.core.errors import FileError, MissingExtra, UsageError
from nlgauge.data.files import read_lines
from nlgauge.data.systems import InputFiles, read_systems
from nlgauge.data.urls import Url, url_or_path
from nlgauge.scale.run import Run

fsspec = pytest.importorskip("fsspec")
ROWS = generate_rows(60)
# A package of a protocol as others are: objects are read by ranges, and some are forbidden.
_STORE = """
import os
from fsspec.implementations.local import LocalFileSystem
from fsspec.spec import AbstractFileSystem

class Store(AbstractFileSystem):
    protocol = "objects"
    cachable = False

    def _file(self, path):
        if "secret" in path:
            raise RuntimeError("Unable to locate credentials")
        return os.path.join(os.environ["OBJECTS"], self._strip_protocol(path).lstrip("/"))

    def info(self, path, **options):
        found = LocalFileSystem().info(self._file(path))
        return {**found, "name": self._strip_protocol(path)}

    def ls(self, path, detail=True, **options):
        names = sorted(os.listdir(self._file(path)))
        return [self.info(self._strip_protocol(path).rstrip("/") + "/" + name) for name in names]

    def cat_file(self, path, start=None, end=None, **options):
        assert start is not None and end is not None
        with open(self._file(path), "rb") as content:
            content.seek(start)
            return content.read(end - start)
"""


@pytest.fixture
def store(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """The folder of the objects, and the environment of processes that know the protocol."""
    package = tmp_path / "package"
    about = package / "objects-1.dist-info"
    about.mkdir(parents=True)
    (package / "object_store.py").write_text(_STORE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: objects\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[fsspec.specs]\nobjects = object_store:Store\n")
    (tmp_path / "bucket").mkdir()
    paths = os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])
    return tmp_path / "bucket", os.environ | {"PYTHONPATH": paths, "OBJECTS": str(tmp_path)}


@pytest.fixture
def memory() -> Iterator[Any]:
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


def _score(store: tuple[Path, dict[str, str]], *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("score", *words),
        env=store[1],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


@pytest.mark.slow
def test_two_workers_are_killed_with_their_driver_and_the_run_resumes(
    store: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    table = write_jsonl(store[0] / "rows.jsonl", generate_rows(300))
    options = ("-m", "chrf", "--part-rows", 20, "--confidence", "--resamples", 50)
    local = _score(store, "-c", table, *options, "--parts", tmp_path / "local")
    assert local.returncode == 0, local.stderr
    folder = tmp_path / "out"
    words = ("-c", "objects://bucket/rows.jsonl", *options, "--parts", folder, "--workers", 2)
    for kill in range(3):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command("score", *words), env=store[1], **quiet) as process:
            wait_for(lambda: count_parts(folder) >= 5 * kill + 2, process)  # noqa: B023
            process.kill()
    done = _score(store, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout == local.stdout
    assert read_files(folder) == read_files(tmp_path / "local")
    write_jsonl(table, generate_rows(299))
    changed = _score(store, *words)
    assert changed.returncode == 2
    assert "inputs[0].sha256: then" in changed.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "messages"),
    [
        ("objects://bucket/none.jsonl", "there is no file 'objects://bucket/none.jsonl'"),
        ("objects://bucket/secret.jsonl", "credentials of objects:// in the environment"),
        ("nothing://bucket/rows.jsonl", "cannot be read"),
    ],
)
def test_unreadable_urls_are_reported(
    store: tuple[Path, dict[str, str]], tmp_path: Path, url: str, messages: str
) -> None:
    done = _score(store, "-c", url, "-m", "chrf", "--parts", tmp_path / "out")
    assert done.returncode == 1, done.stderr
    assert messages in done.stderr
    assert "Traceback" not in done.stderr


def _run(path: str, folder: Path) -> dict[str, bytes]:
    Run(InputFiles([path]), ("chrf",), folder, part_rows=20, block_bytes=3000).execute()
    return read_files(folder)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz", "rows.csv", "rows.parquet"])
def test_every_format_gives_the_bytes_of_a_local_run(
    memory: Any, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    if name == "rows.csv":
        with file.open("w", newline="") as out:
            written = csv.writer(out)
            written.writerow(["system", "id", "candidate", "reference"])
            for row in ROWS:  # with line breaks in quoted fields
                cells = row["candidate"] + "\n, b", row["references"][0]
                written.writerow([row["system"], row["id"], *cells])
    elif name == "rows.parquet":
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pa.Table.from_pylist(ROWS), file, row_group_size=30)
    else:
        text = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
        file.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    memory.pipe_file(f"/bucket/{name}", file.read_bytes())
    expected = _run(str(file), tmp_path / "local")
    assert _run(url_or_path(f"memory://bucket/{name}"), tmp_path / "remote") == expected


def test_a_folder_of_tables(memory: Any, tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    shards.mkdir()
    for i in range(3):
        write_jsonl(shards / f"{i}.jsonl", ROWS[40 * i : 40 * i + 40])
    (shards / "_SUCCESS").write_text("")
    for file in shards.iterdir():
        memory.pipe_file(f"/bucket/shards/{file.name}", file.read_bytes())
    expected = _run(str(shards), tmp_path / "local")
    assert _run(Url("memory://bucket/shards/"), tmp_path / "remote") == expected


def test_only_a_url_is_opened_elsewhere(memory: Any) -> None:
    """A text, as in a row, a file or a request, is a local path whatever it looks like."""
    memory.pipe_file("/bucket/lines.txt", b"secret\n")
    assert read_lines(Url("memory://bucket/lines.txt")) == ["secret"]
    with pytest.raises(FileError, match=r"there is no file 'memory://bucket/lines.txt'"):
        read_lines("memory://bucket/lines.txt")
    with pytest.raises(FileError, match="URLs are only supported with --parts"):
        read_systems(["memory://bucket/lines.txt"], ["memory://bucket/lines.txt"])


def test_inputs_that_are_urls_and_inputs_that_are_paths() -> None:
    assert url_or_path("file:///tmp/a%20b.jsonl") == "/tmp/a b.jsonl"
    assert not isinstance(url_or_path("file:///tmp/a.jsonl"), Url)
    assert not isinstance(url_or_path("C://rows.jsonl"), Url)
    assert isinstance(url_or_path("s3://bucket/rows.jsonl"), Url)
    for wrong in ("zip://a.jsonl::s3://b/c.zip", "ftp://me:word@host/a.jsonl", "file://host/a"):
        with pytest.raises(UsageError) as raised:
            url_or_path(wrong)
        assert "word@" not in str(raised.value)


def test_the_extra_is_named_if_fsspec_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(MissingExtra, match=r"nlgauge\[remote\]"):
        Url("s3://bucket/rows.jsonl").size()


def test_a_server_that_ignores_ranges(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.pipe_file("/bucket/rows.jsonl", b"a" * (3 << 20))
    monkeypatch.setattr(type(memory), "cat_file", lambda *_, **__: b"a" * (3 << 20))
    with (
        pytest.raises(FileError, match="cannot be read in ranges"),
        Url("memory://bucket/rows.jsonl").open() as content,
    ):
        content.read(10)


@pytest.mark.slow
def test_the_folder_of_parts_is_not_at_an_address(
    store: tuple[Path, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = write_jsonl(store[0] / "rows.jsonl", ROWS)
    done = _score(store, "-c", table, "-m", "chrf", "--parts", "objects://bucket/out")
    assert done.returncode == 2
    assert "only the input may be a URL" in done.stderr
    assert not (tmp_path / "objects:").exists()
