"""The whole page: links, keyboard, dark theme, small screens, token, accessibility."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from browser.page_actions import CANDIDATE, expect, fill_pair, score_pair
from browser.server import running_server

VIEWS = {
    "pair": ".stage .band",
    "systems": ".differing li",
    "judgements": ".panels svg",
    "judge": ".stage svg",
    "card": ".panels svg",
}


def try_example(page: Any, view: str) -> None:
    page.locator(f"#{view}").get_by_role("button", name="Try an example").click()
    expect(page.locator(f"#{view} {VIEWS[view]}").first).to_be_visible()
    if view == "pair":
        expect(page.locator(".scores li").first).to_be_visible()


def test_a_link_reproduces_a_pair(visit: Any) -> None:
    page = visit()
    score_pair(page)
    page.get_by_role("button", name="Unbalanced").click()
    page.get_by_role("button", name="cheap", exact=True).click()
    page.get_by_role("button", name="Heat map").click()
    page.wait_for_url("**picture=heat**")
    page.wait_for_url("**from=0.05**")
    again = visit("#" + page.url.partition("#")[2])
    expect(again.get_by_label("Candidate", exact=True)).to_have_value(CANDIDATE)
    expect(again.get_by_role("alert")).to_contain_text(
        "This link has metrics, options or long texts"
    )
    again.get_by_role("button", name="Score", exact=True).click()
    expect(again.locator(".stage .cell").first).to_be_visible()
    expect(again.locator("output").first).to_have_text("0.05")
    expect(again.get_by_role("button", name="Unbalanced")).to_have_attribute("aria-pressed", "true")


def test_a_link_reproduces_a_comparison(visit: Any) -> None:
    texts = {
        "systems": {"a": ["A cat sat.", "It rains now."], "b": ["The cat sat.", "It is raining."]},
        "references": [["The cat sat."], ["It is raining."]],
    }
    settings = {"metrics": "chrf", "count": "300", "baseline": "b", "texts": json.dumps(texts)}
    page = visit(f"#systems?{urlencode(settings)}")
    page.locator("#systems").get_by_role("button", name="Compare").click()
    expect(page.get_by_role("table", name="compared with b")).to_contain_text("100.00")
    expect(page.get_by_label("Resamples")).to_have_value("300")


PAIR = json.dumps(["a cat", "the cat"])
JUDGED = json.dumps([{"candidate": "a", "references": "b", "human": {"da": 1}}] * 3)
LABELS = json.dumps({"items": ["1", "2"], "labels": {"a": ["x", "y"], "m": ["x", "x"]}})
SYSTEMS = json.dumps({"systems": {"a": ["x"], "b": ["y"]}, "references": [["z"]]})


@pytest.mark.parametrize(
    ("view", "settings", "runs"),
    [
        ("pair", {"texts": PAIR}, True),
        ("pair", {"texts": PAIR, "metrics": "chrf"}, False),
        ("pair", {"texts": PAIR, "metrics": "bary:layers=1-999999999"}, False),
        ("pair", {"texts": PAIR, "match": "unbalanced", "from": "1", "to": "2"}, False),
        ("pair", {"texts": json.dumps(["a cat " * 1000, "the cat " * 1000])}, False),
        ("systems", {"texts": SYSTEMS}, True),
        ("systems", {"texts": SYSTEMS, "metrics": "ter"}, False),
        ("judgements", {"texts": JUDGED}, True),
        ("judgements", {"texts": JUDGED, "metrics": "bleu;chrf"}, False),
        ("judge", {"texts": LABELS}, True),
        ("card", {"texts": JUDGED}, True),
        ("card", {"texts": JUDGED, "metric": "ter"}, False),
    ],
)
def test_links_that_choose_metrics_or_options_wait_for_a_click(
    visit: Any, view: str, settings: dict[str, str], runs: bool
) -> None:
    page = visit()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.post_data else None)
    page.evaluate("link => { location.hash = link; }", f"{view}?{urlencode(settings)}")
    panel = page.locator(f"#{view}")
    if runs:
        expect(panel.locator(".scores, .results > *").first).to_be_visible()
    else:
        expect(panel.get_by_role("alert")).to_contain_text("Check them, then press")
        page.evaluate("() => new Promise(done => requestIdleCallback(done))")
    assert bool(sent) == runs


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("nowhere", "there is no view “nowhere”"),
        ("pair?metrics=" + "x" * 5000, "this service has no metric “xxx"),
        ("pair?metrics=chrf:size=2", "chrf has no option “size”"),
        ("pair?metrics=chrf:word_order", "chrf has no value for its option word_order"),
        ("pair?metrics=chrf:__proto__=1", "chrf has no option “__proto__”"),
        ("pair?match=magic", "match is “magic”"),
        ("pair?from=-1&to=x", "from and to are the two penalties"),
        ("pair?from=1", "from and to are the two penalties"),
        ("pair?texts={", "its texts are incomplete"),
        ("pair?texts=[1,2]", "its texts are incomplete"),
        ("pair?texts=%E0%A4%A&colour=red", "“colour” is not a setting of this view"),
        ("systems?count=99999999", "count is “99999999”"),
        ("systems?method=guess", "method is “guess”"),
        ('systems?texts={"systems":{"a":1},"references":2}', "its texts are incomplete"),
        ('systems?texts={"pairs":[null]}', "its texts are incomplete"),
        ("systems?example=1&baseline=nobody", "there is no system “nobody”"),
        ("judgements?levels=galaxy", "levels has “galaxy”"),
        ("judgements?bands=99", "bands is “99”"),
        ('judgements?texts=[{"human":null}]', "its texts are incomplete"),
        ("judgements?coefficients=pearson,magic", "coefficients has “magic”"),
        ("judge?example=1&judge=toString", "there is no rater “toString”"),
        ("judge?example=1&people=anna", "the people of the link are not a list of names"),
        ('judge?example=1&people=["nobody"]', "there is no rater “nobody”"),
        ("card?metric=magic", "this service has no metric “magic”"),
        ("card?example=1&criterion=style", "the rows have no criterion “style”"),
        ("card?example=1&stored=toString", "the rows have no stored “toString”"),
    ],
)
def test_links_made_by_hand_are_answered_with_a_message(
    visit: Any, link: str, message: str
) -> None:
    page = visit(f"#{link}")
    expect(page.get_by_role("alert").first).to_contain_text(message)
    expect(page.locator("h2").first).to_be_attached()


def test_tabs_follow_the_keyboard_and_the_history(visit: Any) -> None:
    page = visit()
    expect(page.get_by_role("button", name="Score", exact=True)).to_be_visible()
    page.get_by_role("tab", name="Pair").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Systems")).to_be_focused()
    expect(page.get_by_role("tabpanel", name="Systems")).to_be_visible()
    page.keyboard.press("End")
    expect(page.get_by_role("tabpanel", name="Card", exact=True)).to_be_visible()
    assert "#card" in page.url
    page.go_back()
    expect(page.get_by_role("tabpanel", name="Systems")).to_be_visible()


def test_a_pair_can_be_scored_and_read_by_keyboard_alone(visit: Any) -> None:
    page = visit()
    page.get_by_label("Candidate", exact=True).focus()
    page.keyboard.type("A cat sat on the mat")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Reference", exact=True)).to_be_focused()
    page.keyboard.type("The cat is on a mat")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".scores li").first).to_be_visible()
    expect(page.locator("#news")).to_have_text("7 scores ready.")
    page.get_by_role("button", name="Download SVG").focus()
    page.keyboard.press("Tab")
    expect(page.locator(".token[data-side=candidate]").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".token[data-side=candidate]").nth(1)).to_be_focused()
    expect(page.locator(".token-facts")).to_contain_text("cat")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".token[data-side=reference]").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".token[aria-pressed=true]")).to_have_count(1)


def test_the_dark_theme_is_switched_on_and_remembered(visit: Any) -> None:
    page = visit()
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.get_by_role("button", name="Dark theme").click()
    dark = page.evaluate(paper)
    assert dark != light
    page.reload()
    expect(page.get_by_role("button", name="Light theme")).to_be_visible()
    assert page.evaluate(paper) == dark


def test_a_dark_page_is_printed_in_light_colours(visit: Any) -> None:
    page = visit(color_scheme="dark")
    expect(page.get_by_role("button", name="Light theme")).to_be_visible()
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    page.evaluate("() => { dispatchEvent(new Event('beforeprint')); }")
    assert page.evaluate(paper) == "rgb(247, 247, 248)" != dark
    page.evaluate("() => { dispatchEvent(new Event('afterprint')); }")
    assert page.evaluate(paper) == dark


def test_a_stopped_service_is_reported(visit: Any) -> None:
    page = visit()
    fill_pair(page)
    page.context.set_offline(True)
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.get_by_role("alert").first).to_contain_text("The service does not answer")


def test_the_token_is_requested_and_stored_for_the_tab_only(visit: Any) -> None:
    with running_server("--model", "hashing", "--token", "a-long-secret-token") as guarded:
        page = visit(at=guarded)
        dialog = page.get_by_role("dialog", name="This service requires a token")
        dialog.get_by_label("Token", exact=True).fill("wrong")
        page.keyboard.press("Enter")
        expect(dialog.get_by_label("Token", exact=True)).to_have_value("")
        expect(dialog.get_by_role("alert")).to_contain_text("This token is wrong")
        dialog.get_by_label("Token", exact=True).fill("a-long-secret-token")
        dialog.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("button", name="Score", exact=True)).to_be_visible()
        page.reload()
        expect(page.get_by_role("button", name="Score", exact=True)).to_be_visible()
        assert page.evaluate("Object.values(localStorage).join()") == ""
        assert "secret" not in page.url


NAMELESS = """(view) => [...document.querySelectorAll(`header *, #${view} *`)]
  .filter((each) => each.matches("button, input, select, textarea, a, [role=img]"))
  .filter((each) => !each.closest("[hidden]") && !each.getAttribute("aria-label"))
  .filter((each) => !each.textContent.trim() && !each.labels?.length)
  .map((each) => each.outerHTML)"""
TWICE = """() => [...document.querySelectorAll("[id]")].map((each) => each.id)
  .filter((id, k, ids) => ids.indexOf(id) !== k)"""


def test_wide_tables_show_that_they_scroll(visit: Any) -> None:
    page = visit("#systems", reduced_motion="reduce")
    try_example(page, "systems")
    hint = page.locator("#systems .scroll-hint:visible")
    expect(hint).to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 900})
    expect(hint.first).to_be_visible()
    table = page.get_by_role("region", name="Scores of 3 systems")
    expect(table).to_have_class("table more-right")
    table.evaluate("each => each.scrollTo(10000, 0)")
    expect(table).to_have_class("table")


def test_high_costs_have_the_background_colour_in_the_dark_theme(visit: Any) -> None:
    page = visit("#pair?picture=heat", color_scheme="dark", reduced_motion="reduce")
    page.get_by_role("button", name="Try an example").click()
    expect(page.locator(".stage .cell").first).to_be_visible()
    light = page.locator(".stage .cell").evaluate_all(
        """cells => cells.map((cell) => [1, 3, 5].map((at) =>
          parseInt(cell.getAttribute("fill").slice(at, at + 2), 16)).reduce((a, b) => a + b))"""
    )
    assert min(light) < 150 < max(light)


AXE = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
  .filter((each) => each.impact !== "minor")
  .flatMap((each) => each.nodes.map((node) => `${each.id} (${each.impact}): ${node.html}`))"""


