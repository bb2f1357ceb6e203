"""The view of human judgements: a table of coefficients, a matrix, distributions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from browser.page_actions import choose_metrics, drop_files, expect, json_lines
from conftest import example

SCORES = {"fluent": 5, "literal": 3, "hasty": 1}


def opened(visit: Any) -> tuple[Any, Any]:
    page = visit("#judgements")
    return page, page.get_by_role("tabpanel", name="Judgements")


def correlated(visit: Any, rows: list[dict[str, Any]], *metrics: str) -> tuple[Any, Any]:
    """Upload judged rows, choose metrics and press Correlate; return the page and the view."""
    page, view = opened(visit)
    drop_files(view, ("judged.jsonl", json_lines(rows)))
    choose_metrics(view, *metrics)
    view.get_by_role("button", name="Correlate").click()
    return page, view


def judged(segments: int = 12) -> list[dict[str, Any]]:
    return [
        {
            "system": system,
            "segment": i,
            "candidate": example(system)[i],
            "references": [example("reference.a")[i]],
            "human": {"adequacy": score + i % 2 / 2, "fluency": None if i == 0 else score},
        }
        for system, score in SCORES.items()
        for i in range(segments)
    ]


def test_judged_rows_become_coefficients(visit: Any) -> None:
    page, view = opened(visit)
    drop_files(view, ("judged.jsonl", json_lines(judged())))
    expect(view.get_by_text("36 rows, 3 systems, criteria adequacy, fluency")).to_be_visible()
    choose_metrics(view, "bleu", "chrf")
    view.get_by_label("systems", exact=True).check()
    expect(view.get_by_label("95 % intervals")).to_be_checked()
    view.get_by_role("button", name="Correlate").click()
    table = view.get_by_role("table", name="Correlation with human scores: adequacy, 36 segments")
    expect(table.get_by_role("row")).to_have_count(3)
    expect(table).to_contain_text(re.compile(r"\[0\.\d{3}, 0\.\d{3}\]"))
    view.get_by_label("Criterion").first.select_option("fluency")
    view.get_by_label("Level").select_option("system")
    expect(view.get_by_role("table", name="human scores: fluency, 3 systems")).to_be_visible()
    with page.expect_download() as saved:
        view.get_by_role("button", name="Download CSV").click()
    assert saved.value.path().read_text("utf-8").startswith("metric,criterion,level,coefficient")


def test_documents_are_a_level_where_the_table_names_them(visit: Any) -> None:
    _, view = opened(visit)
    drop_files(view, ("judged.jsonl", json_lines(judged())))
    expect(view.get_by_text("36 rows")).to_be_visible()
    level = view.get_by_role("checkbox", name="documents")
    expect(level).to_be_hidden()
    rows = [{**row, "document": f"d{row['segment'] // 4}"} for row in judged()]
    drop_files(view, ("documents.jsonl", json_lines(rows)))
    level.check()
    view.get_by_label("segments", exact=True).uncheck()
    choose_metrics(view, "bleu", "chrf")
    view.get_by_role("button", name="Correlate").click()
    table = view.get_by_role("table", name="adequacy, 9 documents of a system")
    expect(table.get_by_role("row")).to_have_count(3)
    view.get_by_label("documents", exact=True).uncheck()
    view.get_by_label("within a system", exact=True).check()
    view.get_by_role("button", name="Correlate").click()
    expect(
        view.get_by_text(re.compile(r"^Pearson r over \d+ segments within a system;"))
    ).to_be_visible()


def test_a_file_that_is_read_slowly_does_not_replace_a_later_one(visit: Any) -> None:
    page, view = opened(visit)
    waiting: list[Any] = []

    def hold_first(route: Any) -> None:
        if waiting:
            route.continue_()
        else:
            waiting.append(route)

    page.route("**/v1/read*", hold_first)
    with page.expect_request("**/v1/read*"):
        drop_files(view, ("first.jsonl", json_lines(judged())))
    drop_files(view, ("second.jsonl", json_lines(judged(4))))
    expect(view.locator(".about")).to_contain_text("second.jsonl · 12 rows")
    with page.expect_response("**/v1/read*") as answer:
        waiting[0].continue_()
    answer.value.finished()
    choose_metrics(view, "chrf")
    view.get_by_role("button", name="Correlate").click()
    table = view.get_by_role("table", name="Correlation with human scores: adequacy, 12 segments")
    expect(table).to_be_visible()
    expect(view.locator(".about")).to_contain_text("second.jsonl · 12 rows")


def test_marks_come_from_tests_between_metrics(visit: Any) -> None:
    """No star where nothing is significant: scores that have nothing to do with the texts."""
    rows = [{**row, "human": {"noise": (7 * i) % 11}} for i, row in enumerate(judged(8))]
    _, view = correlated(visit, rows, "bleu", "chrf")
    table = view.get_by_role("table", name="Correlation with human scores: noise")
    expect(table).to_contain_text("chrf")
    expect(table.locator(".best")).to_have_count(0)
    expect(table).to_contain_text("[")


def test_a_significantly_better_metric_is_marked(visit: Any) -> None:
    import nlgauge

    rows = judged()
    pairs = [row["candidate"] for row in rows], [row["references"] for row in rows]
    scores = nlgauge.score(*pairs, metrics="chrf")["chrf"].segments
    for row, score in zip(rows, scores, strict=True):
        row["human"] = {"like": float(score)}
    _, view = correlated(visit, rows, "bleu", "chrf")
    row = view.get_by_role("row", name=re.compile("^chrf"))
    expect(row.locator(".best")).to_have_count(1)
    expect(row).to_contain_text("> bleu")


def test_a_metric_is_drawn_against_human_scores(visit: Any) -> None:
    _, view = correlated(visit, judged(), "bleu", "chrf")
    section = view.get_by_role("region", name="Metric against human scores")
    expect(
        section.get_by_role("img", name="bleu against human: adequacy: 36 points")
    ).to_be_visible()
    section.get_by_label("Criterion").select_option("fluency")
    section.get_by_label("Metric").select_option("chrf")
    expect(
        section.get_by_role("img", name="chrf against human: fluency: 33 points")
    ).to_be_visible()
    expect(section.get_by_text(re.compile("33 outputs .* Pearson r"))).to_be_visible()
    expect(view.locator(".legend").last).to_contain_text(" to <")


def test_columns_can_be_sorted(visit: Any) -> None:
    _, view = correlated(visit, judged(6), "bleu", "chrf", "rouge")
    header = view.get_by_role("columnheader", name="Pearson r")
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "descending")
    values = view.locator("tbody tr td:nth-child(2) .value").all_inner_texts()
    numbers = [float(value.removeprefix("★ ").replace("−", "-")) for value in values]
    assert numbers == sorted(numbers, reverse=True)


def test_metrics_are_drawn_against_people_and_one_another(visit: Any) -> None:
    page, view = correlated(visit, judged(), "bleu", "chrf")
    matrix = view.get_by_role("img", name="with one another")
    expect(matrix).to_contain_text("human:adequacy")
    expect(matrix.locator("rect")).to_have_count(16)
    panels = view.locator(".panels svg")
    expect(panels).to_have_count(2)
    expect(panels.first).to_have_attribute("aria-label", re.compile("human score .* texts, mean"))
    with page.expect_download() as saved:
        view.get_by_role("button", name="Download SVG").click()
    assert "human:fluency" in saved.value.path().read_text("utf-8")


def test_tables_with_flat_columns_are_read(visit: Any) -> None:
    rows = ["candidate\treference\tsystem\tsegment\thuman.adequacy"]
    for row in judged(4):
        cells = (row["candidate"], row["references"][0], row["system"], str(row["segment"]))
        rows.append("\t".join([*cells, str(row["human"]["adequacy"])]))
    _, view = opened(visit)
    drop_files(view, ("judged.tsv", "\n".join(rows) + "\n"))
    expect(view.get_by_text("12 rows, 3 systems, criterion adequacy")).to_be_visible()


def test_rows_without_human_scores_are_refused(visit: Any) -> None:
    _, view = opened(visit)
    drop_files(view, ("plain.jsonl", json_lines([{"candidate": "a", "references": ["b"]}])))
    expect(view.get_by_role("alert")).to_contain_text("plain.jsonl has no human scores")
    wrong = {"candidate": "a", "references": ["b"], "human": "good"}
    drop_files(view, ("wrong.jsonl", json_lines([wrong])))
    expect(view.get_by_role("alert")).to_contain_text("wrong.jsonl, line 1: human score 'human'")


def half_judged(separator: str) -> str:
    """Twelve rows, of which every second one has a blank cell."""
    rows = [("candidate", "reference", "human")]
    for i in range(12):
        texts = (example(name)[i].replace(",", "") for name in ("fluent", "reference.a"))
        rows.append((*texts, "" if i % 2 else str(7 * i % 5)))
    return "".join(separator.join(row) + "\n" for row in rows)


@pytest.mark.parametrize(("name", "separator"), [("half.csv", ","), ("half.tsv", "\t")])
def test_blank_cells_are_missing_as_for_the_command(
    visit: Any, tmp_path: Path, name: str, separator: str
) -> None:
    import nlgauge

    path = tmp_path / name
    path.write_text(half_judged(separator), "utf-8")
    own = nlgauge.correlate(path, "chrf").value("chrf", "human", "segment")
    _, view = opened(visit)
    drop_files(view, (name, half_judged(separator)))
    choose_metrics(view, "chrf")
    view.get_by_role("button", name="Correlate").click()
    table = view.get_by_role("table", name="Correlation with human scores: human, 6 segments")
    shown = table.locator("tbody td .value").first.inner_text()
    assert float(shown.removeprefix("★ ").replace("−", "-")) == pytest.approx(own, abs=5e-4)
