"""The view of a metric card: the choice of metric or stored scores, its tables, its files."""

from __future__ import annotations

from typing import Any

from browser.page_actions import choose_metrics, drop_files, expect, json_lines
from browser.test_judgements import judged
from nlgauge.study.metric_card import card


def opened(visit: Any) -> tuple[Any, Any]:
    page = visit("#card")
    return page, page.get_by_role("tabpanel", name="Card", exact=True)


def metric(view: Any, name: str) -> None:
    """Choose the metric of the card."""
    group = view.get_by_role("group", name="Metric of the card")
    group.get_by_role("button", name="more").click()
    group.locator(f"button[data-chip={name}]").click()
    expect(group.locator("button[aria-pressed=true]")).to_have_count(1)


def saved(page: Any, view: Any, words: str) -> tuple[str, str]:
    with page.expect_download() as download:
        view.get_by_role("button", name=words).click()
    return download.value.suggested_filename, download.value.path().read_text("utf-8")


def test_a_judged_table_becomes_a_card(visit: Any, tmp_path: Any) -> None:
    page, view = opened(visit)
    rows = [{**row, "document": f"d{row['segment'] // 4}"} for row in judged()]
    drop_files(view, ("judged.jsonl", json_lines(rows)))
    expect(view.get_by_text("36 rows, 3 systems, criteria adequacy, fluency")).to_be_visible()
    metric(view, "chrf")
    view.get_by_label("Human scores").select_option("fluency")
    view.get_by_role("button", name="Make the card").click()
    expect(view.get_by_role("heading", name="chrF: metric card")).to_be_visible()
    path = tmp_path / "judged.jsonl"
    path.write_text(json_lines(rows), "utf-8")
    own = card(path, "chrf", human="fluency")
    view.get_by_label("Level").select_option("document")
    table = view.get_by_role("table", name="fluency, 9 documents of a system")
    expect(table.get_by_role("row", name="chrf")).to_contain_text(
        f"{own.agreement.value('chrf', 'fluency', 'document'):.3f}"
    )
    changed = view.get_by_role("table", name="Changed texts")
    expect(changed.get_by_role("row")).to_have_count(1 + len(own.sensitivity))
    expect(changed).to_contain_text(f"{own.sensitivity[0].worse:.2f}")
    expect(view.locator(".panels svg")).to_have_count(1)
    means = own.to_dict()["mean_by_quality"]
    marks = view.locator(".panels title").all_text_contents()
    assert {f"{band}: mean {mean:.2f}" for band, mean in means.items()} <= set(marks)
    name, html = saved(page, view, "Download HTML")
    assert name == "chrf.card.html"
    assert html.startswith("<!doctype html>")
    assert "Data: judged.jsonl" in html
    name, markdown = saved(page, view, "Download Markdown")
    assert name == "chrf.card.md"
    assert markdown.startswith("# chrF: metric card")


def test_stored_scores_have_a_card(visit: Any) -> None:
    page, view = opened(visit)
    rows = [{**row, "scores": {"mine": 1 / (k + 1)}} for k, row in enumerate(judged())]
    drop_files(view, ("judged.jsonl", json_lines(rows)))
    view.get_by_role("combobox", name="Scores", exact=True).select_option("mine")
    expect(view.get_by_role("group", name="Metric of the card")).to_be_hidden()
    view.get_by_label("Direction").select_option("lower")
    view.get_by_role("button", name="Make the card").click()
    expect(view.get_by_role("heading", name="stored:mine: metric card")).to_be_visible()
    expect(view.get_by_text("Lower is better.", exact=True)).to_be_visible()
    page.wait_for_url("**stored=mine&direction=lower**")


def test_invalid_input_is_reported(visit: Any) -> None:
    _, view = opened(visit)
    drop_files(view, ("texts.csv", "candidate,reference\na,b\n"))
    expect(view.get_by_role("alert")).to_contain_text("texts.csv has no human scores")
    drop_files(view, ("one.csv", "candidate,reference,human\na,b,1\n"))
    choose_metrics(view, "bleu")
    view.get_by_role("button", name="Make the card").click()
    expect(view.get_by_role("alert")).to_contain_text("at least 2 inputs")
