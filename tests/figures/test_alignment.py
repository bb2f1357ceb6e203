"""Figures and pages of plans: their shapes, texts and files."""

import builtins
import sys
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from nlgauge.core.errors import FileError, MissingExtra
from nlgauge.core.plan import Plan
from nlgauge.figures.alignment_html import page
from nlgauge.figures.alignment_layout import Kind, labels, layout, number, visible_flows
from nlgauge.figures.colours import STOPS, is_dark, ramp
from nlgauge.figures.labels import printable, shorten
from nlgauge.figures.matplotlib_setup import save
from nlgauge.measure.transport import match_many

pytest.importorskip("matplotlib")

from nlgauge.figures.alignment import draw_alignment

KINDS: tuple[Kind, ...] = ("flow", "heatmap", "both")
ODD = (
    "<script>alert(1)</script>",
    "$\\frac$",
    "$a$",
    "\"&'",
    "你好",
    "🙂",
    "##ly",
    "a\x1b\n\ufffe",
)


def make_plan(rows: int, columns: int, names: tuple[str, ...] | None = None) -> Plan:
    rng = np.random.default_rng(7)
    a, b = np.full(rows, 1 / rows), rng.dirichlet(np.ones(columns))
    (plan,) = match_many([rng.uniform(0.1, 1.4, (rows, columns))], [a], [b])
    left = names or tuple(f"c{i}" for i in range(rows))
    return plan.named(left, tuple(f"r{j}" for j in range(columns)))


def bands(figure: Any) -> list[Any]:
    return [patch for patch in figure.axes[0].patches if patch.get_label() == "band"]


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (5, 3), (40, 50)])
def test_there_is_a_band_and_a_circle_for_every_flow(shape: tuple[int, int]) -> None:
    plan = make_plan(*shape)
    positive = int((plan.coupling > 0).sum())
    assert len(visible_flows(plan)) == positive
    assert len(bands(draw_alignment(plan, "flow"))) == positive
    assert len(bands(draw_alignment(plan))) == positive
    (circles,) = draw_alignment(plan, "heatmap").axes[0].collections
    assert len(circles.get_offsets()) == positive
    (svg,) = ElementTree.fromstring(page(plan, "flow")).iter("svg")
    assert len(list(svg.iter("path"))) == positive


def test_bands_fill_the_bars_of_their_tokens_and_stay_within_their_places() -> None:
    plan = make_plan(6, 9)
    places = layout(plan)
    for nodes, end in ((places.candidate, "left"), (places.reference, "right")):
        for i, node in enumerate(nodes):
            side = "candidate" if end == "left" else "reference"
            ends = [getattr(x, end) for x in places.bands if getattr(x.flow, side) == i]
            assert sum(low - top for top, low in ends) == pytest.approx(node.moved)
            assert min(top for top, _ in ends) == pytest.approx(node.centre - node.moved / 2)
            assert max(node.own, node.moved) <= 1 / len(nodes)
    masses = [band.flow.mass for band in places.bands]
    assert masses == sorted(masses)


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
@pytest.mark.parametrize("kind", KINDS)
def test_files_are_what_their_endings_say(tmp_path: Path, kind: Kind, ending: str) -> None:
    path = tmp_path / f"plan.{ending}"
    save(draw_alignment(make_plan(3, 4), kind, title="three and four"), path)
    content = path.read_bytes()
    if ending == "svg":
        messages = texts_of(content)
        assert {"c0", "c1", "c2", "r0", "r1", "r2", "r3", "cost", "three and four"} <= messages
        save(draw_alignment(make_plan(3, 4), kind, title="three and four"), path)
        assert path.read_bytes() == content
    assert content.startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[ending])


def texts_of(svg: bytes) -> set[str]:
    root = ElementTree.fromstring(svg)
    return {"".join(node.itertext()).strip() for node in root.iter() if node.tag.endswith("text")}


@pytest.mark.parametrize("kind", KINDS)
def test_odd_tokens_are_shown_as_they_are_without_a_warning(tmp_path: Path, kind: Kind) -> None:
    plan = make_plan(len(ODD), 3, ODD)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = draw_alignment(plan, kind, title="$\\frac$ of \x1b")
        save(figure, tmp_path / "odd.png")
        save(figure, tmp_path / "odd.svg")
    messages = texts_of((tmp_path / "odd.svg").read_bytes())
    assert {"$\\frac$", "$a$", "你好", "🙂", "##ly", "a\\x1b\\n\\ufffe"} <= messages
    assert "$\\frac$ of \\x1b" in messages
    assert "<script>alert(1)</scrip…" in messages


