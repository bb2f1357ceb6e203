"""The view of several systems: files, a comparison, a long upload, and cancelling it."""

from __future__ import annotations

import json
import re
import time
from typing import Any
from urllib.request import urlopen

import pytest

from browser.page_actions import (
    choose_files,
    choose_metrics,
    drop_files,
    expect,
    json_lines,
    random_lines,
)
from conftest import PROJECT, example

SEGMENTS = 1000  # of two systems: 2,000 rows


def opened(visit: Any, link: str = "#systems") -> tuple[Any, Any]:
    page = visit(link)
    return page, page.get_by_role("tabpanel", name="Systems")


def files(*names: str) -> list[tuple[str, str]]:
    return [(f"{name}.txt", "\n".join(example(name)) + "\n") for name in names]


def test_files_become_a_comparison(visit: Any) -> None:
    page, view = opened(visit)
    names = ("fluent", "literal", "reference.a", "reference.b")
    choose_files(page, view, *(PROJECT / "examples" / f"{name}.txt" for name in names))
    expect(view.get_by_label("What reference.a.txt is")).to_have_value("references")
    choose_metrics(view, "bleu", "chrf")
    view.get_by_label("Baseline").select_option("literal")
    view.get_by_role("button", name="Compare").click()
    table = view.get_by_role("table", name="compared with literal")
    expect(table.get_by_role("row")).to_have_count(3)
    expect(table).to_contain_text("50.46")  # chrf of literal, as the README has it
    expect(table).to_contain_text(re.compile(r"\+15\.\d\d, p < \.001"))
    expect(table.locator(".whisker")).to_have_count(4)


def test_differing_segments_stand_side_by_side(visit: Any) -> None:
    page, view = opened(visit)
    drop_files(view, *files("fluent", "hasty", "reference.a"))
    choose_metrics(view, "chrf")
    view.get_by_role("button", name="Compare").click()
    segments = view.locator(".differing > li")
    expect(segments).to_have_count(5)
    expect(segments.first.locator(".side")).to_have_count(2)
    expect(segments.first.locator(".side mark").first).to_be_visible()
    expect(segments.first).to_contain_text(re.compile(r"Line \d+"))
    with page.expect_download() as saved:
        view.get_by_role("button", name="Download CSV").click()
    assert saved.value.path().read_text("utf-8").startswith("metric,system,value,value_low")


def test_tables_bring_their_own_references(visit: Any) -> None:
    rows = [
        {"system": name, "id": i, "candidate": text, "references": [reference]}
        for name in ("fluent", "hasty")
        for i, (text, reference) in enumerate(
            zip(example(name)[:8], example("reference.a")[:8], strict=True)
        )
    ]
    _, view = opened(visit)
    drop_files(view, ("outputs.jsonl", json_lines(rows)))
    choose_metrics(view, "chrf")
    view.get_by_role("button", name="Compare").click()
    expect(view.get_by_role("table", name="Scores of 2 systems")).to_contain_text("hasty")


def test_results_disappear_with_a_file_that_they_are_about(visit: Any) -> None:
    _, view = opened(visit)
    drop_files(view, *files("fluent", "hasty", "literal", "reference.a"))
    choose_metrics(view, "chrf")
    view.get_by_role("button", name="Compare").click()
    expect(view.get_by_role("table", name="Scores of 3 systems")).to_be_visible()
    view.get_by_role("button", name="Remove hasty.txt").click()
    expect(view.get_by_role("table")).to_have_count(0)
    view.get_by_label("Baseline").select_option("literal")
    expect(view.locator(".results > *")).to_have_count(
        0
    )  # nothing runs until the button is pressed


def test_a_link_without_texts_keeps_the_files_and_their_baseline(visit: Any) -> None:
    page, view = opened(visit, "#systems?example=1")
    expect(view.get_by_role("table", name="compared with fluent")).to_be_visible()
    page.evaluate("() => { location.hash = 'systems?count=300'; }")
    expect(view.get_by_label("Resamples")).to_have_value("300")
    expect(view.get_by_label("Baseline")).to_have_value("fluent")
    expect(view.get_by_role("table", name="compared with fluent")).to_be_visible()
    page.evaluate("() => { location.hash = 'systems?baseline=nobody'; }")
    expect(view.get_by_role("alert")).to_contain_text("there is no system “nobody”")


