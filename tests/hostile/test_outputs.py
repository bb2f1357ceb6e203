"""Names from a file are data in every output: never markup, a command, a line or a formula."""

import csv
import io
import json
import re
import sys
import warnings
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from markdown_it import MarkdownIt

from nlgauge.cli import main
from nlgauge.cli.output import print_notes, to_json, write_text
from nlgauge.core.plan import Plan
from nlgauge.core.printable import printable
from nlgauge.core.quality_band import QualityBand
from nlgauge.report import formats
from nlgauge.report.differences import side_by_side
from nlgauge.report.table import Column, Table

NAMES = [
    r"\input{/etc/passwd}",
    "a\n\\input{/etc/passwd}",
    "a\r\\input{x}",
    "a\u2028\\input{x}",
    "a\x85\x0b\x0c\\input{x}",
    "^^5cinput{x}",
    "%\\end{tabular}",
    "a & b \\\\ \\hline #1 $x$ ~ _y^2 {",
    "[1cm]",
    "*",
    '"a "` french quotes',
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "'\" onmouseover='x",
    "&lt;b&gt; &amp; &#60;i>",
    "a|b\\|c",
    "`x`",
    "``` `` `",
    "[x](javascript:y)",
    "![x](http://x)",
    "[1](javascript:y)",
    "**bold** _it_ __b__ ~~s~~ lazy_emd",
    "<http://example.org>",
    "=cmd()",
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "＝1",
    "a;=1",
    "\x1b[2J\x1b]0;title\x07",
    "\x9b2J\x7f",
    "\u202egnp.exe",
    "\u2066x\u2069\u200f",
    "A\u200b\u200dB\ufeff\xad\U000e0041",
    "x" * 20_000,
    "",
    " ",
    "😀 👨‍👩‍👧 ❤️‍🔥",
    "שלום عالم",
    "می‌خواهم",
    "a\x00b",
    "half \ud800 pair",
    "%s {0} ${x}",
    '"quoted", "cell"',
    "nota\u0300tion",
]
_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\u200f\ud800-\udfff]")


def _table(name: str) -> Table:
    columns = (Column(name), Column("bleu", 2, "higher"), Column("95%"))
    rows = (("plain", 1.5, "[1.10, 2.00]"), (name, 2.0, "[-1.10, 2.00]"), (name, None, "<.001"))
    return Table(columns, rows, ("bleu|nrefs:1", name))


@pytest.fixture(params=NAMES, ids=lambda name: ascii(name)[:30])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_text_holds_one_line_per_row_and_no_control(name: str) -> None:
    lines = formats.text(_table(name)).split("\n")
    assert len(lines) == 2 + 3 + 1 + 2
    assert not _CONTROLS.search("".join(lines))
    assert lines[3].startswith(printable(name).rstrip())


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_csv_and_tsv_return_the_values_as_they_were(name: str, delimiter: str) -> None:
    text = formats.csv(_table(name), delimiter=delimiter)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    kept = name.replace("\ud800", "\\ud800")
    assert rows == [
        [kept, "bleu", "95%"],
        ["plain", "1.5", "[1.10, 2.00]"],
        [kept, "2.0", "[-1.10, 2.00]"],
        [kept, "", "<.001"],
    ]
    text.encode()


@pytest.mark.parametrize("write", [formats.csv, formats.tsv])
def test_safe_csv_holds_no_formula(name: str, write: Callable[..., str]) -> None:
    text = write(_table(name), safe=True)
    delimiter = "\t" if write is formats.tsv else ","
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    assert [row[1:] for row in rows[1:]] == [
        ["1.5", "[1.10, 2.00]"],
        ["2.0", "[-1.10, 2.00]"],
        ["", "<.001"],
    ]
    for cell in (rows[0][0], rows[2][0]):
        assert cell.removeprefix("'") == name.replace("\ud800", "\\ud800").removeprefix("'")
        assert not cell.startswith(tuple("=+-@\t\r＝"))
    if ";" in name:  # many spreadsheets split at a semicolon, but not within quotation marks
        assert f'"{name}"' in text


def test_safe_csv_leaves_numbers_alone() -> None:
    table = Table((Column("segment"), Column("r")), (("-1", -0.5), ("+1.5e3", -1.0), ("-x", 0.0)))
    rows = list(csv.reader(formats.csv(table, safe=True).split("\n")))
    assert rows[1:] == [["-1", "-0.5"], ["+1.5e3", "-1.0"], ["'-x", "0.0"]]


