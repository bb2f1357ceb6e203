"""Commands that score take the same inputs and the same settings of models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from conftest import command_output
from nlgauge.cli import app
from nlgauge.core.errors import OptionError

RUNTIME = {"device", "batch_tokens", "precision", "threads", "download", "cache", "lang", "quiet"}
TEXTS = {"candidates", "references", "sources", "metric", "input_format", "columns"}
TEXTS |= {"system_columns", "no_header"}


def _options(command: str) -> set[str]:
    group = typer.main.get_command(app)
    return {str(each.name) for each in group.commands[command].params}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "command",
    [
        "score",
        "compare",
        "correlate",
        "mbr",
        "rerank",
        "matrix",
        "williams",
        "permutation",
        "tune",
    ],
)
def test_all_commands_that_score_take_the_same_settings(command: str) -> None:
    assert _options(command) >= RUNTIME


def test_score_and_compare_read_the_same_inputs() -> None:
    assert _options("score") >= TEXTS
    assert _options("compare") >= TEXTS


@pytest.mark.parametrize("command", ["correlate", "matrix", "williams", "darr", "tune"])
def test_studies_name_the_columns_of_their_tables(command: str) -> None:
    assert _options(command) >= {"columns", "no_header"}


def test_every_command_takes_a_language(tmp_path: Path) -> None:
    lines = ["猫坐着。", "今天下雨了。", "他走了。", "我们回家吧。"]
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (tmp_path / "b.txt").write_text("\n".join(line[1:] for line in lines) + "\n", "utf-8")
    a, b = str(tmp_path / "a.txt"), str(tmp_path / "b.txt")
    more = ("-m", "bleu", "--lang", "zh", "-f", "json")
    scored = json.loads(command_output("score", "-c", b, "-r", a, *more))["scores"][0]
    assert "tok:zh" in scored["signature"]
    compared = json.loads(
        command_output("compare", "-c", b, a, "-r", a, "--resamples", "10", *more)
    )
    assert compared["signatures"]["bleu"] == scored["signature"]
    rows = [
        {"mt": text[k:], "ref": text, "score": 3 - k, "who": str(k), "segment": i}
        for i, text in enumerate(lines)
        for k in range(3)
    ]
    (tmp_path / "j.json").write_text(json.dumps(rows), "utf-8")
    columns = ("--columns", "human=score,system=who", "--level", "segment")
    found = json.loads(command_output("correlate", str(tmp_path / "j.json"), *columns, *more))
    assert found["signatures"]["bleu"] == scored["signature"]
    (tmp_path / "s.jsonl").write_text(json.dumps({"candidates": lines[:3]}) + "\n", "utf-8")
    with pytest.raises(OptionError, match="xx"):
        command_output(
            "mbr", str(tmp_path / "s.jsonl"), "-m", "bleu", "--lang", "not a language xx"
        )
    assert (
        command_output("mbr", str(tmp_path / "s.jsonl"), "-m", "bleu", "--lang", "zh").strip()
        in lines
    )


def test_every_command_takes_a_cache(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a cat sat\nit rains\n")
    (tmp_path / "b.txt").write_text("the cat sat\nrain\n")
    a, b = str(tmp_path / "a.txt"), str(tmp_path / "b.txt")
    spec = "bertscore:model=hashing"
    settings = ("--batch-tokens", "64", "--threads", "1", "--cache", str(tmp_path / "cache"))
    plain = command_output("compare", "-c", a, b, "-r", a, "-m", spec, "--resamples", "10")
    assert (
        command_output("compare", "-c", a, b, "-r", a, "-m", spec, "--resamples", "10", *settings)
        == plain
    )
    assert command_output("mbr", a, "--samples", "2", "-m", spec, *settings)


def test_columns_may_be_repeated_or_joined(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("answer\tgold\na cat\ta cat sat\n")
    table = ("score", "-c", str(tmp_path / "t.tsv"), "-m", "chrf", "-f", "json")
    joined = command_output(*table, "--columns", "candidate=answer,reference=gold")
    assert (
        command_output(*table, *("--columns", "candidate=answer"), *("--columns", "reference=gold"))
        == joined
    )
    assert json.loads(joined)["inputs"]["columns"] == {
        "candidate": ["answer"],
        "references": ["gold"],
    }
    (tmp_path / "results.json").write_text(joined)
    verified = command_output("verify", str(tmp_path / "results.json"), "-f", "csv").splitlines()
    assert verified[0] == "system,metric,stored,recomputed,result"
    assert verified[1].endswith(",equal")


def test_results_of_numbered_and_wide_tables_are_verified(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("a cat\ta cat sat\ta cat sat down\n")
    words = ("score", "-c", str(tmp_path / "t.txt"), "--input", "tsv", "--no-header", "-m", "chrf")
    words += ("--system-columns", "1,2", "--columns", "reference=3", "-f", "json")
    (tmp_path / "results.json").write_text(command_output(*words))
    messages = command_output("verify", str(tmp_path / "results.json"))
    assert "differs" not in messages
    assert len(json.loads((tmp_path / "results.json").read_text())["scores"]) == 2


def test_columns_may_be_several_words(tmp_path: Path, run: Callable[..., Any]) -> None:
    table = tmp_path / "plain.tsv"
    table.write_text("a cat\tthe cat\na dog\tthe dog\n", "utf-8")
    code, _, err = run("score", "-c", table, "-m", "chrf")
    assert code == 1
    assert "add --no-header to a TSV or CSV without a header line" in err
    words = ("--no-header", "--columns", "candidate=1", "reference=2")
    assert run("score", "-c", table, "-m", "chrf", *words)[0] == 0
