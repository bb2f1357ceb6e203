"""The commands correlate, matrix, williams and compare."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest


def test_correlate_prints_a_table_and_its_settings(run, judged: Path) -> None:
    code, out, err = run("correlate", judged, "-m", "bleu", "chrf", "eed", "--human", "adequacy")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].split() == ["metric", "segment", "↑", "system", "↑"]
    assert [line.split()[0] for line in lines[2:5]] == ["BLEU", "chrF", "EED"]
    assert lines[6] == "human: adequacy; pearson"
    assert "*" in out
    assert "note: 108 rows, 3 systems, 36 segments, 2 criteria" in err
    assert "note: negated, because lower is better: eed." in err
    assert run("correlate", judged, "-m", "bleu", "-q")[2] == ""


def test_criteria_and_levels_make_a_table_for_each_level(run, judged: Path) -> None:
    words = ("correlate", judged, "-m", "bleu", "chrf", "--confidence", "--resamples", "30")
    code, out, _ = run(*words, "--coefficient", "kendall")
    assert code == 0
    heads = [line for line in out.splitlines() if line.startswith("metric")]
    assert [h.split() for h in heads] == [
        ["metric", "adequacy", "↑", "95%", "fluency", "↑", "95%"]
    ] * 2
    assert "segment level; kendall_b; intervals: bootstrap over inputs" in out
    assert "system level; kendall_b; 3 systems" in out


def test_every_format_has_the_same_numbers(run, judged: Path, tmp_path: Path) -> None:
    words = ("correlate", judged, "-m", "chrf", "--human", "adequacy", "--level", "segment")
    content = json.loads(run(*words, "-f", "json")[1])
    (entry,) = content["correlations"]
    shown = f"{entry['value']:.3f}"
    for ink in ("text", "markdown", "latex", "html"):
        assert shown in run(*words, "-f", ink)[1]
    assert json.loads(run(*words, "-f", "jsonl")[1]) == entry
    (row,) = csv.DictReader(io.StringIO(run(*words, "-f", "csv")[1]))
    assert float(row["value"]) == entry["value"]
    (row,) = csv.DictReader(io.StringIO(run(*words, "-f", "tsv")[1]), delimiter="\t")
    assert float(row["value"]) == entry["value"]
    assert (row["metric"], row["level"], row["n"]) == ("chrf", "segment", "108")
    assert run(*words, "-o", tmp_path / "x.html")[:2] == (0, "")
    assert (tmp_path / "x.html").read_text("ascii").startswith("<table>")


def test_corpus_scores_at_the_system_level(run, judged: Path) -> None:
    words = ("correlate", judged, "-m", "bleu", "--level", "system", "-f", "json")
    mean, corpus = (
        json.loads(run(*words, "--system-score", how)[1])["correlations"][0]["value"]
        for how in ("mean", "corpus")
    )
    assert mean != corpus


def test_figures_are_drawn_beside_the_numbers(run, judged: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words = ("correlate", judged, "-m", "bleu", "chrf", "--confidence", "--resamples", "20")
    bars, curves = tmp_path / "bars.svg", tmp_path / "curves.svg"
    code, out, err = run(*words, "--figure", bars, "--distributions", curves)
    assert code == 0, err
    assert "chrf" in out
    assert "segment level, pearson" in bars.read_text("utf-8")
    assert "human judgement (each criterion)" in curves.read_text("utf-8")


def test_matrix_as_text_and_figure(run, judged: Path, tmp_path: Path) -> None:
    words = ("matrix", judged, "-m", "bleu", "chrf", "eed", "--coefficient", "kendall")
    code, out, err = run(*words, "--cluster")
    assert code == 0, err
    assert out.startswith("kendall_b")
    assert "human:fluency" in out
    assert "only p < 0.05 is shown" in out
    assert "judged outputs lack another criterion or a score" in err
    content = json.loads(run(*words, "-f", "json")[1])
    assert content["names"] == ["human:adequacy", "human:fluency", "bleu", "chrf", "eed"]
    assert content["values"][2][3] == content["values"][3][2]
    assert content["p"][0][0] is None
    rows = run(*words, "-f", "tsv")[1].splitlines()
    assert len(rows) == 1 + 5 * 4
    pytest.importorskip("matplotlib")
    assert run(*words, "-o", tmp_path / "m.svg")[:2] == (0, "")
    drawn = (tmp_path / "m.svg").read_text("utf-8")
    assert "segment level, kendall_b" in drawn
    assert "p-values" in drawn
    code, out, _ = run(*words, "--figure", tmp_path / "m.png", "--show", "p")
    assert (code, out.split()[0]) == (0, "p")
    assert (tmp_path / "m.png").stat().st_size > 5000


def test_williams_is_directed(run, judged: Path, tmp_path: Path) -> None:
    words = ("williams", judged, "-m", "bleu", "chrf", "--human", "adequacy")
    code, out, err = run(*words)
    assert code == 0, err
    assert out.splitlines()[0].split() == ["metric", "r", "↑", "BLEU", "chrF", "beats", "rank"]
    tests = json.loads(run(*words, "-f", "json")[1])["tests"]
    assert [(test["better"], test["than"]) for test in tests] == [
        ("bleu", "chrf"),
        ("chrf", "bleu"),
    ]
    assert tests[0]["p"] + tests[1]["p"] == pytest.approx(1)
    pytest.importorskip("matplotlib")
    assert run(*words, "-o", tmp_path / "w.pdf")[:2] == (0, "")
    assert (tmp_path / "w.pdf").read_bytes().startswith(b"%PDF")


def test_pairwise_coefficients_and_their_chance_levels(run, judged: Path) -> None:
    words = ("-m", "bleu", "--human", "fluency")
    names = ("--coefficient", "acc_eq", "--coefficient", "spa", "--coefficient", "pdp")
    code, out, err = run("correlate", judged, *words, *names)
    assert code == 0, err
    assert "text acc_eq" in out
    assert "system spa" in out
    assert "chance level of acc_eq" in err
    rows = json.loads(run("correlate", judged, *words, *names, "-f", "json")[1])["correlations"]
    kinds = [(row["level"], row["coefficient"]) for row in rows]
    assert kinds == [
        *(("text", "acc_eq"), ("text", "pairwise_pearson")),
        *(("system", "acc_eq"), ("system", "spa")),
    ]
    assert [row["chance"] is None for row in rows] == [False, True, False, True]
    code, _, err = run("correlate", judged, *words, "--coefficient", "spa", "--level", "text")
    assert (code, "spa is defined at the system level" in err) == (2, True)
    code, _, err = run("matrix", judged, *words, "--coefficient", "acc_eq", "--level", "text")
    assert (code, "it is not symmetric" in err) == (2, True)


def test_fisher_intervals(run, judged: Path) -> None:
    words = ("correlate", judged, "-m", "bleu", "--level", "segment", "--human", "fluency")
    code, out, err = run(*words, "--confidence", "--interval", "fisher")
    assert (code, "intervals: Fisher's z" in out) == (0, True), err
    content = json.loads(run(*words, "--confidence", "--interval", "fisher", "-f", "json")[1])
    (row,) = content["correlations"]
    assert (row["interval"], row["resampled"]) == ("fisher", None)
    assert row["low"] < row["value"] < row["high"]


COMPARE = ("compare", "-c", "fluent.txt", "literal.txt", "hasty.txt", "-r", "reference.a.txt")


def test_compare_has_a_table_for_each_metric(run) -> None:
    code, out, err = run(*COMPARE, "-m", "bleu", "ter", "--resamples", "200")
    assert code == 0, err
    heads = [line.split() for line in out.splitlines() if line.startswith("system")]
    tested = ["p", "uncorrected", "p", "Holm", "cluster"]
    assert heads[0] == ["system", "BLEU", "↑", "difference", "95%", *tested]
    assert heads[1][1:3] == ["TER", "↓"]
    assert "paired bootstrap, 200 times over 36 segments, seed 0" in out
    shuffled = run(*COMPARE, "--method", "randomisation", "--resamples", "100")[1]
    assert "95%" not in shuffled
    assert "paired approximate randomisation, 100 times" in shuffled


def test_compare_shows_where_systems_differ(run, tmp_path: Path) -> None:
    words = (*COMPARE, "-m", "chrf", "--resamples", "20", "--differ", "2")
    out = run(*words)[1]
    assert out.count("segment ") == 2 * 2
    assert "reference: " in out
    assert " │ " in out
    assert max(map(len, out.split("for every pair")[1].splitlines())) <= 80
    content = json.loads(run(*words, "-f", "json")[1])
    assert len(content["differ"]) == 4
    assert content["systems"][0]["p_holm"] is None
    assert content["alpha"] == 0.05
    found = {(pair["first"], pair["second"]) for pair in content["pairs"]}
    assert found == {("literal", "fluent"), ("hasty", "fluent"), ("hasty", "literal")}
    run(*words, "-o", tmp_path / "x.md")
    assert (tmp_path / "x.md").read_text("utf-8").count("| :---") >= 2


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("correlate", "absent.jsonl"), 1, "no file or folder 'absent.jsonl'"),
        (("correlate", "J", "--human", "style"), 2, "adequacy, fluency"),
        (("correlate", "J", "--level", "word"), 2, "choose one of segment, text, by_system"),
        (("correlate", "J", "--coefficient", "phi"), 2, "choose one of pearson, spearman"),
        (("correlate", "J", "--without", "poetic"), 2, "no system is called 'poetic'"),
        (("correlate", "J", "-o", "x.png"), 2, "write it with --figure x.png"),
        (("correlate", "J", "--figure", "x.txt"), 2, "a figure's name ends in .svg, .png, .pdf"),
        (("correlate", "J", "-o", "x.foo"), 2, "known endings are .txt, .json, .jsonl, .csv, .tsv"),
        (("matrix", "J", "-o", "x.foo"), 2, "known endings are .svg, .png, .pdf, .txt, .json"),
        ((*COMPARE, "-o", "x.foo"), 2, "or choose a format with -f"),
        (("correlate", "J", "--kind", "oral"), 2, "unknown kind 'oral'"),
        (("correlate", "J", "-o", "no/such/x.txt"), 1, "cannot write"),
        (
            ("correlate", "J", "--without", "literal", "--without", "hasty", "--level", "system"),
            1,
            "1 judged system; the system level compares at least 2",
        ),
        (("matrix", "J", "--coefficient", "phi"), 2, "choose one of pearson, spearman"),
        (("williams", "J", "-m", "bleu"), 2, "compares at least 2 metrics, but 1 was named"),
        (
            ("williams", "J", "-m", "bleu", "chrf", "--level", "text"),
            2,
            "use 'segment' or 'system'",
        ),
        (("compare", "-c", "fluent.txt", "-r", "reference.a.txt"), 2, "at least 2 systems"),
        ((*COMPARE, "--resamples", "0"), 2, "--resamples"),
    ],
)
def test_errors_are_one_sentence(run, judged: Path, words, code: int, message: str) -> None:
    got, out, err = run(*(judged if word == "J" else word for word in words))
    assert got == code, err
    assert message in err
    assert out == ""


@pytest.mark.parametrize(
    "verb", ["correlate", "matrix", "williams", "permutation", "darr", "tune", "compare"]
)
def test_help_has_examples(run, verb: str) -> None:
    code, out, _ = run(verb, "--help")
    assert code == 0
    assert out.count(f"nlgauge {verb} ") >= 3


@pytest.mark.parametrize(
    ("first", "second", "code"), [("fluent", "hasty", 1), ("hasty", "fluent", 0)]
)
@pytest.mark.parametrize("metric", ["chrf", "ter"])
def test_compare_fails_if_a_system_is_worse(
    run, first: str, second: str, code: int, metric: str
) -> None:
    words = ["compare", "-c", f"{first}.txt", f"{second}.txt", "-r", "reference.a.txt"]
    words += ["-m", metric, "--resamples", "200"]
    assert run(*words)[0] == 0
    found, out, err = run(*words, "--fail-if-worse")
    assert found == code
    assert second in out
    assert (f"{second} is worse than {first}: {metric} " in err) == bool(code)
