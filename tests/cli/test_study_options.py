"""Options of all study commands: stored scores, missing rows, duplicate ids, unjudged texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

VERBS = ("correlate", "matrix", "williams", "permutation", "darr", "tune")


@pytest.fixture
def changed(judged_rows: list[dict], tmp_path: Path) -> Callable[..., Path]:
    """The judged example with some rows changed or left out."""

    def write(change: Callable[[int, dict], dict | None]) -> Path:
        rows = [change(i, dict(row)) for i, row in enumerate(judged_rows)]
        path = tmp_path / "changed.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in rows if row is not None))
        return path

    return write


def values(run, *words: str | Path) -> dict[tuple[str, str], dict]:
    code, out, err = run("correlate", *words, "-f", "json")
    assert code == 0, err
    return {(row["metric"], row["level"]): row for row in json.loads(out)["correlations"]}


@pytest.mark.parametrize("verb", VERBS)
def test_study_commands_share_their_options(run, verb: str) -> None:
    code, out, _ = run(verb, "--help")
    assert code == 0
    for name in ("--human", "--without", "--part", "--format", "--output", "--device", "--quiet"):
        assert name in out
    assert ("--scores" in out) == (verb != "tune")
    options = out.split("Options:")[1]
    places = [options.index(f"  {name} ") for name in ("--human", "--figure", "--without")]
    assert places == sorted(places)


def test_stored_scores_are_listed_beside_computed_ones(run, judged: Path) -> None:
    words = (judged, "--human", "adequacy", "--level", "segment")
    found = values(run, *words, "-m", "chrf", "--scores", "length", "--distances", "gap")
    assert [name for name, _ in found] == ["chrf", "stored:length", "stored:gap"]
    raw = values(run, *words, "--scores", "gap")
    assert list(raw) == [("stored:gap", "segment")]  # no metric was named, none is computed
    assert raw["stored:gap", "segment"]["value"] == pytest.approx(
        -found["stored:gap", "segment"]["value"]
    )
    err = run("correlate", judged, "--distances", "gap")[2]
    assert "negated, because lower is better: stored:gap." in err
    err = run("correlate", judged, "--scores", "gap", "--system-score", "corpus")[2]
    assert "stored:gap: no corpus score is stored; the mean of segments was taken." in err
    for verb in ("matrix", "williams"):
        code, out, err = run(verb, *words[:3], "--scores", "length", "--distances", "gap")
        assert code == 0, err
        assert "stored:length" in out
    code, out, _ = run("darr", *words[:3], "-m", "chrf", "--scores", "length")
    assert (code, "stored:length" in out) == (0, True)


def test_a_criterion_may_be_correlated_with_another(run, judged: Path) -> None:
    words = (judged, "--human", "fluency", "--scores", "human:adequacy", "--level", "segment")
    assert values(run, *words)["human:adequacy", "segment"]["n"] == 3 * 28


def test_a_table_of_scores_is_joined_and_must_be_named(run, judged: Path, tmp_path: Path) -> None:
    table = tmp_path / "comet.tsv"
    rows = [f"{s}\t{i}\t{i}" for s in ("fluent", "literal", "hasty") for i in range(36)]
    table.write_text("system\tsegment\tcomet\n" + "\n".join(rows))
    words = (judged, "--human", "adequacy", "--scores-from", table)
    assert ("stored:comet", "system") in values(run, *words, "--scores", "comet")
    code, _, err = run("correlate", *words)
    assert code == 2
    assert "has scores of length, gap, comet; name those you want with --scores" in err
    code, _, err = run("correlate", *words, "--scores", "comett")
    assert code == 2
    assert "no scores of 'comett' came with the data; there are: length, gap, comet" in err


def test_a_missing_system_is_refused_or_kept_and_counted(run, judged: Path, tmp_path: Path) -> None:
    table = tmp_path / "comet.tsv"
    rows = [f"{s}\t{i}\t{i + 9 * (s == 'hasty')}" for s in ("fluent", "hasty") for i in range(36)]
    table.write_text("system\tsegment\tcomet\n" + "\n".join(rows))
    words = (judged, "--human", "adequacy", "--scores-from", table, "--scores", "comet")
    code, out, err = run("correlate", *words)
    assert (code, out) == (1, "")
    assert "metric 'stored:comet' lacks 36 of 108 judged cells: 1 systems ('literal')" in err
    assert "--missing keep" in err
    found = values(run, *words, "-m", "chrf", "--missing", "keep")
    assert (found["stored:comet", "segment"]["n"], found["chrf", "segment"]["n"]) == (72, 108)
    for verb in ("williams", "permutation"):
        err = run(verb, *words, "-m", "chrf", "--missing", "keep")[2]
        assert "adequacy: 36 judged outputs lack a score." in err
    err = run("correlate", *words, "--missing", "keep")[2]
    assert "stored:comet: 72 of 108 rows have a score." in err


@pytest.mark.parametrize("verb", VERBS)
def test_a_duplicate_id_is_refused(run, changed, verb: str) -> None:
    data = changed(lambda i, row: {**row, "segment": 3} if i == 4 else row)
    more = ("chrf", "beta=1,2") if verb == "tune" else ()
    code, out, err = run(verb, data, *more, *(("-m", "bleu", "chrf") if not more else ()))
    assert (code, out) == (1, "")
    assert "segment id '3' occurs 2 times for system 'fluent'; ids must be unique" in err


def test_unjudged_outputs_are_left_out_and_counted(run, changed) -> None:
    def some(i: int, row: dict) -> dict:
        return {**row, "human": {"adequacy": None if i < 10 else row["human"]["adequacy"]}}

    data = changed(some)
    assert values(run, data, "-m", "chrf")["chrf", "segment"]["n"] == 98
    assert "10 of 108 rows have no judgement of 'adequacy'." in run("correlate", data)[2]
    nobody = changed(lambda _, row: {**row, "human": {"adequacy": float("nan")}})
    code, _, err = run("correlate", nobody)
    assert code == 1
    assert "criterion 'adequacy' has 0 judged cells of 108" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("correlate", "--level", "system"), "1 judged system; the system level compares at leas"),
        (("correlate", "--level", "text"), "1 judged system; the text level compares at least 2"),
        (("williams", "-m", "bleu", "chrf", "--level", "system"), "undefined over the 1 common"),
        (("darr",), "no segment has two judged systems (1 systems are judged in 'adequacy')"),
    ],
)
def test_one_judged_system_has_no_level_of_systems(run, judged: Path, words, message) -> None:
    verb, *more = words
    alone = ("--human", "adequacy", "--without", "literal", "--without", "hasty")
    code, out, err = run(verb, judged, *more, *alone)
    assert (code, out) == (1, "")
    assert message in err


@pytest.mark.parametrize("verb", VERBS)
def test_a_criterion_that_does_not_exist_is_refused_before_anything_is_scored(
    run, judged: Path, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scored(*_: object, **__: object) -> None:
        raise AssertionError("texts were scored")

    monkeypatch.setattr("nlgauge.study.study.Scorer", scored)
    more = ("chrf", "beta=1,2") if verb == "tune" else ("-m", "bleu", "chrf")
    code, out, err = run(verb, judged, *more, "--human", "style")
    assert (code, out) == (2, "")
    assert "nobody judged 'style'; the criteria of this data are: adequacy, fluency." in err


def test_empty_texts_get_the_worst_value_and_are_counted(run, changed) -> None:
    data = changed(lambda i, row: {**row, "candidate": ""} if i in (0, 50) else row)
    words = (data, "--human", "adequacy", "--level", "segment", "-m", "chrf", "eed")
    found = values(run, *words)
    assert [found[name, "segment"]["n"] for name in ("chrf", "eed")] == [108, 108]
    err = run("correlate", *words)[2]
    for name in ("chrf", "eed"):
        assert f"{name}: 2 of 108 rows: nothing to compare (a text is empty" in err
        assert "given the worst value" in err
    whole = values(run, changed(lambda _, row: row), *words[1:])
    assert found["chrf", "segment"]["value"] < whole["chrf", "segment"]["value"]


@pytest.mark.parametrize(
    ("words", "published"),
    [
        (("original/REALSumm/scores_dicts/abs.pkl", "rouge_2_recall"), (0.983, None, 0.868)),
        (
            ("realsumm/realsumm.jsonl.gz", "mover_score", "realsumm/stored_metric_scores.jsonl.gz"),
            (0.012, None, -0.018),
        ),
        (
            (
                "wmt15_da/de-en.jsonl",
                "bert-base-mnli_idf_wsw_nbarycentersTrue_range(10, 13)",
                "wmt15_da/stored_scores_colombo_de-en.jsonl.gz",
            ),
            (0.758, 0.745, 0.562),
        ),
        (("webnlg2020/en.jsonl.gz", "human:DataCoverage"), (0.978, 0.874, 0.733)),
    ],
)
def test_published_numbers_take_one_command(run, shared_data: Path, words, published) -> None:
    data, name, *table = words
    asked: list[str | Path] = [shared_data / data, "-f", "json"]
    asked += ["--scores-from", shared_data / table[0]] if table else []
    asked += ["--distances" if "wmt15" in data else "--scores", name]
    asked += ["--level", "segment" if "wmt15" in data else "system"]
    asked += ["--human", "Correctness", "--without", "*-reference"] if "webnlg" in data else []
    asked += ["--without", "abs/*"] if data.startswith("realsumm") else []
    for coefficient in ("pearson", "spearman", "kendall"):
        asked += ["--coefficient", coefficient]
    rows = json.loads(run("correlate", *asked)[1])["correlations"]
    for row, number in zip(rows, published, strict=True):
        assert number is None or row["value"] == pytest.approx(number, abs=0.0006)
