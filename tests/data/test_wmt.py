"""WMT's own layouts: DAseg folders, ranked pairs, and the folders of mt-metrics-eval."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import pytest

from nlgauge.core.errors import DataError, FileError, OptionError
from nlgauge.data import read_judged, read_pairs
from nlgauge.data.mt_metrics_eval import read_mt_metrics_eval
from nlgauge.stats.darr import pairs_from_names


def _daseg(folder: Path, pair: str = "cs-en", **lines: str) -> Path:
    texts = {"source": "s\nt\n", "reference": "r\nq\n", "mt-system": "m\nn\n", "human": "0.5\n-1\n"}
    for role, text in {**texts, **{k.replace("_", "-"): v for k, v in lines.items()}}.items():
        (folder / f"newstest2015.{role}.{pair}").write_text(text)
    return folder


def test_daseg(tmp_path: Path) -> None:
    judged = read_judged(_daseg(tmp_path))
    assert judged.corpus.candidates == ("m", "n")
    assert judged.corpus.references == (("r",), ("q",))
    assert judged.corpus.sources == ("s", "t")
    assert judged.corpus.ids == ("1", "2")
    assert judged.corpus.system_names == ("unknown",)
    assert judged.human["da_z"].tolist() == [0.5, -1.0]


def test_daseg_of_several_language_pairs_is_ambiguous(tmp_path: Path) -> None:
    _daseg(_daseg(tmp_path), "de-en", mt_system="x\ny\n")
    with pytest.raises(OptionError, match=r"has 2 language pairs \(cs-en, de-en\); choose one"):
        read_judged(tmp_path)
    with pytest.raises(OptionError, match="has no language pair 'fr-en'; it has: cs-en, de-en"):
        read_judged(tmp_path, part="fr-en")
    assert read_judged(tmp_path, part="de-en").corpus.candidates == ("x", "y")


def test_daseg_broken(tmp_path: Path) -> None:
    _daseg(tmp_path, human="0.5\n")
    with pytest.raises(FileError, match="different numbers of lines: human 1, mt-system 2"):
        read_judged(tmp_path)
    _daseg(tmp_path, human="0.5\nhigh\n")
    with pytest.raises(FileError, match=r"human\.cs-en, line 2 is 'high'"):
        read_judged(tmp_path)
    (tmp_path / "newstest2015.reference.cs-en").unlink()
    with pytest.raises(FileError, match="lacks the file of reference for 'cs-en'"):
        read_judged(tmp_path)
    with pytest.raises(FileError, match="not a DAseg folder"):
        read_judged(tmp_path / "newstest2015.human.cs-en", kind="wmt-daseg")


def test_daseg_agrees_with_the_rows(shared_data) -> None:
    original = read_judged(shared_data / "original" / "DAseg-wmt-newstest2015")
    rows = read_judged(shared_data / "wmt15_da" / "cs-en.jsonl")
    assert len(original) == 500
    assert original.corpus.candidates == rows.corpus.candidates
    assert original.corpus.references == rows.corpus.references
    assert original.corpus.sources == rows.corpus.sources
    assert original.human["da_z"].tolist() == rows.human["da_z"].tolist()


@pytest.mark.parametrize(
    "content",
    [
        "segment\tbetter\tworse\n1\tA\tB\n2\tB\tC\n",
        "SID,BETTER,WORSE\n1,A,B\n2,B,C\n",
        "LP DATA SID BETTER WORSE\ncs-en n18 1 A B\ncs-en n18 2 B C\n\n",
    ],
)
def test_pairs(tmp_path: Path, content: str) -> None:
    (tmp_path / "p").write_text(content)
    (tmp_path / "p.gz").write_bytes(gzip.compress(content.encode()))
    pairs = read_pairs(str(tmp_path / "p"))
    assert pairs == read_pairs(str(tmp_path / "p.gz"))
    assert list(pairs) == [("1", "A", "B"), ("2", "B", "C")]
    assert pairs.systems == ("A", "B", "C")
    assert pairs.segments == ("1", "2")
    assert pairs.notes == ("2 pairs of 3 systems on 2 segments.",)
    rest = pairs.without("A")
    assert rest.triples == (("2", "B", "C"),)
    assert rest.notes[-1] == "left out A: 1 pairs."
    with pytest.raises(OptionError, match="no system is called 'Z'"):
        pairs.without("Z")
    with pytest.raises(DataError, match="leaves none of 2 pairs"):
        pairs.without("B")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no pairs: it is empty"),
        ("segment\tbetter\tworse\n", "a heading but no pairs"),
        ("segment\tbetter\n1\tA\n", "no column 'worse'"),
        ("segment\tbetter\tworse\n1\tA\n", "line 2: 2 fields, but the heading names 3"),
        ("segment\tbetter\tworse\n1\tA\tA\n", "line 2 compares system 'A' with itself"),
        ("LP,SID,BETTER,WORSE\na-b,1,A,B\nc-d,1,A,B\n", r"2 language pairs \(a-b, c-d\)"),
    ],
)
def test_pairs_broken(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "p").write_text(content)
    with pytest.raises((FileError, OptionError), match=message):
        read_pairs(str(tmp_path / "p"))


@pytest.mark.parametrize(("pair", "count"), [("cs-en", 5110), ("tr-en", 8525)])
def test_pairs_fit_the_rows(shared_data, pair: str, count: int) -> None:
    pairs = read_pairs(str(shared_data / "wmt18_darr" / "pairs" / f"{pair}.darr.tsv.gz"))
    corpus = read_judged(shared_data / "wmt18_darr" / f"{pair}.jsonl.gz").corpus
    assert len(pairs) == count, "the published number of pairs"
    indexed = pairs_from_names(pairs, corpus.system_names, tuple(dict.fromkeys(corpus.ids)))
    assert len(indexed) == count


@pytest.fixture
def test_set(tmp_path: Path) -> Path:
    files = {
        "sources/en-de.txt": "s1\ns2\n",
        "references/en-de.refA.txt": "a1\na2\n",
        "references/en-de.refB.txt": "b1\nb2\n",
        "system-outputs/en-de/X.1.txt": "x1\nx2\n",
        "system-outputs/en-de/Y.txt": "y1\ny2\n",
        "system-outputs/en-de/refB.txt": "b1\nb2\n",
        "human-scores/en-de.mqm.seg.score": "X.1\t-1.5\nX.1\tNone\nrefB\t0\nrefB\t-2\n",
        "human-scores/en-de.wmt-z.seg.score": "X.1\t0.1\nX.1\tNone\nY\tNone\nY\t0.3\n",
        "human-scores/en-de.mqm.sys.score": "X.1\t-1.5\n",
        "metric-scores/en-de/BLEU-refA.seg.score": "X.1\t1\nX.1\t2\nY\t3\nY\t4\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    return tmp_path


def test_mt_metrics_eval(test_set: Path) -> None:
    judged = read_judged(test_set)
    assert judged.criteria == ("mqm", "wmt-z")
    assert judged.corpus.systems == ("X.1", "Y")
    assert judged.corpus.ids == ("1", "2")
    assert judged.corpus.candidates == ("x1", "y2")
    assert judged.corpus.references == (("a1", "b1"), ("a2", "b2"))
    assert judged.corpus.sources == ("s1", "s2")
    assert judged.human["wmt-z"].tolist() == [0.1, 0.3]
    assert math.isnan(judged.human["mqm"][1])
    assert judged.notes[0].endswith("dropped 4: 2 nobody judged, 2 of references in use (refB).")


def test_mt_metrics_eval_with_one_reference_and_stored_scores(test_set: Path) -> None:
    judged = read_mt_metrics_eval(str(test_set), references="refA", metrics=["BLEU-refA"])
    assert judged.corpus.systems == ("X.1", "Y", "refB", "refB")
    assert judged.corpus.references[0] == ("a1",)
    assert list(judged.stored_rows("BLEU-refA")) == [("X.1", "1", 1.0), ("Y", "2", 4.0)]
    with pytest.raises(OptionError, match="no reference 'refC' for 'en-de'; there are: refA, refB"):
        read_mt_metrics_eval(str(test_set), references="refC")
    named = read_mt_metrics_eval(str(test_set), references="refA", metrics=["BLEU"])
    assert list(named.stored_rows("BLEU")) == [("X.1", "1", 1.0), ("Y", "2", 4.0)]
    for names, count in ((" refA", 1), ("refA, refB", 2)):
        corpus = read_judged(test_set, references=names).corpus
        assert {len(texts) for texts in corpus.references} == {count}
    assert read_judged(test_set, references="refA").corpus.references == judged.corpus.references
    with pytest.raises(FileError, match="stored scores: BLEU-refA"):
        read_mt_metrics_eval(str(test_set), metrics=["COMET"])


def test_mt_metrics_eval_with_jsonl_texts_and_documents(test_set: Path) -> None:
    """As WMT25: the same texts as JSON Lines, which may contain line feeds."""
    plain = read_judged(test_set)
    fields = {"sources": "source", "references": "target", "system-outputs": "hypothesis"}
    for folder, field in fields.items():
        for file in (test_set / folder).rglob("*.txt"):
            rows = [json.dumps({field: f"{line}\n!"}) for line in file.read_text().splitlines()]
            file.with_suffix(".jsonl").write_text("\n".join(rows))
            file.unlink()
    (test_set / "documents").mkdir()
    (test_set / "documents" / "en-de.docs").write_text("news one\nnews two\n")
    judged = read_judged(test_set)
    assert judged.corpus.candidates == ("x1\n!", "y2\n!")
    assert judged.corpus.references == (("a1\n!", "b1\n!"), ("a2\n!", "b2\n!"))
    assert judged.corpus.sources == ("s1\n!", "s2\n!")
    assert judged.corpus.systems == plain.corpus.systems
    assert judged.documents == ("one", "two")
    assert plain.documents is None
    (test_set / "documents" / "en-de.docs").write_text("news one\nnews\n")
    with pytest.raises(FileError, match="line 2 is 'news', not 'domain document'"):
        read_judged(test_set)
    (test_set / "sources" / "en-de.txt").write_text("s1\ns2\n")
    with pytest.raises(FileError, match=r"both en-de.jsonl and en-de.txt; remove one"):
        read_judged(test_set)


def test_mt_metrics_eval_without_references_or_an_output(test_set: Path) -> None:
    for file in (test_set / "references").iterdir():
        file.unlink()
    (test_set / "system-outputs/en-de/Y.txt").write_text("y1\n[No translation supplied]\n")
    judged = read_judged(test_set)
    assert judged.corpus.references == ((), (), ())
    assert judged.corpus.systems == ("X.1", "refB", "refB")
    assert "1 without an output" in judged.notes[0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("human-scores/en-de.mqm.seg.score", "X.1\t1\n", "1 scores for system 'X.1', but there"),
        ("human-scores/en-de.mqm.seg.score", "X.1\n", "line 1 is 'X.1', not 'system<TAB>score'"),
        ("human-scores/en-de.mqm.seg.score", "Q\t1\n", "line 1: there are no outputs of"),
        ("human-scores/en-de.mqm.seg.score", "Y\t1\nY\tgood\n", "line 2 is 'good', which is not"),
        ("system-outputs/en-de/Y.txt", "y1\n", "has 1 line, but the sources have 2"),
        ("sources/en-cs.txt", "s\n", r"has 2 language pairs \(en-cs, en-de\)"),
    ],
)
def test_mt_metrics_eval_broken(test_set: Path, name: str, content: str, message: str) -> None:
    (test_set / name).write_text(content)
    with pytest.raises((FileError, OptionError), match=message):
        read_judged(test_set)


def test_a_folder_without_the_expected_folders_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="not a test set of mt-metrics-eval: no folder 'sources'"):
        read_judged(tmp_path, kind="mt-metrics-eval")