def test_markdown_renders_to_the_names_alone(name: str) -> None:
    source = formats.markdown(_table(name))
    assert not _CONTROLS.search(source)
    assert all(len(_cells(line)) == 3 for line in source.split("\n")[:5])
    engine = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    page = _Page.of(engine.render(source))
    assert set(page.tags) <= {"table", "thead", "tbody", "tr", "th", "td", "strong"} | {
        *("ul", "li", "code"),
    }
    shown = printable(name)
    assert page.cells == [
        *(shown.strip(), "bleu ↑", "95%"),
        *("plain", "1.50", "[1.10, 2.00]"),
        *(shown.strip(), "2.00", "[-1.10, 2.00]"),
        *(shown.strip(), "", "<.001"),
    ]
    assert page.codes[0] == "bleu|nrefs:1"
    if shown.strip():
        assert page.codes[1].strip() == shown.strip()


def _cells(line: str) -> list[str]:
    """Split a row of a Markdown table at the bars that are not escaped."""
    return re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]


def test_markdown_of_other_dialects_holds_no_tag_and_no_link(name: str) -> None:
    markdown = pytest.importorskip("markdown")
    page = _Page.of(markdown.markdown(formats.markdown(_table(name)), extensions=["tables"]))
    assert set(page.tags).isdisjoint({"script", "img", "a", "i", "b", "em", "http:", "http"})


def test_plain_names_stay_readable_in_markdown() -> None:
    assert formats.markdown_text("lazy_emd:model=a/b (r = -.5)") == "lazy_emd:model=a/b (r = -.5)"
    assert formats.markdown_text("[0.10, 0.20]") == "[0.10, 0.20]"
    assert formats.markdown_text("_a_ [b]") == r"\_a\_ \[b\]"


def test_latex_holds_no_command_of_a_name(name: str) -> None:
    lines = formats.latex(_table(name)).split("\n")
    assert lines[:2] == [r"\begin{tabular}{lrl}", r"\toprule"]
    assert (lines[3], lines[7]) == (r"\midrule", r"\bottomrule")
    assert lines[8:] == [r"\end{tabular}", "% bleu|nrefs:1", f"% {printable(name)}"]
    assert not _CONTROLS.search("".join(lines))
    for line in (lines[2], *lines[4:7]):
        assert line.endswith(r" \\")
        assert not line.startswith(("[", "*"))
        cells = re.split(r"(?<!\\)&", line.removesuffix(r" \\"))
        assert len(cells) == 3
        for cell in cells:
            _check_latex(cell)


def _check_latex(cell: str) -> None:
    """Assert that no special character of TeX remains after removal of our own commands."""
    known = r"\\textbf\{[\d.]+\}|\\text(ascii(tilde|circum)|backslash)\{\}|\{\\char34\}|\\[&%$#_{}]"
    known += r"|\$(\\(up|down)arrow|[<>|])\$|^\{\}"
    rest = re.sub(known, "", cell)
    assert not re.search(r'[\\{}$&#^_%~"<>|\n\r]', rest), cell


def test_html_holds_the_names_as_text(name: str) -> None:
    source = formats.html(_table(name))
    assert source.isascii()
    assert source.count("\n") == 9
    page = _Page.of(source)
    assert set(page.tags) <= {"table", "thead", "tbody", "tr", "th", "td", "b", "p"}
    assert page.attributes <= {("style", "text-align:right")}
    assert page.cells[0] == page.cells[6] == printable(name)
    assert not _CONTROLS.search("".join(page.cells))


class _Page(HTMLParser):
    """The tags, attributes, cells and code of a page."""

    @classmethod
    def of(cls, source: str) -> "_Page":
        page = cls()
        page.tags, page.attributes, page.cells, page.codes = [], set(), [], []
        page.feed(source)
        page.close()
        return page

    tags: list[str]
    attributes: set[tuple[str, str | None]]
    cells: list[str]
    codes: list[str]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(attrs)
        if tag in ("td", "th"):
            self.cells.append("")
        elif tag == "code":
            self.codes.append("")

    def handle_data(self, data: str) -> None:
        kind = next((tag for tag in self.tags[::-1] if tag in ("td", "th", "code")), "")
        target = self.codes if kind == "code" else self.cells
        if target and data != "\n":
            target[-1] += data


def test_json_is_equal_and_shows_no_control(name: str) -> None:
    text = to_json({name: [name]}, indent=2)
    assert json.loads(text) == {name: [name]}
    assert not _CONTROLS.search(text)


