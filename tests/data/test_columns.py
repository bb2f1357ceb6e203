"""Columns are found by their usual names or named by the user; ambiguous ones are errors."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from conftest import command_output
from nlgauge.core.errors import FileError, OptionError, UsageError
from nlgauge.data import read_judged, read_systems
from nlgauge.data.columns import Columns, split_names
from nlgauge.data.samples import read_samples


def _write(path: Path, *rows: dict) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def _text(path: Path, content: str) -> str:
    path.write_text(content, "utf-8")
    return str(path)


def _scores(*words: str) -> dict[tuple[str, str], float]:
    content = json.loads(command_output(*words, "-f", "json"))
    rows = content.get("scores") or content["systems"]
    return {(row["system"], row["metric"]): row["value"] for row in rows}


@pytest.mark.parametrize("name", ["mt", "hyp", "hypothesis", "prediction", "output", "MT", " mt "])
def test_usual_names_of_candidates_are_found(tmp_path: Path, name: str) -> None:
    table = _write(tmp_path / "a.jsonl", {name: "x", "ref": "y", "src": "z"})
    corpus = read_systems([table])
    assert corpus.candidates == ("x",)
    assert corpus.references == (("y",),)
    assert corpus.sources == ("z",)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"target": "y"}, ("y",)),
        ({"reference2": "b", "reference1": "a"}, ("a", "b")),
        ({"ref_10": "c", "ref_2": "b", "ref_1": "a"}, ("a", "b", "c")),
        ({"reference1": "a", "reference2": ""}, ("a",)),
        ({"reference1": None, "reference2": "b"}, ("b",)),
        ({"reference1": "", "reference2": ""}, ("",)),
    ],
)
def test_usual_names_of_references_are_found(
    tmp_path: Path, row: dict, expected: tuple[str, ...]
) -> None:
    table = _write(tmp_path / "a.jsonl", {"candidate": "x", **row})
    assert read_systems([table]).references == (expected,)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"mt": "x", "output": "y", "ref": "z"},
            r"'mt' and 'output', which could all be the candidate.*--columns candidate=mt",
        ),
        ({"MT": "x", "mt": "y", "ref": "z"}, "'MT' and 'mt'"),
        (
            {"mt": "x", "ref": "y", "target": "z"},
            r"--columns reference=ref, or all .* --columns reference=ref,reference=target",
        ),
        ({"mt": "x", "reference": "y", "reference1": "z"}, "'reference' and 'reference1'"),
        ({"mt": "x", "ref1": "y", "reference1": "z"}, "'ref1' and 'reference1'"),
        ({"mt": "x", "ref": "y", "src": "z", "input": "w"}, "could all be the source"),
        ({"mt": "x", "ref": "y", "system": "z", "model": "w"}, "could all be the system"),
        ({"answer": "x", "ref": "y"}, r"'answer', 'ref'; name it with --columns candidate=COLUMN"),
        ({"mt": "x", "gold": "y"}, r"'mt', 'gold'; name it with --columns reference=COLUMN"),
    ],
)
def test_no_column_is_chosen_silently(tmp_path: Path, row: dict, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_systems([_write(tmp_path / "a.jsonl", row)])


def test_the_command_in_the_error_message_works(tmp_path: Path) -> None:
    row = {"mt": "x", "a, b": "y", "output": "n", "ref": "z", "target": "w"}
    table = _write(tmp_path / "a.jsonl", row)
    chosen: list[str] = []
    for _ in range(2):
        with pytest.raises(FileError) as caught:
            read_systems([table], columns=chosen)
        chosen += shlex.split(str(caught.value).rpartition("--columns ")[2])[:1]
    assert chosen == ["candidate=mt", "reference=ref,reference=target"]
    corpus = read_systems([table], columns=chosen)
    assert corpus.candidates == ("x",)
    assert corpus.references == (("z", "w"),)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("candidate=mt,reference=ref", {"candidate": ("mt",), "references": ("ref",)}),
        ("reference=a,references=b", {"references": ("a", "b")}),
        ('candidate="a, b",source=s', {"candidate": ("a, b",), "source": ("s",)}),
        ('candidate="say ""x""",id=i', {"candidate": ('say "x"',), "id": ("i",)}),
        (
            "candidate=my text , human.fluency=f",
            {"candidate": ("my text",), "human.fluency": ("f",)},
        ),
        ("candidate=a=b", {"candidate": ("a=b",)}),
        ("candidate=Übersetzung", {"candidate": ("Übersetzung",)}),
    ],
)
def test_names_may_have_spaces_commas_quotes_and_any_letters(text: str, named: dict) -> None:
    assert Columns.of(text).named == named
    assert Columns.of(Columns.of(text).to_dict()) == Columns.of(text)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("candidate", r"'candidate' is not ROLE=COLUMN; write candidate=mt,reference=ref"),
        ("candidate=", "is not ROLE=COLUMN"),
        ("kandidat=a", r"unknown role 'kandidat'; the roles are candidate, reference, source"),
        ("candidate=a,candidate=b", "candidate is given twice, as 'a' and 'b'"),
        ("reference=a,reference=a", "'a' is named twice as reference; name it once"),
        ({"systems": ["a", "b", "a"]}, "'a' is named twice as systems"),
        ({"candidate": "a", "systems": ["b"]}, "candidate and systems exclude each other"),
        ({"id": "a", "segment": "b"}, "id and segment exclude each other"),
    ],
)
def test_an_invalid_mapping_is_explained(given: object, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Columns.of(given)


def test_an_unknown_column_is_an_error_that_lists_the_columns(tmp_path: Path) -> None:
    table = _text(tmp_path / "a.tsv", "mt\tref\nx\ty\n")
    message = r"no column 'gold', which is named as reference; it has 'mt', 'ref'"
    with pytest.raises(FileError, match=message):
        read_systems([table], columns={"reference": "gold"})
    with pytest.raises(FileError, match=r"no column 'da', which is named as human; it has 'mt'"):
        read_judged(table, columns="human=da")


def test_a_named_column_is_not_taken_for_another_role(tmp_path: Path) -> None:
    table = _write(tmp_path / "a.jsonl", {"input": "x", "reference": "y", "model": "z"})
    corpus = read_systems([table], columns={"candidate": "input", "source": "model"})
    assert corpus.candidates == ("x",)
    assert corpus.sources == ("z",)
    assert corpus.system_names == ("a",)


def test_lists_of_references_are_read_from_a_named_column(tmp_path: Path) -> None:
    table = _text(tmp_path / "a.csv", 'mt,gold\nx,"[""y"", ""z""]"\n')
    assert read_systems([table], columns={"reference": "gold"}).references == (("y", "z"),)


def test_named_columns_of_human_scores_are_read(tmp_path: Path) -> None:
    rows = [{"mt": "x", "ref": "y", "score": 3, "flu": 1}, {"mt": "z", "ref": "y", "score": 4}]
    table = _write(tmp_path / "a.jsonl", *rows)
    with pytest.raises(FileError, match=r"has no human scores.*--columns human=COLUMN"):
        read_judged(table)
    judged = read_judged(table, columns={"human": "score", "human.fluency": "flu"})
    assert judged.human["score"].tolist() == [3.0, 4.0]
    assert judged.human["fluency"].tolist()[0] == 1.0
    assert "1 of 2 rows have no judgement of 'fluency'." in judged.notes
    stored = read_judged(table, columns="human=score,scores.comet=flu").stored
    assert stored["comet"].tolist()[0] == 1.0


def test_named_segments_and_systems_of_judged_tables(tmp_path: Path) -> None:
    rows = [
        {"mt": "x", "ref": "y", "who": who, "doc": doc, "id": f"{who}{doc}", "human": 1}
        for who in "AB"
        for doc in "12"
    ]
    judged = read_judged(_write(tmp_path / "a.jsonl", *rows), columns="system=who,segment=doc")
    assert judged.corpus.system_names == ("A", "B")
    assert judged.corpus.ids == ("1", "2", "1", "2")
    assert judged.names == ("A1", "A2", "B1", "B2")


def test_columns_are_for_tables_and_roles_for_their_readers(tmp_path: Path) -> None:
    text = _text(tmp_path / "a.txt", "x\n")
    with pytest.raises(UsageError, match="read as text, which has no columns"):
        read_systems([text], [text], columns={"candidate": "mt"})
    table = _write(tmp_path / "a.jsonl", {"mt": "x", "ref": "y", "human": 1})
    with pytest.raises(OptionError, match="human does not apply"):
        read_systems([table], columns={"human": "human"})
    with pytest.raises(OptionError, match="systems does not apply"):
        read_judged(table, columns={"systems": ["mt"]})
    with pytest.raises(OptionError, match="takes no 'columns'; these do: rows"):
        read_judged(table, kind="summeval", columns={"candidate": "mt"})
    samples = _write(tmp_path / "s.jsonl", {"beam": ["x", "y"], "gold": "z"})
    read = read_samples(samples, columns="candidates=beam,reference=gold")
    assert (read.candidates, read.references) == ((("x", "y"),), (("z",),))
    with pytest.raises(OptionError, match="system does not apply"):
        read_samples(samples, columns="system=beam")


LONG = "system,id,answer,gold,src\nA,s1,the cat sat,the cat sat down,q\nA,s2,,a dog,r\n"
LONG += "B,s1,a cat sat,the cat sat down,q\nB,s2,a dog ran,a dog,r\n"
WIDE = 'id,A,B,gold,src\ns1,the cat sat,a cat sat,"the cat sat down",q\ns2,,a dog ran,a dog,r\n'


@pytest.mark.parametrize("command", ["score", "compare"])
def test_a_column_for_each_system_scores_like_a_row_for_each(tmp_path: Path, command: str) -> None:
    long, wide = _text(tmp_path / "long.csv", LONG), _text(tmp_path / "wide.csv", WIDE)
    metrics = ("-m", "bleu", "-m", "chrf", "-m", "ter")
    named = ("--columns", "reference=gold", *metrics)
    expected = _scores(command, "-c", long, "--columns", "candidate=answer", *named)
    assert len(expected) == 6
    assert _scores(command, "-c", wide, "--system-columns", "A,B", *named) == expected
    if command == "score":
        parts = ("--parts", str(tmp_path / "run"), "--part-rows", "1")
        found = _scores(command, "-c", wide, "--system-columns", "A,B", *named, *parts)
        assert found == pytest.approx(expected, abs=1e-9)


def test_a_column_for_each_system_shares_ids_references_and_sources(tmp_path: Path) -> None:
    columns = {"systems": ["A", "B"], "reference": "gold"}
    corpus = read_systems([_text(tmp_path / "wide.csv", WIDE)], columns=columns)
    assert corpus.systems == ("A", "B", "A", "B")
    assert corpus.ids == ("s1", "s1", "s2", "s2")
    assert corpus.sources == ("q", "q", "r", "r")
    with pytest.raises(
        FileError, match=r"no column 'C', which is named as system; it has 'id', 'A'"
    ):
        read_systems([str(tmp_path / "wide.csv")], columns={"systems": ["A", "C"]})
    null = _write(tmp_path / "null.jsonl", {"A": "x", "B": None, "ref": "y"})
    with pytest.raises(FileError, match="line 1, column 'B': candidates is None"):
        read_systems([null], columns={"systems": ["A", "B"]})


def test_names_of_systems_may_have_commas() -> None:
    assert split_names('A,"B, large", C ') == ["A", "B, large", "C"]


@pytest.mark.parametrize(("kind", "mark"), [("tsv", "\t"), ("csv", ",")])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_a_table_without_a_header_has_numbered_columns(
    tmp_path: Path, kind: str, mark: str, bom: str
) -> None:
    rows = [["x y", "x z", "s"], ["ü", "u", "t"]]
    content = bom + "".join(mark.join(row) + "\n" for row in rows)
    table = _text(tmp_path / f"a.{kind}", content)
    columns = {"candidate": "1", "reference": "2", "source": "3"}
    corpus = read_systems([table], columns=columns, header=False)
    assert corpus.candidates == ("x y", "ü")
    assert corpus.references == (("x z",), ("u",))
    assert corpus.sources == ("s", "t")
    named = _text(
        tmp_path / f"b.{kind}", mark.join(["mt", "ref", "src"]) + "\n" + content[len(bom) :]
    )
    options = ("--no-header", "--columns", "candidate=1,reference=2")
    first = _scores("score", "-c", table, *options, "-m", "chrf")
    assert list(first.values()) == list(_scores("score", "-c", named, "-m", "chrf").values())
    with pytest.raises(
        FileError, match=r"no column '4', which is named as candidate; it has '1', '2'"
    ):
        read_systems([table], columns="candidate=4,reference=2", header=False)
    with pytest.raises(FileError, match=r"it has '1', '2', '3'; name it with --columns candidate="):
        read_systems([table], header=False)


def test_a_ragged_row_without_a_header_is_reported(tmp_path: Path) -> None:
    table = _text(tmp_path / "a.tsv", "x\ty\nz\n")
    with pytest.raises(FileError, match="line 2: 1 field, but the first line has 2"):
        read_systems([table], columns="candidate=1,reference=2", header=False)


def test_only_csv_and_tsv_may_lack_a_header(tmp_path: Path) -> None:
    table = _write(tmp_path / "a.jsonl", {"mt": "x", "ref": "y"})
    with pytest.raises(UsageError, match="only TSV and CSV lack a header"):
        read_systems([table], header=False)


def test_a_byte_order_mark_before_a_quoted_header_is_ignored(tmp_path: Path) -> None:
    table = _text(tmp_path / "a.csv", '\ufeff"candidate","reference"\nx,y\n')
    assert read_systems([table]).candidates == ("x",)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"source": "s"}, "the row has a column 'source', which the first row does not have"),
        ({"system": "s"}, "the row has a column 'system', which the first row does not have"),
        ({"id": "s"}, "the row has a column 'id', which the first row does not have"),
    ],
)
def test_a_column_missing_in_the_first_row_is_refused(
    tmp_path: Path, row: dict, message: str
) -> None:
    first = {"candidate": "x", "reference": "y"}
    with pytest.raises(FileError, match=f"line 2: {message}"):
        read_systems([_write(tmp_path / "a.jsonl", first, {**first, **row})])
    two = {"candidate": "x", "reference1": "y", "reference2": "z"}
    with pytest.raises(FileError, match="line 2: the row has a column 'reference3'"):
        read_systems([_write(tmp_path / "c.jsonl", two, {**two, "reference3": "s"})])
    other = _write(tmp_path / "b.jsonl", first, {**first, "comment": "s"})
    assert len(read_systems([other])) == 2


