"""The study of error spans: baselines, the split, and data without spans."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from conftest import PROJECT
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, FileError, UsageError
from nlgauge.core.spans import Span
from nlgauge.data import read_judged
from nlgauge.data.judged import JudgedCorpus
from nlgauge.stats import split
from nlgauge.study import evaluate_spans

HASHING = "wmd:model=hashing"
EXAMPLE = PROJECT / "examples" / "error_spans.jsonl"


def judged(spans: tuple[tuple[Span, ...], ...]) -> JudgedCorpus:
    texts = ["a dog sat", "a dog ran", "a cat sat", ""]
    corpus = Corpus.of(texts, ["a cat sat", "a cat ran", "a cat sat", "a"])
    return JudgedCorpus(corpus, {"mqm": np.zeros(4)}, (), spans=spans)


def test_words_that_differ_are_found_and_baselines_have_known_values() -> None:
    found = evaluate_spans(EXAMPLE, HASHING, count=50)
    f1 = {entry.metric: entry.agreement.f1 for entry in found.entries}
    assert list(f1) == [HASHING, "all characters", "no characters", "lexical diff"]
    assert f1["no characters"] == 0 < f1["all characters"] < f1[HASHING] <= 1
    everything = {entry.metric: entry for entry in found.entries}["all characters"].agreement
    rows = [json.loads(line) for line in EXAMPLE.read_text("utf-8").splitlines()]
    parts = split(len(rows), groups=[row["segment"] for row in rows])
    assert everything.predicted == sum(len(rows[i]["candidate"]) for i in parts.test)
    assert found.entries[-1].difference is None
    assert found.entries[0].interval.over == "inputs"


def test_thresholds_do_not_depend_on_the_test_part() -> None:
    source = read_judged(EXAMPLE)
    parts = split(len(source), groups=source.corpus.ids)
    first = evaluate_spans(source, HASHING, count=10)
    kept = set(parts.tune.tolist())
    cleared = tuple(spans if i in kept else () for i, spans in enumerate(source.spans))
    changed = JudgedCorpus(source.corpus, source.human, source.notes, spans=cleared)
    second = evaluate_spans(changed, HASHING, count=10)
    assert [e.thresholds for e in first.entries] == [e.thresholds for e in second.entries]
    assert second.entries[0].agreement.recall == 1.0
    assert second.entries[0].agreement.f1 == 0.0


def test_one_tested_input_has_no_intervals() -> None:
    corpus = Corpus.of(["a dog sat", "a dog ran"], ["a cat sat", "a cat ran"])
    data = JudgedCorpus(corpus, {"mqm": [-5, -5]}, (), spans=((Span(2, 5),),) * 2)
    first = evaluate_spans(data, HASHING, count=10).to_dict()["metrics"][0]
    limits = [first[name] for name in ("low", "high", "difference_low", "difference_high")]
    assert limits == [None] * 4
    assert first["difference"] is not None


def test_empty_texts_and_texts_without_errors_have_defined_values() -> None:
    found = evaluate_spans(judged(((), (), (), ())), HASHING, count=10)
    assert {e.metric: e.agreement.f1 for e in found.entries}["no characters"] == 1.0
    assert found.to_dict()["metrics"][0]["minor"] is None, "no threshold is better than any"


def test_data_without_spans_and_spans_outside_the_text_are_refused() -> None:
    corpus = Corpus.of(["a", "b"], ["a", "b"])
    with pytest.raises(DataError, match="the 2 rows have no annotated spans; give a column"):
        evaluate_spans(JudgedCorpus(corpus, {"q": [1, 2]}, ()), HASHING)
    with pytest.raises(DataError, match=r"segment '1' of .*from 0 to 2 is not within .* of 1 char"):
        JudgedCorpus(corpus, {"q": [1, 2]}, (), spans=((), (Span(0, 2),)))
    with pytest.raises(UsageError, match="chrf does not match tokens"):
        evaluate_spans(judged(((), (), (), ())), "chrf")
    with pytest.raises(DataError, match="cannot be split"):
        evaluate_spans(judged(((), (), (), ())).take([0], "one row"), HASHING)


def table(path: Path, *spans: object) -> Path:
    rows = [
        {"segment": i, "candidate": "a cat", "references": ["a dog"], "human": 1, "spans": each}
        for i, each in enumerate(spans)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_tables_have_a_column_of_spans(tmp_path: Path) -> None:
    path = table(tmp_path / "a.jsonl", [{"start": 2, "end": 5}], [])
    assert read_judged(path).spans == ((Span(2, 5, "major", ""),), ())
    assert read_judged(path).take([1], "second").spans == ((),)
    cell = '"[{""start"": 2, ""end"": 5, ""severity"": ""minor"", ""category"": ""Style""}]"'
    (tmp_path / "a.csv").write_text(f"candidate,reference,human,spans\na cat,a,1,{cell}\n", "utf-8")
    assert read_judged(tmp_path / "a.csv").spans == ((Span(2, 5, "minor", "Style"),),)
    assert read_judged(PROJECT / "examples" / "judged.jsonl").spans is None


@pytest.mark.parametrize(
    "bad",
    [
        *([{"start": 2}], "no list", [3], [{"start": "2", "end": 5}], {}),
        pytest.param("[" * 100_000, id="deep"),
    ],
)
def test_a_cell_that_is_no_list_of_spans_is_refused(tmp_path: Path, bad: object) -> None:
    if bad == {}:  # an object without entries is as empty as a list
        assert read_judged(table(tmp_path / "a.jsonl", bad, bad)).spans == ((), ())
        return
    with pytest.raises(FileError, match="'spans' is not a list of errors such as"):
        read_judged(table(tmp_path / "a.jsonl", bad, bad))


def test_rows_that_were_not_annotated_are_counted(tmp_path: Path) -> None:
    partly = read_judged(table(tmp_path / "a.jsonl", [], None))  # fine for other studies
    assert partly.spans is None
    assert any("1 of 2 rows have no spans" in note for note in partly.notes)
    with pytest.raises(DataError, match="the 2 rows have no annotated spans"):
        evaluate_spans(partly, "bertscore:model=hashing")
    with pytest.raises(DataError, match="from 2 to 6 is not within the text of 5 characters"):
        read_judged(table(tmp_path / "b.jsonl", [{"start": 2, "end": 6}], []))
