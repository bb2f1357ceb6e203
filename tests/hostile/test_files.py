"""Hostile files give a result or one error sentence: no hang, no crash, no traceback."""

import gzip
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nlgauge.cli import app
from nlgauge.core.errors import DataError, FileError
from nlgauge.core.jsonable import unique_keys
from nlgauge.data import read_judged
from nlgauge.data.files import read_lines, read_table
from nlgauge.data.safe_pickle import read_plain_pickle
from nlgauge.data.samples import read_samples
from nlgauge.data.stored_scores import read_stored_scores
from nlgauge.data.systems import InputFiles, read_systems
from nlgauge.data.text_rows import Rejected
from nlgauge.encode.cache.database import FILE_NAME, EmbeddingCache
from nlgauge.reproducibility import Results

TIMEOUT = 120  # seconds, for a busy machine


def python(code: str, *words: object, **options: object) -> "subprocess.CompletedProcess[str]":
    """Run code in a child process, so that a hang or crash ends only the child."""
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT, check=False, **options
    )


# Rows with different columns.


def write(path: Path, *rows: object) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_score_and_parts_agree_on_rows_with_different_columns(tmp_path: Path) -> None:
    rows = [{"candidate": f"the cat sat {i}", "ref": "a dog ran"} for i in range(4)]
    rows[2]["references"] = rows[2]["candidate"]
    rows[3]["prediction"] = "a dog ran"
    table = write(tmp_path / "a.jsonl", *rows)
    values = []
    for more in ([], ["--parts", str(tmp_path / "run")]):
        result = CliRunner().invoke(app, ["score", "-c", table, "-m", "chrf", "-f", "json", *more])
        assert result.exit_code == 0, result.output
        values.append(json.loads(result.stdout)["scores"][0]["value"])
    assert values[0] == pytest.approx(values[1], abs=1e-9)
    expected = read_systems([table], [])
    assert set(expected.references) == {("a dog ran",)}
    assert expected.candidates[3] == "the cat sat 3"


@pytest.mark.parametrize("column", ["candidate", "reference", "system", "id", "source"])
def test_a_row_without_a_column_of_the_first_row_is_refused(tmp_path: Path, column: str) -> None:
    row = {"candidate": "a", "reference": "b", "system": "A", "id": "1", "source": "c"}
    later = {key: value for key, value in {**row, "id": "2"}.items() if key != column}
    table = write(tmp_path / "a.jsonl", row, {**later, "references": "x"}, {**row, "id": 3})
    message = f"the row has no column {column!r}, which the first row has"
    with pytest.raises(FileError, match=f"a.jsonl, line 2: {message}"):
        read_systems([table], [])
    rows = list(InputFiles([table]).rows())
    assert [isinstance(each, Rejected) for each in rows] == [False, True, False]
    assert rows[1] == Rejected(f"{table}, line 2", message)


def test_every_file_has_columns_of_its_own_and_sources_are_kept(tmp_path: Path) -> None:
    write(tmp_path / "1.jsonl", {"hyp": "a", "ref": "b", "src": None, "system": "A"})
    write(tmp_path / "2.jsonl", {"candidate": "c", "references": ["d"], "source": 0, "model": "A"})
    for paths in ([tmp_path], sorted(tmp_path.iterdir())):
        corpus = read_systems([*map(str, paths)], [])
        assert corpus.candidates == ("a", "c")
        assert corpus.references == (("b",), ("d",))
        assert corpus.sources == ("", "0")
        assert corpus.ids == ("0", "1"), "rows of a system are numbered through all files"
        assert [row.id for row in InputFiles([*map(str, paths)]).rows()] == ["0", "1"]


def test_other_readers_keep_to_the_columns_of_the_first_row(tmp_path: Path) -> None:
    scores = [{"id": "a", "m": 1}, {"segment": "b", "m": 1}]
    with pytest.raises(FileError, match="line 2 has no column 'id', which the first row has"):
        read_stored_scores(write(tmp_path / "s.jsonl", *scores))
    samples = [{"samples": ["a"], "refs": ["r"]}, {"samples": ["a"], "target": ["r"]}]
    with pytest.raises(FileError, match="line 2 has no column 'refs', which the first row has"):
        read_samples(write(tmp_path / "n.jsonl", *samples))
    judged = [{"system": s, "segment": 1, "hyp": "a", "ref": "b", "human": 1} for s in "AB"]
    del judged[1]["segment"]
    with pytest.raises(FileError, match="line 2: the row has no column 'segment'"):
        read_judged(write(tmp_path / "j.jsonl", *judged))


