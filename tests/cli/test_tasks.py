"""The commands `nlgauge correlate --tasks` and `nlgauge submission`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import PROJECT

TASKS = """
title = "Example tasks"
[[tasks]]
data = "judged.jsonl"
measures = ["system spa", "text kendall_b"]
"""


@pytest.fixture
def words(tmp_path: Path) -> list:
    (tmp_path / "t.toml").write_text(TASKS)
    tasks = ("--tasks", tmp_path / "t.toml", "--resamples", "60")
    return ["correlate", PROJECT / "examples", "-m", "bleu", "chrf", "ter", *tasks]


def test_the_ranking_in_every_format(run, words: list, tmp_path: Path) -> None:
    code, out, err = run(*words)
    assert code == 0, err
    assert out.splitlines()[0].split() == ["metric", "average", "↑", "rank", "mean", "rank", "↓"]
    assert "judged.jsonl  text kendall_b" in out
    assert "Example tasks" in out
    content = json.loads(run(*words, "-f", "json")[1])
    assert [task["level"] for task in content["tasks"]] == ["system", "text"]
    assert [row["metric"] for row in content["ranking"]][-1] == "ter"
    assert len(run(*words, "-f", "tsv")[1].splitlines()) == 1 + 3 + 6
    for form in ("csv", "jsonl", "markdown", "latex", "html"):
        assert "ter" in run(*words, "-f", form)[1].lower()
    pytest.importorskip("matplotlib")
    assert run(*words, "--figure", tmp_path / "a.svg")[0] == 0
    assert "TER" in (tmp_path / "a.svg").read_text("utf-8")


def test_options_that_the_tasks_set_are_refused(run, words: list) -> None:
    code, _, err = run(*words, "--level", "text")
    assert code == 2
    assert "--level cannot be combined with --tasks, which sets it" in err
    code, _, err = run(*words[:-4], "--tasks", "wmt25")
    assert code == 1
    assert "Not found: wmt25" in err


def test_a_file_of_one_line_is_counted_in_the_singular(run, tmp_path: Path) -> None:
    texts = [PROJECT / "examples" / f"{name}.txt" for name in ("fluent", "reference.a")]
    words = ("submission", "-c", texts[0], "-r", texts[1], "-m", "chrf", "-o", tmp_path / "out")
    err = run(*words, "--language-pair", "de-en", "--test-set", "t")[2]
    assert "chrf.seg.score (36 lines)." in err
    assert "chrf.sys.score (1 line)." in err


def test_a_submission_is_written_and_read(run, tmp_path: Path) -> None:
    texts = [PROJECT / "examples" / f"{name}.txt" for name in ("fluent", "literal", "reference.a")]
    documents = tmp_path / "docs"
    documents.write_text("news d1\n" * 36)
    words = ("submission", "-c", *texts[:2], "-r", texts[2], "-m", "chrf", "ter:normalized=yes")
    named = ("--language-pair", "de-en", "--test-set", "t", "--documents", documents)
    code, _, err = run(*words, *named, "-o", tmp_path / "out")
    assert code == 0, err
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == [
        *("chrf.seg.score", "chrf.sys.score"),
        *("ter_normalized_yes.seg.score", "ter_normalized_yes.sys.score"),
    ]
    line = (tmp_path / "out" / "ter_normalized_yes.seg.score").read_text().splitlines()[0]
    fields = line.split("\t")
    assert fields[:8] == ["ter_normalized_yes", "de-en", "t", "news", "d1", "refA", "fluent", "1"]
    assert float(fields[8]) <= 0, "a distance is negated"
    documents.write_text("news d1\n")
    code, _, err = run(*words, *named, "-o", tmp_path / "out")
    assert code == 1
    assert "has 1 line, but the sources have 36" in err