@pytest.mark.parametrize("view", VIEWS)
def test_views_are_accessible_and_fit_wide_and_narrow_screens(
    visit: Any, axe: str, screenshots: Path, view: str
) -> None:
    """Screenshots stay in the folder `screenshots`."""
    page = visit(f"#{view}", reduced_motion="reduce")
    expect(page.locator(f"#{view} h1")).to_be_visible()
    page.evaluate(axe)
    for where in _themes_and_widths(page):
        assert page.evaluate(AXE) == [], where
    try_example(page, view)
    assert page.evaluate(NAMELESS, view) == []
    assert page.evaluate(TWICE) == []
    assert page.locator("h1:visible").count() == 1
    for where in _themes_and_widths(page):
        page.mouse.move(0, 0)
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=screenshots / f"{view}-{where}.png", full_page=True)
        width = page.viewport_size["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= width, where
        assert page.evaluate(AXE) == [], where


def test_every_picture_of_a_pair_is_accessible(visit: Any, axe: str) -> None:
    page = visit("#pair", reduced_motion="reduce")
    try_example(page, "pair")
    page.evaluate(axe)
    page.get_by_role("button", name="Options of bertscore").click()
    for where in _themes_and_widths(page):
        assert page.evaluate(AXE) == [], f"options, {where}"
    page.keyboard.press("Escape")
    for name in ("Heat map", "Table", "Unbalanced", "Layers"):
        page.get_by_role("button", name=name, exact=True).click()
        for where in _themes_and_widths(page):
            expect(page.locator(".matching[aria-busy]")).to_have_count(0)
            assert page.evaluate(AXE) == [], f"{name}, {where}"


def _themes_and_widths(page: Any) -> Iterator[str]:
    """Show the open page in both themes and widths in turn."""
    for colours in ("light", "dark"):
        page.emulate_media(color_scheme=colours)
        for name, width in (("desk", 1200), ("phone", 390)):
            page.set_viewport_size({"width": width, "height": 900})
            yield f"{colours}-{name}"