# Lists in cells.


@pytest.mark.parametrize("mark", ["\t", ","])
def test_a_cell_may_list_references(tmp_path: Path, mark: str) -> None:
    cells = ['["a","b é"]', '["x", null]', "[a]", "[1]", '["a"] b', "[", '{"a": "b"}']
    quoted = [cell if mark == "\t" else '"' + cell.replace('"', '""') + '"' for cell in cells]
    path = tmp_path / ("a.tsv" if mark == "\t" else "a.csv")
    lines = [mark.join(("candidate", "Reference", "human", "note"))]
    lines += [mark.join(('["c"]', cell, str(i), "[]")) for i, cell in enumerate(quoted)]
    if mark == ",":
        lines = [line.replace('["c"]', '"[""c""]"') for line in lines]
    path.write_text("\n".join(lines), "utf-8")
    expected = (("a", "b é"), ("x",), *((cell,) for cell in cells[2:]))
    assert read_systems([str(path)], []).references == expected
    assert tuple(row.references for row in InputFiles([str(path)]).rows()) == expected
    assert read_judged(path).corpus.references == expected
    assert read_judged(path).corpus.candidates[0] == '["c"]'
    path.write_text("\n".join([lines[0], lines[1].replace(quoted[0], "[]")]), "utf-8")
    with pytest.raises(DataError, match="references has no reference"):
        read_systems([str(path)], [])


# Pickles.


def doubled(levels: int, end: bytes) -> bytes:
    """Return a pickle in which every tuple holds the one before twice."""
    steps = (b"q" + bytes([i]) + b"h" + bytes([i]) + b"\x86" for i in range(levels))
    return b"\x80\x02" + b")" + b"".join(steps) + end + b"."


def twice(number: int) -> bytes:
    """Return the operations for a list that holds the list before it in the memo twice."""
    return b"]q%c(h%ch%ce" % (number, number - 1, number - 1)


NESTED = 300_000
PICKLES = {
    "shared tuples": doubled(40, b""),
    "shared tuples as a key": b"\x80\x02}" + doubled(40, b"")[2:-1] + b"Ns.",
    "shared tuples as a state": b"\x80\x02cnumpy\ndtype\n(Vf8\ntR" + doubled(40, b"b")[2:],
    "shared tuples as a kind": b"\x80\x02cnumpy\ndtype\n" + doubled(40, b"\x85R")[2:],
    "frozen sets": b"\x80\x04(K\x01\x91" + b"".join(b"\x94(h%c\x91" % i for i in range(40)) + b".",
    "shared lists": b"]q\x00" + b"".join(map(twice, range(1, 40))) + b".",
    "a list in itself": b"]q\x00h\x00a.",
    "a long text many times": b"(X\0\4\0\0" + b"x" * 1024 + b"q\0" + b"h\0" * 2000 + b"l.",
    "deep tuples": b")" + b"\x85" * NESTED + b".",
    "deep tuples as a key": b"})" + b"\x85" * NESTED + b"Ns.",
    "deep lists": b"]" * NESTED + b"a" * (NESTED - 1) + b".",
    "inner tuples first": b"()" + b"".join(b"q%ch%c\x85" % (i, i) for i in range(200)) + b"l.",
}


@pytest.mark.parametrize("name", PICKLES)
def test_a_small_pickle_of_huge_data_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "abs.pkl"
    path.write_bytes(PICKLES[name])
    code = """
import sys
from nlgauge.core.errors import FileError
from nlgauge.data import read_judged
try:
    read_judged(sys.argv[1])
except FileError as error:
    print(error)
"""
    done = python(code, path)
    assert done.returncode == 0, (done.returncode, done.stderr[-300:])
    assert "is not a pickle of plain data" in done.stdout


def test_data_at_the_limits_of_a_pickle_are_read(tmp_path: Path) -> None:
    value: object = "x"
    for _ in range(49):
        value = [value, {"a": value}] if isinstance(value, str) else [value]
    path = tmp_path / "a.pkl"
    path.write_bytes(pickle.dumps(value))
    assert read_plain_pickle(str(path)) == value
    path.write_bytes(pickle.dumps([value]))
    with pytest.raises(FileError, match="nested more than 50 levels deep"):
        read_plain_pickle(str(path))


# Damaged compression.


