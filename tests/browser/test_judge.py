"""The view of a judge: raters, verdict, tables and the confusion matrix."""

from __future__ import annotations

from typing import Any

from browser.page_actions import drop_files, expect
from conftest import PROJECT
from nlgauge.study import judge


def opened(visit: Any) -> tuple[Any, Any]:
    page = visit("#judge")
    return page, page.get_by_role("tabpanel", name="Judge", exact=True)


def shared(name: str) -> tuple[str, str]:
    return name, (PROJECT / "examples" / name).read_text("utf-8")


def test_labels_become_a_verdict(visit: Any) -> None:
    page, view = opened(visit)
    drop_files(view, shared("labels.csv"))
    expect(view.get_by_text("80 rows, 4 raters")).to_be_visible()
    expect(view.get_by_role("combobox", name="Judge", exact=True)).to_have_value("model")
    view.get_by_role("button", name="Check the judge").click()
    own = judge(PROJECT / "examples" / "labels.csv", "model", ["anna", "ben", "carla"])
    expect(view.get_by_text(own.verdict)).to_be_visible()
    table = view.get_by_role("table", name="Agreement, with 95 % intervals")
    expect(table.get_by_role("row")).to_have_count(1 + len(own.agreement))
    expect(table).to_contain_text(f"{own.agreement[0].judge.value:.3f}")
    test = view.get_by_role("table", name="Alternative annotator test, ε 0.1: ω 1.000")
    expect(test.get_by_role("row")).to_have_count(4)
    drawing = view.get_by_role("img", name="People's labels by those of model")
    expect(drawing.locator("rect")).to_have_count(25)
    with page.expect_download() as saved:
        view.get_by_role("button", name="Download CSV").click()
    assert saved.value.path().read_text("utf-8").startswith("statistic,raters,value,low,high")


def test_the_judge_and_people_are_chosen(visit: Any) -> None:
    page, view = opened(visit)
    drop_files(view, shared("labels.csv"))
    view.get_by_role("combobox", name="Judge", exact=True).select_option("anna")
    view.get_by_role("checkbox", name="model").uncheck()
    view.get_by_role("checkbox", name="carla").uncheck()
    view.get_by_label("Scale").select_option("ordinal")
    view.get_by_role("button", name="Check the judge").click()
    own = judge(PROJECT / "examples" / "labels.csv", "anna", "ben", scale="ordinal")
    expect(view.get_by_text(own.verdict)).to_be_visible()
    page.wait_for_url("**scale=ordinal**")
    view.get_by_role("checkbox", name="ben").uncheck()
    view.get_by_role("button", name="Check the judge").click()
    expect(view.get_by_role("alert")).to_contain_text("Nobody is selected under “People”")


def test_preferences_show_the_bias_of_positions(visit: Any) -> None:
    _, view = opened(visit)
    drop_files(view, shared("preferences.csv"))
    view.get_by_role("button", name="Check the judge").click()
    table = view.get_by_role("table", name="Biases, with 95 % intervals")
    expect(table.get_by_role("row", name="first output preferred model")).to_contain_text("0.667")
    expect(view.get_by_text("It prefers the output shown first")).to_be_visible()


def test_invalid_input_is_reported(visit: Any) -> None:
    _, view = opened(visit)
    drop_files(view, ("twice.csv", "item,rater,label\n1,a,x\n1,a,y\n"))
    expect(view.get_by_role("alert")).to_contain_text("'a' labelled item '1' twice")
    drop_files(view, ("texts.csv", "item,a,m\n1,x,y\n2,y,y\n"))
    view.get_by_label("Scale").select_option("ordinal")
    view.get_by_role("button", name="Check the judge").click()
    expect(view.get_by_role("alert")).to_contain_text("whose order is unknown")
    view.get_by_label("Order of labels").fill("x, y")
    view.get_by_role("button", name="Check the judge").click()
    expect(view.get_by_text("agrees with a at alpha")).to_be_visible()


def test_a_link_reproduces_the_check(visit: Any) -> None:
    page, view = opened(visit)
    drop_files(view, ("few.csv", "item,a,b,m\n1,1,1,1\n2,2,2,2\n3,3,3,2\n"))
    view.get_by_role("combobox", name="Judge", exact=True).select_option("b")
    page.get_by_role("button", name="Copy link").click()
    page.wait_for_url("**texts=**")
    again = visit("#" + page.url.partition("#")[2])
    expect(again.get_by_role("combobox", name="Judge", exact=True)).to_have_value("b")
    expect(again.get_by_role("heading", name="Verdict")).to_be_visible()
