"""Choosing among candidates equals a loop over all pairs, and encodes every text once."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import nlgauge.inputs as kitchen
from nlgauge import Scorer, mbr, rerank, score
from nlgauge.cli import app
from nlgauge.core.errors import DataError, NlgaugeError, OptionError, ShapeError
from nlgauge.encode.hashing import HashingEncoder

SAMPLES = [
    ["the cat sat on the mat", "a cat is on a mat", "dogs run", "the cat sat on a mat"],
    ["hello there", "hello world", "hello there"],
    ["alone"],
]
HASHING = "bertscore:model=hashing"


@pytest.mark.parametrize("metric", ["chrf", "ter", HASHING])
def test_mbr_equals_a_loop_over_all_pairs(metric: str) -> None:
    chosen = mbr(SAMPLES, scorer=Scorer(metric))
    for texts, choice in zip(SAMPLES[:2], chosen, strict=False):
        for i, text in enumerate(texts):
            others = [other for j, other in enumerate(texts) if j != i]
            (scores,) = score([text] * len(others), others, metrics=metric).values()
            expected = scores.scale.sign * scores.segments.mean()
            assert choice.utilities[i] == pytest.approx(expected, abs=1e-9)


def test_the_best_is_the_one_most_like_the_others() -> None:
    first, second, alone = mbr(SAMPLES, scorer=Scorer("chrf"))
    assert first.best == "the cat sat on a mat"
    assert first.order[-1] == 2
    assert second.order == (0, 2, 1)  # equal candidates support each other; the first is taken
    assert alone.best == "alone"


def test_rerank_takes_the_candidate_nearest_to_its_references() -> None:
    references = [["dogs run"], ["hello world", "nothing"], ["x"]]
    chosen = rerank(SAMPLES, references, scorer=Scorer(HASHING))
    assert [choice.best for choice in chosen] == ["dogs run", "hello world", "alone"]


def test_several_metrics_are_combined_by_rank_whatever_their_scales() -> None:
    (choice,) = rerank(
        [["a b c d", "a b c", "x"]], ["a b c d"], scorer=Scorer(["chrf", "ter"]), combine="rank"
    )
    assert choice.utilities.tolist() == [-1, -2, -3]
    (tied,) = rerank([["a", "a", "b"]], ["a"], scorer=Scorer(["chrf", "ter"]))
    assert tied.utilities.tolist() == [-1.5, -1.5, -3]


def test_every_text_of_an_input_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class CountingEncoder(HashingEncoder):
        def encode(self, texts, layers):
            asked.extend(texts)
            return super().encode(texts, layers)

    encoder = CountingEncoder()
    monkeypatch.setattr(kitchen, "open_encoder", lambda *_, **__: encoder)
    texts = [f"word{i} and word{i + 1}" for i in range(40)]  # 1,560 pairs
    mbr([texts], scorer=Scorer("bertscore"))
    assert sorted(asked) == sorted(texts)


@pytest.mark.parametrize(
    ("candidates", "kind", "message"),
    [
        ([], ShapeError, "a list with a list of texts for each input"),
        (["a", "b"], ShapeError, r"candidates\[0\] is one text"),
        ([["a"], []], DataError, r"candidates\[1\] is empty"),
    ],
)
def test_what_is_not_a_list_of_lists_is_refused(candidates, kind, message: str) -> None:
    with pytest.raises(kind, match=message):
        mbr(candidates, scorer=Scorer("chrf"))


def test_invalid_arguments_are_refused() -> None:
    with pytest.raises(ShapeError, match="3 lists of candidates but 1 references"):
        rerank(SAMPLES, ["a"], scorer=Scorer("chrf"))
    with pytest.raises(OptionError, match="'rank' or by 'mean'"):
        mbr(SAMPLES, scorer=Scorer("chrf"), combine="median")


def test_on_the_command_line(tmp_path: Path) -> None:
    rows = tmp_path / "samples.jsonl"
    rows.write_text("".join(json.dumps({"samples": texts}) + "\n" for texts in SAMPLES))
    result = CliRunner().invoke(app, ["mbr", str(rows), "-m", "chrf"])
    assert result.stdout.splitlines() == ["the cat sat on a mat", "hello there", "alone"]
    lines = tmp_path / "samples.txt"
    lines.write_text("a b\na\na b c\nx\nx y\nx y z\n")
    (tmp_path / "ref.txt").write_text("a\nx y z\n")
    words = ["rerank", str(lines), "--samples", "3", "-r", str(tmp_path / "ref.txt"), "-m", "chrf"]
    result = CliRunner().invoke(app, [*words, "-f", "jsonl"])
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["best"] for row in found] == ["a", "x y z"]
    assert found[0]["order"][0] == 1
    assert np.isfinite(found[0]["utilities"]).all()


@pytest.mark.parametrize(
    ("name", "content", "words", "message"),
    [
        ("a.txt", "a\nb\nc\n", ["--samples", "2"], "3 lines, which is no multiple of 2"),
        ("a.txt", "a\n", [], "give their number: --samples N"),
        ("a.jsonl", '{"text": "a"}', [], "line 1 has no column 'candidates'"),
        ("a.jsonl", '{"candidates": ["a", 3]}', [], "not a text or a list of texts"),
        ("a.jsonl", "", [], "has no rows"),
    ],
)
def test_unusable_files_are_named(tmp_path: Path, name, content, words, message: str) -> None:
    (tmp_path / name).write_text(content)
    result = CliRunner().invoke(app, ["mbr", str(tmp_path / name), "-m", "chrf", *words])
    assert isinstance(result.exception, NlgaugeError)
    assert message in str(result.exception)


def test_reranking_needs_references(tmp_path: Path) -> None:
    rows = tmp_path / "a.jsonl"
    rows.write_text('{"candidates": ["a"], "ref": "a"}\n{"candidates": ["b"]}\n')
    result = CliRunner().invoke(app, ["rerank", str(rows), "-m", "chrf"])
    assert "line 2 has no column 'ref', which the first row has" in str(result.exception)
    rows.write_text('{"candidates": ["a"]}\n')
    result = CliRunner().invoke(app, ["rerank", str(rows), "-m", "chrf"])
    assert "add -r FILE" in str(result.exception)
