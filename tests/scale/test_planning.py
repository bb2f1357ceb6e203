"""Blocks of any size hold the rows of the whole input, and parts are read from them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from generated_rows import write_jsonl
from nlgauge.core.errors import FileError
from nlgauge.data.columns import Columns
from nlgauge.data.systems import InputFiles
from nlgauge.data.text_rows import Rejected, Row
from nlgauge.scale.engine import InProcess
from nlgauge.scale.parts import cut_parts
from nlgauge.scale.planning import InputScan, Plan
from nlgauge.scale.repeated_ids import DigestWriter, digest_ranges, join_repeats
from nlgauge.scale.run_folder import RunFolder
from nlgauge.scale.signals import SignalHandler
from nlgauge.scale.worker import WorkerConfig

SIZES = (1, 64, 101, 331, 5000)
QUOTED = '''candidate,"reference
",id
"a, b","c ""d""",1
plain 5" pipe,x"y"z,2

"two
lines","three

lines",3
"open"tail"here,"",4
"{long}",z,5
,,
"last, ""quoted""
",z,6
bare \r return,z,7
é,ü,8
"never closed,z,9
'''


@pytest.fixture
def engine() -> InProcess:
    return InProcess(WorkerConfig(("chrf",)))


def _spans(engine: InProcess, inputs: InputFiles, size: int) -> list:
    scan = InputScan.of(engine, inputs, size)
    return [span for _, spans in scan.spans(engine) for span in spans]


def _assert_same_rows(engine: InProcess, inputs: InputFiles) -> None:
    expected = list(inputs.rows())
    assert expected
    for size in SIZES:
        counts: Counter[str] = Counter()
        found = []
        for span in _spans(engine, inputs, size):
            before = Counter(counts)
            rows = list(span.rows(counts))
            found += [row for _, row in rows]
            for place, batch in cut_parts(rows, 9):  # and again from the start of every part
                start = Counter(place.counts if span.numbered else before)
                again = [row for _, row in span.begin(place).rows(start)]
                at = next(i for i, (_, row) in enumerate(rows) if row is batch[0])
                assert again == [row for _, row in rows[at:]], (size, place)
        assert found == expected, size


def _rows(count: int) -> list[dict]:
    draw = random.Random(0)
    return [
        {"id": i, "candidate": "ab é " * draw.randrange(9), "reference": f"r{i}"}
        for i in range(count)
    ]


def test_blocks_of_json_lines(tmp_path: Path, engine: InProcess) -> None:
    lines = [json.dumps(row, ensure_ascii=False) for row in _rows(30)]
    lines[3:3] = ["", "not JSON", "  ", '{"reference": "x"}', '{"candidate": "a", "source": "b"}']
    path = tmp_path / "rows.jsonl"
    for text in ("\n".join(lines), "\ufeff" + "\r\n".join(lines) + "\n"):
        path.write_bytes(text.encode())
        _assert_same_rows(engine, InputFiles([str(path)]))


def test_blocks_of_rows_without_ids(tmp_path: Path, engine: InProcess) -> None:
    """Ids are numbers within a system, and bad rows count."""
    rows = [{"candidate": f"c{i}", "reference": f"r{i}", "system": "ABA"[i % 3]} for i in range(20)]
    table = write_jsonl(tmp_path / "rows.jsonl", [*rows[:7], [1], {"system": "B"}, *rows[7:]])
    other = write_jsonl(tmp_path / "other.jsonl", rows[:5])
    _assert_same_rows(engine, InputFiles([str(table), str(other)]))


def test_blocks_of_a_table_whose_first_rows_decide_nothing(
    tmp_path: Path, engine: InProcess
) -> None:
    rows = [{"x": 1}] * 9 + [{"ref": "r", "mt": f"c{i}", "hyp2": f"d{i}"} for i in range(9)]
    table = write_jsonl(tmp_path / "rows.jsonl", rows)
    _assert_same_rows(engine, InputFiles([str(table)]))
    columns = Columns.of("systems=mt,systems=hyp2")
    _assert_same_rows(engine, InputFiles([str(table)], columns=columns))


@pytest.mark.parametrize("header", [True, False])
def test_blocks_of_tsv(tmp_path: Path, engine: InProcess, header: bool) -> None:
    lines = [f"{row['candidate']}\t{row['reference']}\t{row['id']}" for row in _rows(20)]
    lines[5:5] = ["", "too\tfew", 'a "quoted\tb"\tx']
    path = tmp_path / "rows.tsv"
    path.write_text("\n".join(["candidate\treference\tid"][: int(header)] + lines), "utf-8")
    columns = Columns.of(None if header else "candidate=1,reference=2,id=3", header=header)
    _assert_same_rows(engine, InputFiles([str(path)], columns=columns))


def test_blocks_of_csv_with_line_breaks_in_quotes(tmp_path: Path, engine: InProcess) -> None:
    path = tmp_path / "rows.csv"
    text = QUOTED.format(long="x\n" * 40)
    for given in (text, "\ufeff" + text, text.replace("\n", "\r\n"), text.rstrip("\n")):
        path.write_text(given, "utf-8", newline="")
        end = "\r\n" if "\r\n" in given else "\n"
        inputs = InputFiles([str(path)], columns=Columns.of({"reference": f"reference{end}"}))
        rows = [row for row in inputs.rows() if isinstance(row, Row)]
        assert "\n" in rows[2].candidate
        _assert_same_rows(engine, inputs)


def test_blocks_of_random_csv(tmp_path: Path, engine: InProcess) -> None:
    """Any mixture of quotation marks, commas and line ends: blocks agree with one reader."""
    path = tmp_path / "rows.csv"
    draw = random.Random(1)
    for _ in range(10):
        cells = "".join(draw.choices('ab",\n\r ', weights=[5, 5, 5, 3, 3, 1, 1], k=150))
        path.write_text("candidate,reference\nx,y\n" + cells, "utf-8", newline="")
        _assert_same_rows(engine, InputFiles([str(path)]))


def test_blocks_of_written_csv(tmp_path: Path, engine: InProcess) -> None:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["candidate", "reference", "id"])
    texts = ['a\nb"c,', "plain", '"', "\n\n", '",\n"']
    writer.writerows([texts[i % 5] + "x", texts[i % 3] + "y", i] for i in range(40))
    path = tmp_path / "rows.csv"
    path.write_text(out.getvalue(), "utf-8", newline="")
    inputs = InputFiles([str(path)])
    _assert_same_rows(engine, inputs)
    assert not any(isinstance(row, Rejected) for row in inputs.rows())


@pytest.mark.parametrize("ending", ["jsonl.gz", "jsonl.zst", "json", "csv.gz"])
def test_files_that_are_read_from_their_start(
    tmp_path: Path, engine: InProcess, ending: str
) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in _rows(20)).encode()
    if ending == "jsonl.gz":
        content = gzip.compress(lines)
    elif ending == "csv.gz":
        content = gzip.compress(b'candidate,reference\n"a\nb",c\nd,"e"\n')
    elif ending == "json":
        content = json.dumps(_rows(20)).encode()
    else:
        pytest.importorskip("pyarrow")
        content = pytest.importorskip("zstandard").ZstdCompressor().compress(lines)
    path = tmp_path / f"rows.{ending}"
    path.write_bytes(content)
    inputs = InputFiles([str(path)])
    assert [span.seekable for span in _spans(engine, inputs, 64)] == [False]
    _assert_same_rows(engine, inputs)


def test_blocks_of_parquet_are_row_groups(tmp_path: Path, engine: InProcess) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.Table.from_pylist(_rows(24)), path, row_group_size=5)
    inputs = InputFiles([str(path)])
    assert [span.offset for span in _spans(engine, inputs, 1)] == list(range(0, 24, 5))
    assert len(_spans(engine, inputs, 1 << 20)) == 1
    _assert_same_rows(engine, inputs)


def test_text_files_begin_at_any_line(tmp_path: Path, engine: InProcess) -> None:
    for name in "xyr":
        lines = [f"{name} {'é' * (i % 7)}" for i in range(25)]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines), "utf-8")
    x, y, r = (str(tmp_path / f"{name}.txt") for name in "xyr")
    _assert_same_rows(engine, InputFiles([x, y], [r]))


def test_the_digest_of_a_file_is_that_of_its_bytes_or_of_its_blocks(
    tmp_path: Path, engine: InProcess
) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [])
    path.write_bytes(b"abc")
    (digest,) = InputScan.of(engine, InputFiles([str(path)]), 100).digests
    assert (digest["name"], digest["bytes"]) == ("a.jsonl", 3)
    assert str(digest["sha256"]).startswith("ba7816bf8f01cfea")  # FIPS 180-2, appendix B.1
    (blocks,) = InputScan.of(engine, InputFiles([str(path)]), 2).digests
    assert blocks["sha256"] != digest["sha256"]
    with pytest.raises(FileError, match="there is no file"):
        InputScan.of(engine, InputFiles([str(tmp_path / "b.jsonl")]), 2)


def _plan(engine: InProcess, inputs: InputFiles, folder: Path, *, size: int) -> Plan:
    run_folder = RunFolder(folder, "jsonl")
    folder.mkdir()
    return Plan.of(
        engine,
        InputScan.of(engine, inputs, size),
        run_folder,
        3,
        segments=True,
        stop_at_rejected=False,
        equal_sources=False,
        references_for=None,
        signals=SignalHandler(),
        report=lambda _: None,
    )


@pytest.mark.parametrize("size", [200, 1000, 1 << 20])
def test_repeated_ids_and_segments_are_those_that_a_set_finds(
    tmp_path: Path, engine: InProcess, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one file with ids, one whose ids are numbers, and again one with ids."""
    monkeypatch.setattr("nlgauge.scale.repeated_ids._RANGE_ROWS", 10)
    draw = random.Random(2)
    paths = []
    for name, keys in {"a": True, "b": False, "c": True}.items():
        rows = [
            {"candidate": "x", "reference": f"r{draw.randrange(3)}", "system": draw.choice("AB")}
            | ({"id": str(draw.randrange(60))} if keys else {})
            for _ in range(40)
        ]
        paths.append(str(write_jsonl(tmp_path / f"{name}.jsonl", [*rows[:20], [1], *rows[20:]])))
    inputs = InputFiles(paths)
    plan = _plan(engine, inputs, tmp_path / "out", size=size)
    segments = plan.repeated_segments(engine)
    parts = [part for r in plan.ranges(lambda: 2, 1, segments) for part in r.read()]
    assert [part.number for part in parts] == list(range(plan.parts))
    seen, known = set(), set()
    kept, repeated, new = [], [], []
    for row in inputs.rows():
        if isinstance(row, Rejected):
            continue
        if (row.system, row.id) in seen:
            repeated.append(row.place)
            continue
        seen.add((row.system, row.id))
        kept.append(row)
        if (row.id, row.references) not in known:
            new.append(row.place)
        known.add((row.id, row.references))
    assert [row for part in parts for row in part.rows] == kept
    rejected = [row for part in parts for row in part.rejected if "occurs before" in row.reason]
    assert [row.place for row in rejected] == repeated != []
    found = [part.rows[i].place for part in parts for i in sorted(part.new_segments)]
    assert found == new != kept


def test_digests_in_many_ranges_are_compared_as_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(0)
    ids = [draw.integers(0, 400, 100).tolist() for _ in range(6)]
    found = []
    for limit in (100, 250, 1 << 22):
        monkeypatch.setattr("nlgauge.scale.repeated_ids._RANGE_ROWS", limit)
        folder = tmp_path / str(limit)
        runs = []
        for block, values in enumerate(ids):
            writer = DigestWriter(folder, "ids", block)
            for i in range(0, 100, 10):
                rows = enumerate(values[i : i + 10], i)
                writer.add((at, Row("", "A", str(value), "", ())) for at, value in rows)
            writer.write()
            runs.append(writer.runs)
        ranges = list(digest_ranges(folder, "ids", tuple(runs), 600))
        repeats = join_repeats(each.find_repeats() for each in ranges)
        found.append([repeats.among(block, 20, 60) for block in range(6)])
        assert len(ranges) == -(-600 // limit)
    seen: set[int] = set()
    expected = []
    for values in ids:
        repeated = {i for i, v in enumerate(values) if v in seen or v in values[:i]}
        seen.update(values)
        expected.append({i - 20 for i in repeated if 20 <= i < 80})
    assert found == [expected] * 3


def test_the_files_of_digests_have_to_be_shared(tmp_path: Path) -> None:
    (only,) = digest_ranges(tmp_path, "ids", (1,), 5)
    with pytest.raises(FileError, match="in a file system that they share"):
        only.find_repeats()