def test_neighbouring_numbers_on_an_axis_differ(visit: Any) -> None:
    _, view = opened(visit)
    shared = " ".join(f"word{k}" for k in range(60))
    drop_files(
        view,
        ("a.txt", f"{shared} a\n{shared} ab\n"),
        ("b.txt", f"{shared} abc\n{shared} abcd\n"),
        ("ref.txt", f"{shared}\n{shared}\n"),
    )
    choose_metrics(view, "chrf")
    view.get_by_role("button", name="Compare").click()
    expect(view.locator(".scatter")).to_be_visible()
    for axis in ("start", "middle", "end"):
        numbers = view.locator(f".scatter text[text-anchor={axis}]").all_text_contents()
        assert len(numbers) == len(set(numbers)), numbers


def test_one_system_is_scored_alone(visit: Any) -> None:
    _, view = opened(visit)
    drop_files(view, *files("fluent", "reference.a"))
    choose_metrics(view, "bleu")
    view.get_by_role("button", name="Score", exact=True).click()
    expect(view.get_by_role("table", name="Scores of one system")).to_contain_text("bleu")
    expect(view.get_by_role("img", name="Histogram of bleu")).to_be_visible()
    expect(view.get_by_role("button", name="Alignment of Line 1", exact=True)).to_be_visible()


def test_files_of_different_length_are_named(visit: Any) -> None:
    _, view = opened(visit)
    drop_files(view, ("short.txt", "one\n"), *files("reference.a"))
    view.get_by_role("button", name="Score", exact=True).click()
    alert = view.get_by_role("alert")
    expect(alert).to_contain_text("short.txt has 1 line, but reference.a.txt has 36")
    drop_files(view, ("broken.jsonl", '{"candidate": "a"\n'))
    expect(alert).to_contain_text("broken.jsonl, line 1: not JSON")


def test_all_segments_can_be_sorted_searched_drawn_and_saved(visit: Any) -> None:
    import nlgauge

    page, view = opened(visit)
    page.set_viewport_size({"width": 1200, "height": 500})  # results begin below the fold
    drop_files(view, *files("fluent", "hasty", "reference.a"))
    choose_metrics(view, "chrf")
    view.get_by_role("button", name="Compare").click()
    expect(view.get_by_role("heading", name="Comparison")).to_be_in_viewport()
    section = view.get_by_role("region", name="Segments", exact=True)
    rows = section.locator("tbody tr")
    expect(rows).to_have_count(36)
    texts = {name: example(name) for name in ("fluent", "hasty")}
    own = nlgauge.compare(texts, example("reference.a"), metrics="chrf", count=2).scores
    shown = rows.first.locator("td.number").all_inner_texts()
    expected = [own[name]["chrf"].segments[0] for name in texts]
    assert [float(cell.replace("−", "-")) for cell in shown] == pytest.approx(
        [*expected, expected[1] - expected[0]], abs=0.006
    )
    section.get_by_role("button", name="difference").click()
    gaps = [
        float(text.replace("−", "-"))
        for text in section.locator("tbody td:nth-child(4)").all_inner_texts()
    ]
    assert gaps == sorted(gaps, reverse=True)
    expect(section.get_by_role("img", name="Histogram of chrf")).to_be_visible()
    expect(section.locator(".histogram .series")).to_have_count(2)
    expect(section.get_by_role("img", name="hasty against fluent: 36 points")).to_be_visible()
    expect(section.locator(".scatter .dot")).to_have_count(36)
    word = example("hasty")[7].split()[-1]
    section.get_by_label("Search texts and segments").fill(word)
    expect(section.get_by_text("found among 36")).to_be_visible()
    assert 0 < rows.count() < 36
    with page.expect_download() as saved:
        section.get_by_role("button", name="Download segments").click()
    lines = saved.value.path().read_text("utf-8").splitlines()
    assert lines[0] == "segment,system,candidate,chrf"
    assert len(lines) == 1 + 2 * 36


def test_a_segment_leads_to_its_alignment(visit: Any) -> None:
    page, view = opened(visit)
    drop_files(view, *files("fluent", "hasty", "reference.a"))
    choose_metrics(view, "chrf")
    view.get_by_role("button", name="Compare").click()
    view.get_by_role("button", name="Alignment of Line 3", exact=True).click()
    expect(page.get_by_role("tabpanel", name="Pair")).to_be_visible()
    expect(page.get_by_label("Candidate", exact=True)).to_have_value(example("hasty")[2])
    expect(page.locator(".stage .band").first).to_be_visible()
    expect(page.get_by_role("heading", name="Alignment")).to_be_in_viewport()
    expect(page.get_by_role("heading", name="Scores")).not_to_be_in_viewport()
    page.go_back()
    expect(view.locator(".differing li").first).to_be_visible()


