"""The view of one pair: scores, the matching of tokens, sliders, downloads and errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.request import urlopen
from xml.etree import ElementTree

import pytest

from browser.page_actions import choose_metrics, expect, fill_pair, score_pair, set_option


def test_texts_get_scores_with_direction_and_range(visit: Any) -> None:
    page = visit()
    score_pair(page)
    rows = page.locator(".scores li")
    expect(rows).to_have_count(7)
    expect(rows.first.locator(".name")).to_contain_text("gauge")
    expect(rows.first.get_by_role("img", name="in a range from 0 to 1")).to_be_visible()
    expect(rows.first.locator(".sign")).to_have_attribute("aria-label", "higher is better")
    page.get_by_text("Signatures").click()
    expect(page.locator(".signatures code").first).to_contain_text("gauge|nrefs:1")


def test_scores_are_those_of_the_library(visit: Any) -> None:
    import nlgauge

    page = visit()
    fill_pair(page)
    choose_metrics(page, "chrf", "rouge")
    page.get_by_role("button", name="Add a reference").click()
    page.get_by_label("Reference 2", exact=True).fill("A guy sits in a boat")
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.locator(".scores li")).to_have_count(2)
    own = nlgauge.score(
        ["A guy with a red jacket is standing on a boat"],
        [["A man wearing a lifevest is sitting in a canoe", "A guy sits in a boat"]],
        metrics=["chrf", "rouge"],
    )
    expect(page.locator(".scores .value").nth(0)).to_have_text(f"{own['chrf'].value:.2f}")
    expect(page.locator(".scores .value").nth(1)).to_have_text(f"{own['rouge'].value:.4f}")


def test_options_change_the_metric(visit: Any) -> None:
    page = visit()
    fill_pair(page)
    choose_metrics(page, "chrf")
    set_option(page, "chrf", "word order", "2")
    expect(page.get_by_role("button", name="chrf:word_order=2", pressed=True)).to_be_visible()
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.locator(".scores .name")).to_contain_text("chrf:word_order=2")


def test_a_matching_has_the_options_of_its_chip(visit: Any) -> None:
    page = visit()
    fill_pair(page)
    choose_metrics(page, "bertscore", "lazy_emd")
    set_option(page, "bertscore", "alpha", "0.9")
    set_option(page, "lazy_emd", "penalty candidate", "0.1")
    page.get_by_role("button", name="Score", exact=True).click()
    drawn, scored = page.locator(".matching .result"), page.locator(".scores .value")
    expect(drawn.locator("strong")).to_have_text("bertscore:alpha=0.9")
    expect(drawn.locator(".value")).to_have_text(scored.nth(0).inner_text())
    page.get_by_role("button", name="Unbalanced").click()
    expect(page.get_by_label("Candidate penalty")).to_have_attribute("aria-valuetext", "0.1")
    expect(drawn.locator("strong")).to_have_text(
        "lazy_emd:penalty_candidate=0.1,penalty_reference=0.31"
    )
    expect(drawn.locator(".value")).to_have_text(scored.nth(1).inner_text())
    page.get_by_role("button", name="cheap").click()
    expect(drawn.locator("strong")).to_contain_text("penalty_candidate=0.05")


def test_a_token_shows_its_mass_and_partners_while_others_fade(visit: Any) -> None:
    page = visit()
    page.get_by_role("button", name="Try an example").click()
    expect(page.locator(".scores li")).to_have_count(7)  # above the tokens, which they move down
    token = page.locator(".token[data-side=candidate]").nth(1)
    expect(token).to_have_attribute("aria-label", re.compile("^candidate token guy: nearest "))
    token.hover()
    expect(page.locator(".token-facts")).to_contain_text(re.compile(r"cosine \.\d+, precision"))
    expect(page.locator(".token.lit")).to_have_count(1)
    expect(page.locator(".band.faded").first).to_be_attached()
    expect(page.locator(".band:not(.faded)").first).to_be_visible()
    page.mouse.move(5, 5)
    expect(page.locator(".band.faded")).to_have_count(0)


def test_penalties_decide_how_much_mass_moves(visit: Any) -> None:
    page = visit()
    score_pair(page)
    page.get_by_role("button", name="Unbalanced").click()
    page.get_by_role("button", name="balanced", exact=True).click()
    expect(page.locator(".balance dd").first).to_have_text("100 % moved")
    slider = page.get_by_label("Candidate penalty")
    slider.fill("30")
    page.get_by_label("Reference penalty").fill("30")
    expect(page.locator(".balance dd").first).to_contain_text("left behind")
    expect(page.locator(".balance dd").last).to_contain_text("unmet")
    page.get_by_role("button", name="precision", exact=True).click()
    expect(page.locator(".balance dd").last).to_contain_text("created")
    expect(page.locator(".stage .created").first).to_be_visible()


def test_two_penalties_of_zero_are_refused(visit: Any) -> None:
    page = visit()
    score_pair(page)
    page.get_by_role("button", name="Unbalanced").click()
    for side in ("candidate", "reference"):
        page.get_by_label(f"{side} penalty").fill("0")
    expect(page.get_by_role("alert")).to_contain_text("both penalties 0")
    expect(page.locator(".stage")).to_be_hidden()
    page.get_by_role("button", name="paper", exact=True).click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_layers_stand_beside_the_barycenter(visit: Any) -> None:
    page = visit()
    score_pair(page)
    page.get_by_role("button", name="Layers", exact=True).click()
    layers = page.locator(".layer")
    expect(layers.first).to_contain_text("Barycenter")
    layers.last.click()
    expect(layers.last).to_have_attribute("aria-pressed", "true")
    expect(layers.last).to_be_focused()


def test_pictures_can_be_switched_and_saved(visit: Any, tmp_path: Path) -> None:
    page = visit()
    score_pair(page)
    expect(page.locator(".stage .band").first).to_be_visible()
    page.get_by_role("button", name="Heat map").click()
    expect(page.locator(".stage .cell").first).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download SVG").click()
    saved.value.save_as(tmp_path / "plan.svg")
    root = ElementTree.parse(tmp_path / "plan.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "canoe" in {element.text for element in root.iter()}
    page.get_by_role("button", name="Table", exact=True).click()
    expect(page.get_by_role("table", name="Every match")).to_contain_text("canoe")
    page.get_by_role("button", name="Exact", exact=True).click()
    expect(page.get_by_role("table", name="Every flow of mass")).to_contain_text("canoe")


def test_greedy_matches_have_cosines_and_a_direction(visit: Any) -> None:
    page = visit()
    score_pair(page)
    facts = page.locator(".matching .facts")
    expect(facts).to_contain_text(re.compile(r"precision\s*0\.\d{4}\s*every candidate token"))
    expect(facts).to_contain_text(re.compile(r"recall\s*0\.\d{4}\s*every reference token"))
    expect(facts).not_to_contain_text("%")
    expect(page.locator(".line[stroke-dasharray]").first).to_be_attached()
    expect(page.locator(".scores li")).to_have_count(7)
    shown = page.locator(".components b").all_inner_texts()
    assert facts.locator("b").first.inner_text() in shown
    page.get_by_role("button", name="Table", exact=True).click()
    table = page.get_by_role("table", name="Every match")
    expect(table.get_by_role("columnheader", name="cosine")).to_be_visible()
    expect(table).to_contain_text("precision and recall")


def test_pieces_are_joined_to_words_unless_switched_off(visit: Any, address: str) -> None:
    with urlopen(f"{address}/health") as answer:
        if "embedded" not in json.load(answer)["models"]:
            pytest.skip("the embedded model, which splits words, is not installed")
    page = visit()
    score_pair(page)
    tokens = page.locator(".token text")
    expect(tokens.filter(has_text=re.compile("^lifevest$"))).to_have_count(1)
    page.get_by_label("Whole words").uncheck()
    expect(tokens.filter(has_text="##").first).to_be_visible()
    page.wait_for_url("**words=0**")


def test_bars_are_fuller_where_better(visit: Any) -> None:
    page = visit()
    fill_pair(page, "a cat sat on the mat", "a cat sat on the mat")
    choose_metrics(page, "ter", "bleu")
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.locator(".scores li")).to_have_count(2)
    for bar in page.locator(".scale .fill").all():
        assert bar.get_attribute("style") == "width: 100%;"


def test_metrics_with_the_same_warning_share_it(visit: Any) -> None:
    page = visit()
    fill_pair(page, "\u0447\u0451 a cat", "the cat")
    choose_metrics(page, "bertscore", "mover")
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.locator(".scores li")).to_have_count(2)
    texts = page.locator(".warnings li").all_inner_texts()
    assert all(text.startswith("bertscore, mover: ") for text in texts)


def test_empty_texts_are_reported_before_a_request_is_sent(visit: Any) -> None:
    page = visit()
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("There is no candidate yet")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_text_that_is_too_long_is_refused_by_the_service(visit: Any) -> None:
    page = visit()
    score_pair(page, candidate="word " * 3000)
    expect(page.get_by_role("alert")).to_contain_text("14,999 characters in one text")
    expect(page.locator(".matching")).to_be_hidden()


def test_predicted_errors_are_marked_in_the_candidate(visit: Any) -> None:
    import nlgauge

    candidate, reference = "The 😀 dog sat on the mat.", "The 😀 cat sat on the mat."
    page = visit()
    fill_pair(page, candidate, reference)
    choose_metrics(page, "bertscore")
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.get_by_role("heading", name="Predicted errors")).to_be_visible()
    (scores,) = nlgauge.score([candidate], [reference], metrics="bertscore").values()
    spans = scores.spans(0)
    assert spans
    marks = page.locator(".marked mark")
    expect(marks).to_have_text([candidate[span.start : span.end] for span in spans])
    expect(page.locator(".marked")).to_have_text(candidate)
    page.get_by_role("button", name="Unbalanced").click()
    page.get_by_role("button", name="cheap").click()  # penalties whose thresholds are unknown
    expect(page.get_by_role("heading", name="Predicted errors")).to_have_count(0)
