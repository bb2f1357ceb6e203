"""The option `nlgauge score --lang`."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    candidates, references = tmp_path / "out.txt", tmp_path / "ref.txt"
    candidates.write_text("东京是日本的首都。\n猫坐在垫子上\n", "utf-8")
    references.write_text("东京是日本的首都，很大。\n一只猫坐在垫子上\n", "utf-8")
    return "score", "-c", str(candidates), "-r", str(references)


def test_the_signature_has_the_options_of_the_language(run, files) -> None:
    code, out, err = run(*files, "-m", "bleu", "ter", "--lang", "zh-CN")
    assert code == 0, err
    assert out.splitlines()[0].split() == ["system", "BLEU", "↑", "TER", "↓"]
    assert "|tok:zh|" in out
    assert "|asian:yes|" in out
    assert "|tok:13a|" in run(*files, "-m", "bleu", "--lang", "de")[1]


def test_runs_in_parts_use_and_store_the_language(run, files, tmp_path: Path) -> None:
    whole = run(*files, "-m", "bleu", "--lang", "zh")[1]
    parts = ("--parts", tmp_path / "parts", "--part-rows", "1", "-q")
    assert run(*files, "-m", "bleu", "--lang", "zh", *parts)[1] == whole
    code, _, err = run(*files, "-m", "bleu", *parts)
    assert code == 2
    assert 'lang: then "zh", now null' in err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--lang", "jp"), 2, "did you mean 'ja'?"),
        (("--lang", "Chinese"), 2, "write a language code, as en, zh, ja or pt-BR"),
        (("--lang", "ko", "-m", "wmd"), 1, "texts in 'ko': model 'bert-base-multilingual-cased'"),
        (
            ("--lang", "zh", "--server", "http://127.0.0.1:1"),
            2,
            "--lang cannot be combined with --server",
        ),
    ],
)
def test_errors_are_one_sentence(run, files, words, code: int, message: str) -> None:
    got, out, err = run(*files, *words)
    assert (got, out) == (code, "")
    assert message in err