def test_differences_are_called_significant_with_their_level(visit: Any) -> None:
    _, view = opened(visit)
    drop_files(view, *files("fluent", "hasty", "reference.a"))
    choose_metrics(view, "chrf")
    view.get_by_role("button", name="Compare").click()
    table = view.get_by_role("table", name="compared with fluent")
    expect(table).to_contain_text("significantly worse (p < .05)")


def test_two_systems_never_get_one_name(visit: Any) -> None:
    _, view = opened(visit)
    drop_files(view, *files("fluent", "hasty", "reference.a"))
    name = view.get_by_label("Name of hasty.txt")
    name.fill("fluent")
    name.press("Enter")
    alert = view.get_by_role("alert")
    expect(alert).to_contain_text("“fluent” is the name of fluent.txt already")
    expect(name).to_have_value("hasty")
    name.fill("quick")
    name.press("Enter")
    choose_metrics(view, "chrf")
    view.get_by_role("button", name="Compare").click()
    table = view.get_by_role("table", name="Scores of 2 systems")
    expect(table).to_contain_text("quick")
    expect(table).to_contain_text("fluent")


def test_files_of_one_name_are_two_systems(visit: Any) -> None:
    _, view = opened(visit)
    drop_files(view, ("new.txt", "a\n"), ("new.v2.txt", "b\n"), ("new.txt", "c\n"))
    names = view.locator(".files .name")
    expect(names).to_have_count(3)
    assert len({each.input_value() for each in names.all()}) == 3


def test_long_names_and_words_stay_on_the_page(visit: Any) -> None:
    page, view = opened(visit)
    word = "x" * 900
    texts = {
        "n" * 180: f"{word}\nb\n",
        "<b>old</b>": "a\nb\n",
        "new": "b\nb\n",
        "ref": f"{word}\nb\n",
    }
    drop_files(view, *((f"{name}.txt", text) for name, text in texts.items()))
    choose_metrics(view, "bleu")
    view.get_by_role("button", name="Compare").click()
    expect(view.locator(".differing li").first).to_be_visible()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def long_upload(view: Any) -> None:
    texts = {name: random_lines(SEGMENTS, seed=k) for k, name in enumerate(("new", "old", "ref"))}
    drop_files(view, *((f"{name}.txt", "\n".join(each)) for name, each in texts.items()))
    expect(view.get_by_text("1,000 lines")).to_have_count(3)
    choose_metrics(view, "eed")
    view.get_by_label("Resamples").select_option("300")
    view.get_by_role("button", name="Compare").click()


def test_a_long_upload_shows_its_progress_and_result(visit: Any) -> None:
    _, view = opened(visit)
    long_upload(view)
    bar = view.get_by_role("progressbar")
    expect(bar).to_have_attribute(
        "aria-valuetext", re.compile(r"^[\d,]+ of 2,000 rows · [\d,]+ pairs/s · .* left$")
    )
    expect(bar).to_have_attribute("aria-valuenow", re.compile(r"^[1-9]\d?$"))
    expect(view.get_by_role("table", name="Scores of 2 systems")).to_be_visible()
    expect(bar).to_have_count(0)


def test_a_long_upload_can_be_cancelled(visit: Any, address: str) -> None:
    _, view = opened(visit)
    long_upload(view)
    expect(view.get_by_role("progressbar")).to_be_visible()
    expect(view.locator(".progress-words")).to_contain_text("rows")
    view.get_by_role("button", name="Cancel").click()
    expect(view.get_by_text("Cancelled. Nothing is running any more.")).to_be_visible()
    expect(view.get_by_role("progressbar")).to_have_count(0)
    expect(view.get_by_role("button", name="Compare")).to_be_enabled()
    assert _jobs(address) == 0


def test_a_long_upload_ends_when_its_page_is_left(visit: Any, address: str) -> None:
    page, view = opened(visit)
    long_upload(view)
    expect(view.locator(".progress-words")).to_contain_text("rows")
    page.reload()
    expect(view.get_by_role("button", name="Choose files")).to_be_visible()
    ends = time.monotonic() + 120
    while _jobs(address) > 0:
        assert time.monotonic() < ends, "the job does not end"


def _jobs(address: str) -> int:
    with urlopen(f"{address}/health") as answer:
        return int(json.load(answer)["jobs"])
