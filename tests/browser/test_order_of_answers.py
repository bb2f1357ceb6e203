"""Answers that are late, lost or no longer wanted, and inputs that change while a task runs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from browser.conftest import TIMEOUT
from browser.page_actions import drop_files, expect, fill_pair, json_lines, score_pair

LINES = ("one.txt", "a cat\n"), ("two.txt", "a dog\n"), ("ref.txt", "the cat\n")
JUDGED = [{"candidate": "a", "references": "b", "human": {"da": k}} for k in range(3)]
REFUSED = {"error": {"kind": "unauthorized", "message": "no token", "where": None, "id": None}}


class FakeJobs:
    """Jobs that run until the test ends them; `hold` keeps the answers to posted ones back."""

    def __init__(self, page: Any, *, hold: bool = False) -> None:
        self.posted: list[dict[str, Any]] = []
        self.deleted: list[str] = []
        self.held: list[Any] = []
        self.lost = 0  # polls that get no answer
        self.error: str | None = None
        self._hold = hold
        page.context.route("**/v1/jobs*", self._post)
        page.context.route("**/v1/jobs/*", self._poll)

    def _post(self, route: Any) -> None:
        self.posted.append(json.loads(route.request.post_data))
        if self._hold:
            self.held.append(route)
        else:
            self.answer(route, len(self.posted))

    def _poll(self, route: Any) -> None:
        id = route.request.url.rpartition("/")[2]
        if route.request.method == "DELETE":
            self.deleted.append(id)
        if self.lost > 0:
            self.lost -= 1
            route.abort()
        else:
            self.answer(route, int(id))

    def answer(self, route: Any, id: int) -> None:
        job = {"id": str(id), "state": "running", "rows_done": 1, "rows_total": 9, "error": None}
        if self.error is not None:
            job |= {"state": "failed", "error": {"kind": "bad_data", "message": self.error}}
        route.fulfill(json={**job, "pairs_per_second": 1.0, "ahead": 0, "result": None})


def systems(visit: Any, **options: Any) -> tuple[Any, Any, FakeJobs]:
    """Drop three files and press Compare."""
    page = visit("#systems")
    jobs = FakeJobs(page, **options)
    view = page.get_by_role("tabpanel", name="Systems")
    drop_files(view, *LINES)
    view.get_by_role("button", name="Compare").click()
    expect(view.get_by_role("progressbar")).to_be_visible()
    return page, view, jobs


def until(page: Any, condition: Callable[[], object]) -> None:
    """Wait for a condition; the events of the page arrive meanwhile."""
    ends = time.monotonic() + TIMEOUT / 1000
    while not condition():
        assert time.monotonic() < ends
        page.evaluate("() => 0")


def hold(page: Any, path: str) -> list[Any]:
    """Keep requests back; return the list of them."""
    held: list[Any] = []

    def keep(route: Any) -> None:
        held.append(route)

    page.route(path, keep)
    return held


def test_a_job_that_is_cancelled_while_it_is_sent_is_deleted(visit: Any) -> None:
    page, view, jobs = systems(visit, hold=True)
    until(page, lambda: jobs.held)
    view.get_by_role("button", name="Cancel").click()
    expect(view.get_by_text("Cancelling …")).to_be_visible()
    jobs.answer(jobs.held[0], 1)
    expect(view.get_by_text("Cancelled. Nothing is running any more.")).to_be_visible()
    assert jobs.deleted == ["1"]
    expect(view.get_by_role("button", name="Compare")).to_be_focused()


def test_changed_files_cancel_a_comparison(visit: Any) -> None:
    page, view, jobs = systems(visit)
    view.get_by_role("button", name="Remove two.txt").click()
    expect(view.get_by_role("progressbar")).to_have_count(0)
    expect(view.get_by_text("Cancelled, because the texts have changed.")).to_be_visible()
    until(page, lambda: jobs.deleted == ["1"])
    expect(view.get_by_role("button", name="Score")).to_be_enabled()


def test_a_dropped_text_changes_nothing(visit: Any) -> None:
    _, view, jobs = systems(visit)
    drop_files(view)
    expect(view.get_by_role("progressbar")).to_be_visible()
    assert jobs.deleted == []


def test_a_link_replaces_the_comparison_that_runs(visit: Any) -> None:
    page, view, jobs = systems(visit)
    texts = {"systems": {"x": ["a"], "y": ["b"]}, "references": [["c"]]}
    link = "#systems?" + urlencode({"texts": json.dumps(texts)})
    page.evaluate("link => { location.hash = link; }", link)
    until(page, lambda: jobs.deleted == ["1"] and len(jobs.posted) == 2)
    assert jobs.posted[1]["body"]["baseline"] == "x"
    expect(view.get_by_role("progressbar")).to_be_visible()


def test_a_new_file_cancels_the_correlation_of_the_last_one(visit: Any) -> None:
    page = visit("#judgements")
    jobs = FakeJobs(page)
    view = page.get_by_role("tabpanel", name="Judgements")
    drop_files(view, ("first.jsonl", json_lines(JUDGED)))
    view.get_by_role("button", name="Correlate").click()
    expect(view.get_by_role("progressbar")).to_be_visible()
    drop_files(view, ("second.jsonl", json_lines(JUDGED)))
    expect(view.locator(".about")).to_contain_text("second.jsonl")
    expect(view.get_by_role("progressbar")).to_have_count(0)
    until(page, lambda: jobs.deleted == ["1"])


def test_a_new_file_cancels_the_check_of_the_last_one(visit: Any) -> None:
    page = visit("#judge")
    view = page.get_by_role("tabpanel", name="Judge", exact=True)
    held = hold(page, "**/v1/judge")
    drop_files(view, ("first.csv", "item,a,b\n1,x,x\n2,y,x\n"))
    view.get_by_role("button", name="Check the judge").click()
    until(page, lambda: held)
    with page.expect_event("requestfailed", lambda request: "/v1/judge" in request.url):
        drop_files(view, ("second.csv", "item,c,d\n1,x,x\n2,y,x\n"))
    expect(view.locator(".about")).to_contain_text("second.csv")
    expect(view.locator(".results > *")).to_have_count(0)


def test_a_short_interruption_does_not_end_a_job(visit: Any) -> None:
    page, view, jobs = systems(visit)
    jobs.lost = 3
    until(page, lambda: jobs.lost == 0)
    jobs.error = "this was the end"
    expect(view.get_by_role("alert")).to_contain_text("This was the end.")
    view.get_by_role("button", name="Compare").click()
    expect(view.get_by_role("alert")).to_contain_text("This was the end.")
    jobs.error = None
    view.get_by_role("button", name="Compare").click()
    jobs.lost = 5
    expect(view.get_by_role("alert")).to_contain_text("The service does not answer")


def test_a_repeated_request_keeps_the_scores_busy(visit: Any) -> None:
    page = visit()
    held = hold(page, "**/v1/score")
    score_pair(page)
    until(page, lambda: len(held) == 1)
    page.get_by_label("Candidate", exact=True).press("Control+Enter")
    until(page, lambda: len(held) == 2)
    expect(
        page.locator("#pair > .view > .card:not(.matching)[aria-busy=true]").first
    ).to_be_attached()
    expect(page.get_by_role("button", name="Score", exact=True)).to_be_disabled()
    held[1].continue_()
    expect(page.locator(".scores li").first).to_be_visible()
    expect(page.get_by_role("button", name="Score", exact=True)).to_be_enabled()


def test_the_button_keeps_the_focus(visit: Any) -> None:
    page = visit()
    fill_pair(page)
    button = page.get_by_role("button", name="Score", exact=True)
    button.press("Enter")
    expect(page.locator(".scores li").first).to_be_visible()
    expect(button).to_be_focused()


def test_a_late_refusal_does_not_ask_for_the_token_again(visit: Any) -> None:
    page = visit()
    held: list[Any] = []
    tokens: list[str | None] = []

    def refuse_first(route: Any) -> None:
        tokens.append(route.request.headers.get("authorization"))
        if tokens[-1] is None:
            route.fulfill(status=401, json=REFUSED)
        else:
            route.continue_()

    page.route("**/v1/align", refuse_first)
    page.route("**/v1/score", lambda route: route.continue_() if held else held.append(route))
    score_pair(page)
    dialog = page.get_by_role("dialog", name="This service requires a token")
    dialog.get_by_label("Token", exact=True).fill("secret\u2192")
    page.keyboard.press("Enter")
    assert dialog.get_by_label("Token", exact=True).evaluate("each => !each.validity.valid")
    dialog.get_by_label("Token", exact=True).fill(" secret ")
    page.keyboard.press("Enter")
    expect(page.locator(".matching .facts")).to_contain_text("bertscore")
    assert tokens == [None, "Bearer secret"]
    with page.expect_request("**/v1/score") as again:
        held[0].fulfill(status=401, json=REFUSED)
    assert again.value.headers["authorization"] == "Bearer secret"
    expect(page.locator(".scores li").first).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Forget token").click()
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()
    expect(page.get_by_role("button", name="Forget token")).to_be_hidden()


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, "<html>", "The service answered 401, but not in JSON."),
        (502, "{}", "The service answered 502 without a message."),
        (503, '{"detail": "no"}', "The service answered 503 without a message."),
    ],
)
def test_an_answer_of_another_program_is_reported(
    visit: Any, status: int, body: str, message: str
) -> None:
    page = visit()
    page.route("**/v1/score", lambda route: route.fulfill(status=status, body=body))
    score_pair(page)
    if status == 401:
        page.get_by_role("button", name="Not now").click()
    expect(page.get_by_role("alert").first).to_contain_text(message)


def test_examples_that_cannot_be_loaded_are_reported(visit: Any) -> None:
    page = visit("#judge")
    page.route("**/page/example.json", lambda route: route.abort())
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("The service does not answer")
    page.unroute("**/page/example.json")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("button", name="Try an example").first).to_be_visible()


def test_the_page_works_where_the_browser_stores_nothing(visit: Any) -> None:
    page = visit()
    page.context.add_init_script(
        """for (const name of ["localStorage", "sessionStorage"]) {
          const get = () => { throw new DOMException("blocked", "SecurityError"); };
          Object.defineProperty(window, name, { get });
        }"""
    )
    page.reload()
    page.get_by_role("button", name="Dark theme").click()
    expect(page.get_by_role("button", name="Light theme")).to_be_visible()
    fill_pair(page)
    expect(page.get_by_role("button", name="Score", exact=True)).to_be_enabled()


def test_a_chosen_layer_is_drawn_although_an_animation_runs(visit: Any) -> None:
    page = visit("#pair?match=exact&exact=mover")
    score_pair(page)
    expect(page.locator(".stage .band").first).to_be_visible()
    page.clock.install()
    page.clock.pause_at("2100-01-01")
    page.get_by_role("button", name="Layers", exact=True).click()
    page.locator(".layer").last.click()
    drawn = page.locator(".stage").inner_html()
    page.clock.run_for(5000)
    assert page.locator(".stage").inner_html() == drawn


def test_a_link_without_metrics_has_the_default_ones(visit: Any) -> None:
    page = visit("#pair?metrics=chrf")
    chosen = page.locator("#pair [data-chip][aria-pressed=true]")
    expect(chosen).to_have_count(1)
    page.evaluate("() => { location.hash = '#pair?match=exact'; }")
    expect(chosen).to_have_count(7)


def test_an_option_of_a_link_is_checked_by_the_service(visit: Any) -> None:
    texts = json.dumps(["a cat", "the cat"])
    page = visit("#pair?" + urlencode({"texts": texts, "metrics": "lazy_emd:lang=constructor"}))
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.get_by_role("alert").first).to_contain_text("constructor")
