"""nlgauge compare on stored scores and on logs of evaluation harnesses."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    rows = [f"{i},d{i // 4},{i % 2},{int(i % 3 > 0)},{1 - i % 2}" for i in range(24)]
    (tmp_path / "wide.csv").write_text("\n".join(["item,document,A,B,C", *rows]))
    return tmp_path / "wide.csv"


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    paths = []
    for run, step in (("one", 2), ("two", 5)):
        path = tmp_path / run / "samples_sums.jsonl"
        path.parent.mkdir()
        rows = [
            {"doc_id": i, "doc": {"topic": i % 4}, "target": str(i), "filter": "none"}
            | {"filtered_resps": [str(i if i % step else 0)], "acc": float(bool(i % step))}
            for i in range(20)
        ]
        path.write_text("\n".join(map(json.dumps, rows)))
        paths.append(path)
    return paths


def test_columns_of_systems(run, wide: Path) -> None:
    code, out, err = run("compare", wide, "--scores", "A,B,C", "--method", "mcnemar")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert (
        " ".join(lines[0].split()) == "system score ↑ difference 95% p uncorrected p Holm cluster"
    )
    assert [line.split()[0] for line in lines[2:5]] == ["A", "B", "C"]
    assert "p against A: McNemar's exact test of 24 segments; two-sided" in out
    assert run("compare", wide, "--scores", "A", "B", "C", "--method", "mcnemar")[1] == out


def test_every_format_has_the_same_numbers(run, wide: Path, tmp_path: Path) -> None:
    words = ("compare", wide, "--scores", "A,B", "--cluster", "document", "--resamples", "50")
    content = json.loads(run(*words, "-f", "json")[1])
    assert (content["segments"], content["units"], content["count"]) == (24, 6, 50)
    entry = content["systems"][1]
    rows = list(csv.DictReader(io.StringIO(run(*words, "-f", "csv")[1])))
    assert float(rows[1]["p_holm"]) == entry["p_holm"]
    for form in ("text", "markdown", "latex", "html"):
        assert f"{entry['value']:.4f}" in run(*words, "-f", form)[1]
    assert run(*words, "-o", tmp_path / "x.tsv")[:2] == (0, "")


def test_logs_of_two_runs(run, runs: list[Path]) -> None:
    words = ("compare", *runs, "--scores", "acc")
    content = json.loads(run(*words, "--method", "mcnemar-midp", "-f", "json")[1])
    assert [entry["value"] for entry in content["systems"]] == [0.5, 0.8]
    assert content["method"] == "McNemar's mid-p test"
    folders = [path.parent for path in runs]
    same = json.loads(
        run("compare", *folders, "--scores", "acc", "--method", "mcnemar-midp", "-f", "json")[1]
    )
    assert [entry["system"] for entry in same["systems"]] == ["one", "two"]
    assert same["systems"][1]["p_holm"] == content["systems"][1]["p_holm"]
    clustered = ("--cluster", "doc.topic", "--method", "permutation")
    assert "4 clusters of 20 segments" in run(*words, *clustered)[1]
    code, out, _ = run("score", "-c", runs[0], "-m", "chrf", "-f", "json")
    assert code == 0
    assert json.loads(out)["scores"][0]["system"] == "one"


def test_logs_of_other_documents_are_an_error_with_counts(run, runs: list[Path]) -> None:
    lines = runs[1].read_text().splitlines()
    runs[1].write_text("\n".join(lines[3:]))
    code, _, err = run("compare", *runs, "--scores", "acc")
    assert code == 1
    assert "0 are only in" in err
    assert "3 only in" in err
    assert "17 in both" in err


def test_differing_items_are_listed(run, wide: Path) -> None:
    words = ("compare", wide, "--scores", "A,C", "--method", "permutation", "--differ", "2")
    out = run(*words)[1]
    assert out.splitlines()[-2].split() == ["0", "C", "1.00", "0.00", "1.00"]
    assert len(json.loads(run(*words, "-f", "json")[1])["differ"]) == 2


def test_texts_take_clusters(run, tmp_path: Path) -> None:
    labels = tmp_path / "documents.txt"
    texts = ("compare", "-c", "fluent.txt", "hasty.txt", "-r", "reference.a.txt", "-m", "chrf")
    alone = json.loads(run(*texts, "-f", "json", "--resamples", "20")[1])
    labels.write_text("\n".join(str(i // 4) for i in range(alone["segments"])))
    words = (*texts, "-f", "json", "--resamples", "20", "--cluster", labels)
    found = json.loads(run(*words)[1])
    assert found["units"] == (found["segments"] + 3) // 4 < found["segments"]
    assert found["systems"][1]["value"] == alone["systems"][1]["value"]
    labels.write_text("a\nb\n")
    code, _, err = run(*words)
    assert code == 1
    assert "documents.txt has 2" in err
    rows = [
        {"id": i, "doc": i // 2, "mt": f"a cat {k} {i}", "ref": f"a cat 0 {i}", "system": k}
        for i in range(6)
        for k in ("x", "y")
    ]
    (tmp_path / "t.json").write_text(json.dumps(rows))
    table = ("compare", tmp_path / "t.json", "-m", "chrf", "--resamples", "20", "-f", "json")
    assert json.loads(run(*table, "--cluster", "doc")[1])["units"] == 3
    code, _, err = run(*table, "--cluster", "document")
    assert (code, "has no column 'document'" in err) == (1, True)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--scores", "A,B", "-m", "bleu"), 2, "leave out -m"),
        (("--scores", "A,B", "-r", "W"), 2, "leave out -r"),
        (("--scores", "A,B", "--system-columns", "A,B"), 2, "with --scores, not --system-columns"),
        (("--scores", "A"), 2, "at least 2 systems"),
        (("--scores", "A,D"), 1, "no column 'D' of scores; it has 'item', 'document', 'A'"),
        (("--scores", "A,B", "--columns", "id=document"), 1, "occurs 4 times for system 'A'"),
        (("--missing", "drop"), 2, "--missing is for stored scores"),
        (("--scores", "A,B", "--input", "text"), 2, "is not a table of scores"),
    ],
)
def test_errors_are_one_sentence(run, wide: Path, words: tuple, code: int, message: str) -> None:
    given = [str(wide) if word == "W" else word for word in words]
    got, _, err = run("compare", wide, *given)
    assert (got, len(err.splitlines())) == (code, 1)
    assert message in err


def test_files_come_before_the_columns(run, wide: Path) -> None:
    code, _, err = run("compare", "--scores", "A,B", wide)
    assert (code, "put" in err, "before --scores" in err) == (2, True, True)
    assert run("compare")[0] == 2
