"""Sources reach the metrics that read them, from every kind of input, and no others."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

import nlgauge
from conftest import PROJECT, WORD_OVERLAP, command_output
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, ShapeError, UsageError
from nlgauge.data.judged import JudgedCorpus, JudgedRow
from nlgauge.reranking import mbr, rerank
from nlgauge.study import compare

SPEC = f"external:command={shlex.quote(sys.executable)} {shlex.quote(str(WORD_OVERLAP))} source"
NEEDS = f"{SPEC},source=required"


def _values(text: str) -> dict[str, float]:
    return {row["system"]: row["value"] for row in json.loads(text)["scores"]}


@pytest.fixture
def texts(tmp_path: Path) -> dict[str, str]:
    """Two systems, references and sources; the sources decide the scores 0.5 and 0.75."""
    content = {
        "a.txt": "x y\nu v\n",
        "b.txt": "x q\nu v w z\n",
        "ref.txt": "x y\nu v\n",
        "src.txt": "x q\nu v w z\n",
    }
    for name, lines in content.items():
        (tmp_path / name).write_text(lines)
    return {name.partition(".")[0]: str(tmp_path / name) for name in content}


def test_a_program_gets_the_source_of_every_row() -> None:
    scores = nlgauge.score(["x y", "x y"], ["r", "r"], sources=["x q", "x y"], metrics=SPEC)[SPEC]
    assert scores.segments.tolist() == [0.5, 1.0]
    assert scores.signature["sources"] == "yes"


def test_rows_that_differ_in_their_source_only_are_scored_apart() -> None:
    """The same candidate and references: the metric that ignores sources scores them once."""
    sources = ["x", "x y", "x", "q"]
    found = nlgauge.score(["x"] * 4, ["x"] * 4, sources=sources, metrics=[SPEC, "chrf"])
    assert found[SPEC].segments.tolist() == [1.0, 0.5, 1.0, 0.0]
    assert len(set(found["chrf"].segments.tolist())) == 1


def test_signatures_name_sources_only_for_metrics_that_read_them() -> None:
    found = nlgauge.score(["x"], ["x"], sources=["x"], metrics=[SPEC, "chrf"])
    assert "sources:" not in str(found["chrf"].signature)
    without = nlgauge.score(["x"], ["x"], metrics=[SPEC, "chrf"])
    assert "sources:" not in str(without[SPEC].signature)
    assert without["chrf"].signature == found["chrf"].signature
    assert without["chrf"].value == found["chrf"].value


def test_a_metric_that_needs_sources_names_the_ways_to_give_them() -> None:
    with pytest.raises(DataError, match=r"needs the source texts.*-s FILE.*'source'.*sources="):
        nlgauge.score(["x"], ["x"], metrics=NEEDS)


def test_blank_sources_are_void_if_they_are_required() -> None:
    sources = ["x", "", "  "]
    scores = nlgauge.score(["x"] * 3, ["x"] * 3, sources=sources, metrics=NEEDS)[NEEDS]
    assert scores.segments.tolist() == [1.0, 0.0, 0.0]
    assert any("2" in note and "nothing to compare" in note for note in scores.warnings)


def test_empty_references_are_sent_if_they_are_optional() -> None:
    texts = {"candidates": ["x", "x"], "references": ["", "x"], "sources": ["x", "x"]}
    spec = f"{NEEDS},references=optional"
    assert nlgauge.score(**texts, metrics=spec)[spec].segments.tolist() == [1.0, 1.0]
    assert nlgauge.score(**texts, metrics=NEEDS)[NEEDS].segments.tolist() == [0.0, 1.0]


def test_quality_estimation_needs_no_references(texts: dict[str, str], tmp_path: Path) -> None:
    spec = f"{NEEDS},references=optional"
    found = nlgauge.score(["x y", "u v"], sources=["x q", "u v"], metrics=spec)[spec]
    assert found.segments.tolist() == [0.5, 1.0]
    assert found.signature["nrefs"] == "0"
    files = ("-c", texts["a"], "-c", texts["b"], "-s", texts["src"], "-f", "json")
    assert _values(command_output("score", *files, "-m", spec)) == {"a": 0.5, "b": 1.0}
    parts = ("--parts", str(tmp_path / "run"))
    assert _values(command_output("score", *files, "-m", spec, *parts)) == {"a": 0.5, "b": 1.0}
    (tmp_path / "t.tsv").write_text("mt\tsrc\nx y\tx q\nu v\tu v\n")
    table = ("-c", str(tmp_path / "t.tsv"), "-f", "json")
    assert _values(command_output("score", *table, "-m", spec)) == {"t": 0.75}
    systems = {"A": ["x", "y"], "B": ["q", "q"]}
    compared = compare(systems, sources=["q", "q"], metrics=spec, count=10)
    assert [entry.value for entry in compared.entries] == [0.0, 1.0]


@pytest.mark.parametrize("metric", ["bleu", "cider", "wmd:model=hashing", SPEC, NEEDS])
def test_other_metrics_name_the_references_that_are_missing(
    texts: dict[str, str], tmp_path: Path, metric: str
) -> None:
    message = r"needs references, but .* (have|has) none: give -r FILE, a column 'references'"
    with pytest.raises(DataError, match=message):
        nlgauge.score(["x", "u"], sources=["x", "u"], metrics=metric)
    with pytest.raises(DataError, match=message):
        command_output("score", "-c", texts["a"], "-s", texts["src"], "-m", metric)
    with pytest.raises(DataError, match=message):
        command_output(
            "score", "-c", texts["a"], "-s", texts["src"], "-m", metric, "--parts", str(tmp_path)
        )


def test_texts_without_references_and_sources_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"references\[0\] has no reference"):
        nlgauge.score(["x"], metrics=f"{SPEC},references=optional")
    rows = [{"mt": "x", "src": "y"}, {"mt": "x", "src": "y", "ref": "z"}]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError, match="line 2: the row has a column 'ref', which the first"):
        command_output("score", "-c", str(tmp_path / "t.jsonl"), "-m", "chrf")


def test_sources_of_some_rows_only_are_an_error_for_metrics_that_read_them() -> None:
    parts = [
        Corpus.of(["x", "x"], ["x", "x"], systems=["A", "A"], sources=["x", "x"]),
        Corpus.of(["x", "x"], ["x", "x"], systems=["B", "B"]),
    ]
    corpus = Corpus.join(parts)
    message = r"2 of 4 rows have no source, the first is segment '0' of 'B'"
    with pytest.raises(DataError, match=message):
        nlgauge.Scorer(SPEC).score_corpus(corpus)
    found = nlgauge.Scorer("chrf").score_corpus(corpus)
    assert [each["chrf"].value for each in found.values()] == [100.0, 100.0]


def test_judged_rows_with_some_missing_sources_are_reported() -> None:
    rows = [JudgedRow("A", str(i), "x", ("x",), {"q": i}, "x" if i else None) for i in range(3)]
    judged = JudgedCorpus.from_rows(rows)
    assert judged.corpus.sources == (None, "x", "x")
    with pytest.raises(DataError, match=r"1 of 3 rows have no source, the first is segment '0'"):
        nlgauge.correlate(judged, SPEC)


def test_members_of_an_ensemble_get_the_sources() -> None:
    command = NEEDS.replace(",", ";")
    spec = f"ensemble:metrics=chrf+{command},weights=1+3"
    scores = nlgauge.score(["x"], ["x"], sources=["x q"], metrics=spec)[spec]
    assert scores.value == pytest.approx((1 + 3 * 0.5) / 4)
    assert scores.signature["sources"] == "yes"
    with pytest.raises(DataError, match="needs the source texts"):
        nlgauge.score(["x"], ["x"], metrics=spec)


def test_all_functions_take_sources() -> None:
    systems, references, sources = {"A": ["x", "y"], "B": ["q", "y"]}, ["x", "y"], ["q", "y"]
    found = nlgauge.score_systems(systems, references, sources=sources, metrics=NEEDS)
    assert [each[NEEDS].value for each in found.values()] == [0.5, 1.0]
    compared = compare(systems, references, sources=sources, metrics=NEEDS, count=10)
    assert [entry.value for entry in compared.entries] == [0.5, 1.0]
    assert nlgauge.score(["x"], ["x"], src=["x"], metrics=NEEDS)[NEEDS].value == 1.0
    (choice,) = rerank([["x", "q"]], ["x"], sources=["q"], metrics=NEEDS)
    assert choice.best == "q"
    (choice,) = mbr([["x", "q", "q z"]], sources=["q z"], metrics=NEEDS)
    assert choice.best == "q z"
    with pytest.raises(UsageError, match="a Corpus has its own"):
        compare(Corpus.of_systems(systems, references), sources=sources)
    with pytest.raises(ShapeError, match="1 lists of candidates but 2 sources"):
        mbr([["a", "b"]], sources=["a", "b"], metrics="chrf")
    with pytest.raises(UsageError, match="its own metrics and runtime"):
        mbr([["a", "b"]], scorer=nlgauge.Scorer("chrf"), metrics="bleu")


def test_sources_are_checked_like_other_texts() -> None:
    with pytest.raises(ShapeError, match="2 candidates but 1 sources"):
        nlgauge.score(["a", "b"], ["a", "b"], sources=["a"])
    with pytest.raises(ShapeError, match="sources is one str of 2 characters"):
        nlgauge.score(["a", "b"], ["a", "b"], sources="ab")
    with pytest.raises(DataError, match=r"sources\[1\] is 5 of type int"):
        nlgauge.score(["a", "b"], ["a", "b"], sources=["a", 5])


def test_a_dict_of_systems_is_refused_with_the_name_of_the_right_function() -> None:
    with pytest.raises(ShapeError, match=r"'A', 'B'.*nlgauge\.score_systems"):
        nlgauge.score({"A": ["a"], "B": ["b"]}, ["a"])


def test_text_files_and_tables_of_every_format_give_the_same_scores(
    texts: dict[str, str], tmp_path: Path
) -> None:
    common = ("-m", NEEDS, "-f", "json")
    files = ("-c", texts["a"], "-c", texts["b"], "-r", texts["ref"], "-s", texts["src"])
    expected = _values(command_output("score", *files, *common))
    assert expected == {"a": 0.5, "b": 1.0}
    read = {name: Path(path).read_text().splitlines() for name, path in texts.items()}
    rows = [
        {"system": s, "candidate": c, "reference": r, "source": o}
        for s in ("a", "b")
        for c, r, o in zip(read[s], read["ref"], read["src"], strict=True)
    ]
    heading = list(rows[0])
    tables = {
        "t.jsonl": "\n".join(map(json.dumps, rows)),
        "t.json": json.dumps(rows, indent=1),
        "t.tsv": "\n".join("\t".join(row) for row in [heading, *(r.values() for r in rows)]),
        "t.csv": "\n".join(",".join(row) for row in [heading, *(r.values() for r in rows)]),
    }
    for name, content in tables.items():
        (tmp_path / name).write_text(content + "\n")
        assert _values(command_output("score", "-c", str(tmp_path / name), *common)) == expected, (
            name
        )
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    assert _values(command_output("score", "-c", str(tmp_path / "t.parquet"), *common)) == expected


@pytest.mark.parametrize("workers", ["1", "2"])
def test_runs_in_parts_use_sources(texts: dict[str, str], tmp_path: Path, workers: str) -> None:
    files = ("-c", texts["a"], "-c", texts["b"], "-r", texts["ref"], "-s", texts["src"])
    parts = ("--parts", str(tmp_path / "run"), "--part-rows", "2", "--workers", workers)
    messages = command_output("score", *files, "-m", NEEDS, "-f", "json", *parts)
    assert _values(messages) == {"a": 0.5, "b": 1.0}
    assert "|sources:yes|" in json.loads(messages)["scores"][0]["signature"]
    Path(texts["src"]).write_text("x\nu\n")
    with pytest.raises(UsageError, match="contains a run with other inputs"):
        command_output("score", *files, "-m", NEEDS, *parts)


def test_parts_refuse_sources_of_some_rows_only(tmp_path: Path) -> None:
    for name, more in (("a", {"source": "x"}), ("b", {})):
        row = {"candidate": "x", "reference": "x", **more}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    files = ("-c", str(tmp_path / "a.jsonl"), "-c", str(tmp_path / "b.jsonl"))
    parts = ("--parts", str(tmp_path / "run"), "--part-rows", "1")
    with pytest.raises(DataError, match=r"some rows up to .* have a source and others have none"):
        command_output("score", *files, "-m", SPEC, *parts)
    assert _values(command_output("score", *files, "-m", "chrf", "-f", "json")) == {
        "a": 100.0,
        "b": 100.0,
    }


def test_another_number_of_lines_is_an_error_with_both_numbers(
    texts: dict[str, str], tmp_path: Path
) -> None:
    Path(texts["src"]).write_text("x\ny\nz\n")
    files = ("-c", texts["a"], "-r", texts["ref"], "-s", texts["src"])
    for more in ((), ("--parts", str(tmp_path / "run"))):
        with pytest.raises(DataError, match=r"a\.txt has 2 lines, but .*src\.txt has 3"):
            command_output("score", *files, *more)


def test_tables_hold_their_sources(tmp_path: Path, texts: dict[str, str]) -> None:
    table = tmp_path / "t.jsonl"
    table.write_text('{"candidate": "x", "reference": "x"}\n')
    with pytest.raises(UsageError, match="has its sources in a column; leave out -s"):
        command_output("score", "-c", str(table), "-s", texts["src"])


def test_compare_correlate_mbr_and_verify_read_sources(
    texts: dict[str, str], tmp_path: Path
) -> None:
    files = ("-c", texts["a"], "-c", texts["b"], "-r", texts["ref"], "-s", texts["src"])
    compared = json.loads(
        command_output("compare", *files, "-m", NEEDS, "-f", "json", "--resamples", "10")
    )
    assert [row["value"] for row in compared["systems"]] == [0.5, 1.0]
    results = tmp_path / "results.json"
    results.write_text(command_output("score", *files, "-m", NEEDS, "-f", "json"))
    command = SPEC.removeprefix("external:command=")
    assert "differs" not in command_output("verify", str(results), "--allow-external", command)
    rows = [
        {"mt": text, "ref": "x", "src": "x y z", "score": k}
        for k, text in enumerate(["q", "x", "x y", "x y z"])
    ]
    (tmp_path / "j.json").write_text(json.dumps(rows))
    words = ("correlate", str(tmp_path / "j.json"), "--columns", "human=score", "-f", "json")
    (entry,) = json.loads(command_output(*words, "-m", NEEDS))["correlations"]
    assert entry["criterion"] == "score"
    assert entry["value"] == pytest.approx(1.0)
    (tmp_path / "samples.json").write_text('[{"nbest": ["x", "x y"], "src": "x y"}]')
    columns = ("--columns", "candidates=nbest", "-m", NEEDS)
    assert command_output("mbr", str(tmp_path / "samples.json"), *columns) == "x y\n"
    (tmp_path / "samples.txt").write_text("x\nx y\n")
    (tmp_path / "one.txt").write_text("x\n")
    words = ("mbr", str(tmp_path / "samples.txt"), "--samples", "2", "-m", NEEDS)
    assert command_output(*words, "-s", str(tmp_path / "one.txt")) == "x\n"


def test_the_program_of_the_documentation_reads_sources(tmp_path: Path) -> None:
    page = (PROJECT / "docs" / "adapters.md").read_text("utf-8")
    (program,) = re.findall(r'Path\("quality\.py"\)\.write_text\("""\n(.*?)"""\)', page, re.DOTALL)
    (tmp_path / "quality.py").write_text(program)
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / 'quality.py'))}"
    spec = f"external:command={command},source=required,references=optional"
    given = {"sources": ["abcd", "abcd", ""], "metrics": spec}
    scores = nlgauge.score(["abcd", "ab", "x"], ["", "ignored", "x"], **given)[spec]
    assert scores.segments.tolist() == [1.0, 0.5, 0.0]
    with pytest.raises(DataError, match="needs the source texts"):
        nlgauge.score(["abcd"], ["abcd"], metrics=spec)