def test_special_tokens_are_grey() -> None:
    plan = make_plan(3, 2, ("[CLS]", "word", "</s>"))
    inks = {
        text.get_text(): text.get_color() for text in draw_alignment(plan, "flow").axes[0].texts
    }
    assert inks["[CLS]"] == inks["</s>"] == "#999999"
    assert inks["word"] == "black"
    ticks = draw_alignment(plan, "heatmap").axes[0].get_yticklabels()
    assert [tick.get_color() for tick in ticks] == ["#999999", "black", "#999999"]
    assert page(plan).count('class="special"') == 4


def test_numbers_stand_in_circles_only_where_there_is_room() -> None:
    assert [
        text.get_text() for text in draw_alignment(make_plan(1, 1), "heatmap").axes[0].texts
    ] == ["1.000"]
    assert not draw_alignment(make_plan(40, 50), "heatmap").axes[0].texts


def test_a_page_is_well_formed_safe_and_complete() -> None:
    plan = make_plan(len(ODD), 3, ODD)
    text = page(plan, title="<b>bold</b>", signature="wmd|model:<x>")
    root = ElementTree.fromstring(text)
    tags = {node.tag for node in root.iter()}
    assert tags.isdisjoint({"script", "img", "link", "a", "iframe", "object"})
    assert all(set(node.text or "") <= set(".<0123456789") for node in root.iter("b"))
    assert "http" not in text.replace("http-equiv", "")
    assert "url(" not in text
    messages = {node.text for node in root.iter() if node.text}
    assert {"<b>bold</b>", "wmd|model:<x>", "$a$", "🙂", "a\\x1b\\n\\ufffe", "r0", "r2"} <= messages
    assert any(line.startswith(f"value {plan.value:.4f}, objective") for line in messages)
    hovers = {node.text for node in root.iter("title")}
    assert f"{ODD[0]}: mass {number(1 / len(ODD))}" in hovers
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_holds_what_was_asked_for(kind: Kind) -> None:
    root = ElementTree.fromstring(page(make_plan(3, 4), kind))
    assert len(list(root.iter("svg"))) == (kind != "heatmap")
    assert len(list(root.iter("td"))) == (0 if kind == "flow" else 12)


def test_a_plan_without_tokens_or_costs_is_numbered_and_drawn(tmp_path: Path) -> None:
    plan = Plan(0.0, np.eye(2) / 2, np.zeros((2, 2)), *[np.full(2, 0.5)] * 2, 1.0, 1, True, 0.0)
    assert labels(plan) == (("1", "2"), ("1", "2"))
    save(draw_alignment(plan), tmp_path / "plain.png")
    assert "objective 0.0000" in page(plan)


def test_unmatched_and_created_mass_is_drawn_in_the_bars(tmp_path: Path) -> None:
    coupling = np.array([[0.1, 0.0], [0.6, 0.0]])
    plan = Plan(0.4, coupling, np.ones((2, 2)), *[np.full(2, 0.5)] * 2, 0.7, 1, True, 0.5)
    first, second = layout(plan).candidate, layout(plan).reference
    assert first[0].moved < first[0].own
    assert second[0].moved > second[0].own
    assert second[1].moved == 0
    save(draw_alignment(plan, "flow"), tmp_path / "lazy.png")


def test_flows_too_faint_to_see_are_left_out() -> None:
    coupling = np.array([[0.5, 1e-9], [1e-9, 0.5]])
    plan = Plan(0.0, coupling, np.ones((2, 2)), *[np.full(2, 0.5)] * 2, 1.0, 1, True, 0.0)
    assert [(seen.candidate, seen.reference) for seen in visible_flows(plan)] == [(0, 0), (1, 1)]


@pytest.mark.parametrize(
    ("value", "text"), [(0.0833, ".083"), (0.0, ".000"), (1e-5, "<.001"), (1.25, "1.250")]
)
def test_numbers_have_no_leading_zero(value: float, text: str) -> None:
    assert number(value) == text


def test_blank_tokens_are_made_visible() -> None:
    assert [printable(token) for token in ("", " ", "a")] == ["␣", "␣", "a"]


def test_long_labels_are_cut_by_their_width() -> None:
    assert shorten("x" * 24) == "x" * 24
    assert shorten("x" * 25) == "x" * 23 + "…"
    assert shorten("你好" * 7) == "你好" * 5 + "你…"


def test_colours_run_from_dark_to_light() -> None:
    colours = ramp(9)
    assert colours == STOPS
    assert is_dark(colours[0])
    assert not is_dark(colours[-1])


def test_an_unwritable_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot write .*absent.*No such file"):
        save(draw_alignment(make_plan(1, 1), "flow"), tmp_path / "absent" / "plan.png")


@pytest.mark.parametrize("kind", KINDS)
def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, kind: Kind) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.delitem(sys.modules, "matplotlib")
    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingExtra, match=r"a drawing needs .*nlgauge\[plots\]"):
        draw_alignment(make_plan(1, 1), kind)