@pytest.mark.parametrize("blank", ["", " ", None])
def test_blank_cells_have_a_defined_meaning(tmp_path: Path, blank: str | None) -> None:
    row = {"candidate": "x", "reference": "y", "source": blank}
    assert read_systems([_write(tmp_path / "a.jsonl", row)]).sources == (blank or "",)
    for role in ("system", "id"):
        table = _write(tmp_path / "b.jsonl", {"candidate": "x", "reference": "y", role: blank})
        with pytest.raises(FileError, match=rf"the {role} \(column '{role}'\) is empty"):
            read_systems([table])


def test_json_lists_are_tables(tmp_path: Path) -> None:
    rows = [{"mt": "x", "ref": ["y", "z"]}, {"mt": "ü\n", "ref": ["\u2028"]}]
    for indent in (None, 2):
        table = _text(tmp_path / "a.json", "\ufeff" + json.dumps(rows, indent=indent))
        corpus = read_systems([table])
        assert corpus.candidates == ("x", "ü\n")
        assert corpus.references == (("y", "z"), ("\u2028",))


def test_json_files_that_describe_a_folder_of_tables_are_not_read(tmp_path: Path) -> None:
    _write(tmp_path / "a.jsonl", {"mt": "x", "ref": "y"})
    _text(tmp_path / "info.json", '{"rows": 1}')
    assert read_systems([str(tmp_path)]).candidates == ("x",)
    (tmp_path / "a.jsonl").unlink()
    _text(tmp_path / "info.json", '[{"mt": "z", "ref": "y"}]')
    assert read_systems([str(tmp_path)]).candidates == ("z",)
