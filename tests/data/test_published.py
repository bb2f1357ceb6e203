"""SummEval, WebNLG 2020, Novikova 2017 and TAC in the layouts of their authors."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from nlgauge.core.errors import DataError, FileError, OptionError
from nlgauge.data import read_judged
from nlgauge.data.webnlg import read_inputs


def _write(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def _summary(model: str, expert: list, **more) -> dict:
    return {
        **{"id": "dm-1", "model_id": model, "decoded": f"by {model}", "references": ["r", "q"]},
        **{"expert_annotations": expert, "turker_annotations": [{"fluency": 1}], **more},
    }


def _summeval(path: Path, *rows: dict) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_summeval(tmp_path: Path) -> None:
    path = _summeval(
        tmp_path / "model_annotations.aligned.jsonl",
        _summary("M0", [{"fluency": 5, "coherence": 2}, {"fluency": 4, "coherence": None}]),
        _summary("M1", [{"fluency": 3, "coherence": 1}]),
        _summary("M2", []),
    )
    judged = read_judged(path)
    assert judged.corpus.systems == ("M0", "M1")
    assert judged.corpus.ids == ("dm-1", "dm-1")
    assert judged.corpus.references[0] == ("r", "q")
    assert judged.corpus.sources is None
    assert judged.human["fluency"].tolist() == [4.5, 3.0]
    assert judged.human["coherence"].tolist() == [2.0, 1.0]
    assert judged.notes[0].endswith("dropped 1: 1 without expert_annotations.")
    assert read_judged(tmp_path).notes == judged.notes, "the folder is enough"


def test_summeval_paired_brings_the_article(tmp_path: Path) -> None:
    path = _summeval(
        tmp_path / "a.jsonl", _summary("M0", [{"fluency": 5}], text="article", references="r")
    )
    assert read_judged(path).corpus.sources == ("article",)
    assert read_judged(path).corpus.references == (("r",),)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (_summary("M0", [{"fluency": "good"}]), "line 1, expert_annotations: 'fluency' is 'good'"),
        (_summary("M0", [3]), r"expert_annotations is \[3\], not a list of objects"),
        (_summary("M0", [{"fluency": 1}], decoded=None), "'decoded' is None, not a text"),
        (_summary("M0", [{"fluency": 1}], references=[]), r"'references' is \[\], not a text"),
        (_summary("M0", []), "no judged rows; dropped 1: 1 without expert_annotations"),
        ({"id": 1}, "line 1 has no 'model_id', so it is not SummEval"),
    ],
)
def test_summeval_broken(tmp_path: Path, row: dict, message: str) -> None:
    path = _summeval(tmp_path / "a.jsonl", row)
    with pytest.raises(DataError, match=message):
        read_judged(path, kind="summeval")


XML = """<?xml version='1.0' encoding='utf-8'?>
<benchmark><entries>
<entry category="A" eid="Id1" size="1"><originaltripleset><otriple>o</otriple></originaltripleset>
<modifiedtripleset><mtriple>a | b | é</mtriple><mtriple>c | d | "e"</mtriple></modifiedtripleset>
<lex lid="Id1">one &amp; a</lex><lex lid="Id2">one b</lex></entry>
<entry category="A" eid="Id2" size="1"><modifiedtripleset><mtriple>f</mtriple></modifiedtripleset>
<lex lid="Id1">two</lex></entry>
</entries></benchmark>"""


def _judgement(team: str, sample: str, **scores) -> dict:
    return {"submission_id": team, "sample_id": sample, "Fluency": 50.5, "Relevance": None} | scores


def _webnlg(folder: Path, *judgements: dict, xml: str = XML, team: str = "o1\no2") -> Path:
    files = {
        "evaluation/english_humeval_data_all_teams.json": json.dumps(judgements),
        "submissions/rdf2text/en/team (x)/primary.en": team,
        "test/rdf-to-text-generation-test-data-with-refs-en.xml": xml,
    }
    return _write(folder, **files)


def test_webnlg(tmp_path: Path) -> None:
    human = [_judgement("WebNLG-2020-reference", "1"), _judgement("team (x)", "2", Fluency="7")]
    judged = read_judged(_webnlg(tmp_path, *human))
    assert judged.corpus.candidates == ("one & a", "o2")
    assert judged.corpus.references == (("one & a", "one b"), ("two",))
    assert judged.corpus.ids == ("1", "2")
    assert judged.corpus.sources == ('a | b | é ; c | d | "e"', "f")
    assert judged.human["Fluency"].tolist() == [50.5, 7.0]
    assert "WebNLG-2020-reference are not recorded" in judged.notes[-1]
    assert judged.without("WebNLG-2020-reference").corpus.systems == ("team (x)",)


def test_webnlg_references_are_in_the_folder_or_named(tmp_path: Path) -> None:
    folder = _webnlg(tmp_path / "challenge", _judgement("team (x)", "1"))
    xml = next(folder.rglob("*.xml")).rename(tmp_path / "refs.xml")
    with pytest.raises(FileError, match=r"no references .* name the file of the WebNLG 3\.0 test"):
        read_judged(folder)
    assert len(read_judged(folder, references=xml)) == 1
    (tmp_path / "webnlg-dataset").mkdir()
    xml.rename(tmp_path / "webnlg-dataset" / "with-refs-en.xml")
    assert len(read_judged(folder)) == 1


@pytest.mark.parametrize(
    ("changes", "human", "message"),
    [
        ({}, _judgement("nobody", "1"), "entry 1: there is no submission of 'nobody' among 1 team"),
        ({}, _judgement("team (x)", "3"), "sample '3' is none of the 2 inputs"),
        ({}, _judgement("team (x)", "1", Fluency="x"), "entry 1: Fluency is 'x', which is not"),
        ({}, {}, "entry 1 has no submission_id"),
        ({"team": "o1\n"}, {}, "has 1 line, but the test set has 2"),
        ({"xml": "<benchmark/>"}, {}, "has no <entry>"),
        ({"xml": "<entry"}, {}, "is not XML"),
        ({"xml": "<b><entry eid='Id1'/></b>"}, {}, "entry 'Id1' has no id or no reference"),
    ],
)
def test_webnlg_broken(tmp_path: Path, changes: dict, human: dict, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_judged(_webnlg(tmp_path, human, **changes))


LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "ha" * 10}">' for i in range(10))


@pytest.mark.parametrize(
    "declaration",
    [
        f"<!DOCTYPE b [{LAUGHS}]>",
        '<!DOCTYPE b [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE b SYSTEM "http://example.org/b.dtd">',
        "<!doctype b>",
    ],
)
def test_declarations_in_xml_are_refused(tmp_path: Path, declaration: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(f"<?xml version='1.0'?>{declaration}<b><entry eid='Id1'>&l9;</entry></b>")
    with pytest.raises(FileError, match="declares <!DOCTYPE>, which WebNLG files never do"):
        read_inputs(str(path))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-7"])
def test_declarations_in_other_encodings_are_refused(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.xml"
    text = f"<?xml version='1.0' encoding='{encoding}'?><!DOCTYPE b [{LAUGHS}]><b>&l9;</b>"
    path.write_bytes(text.encode(encoding))
    with pytest.raises(FileError):
        read_inputs(str(path))


def test_webnlg_agrees_with_the_rows(shared_data) -> None:
    original = read_judged(shared_data / "original" / "webnlg-challenge-2020")
    rows = read_judged(shared_data / "webnlg2020" / "en.jsonl.gz")
    assert original.notes[0].startswith("3,025 rows, 17 systems, 178 segments, 5 criteria")
    assert original.corpus == rows.corpus
    assert original.criteria == rows.criteria
    for name in rows.criteria:  # the rows are rounded to six places
        assert original.human[name] == pytest.approx(rows.human[name], abs=5e-7)


HEADING = "dataset,system,mr,sys_ref,TER,informativeness,naturalness,quality\n"


def test_novikova(tmp_path: Path) -> None:
    table = HEADING + (
        'BAGEL,X,"m(a,b)","out, one",0.5,6,4.5,5\nBAGEL,X,"m(a,b)",again,,1,2,3\n'
        'BAGEL,Y,"m(a,b)",other,1,1,,3\nSFHOT,X,h,hotel,1,1,1,1\n'
    )
    path = tmp_path / "emnlp_data_medians.csv"
    path.write_text(table)
    with pytest.raises(OptionError, match=r"has 2 data sets \(BAGEL, SFHOT\); choose one"):
        read_judged(path)
    judged = read_judged(tmp_path, part="BAGEL")
    assert judged.corpus.ids == ("m(a,b)", "m(a,b)#2", "m(a,b)")
    assert judged.corpus.candidates == ("out, one", "again", "other")
    assert judged.corpus.references == (("",),) * 3
    assert judged.human["informativeness"].tolist() == [6, 1, 1]
    assert math.isnan(judged.human["naturalness"][2])
    assert list(judged.stored_rows("TER")) == [("X", "m(a,b)", 0.5), ("Y", "m(a,b)", 1.0)]
    assert "1 rows repeat a meaning within a system" in judged.notes[2]
    assert "the table has no references" in judged.notes[3]
    references = tmp_path / "refs.jsonl"
    references.write_text(
        '{"source":"m(a,b)","references":["r"],"candidate":""}\n'
        '{"source":"m(a,b)","references":["r","q"],"candidate":""}\n'
    )
    given = read_judged(path, part="BAGEL", references=references)
    assert given.corpus.references == (("r", "q"),) * 3
    with pytest.raises(DataError, match="dropped 1: 1 whose meaning is not in"):
        read_judged(path, part="SFHOT", references=references)
    path.write_text(HEADING + "BAGEL,X,m,o,1,good,1,1\n")
    with pytest.raises(FileError, match="line 2: informativeness is 'good'"):
        read_judged(path)


def test_novikova_agrees_with_the_rows(shared_data) -> None:
    table = shared_data / "original" / "novikova2017" / "emnlp_data_medians.csv"
    bagel = shared_data / "novikova2017" / "bagel.jsonl"
    rows = read_judged(bagel)
    original = read_judged(table, part="BAGEL", references=bagel)
    assert len(original) == len(rows) == 404
    assert original.corpus.systems == rows.corpus.systems
    assert original.corpus.sources == rows.corpus.sources
    assert original.corpus.references == rows.corpus.references
    assert len(set(original.corpus.ids)) == 202, "both systems answer every meaning"
    for mine, theirs in zip(original.corpus.candidates, rows.corpus.candidates, strict=True):
        # The texts of the table are in lower case and without spaces before full stops.
        assert "".join(mine.split()) == "".join(theirs.lower().split())
    for name in rows.criteria:
        assert original.human[name].tolist() == rows.human[name].tolist()
    stored = (bagel.parent / "bagel.stored_metric_scores.jsonl").read_text().splitlines()
    for name, values in original.stored.items():
        assert values.tolist() == [json.loads(line)["scores"][name] for line in stored]
    assert len(read_judged(table, part="SFHOT")) == 875
    assert len(read_judged(table, part="SFRES")) == 1181


def _tac(folder: Path, **files: str) -> Path:
    texts = {
        "ROUGE/models/D0801-A.M.100.A.A": "model a\n\n second \n",
        "ROUGE/models/D0801-A.M.100.A.B": "model b",
        "ROUGE/models/D0801-B.M.100.A.A": "update a",
        "ROUGE/peers/D0801-A.M.100.A.10": "ten",
        "ROUGE/peers/D0801-A.M.100.A.2": "two",
        "ROUGE/peers/D0801-B.M.100.A.2": "two update",
        "ROUGE/peers/D0801-B.M.100.A.3": "nobody looked",
    }
    return _write(folder, **texts, **files)


NIST_2008 = (
    "D0801-A 2 0.25 3 0 9 0.2 4 5\nD0801-A 10 0.5 3 0 9 0.2 1 2\nD0801-B 2 1 3 0 9 0.2 3 3\n"
)


def test_tac(tmp_path: Path) -> None:
    judged = read_judged(_tac(tmp_path, **{"manual/manual.peer": NIST_2008}))
    assert judged.corpus.systems == ("2", "2", "10")
    assert judged.corpus.ids == ("D0801-A", "D0801-B", "D0801-A")
    assert judged.corpus.candidates == ("two", "two update", "ten")
    assert judged.corpus.references[0] == ("model a\nsecond", "model b")
    assert judged.human["pyramid"].tolist() == [0.25, 1.0, 0.5]
    assert judged.human["linguistic_quality"].tolist() == [4, 3, 1]
    assert judged.human["responsiveness"].tolist() == [5, 3, 2]
    assert judged.notes[0].endswith("dropped 1: 1 nobody judged.")


def test_tac_of_later_years_and_headed_tables(tmp_path: Path) -> None:
    later = {
        "manual/manual.peer.A": "D0801-A 2 0.25 3 0 9 8 0.2 4 5\n",
        "manual/manual.peer.B": "D0801-B 2 0.5 3 0 9 8 0.2 1 2\nD0801-B 77 0.5 3 0 9 8 0.2 1 2\n",
    }
    judged = read_judged(_tac(tmp_path / "2009", **later))
    assert judged.human["responsiveness"].tolist() == [5, 2]
    assert "1 judgements are of summaries that are not in peers." in judged.notes
    headed = {"manual.csv": "Topic,Peer,pyramid,mine\nd0801-a,2,0.5,\nD0801-B,2,,3\n"}
    judged = read_judged(_tac(tmp_path / "headed", **headed))
    assert judged.criteria == ("pyramid", "mine")
    assert judged.human["pyramid"][0] == 0.5
    assert math.isnan(judged.human["mine"][0])


def test_tac_texts_that_are_not_utf8_are_counted(tmp_path: Path) -> None:
    folder = _tac(tmp_path, **{"manual/manual.peer": NIST_2008})
    (folder / "ROUGE/peers/D0801-A.M.100.A.2").write_bytes(b"caf\xe9")
    judged = read_judged(folder)
    assert judged.corpus.candidates[0] == "café"
    assert judged.notes[-1] == "1 summaries not UTF-8, read as Latin-1."


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "has no scores: manual/manual.peer"),
        ({"manual/manual.peer": "D0801-A 2 3\n"}, "line 1: 3 columns, but NIST writes 9 or 10"),
        ({"manual/manual.peer": NIST_2008.replace("0.25", "x")}, "line 1: pyramid is 'x'"),
        ({"manual.tsv": "topic\tq\nD0801-A\t1\n"}, "has no column 'system'"),
        ({"ROUGE/peers/readme": "x"}, "is not called <topic>...<author>"),
        ({"ROUGE/peers/D0801-A.N.2": "x"}, "two summaries of D0801-A by 2"),
    ],
)
def test_tac_broken(tmp_path: Path, files: dict, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_judged(_tac(tmp_path, **files))


@pytest.mark.parametrize(
    ("files", "kind", "message"),
    [
        ({}, "realsumm", "has no REALSumm pickles"),
        ({}, "webnlg2020", "has 0 files"),
        ({}, "tac", "there is no folder"),
        ({"models/.x": "", "peers/.x": ""}, "tac", "has no summaries"),
        ({"a.csv": "dataset,system\n"}, "novikova2017", "has no rows"),
        ({"a.csv": "dataset,system\nBAGEL,x\n"}, "novikova2017", "has no column 'mr'"),
    ],
)
def test_missing_files_are_named(tmp_path: Path, files: dict, kind: str, message: str) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    path = tmp_path / "a.csv" if "a.csv" in files else tmp_path
    with pytest.raises(FileError, match=message):
        read_judged(path, kind=kind)
