"""The command `nlgauge show`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from nlgauge.cli import main

PAIR = ("-c", "A guy is standing on a boat", "-r", "A man is sitting in a canoe")
HASHING = ("-m", "wmd:model=hashing,special=drop")


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def show(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["show", *words])
    return int(end.value.code or 0)


def test_without_a_file_the_terminal_gets_a_list_and_a_grid(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert show(*PAIR, *HASHING) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert any("a → a  " in line and ".143 of .143, cost ." in line for line in lines)
    assert any("██" in line for line in lines)
    assert lines[-1].startswith("wmd|nrefs:1|")
    assert lines[-2].startswith("value ")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("plan.svg", b"<?xml"),
        ("plan.png", b"\x89PNG"),
        ("plan.pdf", b"%PDF"),
        ("plan.html", b"<!DOCTYPE html>"),
        ("plan.txt", b"My pair\n"),
        ("plan.json", b"{"),
    ],
)
def test_the_ending_decides_what_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, start: bytes
) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / name
    assert show(*PAIR, *HASHING, "--title", "My pair", "-q", "-o", str(path)) == 0
    assert path.read_bytes().startswith(start)
    assert capsys.readouterr() == ("", "")


def test_json_holds_the_whole_plan(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    show(*PAIR, *HASHING, "-o", str(path))
    plan = json.loads(path.read_text("utf-8"))
    assert plan["candidate_tokens"] == PAIR[1].lower().split()
    assert len(plan["coupling"]) == len(plan["coupling"][0]) == 7


def test_of_several_references_the_best_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "plan.html"
    show(*PAIR, "A guy is standing on a <boat>", *HASHING, "--kind", "heatmap", "-o", str(path))
    root = ElementTree.fromstring(path.read_text("utf-8"))
    assert {"guy", "boat", "<", ">"} <= {node.text for node in root.iter("span")}
    assert not list(root.iter("svg"))
    assert "wmd|nrefs:2" in path.read_text("utf-8")


def test_a_text_may_start_with_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    assert show("--candidate=- so", "--reference=- so", *HASHING) == 0
    assert "so → so" in capsys.readouterr().out


def test_the_default_metric_is_the_mover(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NLGAUGE_MODEL", "hashing")
    assert show(*PAIR, "--kind", "flow") == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("mover|")


def test_warnings_go_to_stderr_unless_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    metric = "bertscore:model=hashing,weights=idf"
    several = (*PAIR, "Some people are here", "-m", metric)
    assert show(*several) == 0
    assert f"note: {metric}: 1 of 1 segments: idf" in capsys.readouterr().err
    assert show(*several, "-q") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((*PAIR, "-m", "bleu"), 2, "bleu does not match tokens, so it has no alignment to show"),
        ((*PAIR, "-m", "blue"), 2, "did you mean 'bleu'"),
        ((*PAIR, *HASHING, "-o", "plan.gif"), 2, "known endings are .svg, .png, .pdf, .html"),
        ((*PAIR, *HASHING, "-o", "plan"), 2, "unknown format of 'plan'"),
        ((*PAIR, *HASHING, "-o", "no/such/plan.html"), 1, "cannot write 'no/such/plan.html'"),
        ((*PAIR, *HASHING, "-o", "no/such/plan.png"), 1, "cannot write 'no/such/plan.png'"),
        (("-c", "", *PAIR[2:], *HASHING), 1, "nothing to align: a text is empty"),
        ((*PAIR[:2], "-r", "", *HASHING), 1, "nothing to align: a text is empty"),
        (("-c", "not", "quoted", *PAIR[2:]), 2, "one candidate is shown at a time, but 2"),
        ((*PAIR, "-m", "wmd", "mover"), 2, "one metric is shown at a time, but 2"),
        ((*PAIR, *HASHING, "--kind", "pie"), 2, "pie"),
        (PAIR[:2], 2, "-r"),
    ],
)
def test_errors_are_one_sentence(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, message: str
) -> None:
    assert show(*words) == code
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_without_matplotlib_the_extra_is_named_but_pages_work(tmp_path: Path) -> None:
    (tmp_path / "matplotlib.py").write_text("raise ImportError('absent', name='matplotlib')")
    words = [sys.executable, "-m", "nlgauge", "show", *PAIR, *HASHING, "-o"]
    paths = [str(tmp_path / name) for name in ("plan.png", "plan.html")]
    figure, page = (
        subprocess.run(
            [*words, path],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
        )
        for path in paths
    )
    assert figure.returncode == 1
    assert "a drawing needs the package 'matplotlib'" in figure.stderr
    assert page.returncode == 0, page.stderr


@pytest.mark.parametrize("option", ["-c", "-r", "--candidate", "--reference"])
def test_a_file_name_in_place_of_a_text_is_an_error(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a text.txt"
    file.write_text("a boat\n")
    other = "-r" if option.startswith(("-c", "--c")) else "-c"
    assert show(option, str(file), other, "a boat", *HASHING) == 2
    captured = capsys.readouterr().err
    assert f"-{option.strip('-')[0]} takes a text" in captured
    assert "is a file or folder; show its first line with" in captured
    assert f"$(head -n 1 '{file}')" in captured
    assert captured.count("\n") == 1
    assert show(option, f"{file} ", other, "a boat", *HASHING) == 0, "a space makes it a text"


def test_texts_that_cannot_be_file_names_are_texts(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "boat").write_text("")
    for text in ("boat", "a" * 5000 + ".", "a\0b.", "and/or", "e.g."):
        assert show("-c", text, "-r", "a boat", *HASHING) == 0


@pytest.mark.parametrize("ending", ["png", "pdf"])
def test_characters_without_a_font_are_named(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    pytest.importorskip("matplotlib")
    from nlgauge.figures import fonts

    own = {fonts.DEFAULT: fonts._files()[fonts.DEFAULT]}
    monkeypatch.setattr(fonts, "_files", lambda: own)  # as if no other font were installed
    assert (
        show("-c", "東京 한 boat", "-r", "東 boat", *HASHING, "-o", str(tmp_path / f"a.{ending}"))
        == 0
    )
    captured = capsys.readouterr().err
    (note,) = [line for line in captured.splitlines() if "font" in line]
    assert "(CJK, Hangul)" in note
    assert f"'a.{ending}' shows boxes" in note
    assert ".svg or .html" in note
    assert captured.count("\n") == captured.count("note: "), "nothing but notes"
    assert show("-c", "東京", "-r", "東", *HASHING, "-o", str(tmp_path / "a.svg")) == 0
    assert "font" not in capsys.readouterr().err
    assert "東" in (tmp_path / "a.svg").read_text("utf-8")


def test_an_installed_font_draws_what_the_default_font_lacks(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.text import Text

    from nlgauge.figures import fonts, matplotlib_setup

    letter = "\u1d15"  # in DejaVu Serif, which comes with matplotlib, but not in DejaVu Sans
    assert ord(letter) not in fonts._characters(fonts.DEFAULT)
    with matplotlib_setup.panels(1, 1, (2, 2)) as (figure, (axes,)):
        axes.set_title(f"a {letter}")
    assert matplotlib_setup.save(figure, tmp_path / "a.png") == ()
    (title,) = [each for each in figure.findobj(Text) if letter in each.get_text()]
    assert any(ord(letter) in fonts._characters(name) for name in title.get_fontfamily())


SPANS = (*PAIR, "-m", "wmd:model=hashing,special=drop,layer=0", "--spans")
THRESHOLDS = ("--minor", ".5", "--major", "4")


def test_predicted_errors_are_marked_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert show(*SPANS, *THRESHOLDS) == 0
    first, _, *table = capsys.readouterr().out.splitlines()
    assert first == "A [guy](minor) is [standing on](minor) a [boat](minor)"
    assert table[2].split() == ["2", "5", "minor", "guy"]
    assert table[-2:][0] == "thresholds: minor 0.5, major 4"
    assert table[-1].startswith("wmd|nrefs:1|")
    assert show(*SPANS, "--minor", "9", "--major", "9") == 0
    assert "no errors predicted" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["e.svg", "e.png", "e.pdf", "e.html", "e.json", "e.txt"])
def test_predicted_errors_are_written_in_every_format(tmp_path: Path, name: str) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / name
    assert show(*SPANS, *THRESHOLDS, "--title", "Errors", "-q", "-o", str(path)) == 0
    if name == "e.json":
        spans = json.loads(path.read_text("utf-8"))["spans"]
        assert [span["text"] for span in spans] == ["guy", "standing on", "boat"]
    elif name in ("e.html", "e.svg"):
        text = path.read_text("utf-8")
        ElementTree.fromstring(text.partition("<!DOCTYPE html>")[2] or text)
        assert "Errors" in text and "standing" in text
    else:
        assert path.stat().st_size > 100


def test_thresholds_need_spans_and_spans_need_thresholds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert show(*PAIR, *HASHING, *THRESHOLDS) == 2
    assert "add --spans" in capsys.readouterr().err
    assert show(*SPANS) == 2
    assert "give both, minor and major" in capsys.readouterr().err
