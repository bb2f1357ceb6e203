"""Shell completion answers with commands and metrics, as the installed script asks."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from nlgauge.cli.completion import repeat_metric_flag


def _complete(shell: str, **words: str) -> list[str]:
    environment = {**os.environ, **words, "_NLGAUGE_COMPLETE": f"complete_{shell}"}
    command = [sys.executable, "-m", "nlgauge"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nlgauge sc", ["score"]),
        ("nlgauge metrics ch", ["character", "chrf"]),
        ("nlgauge score -m bert", ["bertscore"]),
        ("nlgauge score -m bleu ro", ["rouge", "rouge_we"]),
    ],
)
def test_bash(line: str, expected: list[str]) -> None:
    words = line.split()
    position = str(len(words) - 1)
    assert _complete("bash", COMP_WORDS="\n".join(words), COMP_CWORD=position) == expected


def test_zsh_shows_titles() -> None:
    (answer,) = _complete("zsh", _TYPER_COMPLETE_ARGS="nlgauge score -m chrf lazy")[-1:]
    assert '"lazy_emd":"Lazy-EMD"' in answer


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("nlgauge score -m bleu ", "nlgauge score -m bleu -m "),
        ("nlgauge score -m bleu", "nlgauge score -m bleu"),
        ("nlgauge score -c a ", "nlgauge score -c a "),
        ("nlgauge ", "nlgauge "),
    ],
)
def test_only_a_further_metric_gets_a_flag(line: str, changed: str) -> None:
    environment = {"_TYPER_COMPLETE_ARGS": line}
    repeat_metric_flag(environment)
    assert environment == {"_TYPER_COMPLETE_ARGS": changed}


def test_the_script_can_be_shown(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    code, out, _ = run("--show-completion", "bash")
    assert code == 0
    assert "_NLGAUGE_COMPLETE=complete_bash" in out