def damaged(content: bytes) -> list[bytes]:
    """Return the gzipped content, damaged in its header, data, checksum and length."""
    whole = gzip.compress(content)
    cut = [whole[:end] for end in (2, 5, 10, 12, len(whole) // 2, -8, -4, -1)]
    flipped = []
    for place in (2, 3, 10, 11, len(whole) // 2, -8, -1):
        changed = bytearray(whole)
        changed[place] ^= 0xFF
        flipped.append(bytes(changed))
    return [*cut, *flipped, whole + b"more"]


TABLE = "".join(
    json.dumps({"system": s, "segment": i, "hyp": f"{s}{i}", "ref": "a", "human": i * len(s)})
    + "\n"
    for i in range(20)
    for s in ("A", "BB")
).encode()
PAIRS = b"SID\tbetter\tworse\n" + b"".join(b"%d\tA\tB\n" % i for i in range(20))
DAMAGED = {
    "score": (["score", "-c", "{}.jsonl.gz", "-m", "chrf"], TABLE),
    "score --parts": (["score", "-c", "{}.jsonl.gz", "-m", "chrf", "--parts", "{}"], TABLE),
    "score of texts": (["score", "-c", "{}.txt.gz", "-r", "good.jsonl", "-m", "chrf"], TABLE),
    "compare": (["compare", "-c", "{}.jsonl.gz", "-m", "chrf"], TABLE),
    "correlate": (["correlate", "{}.jsonl.gz", "-m", "chrf"], TABLE),
    "correlate --scores-from": (["correlate", "good.jsonl", "--scores-from", "{}.jsonl.gz"], TABLE),
    "darr": (["darr", "{}.jsonl.gz", "-m", "chrf"], TABLE),
    "darr --pairs": (["darr", "good.jsonl", "-m", "chrf", "--pairs", "{}.gz"], PAIRS),
    "judge": (["judge", "{}.jsonl.gz", "--judge", "human", "--human", "hyp"], TABLE),
    "realsumm": (["correlate", "{}.pkl", "-m", "chrf"], pickle.dumps({1: {"ref_summ": "r"}})),
    "mbr": (["mbr", "{}.jsonl.gz", "-m", "chrf"], TABLE),
    "rescale": (["rescale", "fit", "{}.txt.gz"], TABLE),
    "verify": (["verify", "{}.json"], b"[]"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_gzip_is_one_error_sentence(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.jsonl").write_bytes(TABLE)
    words, content = DAMAGED[name]
    for i, broken in enumerate(damaged(content)):
        given = [word.format(f"x{i}") for word in words]
        Path(next(word for word in given if word.startswith(f"x{i}."))).write_bytes(broken)
        result = CliRunner().invoke(app, given)
        assert isinstance(result.exception, DataError), (i, result.exception, result.output)
        assert "\n" not in str(result.exception)
        assert f"x{i}." in str(result.exception), (i, result.exception)


# Keys that occur twice.


def test_a_key_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    assert unique_keys([("a", 1), ("b", {"a": 1})]) == {"a": 1, "b": {"a": 1}}
    with pytest.raises(ValueError, match="the key 'a' occurs twice"):
        unique_keys([("b", 1), ("a", 1), ("a", 2)])
    table = tmp_path / "a.jsonl"
    table.write_text('{"hyp": "a", "ref": "b"}\n{"hyp": "a", "ref": "b", "hyp": "b"}\n')
    messages = "a.jsonl, line 2: not JSON: the key 'hyp' occurs twice"
    for read in (lambda path: read_systems([path], []), read_table, read_judged, read_samples):
        with pytest.raises(FileError, match=messages):
            read(str(table))
    assert isinstance(list(InputFiles([str(table)]).rows())[1], Rejected)
    table.write_text('{"hyp": "a", "ref": "b", "human": {"x": 1, "x": 2}}\n')
    with pytest.raises(FileError, match="the key 'x' occurs twice"):
        read_judged(table)
    results = tmp_path / "results.json"
    results.write_text('{"scores": [{"signature": "a", "signature": "b"}]}')
    with pytest.raises(FileError, match=r"results\.json is not JSON: the key 'signature' occurs"):
        Results.read(results)


# Encodings.


@pytest.mark.parametrize("coding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv", "a.tsv", "a.txt.gz"])
def test_utf_16_is_named(tmp_path: Path, coding: str, order: str, name: str) -> None:
    content = '\ufeff{"hyp": "a", "ref": "b"}\n'.encode(f"{coding}-{order}")
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    messages = f"is {coding.upper()}, not UTF-8; convert it with iconv -f {coding} -t utf-8"
    with pytest.raises(FileError, match=messages):
        read_table(str(path)) if "txt" not in name else read_lines(str(path))


@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv", "a.txt.gz"])
@pytest.mark.parametrize("text", ["a boat", "東京は大きい。", "лодка"])
def test_utf_16_without_a_mark_is_named(tmp_path: Path, order: str, name: str, text: str) -> None:
    path = tmp_path / name
    content = (f'{{"hyp": "{text}"}}\n' if "jsonl" in name else f"{text}\n").encode(
        f"utf-16-{order}"
    )
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    coding = f"UTF-16{order.upper()}"
    messages = f"is {coding}, not UTF-8; convert it with iconv -f {coding.lower()} -t utf-8"
    with pytest.raises(FileError, match=messages):
        read_table(str(path)) if "txt" not in name else read_lines(str(path))


def test_a_zero_byte_in_utf_8_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("a\0boat\n東京\n".encode())
    assert read_lines(str(path)) == ["a\0boat", "東京"]


# Pipes, devices and folders.

READ = """
import sys, warnings
from pathlib import Path
from nlgauge.core.errors import NlgaugeError
from nlgauge.data import files
files._PIPE_SECONDS = 0.2
warnings.simplefilter("ignore")
try:
    exec(sys.argv[2])
    print("read")
except NlgaugeError as error:
    print(error)
"""
READERS = {
    "lines": "files.read_lines(sys.argv[1])",
    "jsonl": "files.read_table(sys.argv[1], 'jsonl')",
    "csv": "files.read_table(sys.argv[1], 'csv')",
    "parquet": "files.read_table(sys.argv[1], 'parquet')",
    "systems": "from nlgauge.data.systems import read_systems; read_systems([sys.argv[1]], [])",
    "judged": "from nlgauge.data import read_judged; read_judged(sys.argv[1], kind='rows')",
    "pickle": "from nlgauge.data import read_judged; read_judged(sys.argv[1], kind='realsumm')",
    "results": "from nlgauge.reproducibility import Results; Results.read(sys.argv[1])",
}


def _put(kind: str, path: Path) -> None:
    """Put a pipe, a folder or a device where a file belongs."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(kind)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "folder"])
def test_pipes_and_devices_are_not_read(tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / "a.jsonl"
    _put(kind, path)
    done = python(READ, path, READERS[name])
    assert done.returncode == 0, done.stderr
    assert str(path) in done.stdout
    assert done.stdout.count("\n") == 1


def test_a_pipe_with_a_writer_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with subprocess.Popen(["sh", "-c", 'printf "a\\nb\\n" > "$0"', path]):
        assert read_lines(str(path)) == ["a", "b"]


@pytest.mark.parametrize("ending", ["", "-journal", "-wal"])
@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "folder"])
def test_a_pipe_in_place_of_the_cache_is_refused(tmp_path: Path, ending: str, kind: str) -> None:
    cache = EmbeddingCache(tmp_path)
    cache.write("identity", {b"key": {"part": b"content"}})
    path = tmp_path / (FILE_NAME + ending)
    path.unlink(missing_ok=True)
    _put(kind, path)
    code = """
import sys, warnings
from pathlib import Path
from nlgauge.core.errors import FileError
from nlgauge.encode.cache.database import CacheWarning, EmbeddingCache
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    cache = EmbeddingCache(Path(sys.argv[1]))
    assert cache.read("identity", [b"key"], ["part"]) == {}
    cache.write("identity", {b"key": {"part": b"content"}})
for each in caught:
    assert each.category is CacheWarning
    print(each.message)
for work in (cache.contents, cache.verify, cache.clear):
    try:
        work()
    except FileError as error:
        print(error)
"""
    done = python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(f"{path.name} is not a regular file; delete it") == 5


@pytest.mark.parametrize("name", ["manifest.json", "run.lock", "part.json", "part.jsonl"])
def test_a_pipe_in_a_run_folder_is_not_waited_for(tmp_path: Path, name: str) -> None:
    table = write(tmp_path / "a.jsonl", {"hyp": "a b", "ref": "a c"})
    words = ["score", "-c", table, "-m", "chrf", "--parts", str(tmp_path / "run")]
    assert CliRunner().invoke(app, words).exit_code == 0
    file = tmp_path / "run" / name
    if name.startswith("part"):
        (file,) = (tmp_path / "run" / "parts").glob(f"*.{name.split('.')[1]}")
    file.unlink()
    os.mkfifo(file)
    done = python("from nlgauge.cli import main; import sys; main(sys.argv[1:])", *words)
    if name.startswith("part"):  # it is written again
        assert done.returncode == 0, done.stderr
        assert file.is_file()
    else:
        assert done.returncode == 1
        assert done.stderr.strip() == f"nlgauge: {str(file)!r} is not a regular file; delete it"


# The end of the output.

OUTPUTS = {
    "score": ["score", "-c", "a.jsonl", "-m", "chrf"],
    "score --segments": ["score", "-c", "a.jsonl", "-m", "chrf", "--segments"],
    "correlate": ["correlate", "a.jsonl", "-m", "chrf"],
    "metrics": ["metrics"],
}
MAIN = "from nlgauge.cli import main; import sys; main(sys.argv[1:])"


@pytest.mark.parametrize(
    ("name", "rows"), [*((name, 20) for name in OUTPUTS), ("score --segments", 3000)]
)
def test_closed_and_full_outputs_end_without_a_traceback(
    tmp_path: Path, name: str, rows: int
) -> None:
    lines = ({"hyp": f"a {i}", "ref": "a b", "human": i % 7} for i in range(rows))
    write(tmp_path / "a.jsonl", *lines)
    command = [sys.executable, "-c", MAIN, *OUTPUTS[name]]
    reader, writer = os.pipe()
    os.close(reader)  # as by head, when it has its line
    options = {"stderr": subprocess.PIPE, "text": True, "cwd": tmp_path, "timeout": TIMEOUT}
    done = subprocess.run(command, stdout=writer, check=False, **options)
    os.close(writer)
    assert done.returncode == 0
    assert "Error" not in done.stderr
    assert "Traceback" not in done.stderr
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, check=False, **options)
    assert done.returncode == 1
    messages = "nlgauge: the output cannot be written: No space left on device\n"
    assert done.stderr.endswith(messages)
    assert "Traceback" not in done.stderr
    closed = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    done = subprocess.run(closed, check=False, **options)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)


@pytest.mark.parametrize("stderr", ["2>&-", "2>/dev/full", "a pipe without a reader"])
def test_results_are_printed_if_notes_cannot_be(tmp_path: Path, stderr: str) -> None:
    write(tmp_path / "a.jsonl", {"hyp": "a b", "ref": "a b"})
    command = [sys.executable, "-c", MAIN, "score", "-c", "a.jsonl", "-m", "chrf", "--parts", "out"]
    options = {"stdout": subprocess.PIPE, "text": True, "cwd": tmp_path, "timeout": TIMEOUT}
    notes = None
    if stderr.startswith("2"):
        command = ["sh", "-c", f'exec "$@" {stderr}', "sh", *command]
    else:
        reader, notes = os.pipe()
        os.close(reader)
    done = subprocess.run(command, stderr=notes, check=False, **options)
    assert done.returncode == 0
    assert "chrF" in done.stdout
    assert "note:" not in done.stdout
    failed = subprocess.run([*command, "-m", "no"], stderr=notes, check=False, **options)
    assert (failed.returncode, failed.stdout) == (2, "")


@pytest.mark.parametrize(
    "spec",
    [
        "bertscore:model=hashing,baseline={}",
        "mover:model=hashing,stopwords={}",
        "wmd:model={}",
    ],
)
def test_options_do_not_wait_for_pipes_and_devices(tmp_path: Path, spec: str) -> None:
    pipe = tmp_path / "a.txt"
    os.mkfifo(pipe)
    code = "import sys; import nlgauge; nlgauge.score(['a'], ['b'], metrics=sys.argv[1])"
    for place, kind in ((pipe, "a pipe"), (Path("/dev/zero"), "a device"), (tmp_path, "a folder")):
        if "wmd" in spec and place != pipe:
            continue  # a folder is a model, and names of vectors end in .txt
        ended = python(code, spec.format(place))
        assert "FileError: " in ended.stderr, ended.stderr
        assert f"{str(place)!r} is {kind}; name a file" in ended.stderr


def test_a_metric_in_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "own.py")
    code = "from nlgauge.metrics import metric_names; print('own' in metric_names())"
    ended = python(code, env={**os.environ, "NLGAUGE_METRICS": str(tmp_path)})
    assert ended.stdout == "False\n", ended.stderr