def test_notes_hold_one_line_without_controls(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_notes([name])
    captured = capsys.readouterr().err
    assert captured == f"note: {printable(name)}\n"
    assert not _CONTROLS.search(captured)


def test_differences_between_systems_show_no_control(name: str) -> None:
    row = {"segment": name, "metric": name, "baseline": name, "system": name}
    row |= {"candidate": name, "baseline_candidate": name, "references": [name]}
    numbers = {"difference": 1.0, "value": 1.0, "baseline_value": 1.0}
    text = side_by_side([{**row, **numbers}])
    assert not _CONTROLS.search(text)
    assert "\\x1b[2J" in text or "\x1b" not in name


def test_a_web_page_of_an_alignment_is_well_formed(name: str) -> None:
    from nlgauge.figures.alignment_html import page

    half = np.full((1, 1), 1.0)
    plan = Plan(1.0, half, half, np.ones(1), np.ones(1), 1.0, 1, True, 1.0).named((name,), (name,))
    source = page(plan, title=name, signature=name)
    root = ElementTree.fromstring(source)
    assert {node.tag for node in root.iter()}.isdisjoint({"script", "img", "i>", "a"})
    assert not _CONTROLS.search(source)
    assert all(not key.startswith("on") for node in root.iter() for key in node.attrib)


@pytest.mark.parametrize("kind", ["bars", "curve", "heat", "surface", "distributions"])
def test_figures_show_every_name(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from nlgauge.figures.matplotlib_setup import save

    for number, name in enumerate(NAMES):
        file = tmp_path / f"{number}.svg"
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="constrained_layout not applied")
            save(_draw(kind, name), file)
        nodes = ElementTree.parse(file).iter()
        shown = ["".join(node.itertext()) for node in nodes if node.tag.endswith("}text")]
        visible = printable(name) if name.strip() else "␣"
        cut = visible if len(visible) <= 24 else visible[:23]
        assert sum(cut in text for text in shown) >= 2, (name[:30], shown)
        assert not _CONTROLS.search("".join(shown))


def _draw(kind: str, name: str) -> object:
    from nlgauge.figures import bars, curve, distributions, matrix, surface

    if kind == "bars":
        row = {"metric": name, "value": 0.3, "level": "segment", "coefficient": "pearson"}
        return bars.metric_bars([{**row, "criterion": name}, {**row, "criterion": "b"}])
    if kind == "curve":
        lines = [curve.Line(each, (0.1, 0.2), 0, 0.1) for each in (name, "b")]
        return curve.curve("layer", [name, "b"], lines, label="r", title="t")
    if kind == "heat":
        return matrix.heat([matrix.coefficients([name, "b"], np.eye(2), title=name)])
    if kind == "surface":
        values = ([name, "x"], [name, "y"])
        tune = np.array([[0.1, 0.2], [0.3, 0.4]])
        return surface.surfaces([surface.Surface("t", ("a", "b"), values, tune, (0, 0), 0.1)])
    bands = [
        QualityBand(each, np.array([0.1, 0.2]), np.linspace(0, 1, 5), np.ones(5))
        for each in (name, "b")
    ]
    return distributions.distributions({name: bands}, legend="human")


def _run(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return int(ended.value.code or 0)


@pytest.fixture
def systems(tmp_path: Path) -> Path:
    names = [name for name in NAMES if "\ud800" not in name and name.strip()]
    rows = [{"candidate": "a b", "references": ["a b c"], "system": name} for name in names]
    path = tmp_path / "systems.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return path


def test_the_command_writes_every_format_of_hostile_systems(
    systems: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for form in ("text", "markdown", "latex", "html", "json", "jsonl"):
        assert _run("score", "-c", systems, "-m", "chrf", "-f", form) == 0
        assert not _CONTROLS.search(capsys.readouterr().out)
    assert _run("score", "-c", systems, "-m", "chrf", "-f", "csv", "--safe-csv") == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out, newline="")))
    assert len(rows) == 1 + len(systems.read_text("utf-8").split("\n"))
    assert "'=cmd()" in {row[0] for row in rows}
    assert _run("score", "-c", systems, "-m", "chrf", "--segments", "-f", "tsv") == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out, newline=""), delimiter="\t"))
    assert "=cmd()" in {row[0] for row in rows}


def test_values_on_a_terminal_show_no_control(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    write_text("a\tb\n\x1b[2J", None)
    assert capsys.readouterr().out == "a\tb\n\\x1b[2J\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    write_text("a\tb\n\x1b[2J", None)
    assert capsys.readouterr().out == "a\tb\n\x1b[2J\n"


@pytest.mark.parametrize(
    "words",
    [
        ["score", "-c", "no\x1b[2J\u202efile", "-r", "x"],
        ["score", "-c", "x", "-m", "no\x1b[2Jmetric"],
        ["correlate", "no\x1b[2J\x9bfile"],
        ["cache", "info", "no\x1b[2Jfolder"],
        ["explain", "bleu|tok:a\x1b[2J\x9b", "bleu|tok:b"],
        ["show", "-c", "a", "-r", "b", "-o", "x.\x1b[2J"],
        ["no\x1b[2Jcommand"],
        ["score", "--no\x1b[2Joption"],
        ["metrics", "bleu", "-f", "\x1b[2J"],
        ["serve", "extra\x1b[2J\x9b"],
    ],
)
def test_messages_show_no_control(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    _run(*words)
    captured = capsys.readouterr()
    assert not _CONTROLS.search(captured.out + captured.err)
    assert "Traceback" not in captured.err
