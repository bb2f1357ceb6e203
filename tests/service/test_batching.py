"""Requests that share a call get the scores they would get alone."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import json
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.testclient import TestClient

import nlgauge
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError
from nlgauge.core.scores import Scores
from nlgauge.scoring import Scorer
from nlgauge.service.scheduler import Scheduler
from nlgauge.service.settings import Settings
from nlgauge.service.task import Cancelled, FairLock, ShortTask, Task

TIMEOUT = 120  # seconds; the machine may be busy
METRICS = ["bleu", "rouge", "bertscore:model=hashing", "wmd:model=hashing"]
PAIRS = [
    ("a cat sat here", "the cat sat there"),
    ("", "an empty candidate"),
    ("a cat sat here", "the cat sat there"),
    ("rain falls", "it is raining"),
    ("he left the house", "he has left"),
]


class CountingScorer(Scorer):
    """A scorer that records the number of rows of each call."""

    def __init__(self, metrics: Sequence[str]) -> None:
        super().__init__(metrics)
        self.calls: list[int] = []

    def score_corpus(self, corpus: Corpus, **options: Any) -> dict[str, dict[str, Scores]]:
        self.calls.append(len(corpus))
        return super().score_corpus(corpus, **options)


def scheduler(**changed: Any) -> Scheduler:
    return Scheduler(Settings(models=("hashing",), **changed), lambda *_: None)


def task(scorer: Scorer, corpus: Corpus) -> ShortTask:
    """A task whose result holds its scores as JSON."""
    return ShortTask(scorer, corpus, "one key", lambda every: json.dumps(plain(every)).encode())


def small_tasks(scorer: Scorer, count: int) -> list[ShortTask]:
    return [task(scorer, Corpus.of(["a"], ["b"])) for _ in range(count)]


def wait(tasks: Sequence[ShortTask]) -> None:
    assert not concurrent.futures.wait([each.future for each in tasks], timeout=TIMEOUT).not_done


def run(scorer: Scorer, corpora: list[Corpus], *, window: float = TIMEOUT) -> list[ShortTask]:
    """Score corpora that arrive together and fill one batch; return the finished tasks."""
    running = scheduler(window=window, batch_rows=sum(map(len, corpora)))
    tasks = [task(scorer, corpus) for corpus in corpora]
    for each in tasks:
        running.submit(each)
    wait(tasks)
    running.close()
    return tasks


def until_taken(running: Scheduler) -> None:
    while running.waiting_requests:
        time.sleep(0.001)


def submit_third_during_batch(running: Scheduler, tasks: list[ShortTask]) -> None:
    """Submit two tasks, which fill a batch, and the third before the batch is scored."""
    running.models.acquire()  # the first batch waits for the lock
    for each in tasks[:2]:
        running.submit(each)
    until_taken(running)
    running.submit(tasks[2])
    running.models.release()
    wait(tasks)
    running.close()


def plain(every: Sequence[Scores]) -> list[dict[str, Any]]:
    return [scores.to_dict() for scores in every]


@pytest.mark.parametrize("skip_empty", [True, False], ids=["no notes", "a note"])
def test_a_batch_gives_every_task_its_own_scores(skip_empty: bool) -> None:
    pairs = [pair for pair in PAIRS if pair[0] or not skip_empty]
    corpora = [Corpus.of([candidate], [reference]) for candidate, reference in pairs]
    texts, references = [c for c, _ in pairs[:4]], [r for _, r in pairs[:4]]
    corpora.append(Corpus.of(texts, references, systems=["x", "y", "x", "y"], ids=list("0011")))
    scorer = CountingScorer(METRICS)
    tasks = run(scorer, corpora)
    assert scorer.calls == [sum(map(len, corpora))]
    for corpus, done in zip(corpora, tasks, strict=True):
        alone = Scorer(METRICS).score_corpus(corpus)
        expected = plain([scores for of in alone.values() for scores in of.values()])
        assert done.future.result() == json.dumps(expected).encode()


def test_without_a_window_every_task_is_scored_alone() -> None:
    scorer = CountingScorer(["bleu"])
    run(scorer, [Corpus.of([c], [r]) for c, r in PAIRS], window=0)
    assert scorer.calls == [1] * len(PAIRS)


def test_tasks_that_arrive_during_a_batch_are_the_next_batch() -> None:
    scorer, running = CountingScorer(["bleu"]), scheduler(window=60, batch_rows=2)
    tasks = small_tasks(scorer, 3)
    submit_third_during_batch(running, tasks)
    assert scorer.calls == [2, 1]


def test_clients_that_ask_again_after_an_answer_join_the_next_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A clock that advances by 5 seconds per reading: the next batch waits 1.5 seconds for them.
    clock = itertools.count(0.0, 5.0)
    monkeypatch.setattr("nlgauge.service.scheduler.monotonic", lambda: next(clock))
    scorer, running = CountingScorer(["bleu"]), scheduler(window=TIMEOUT, batch_rows=4)
    tasks = [task(scorer, Corpus.of(["a"] * rows, ["b"] * rows)) for rows in (2, 2, 1, 1, 1)]

    def ask_again(_: object) -> None:
        """Submit the tasks of two clients from another thread."""
        again = lambda: [running.submit(each) for each in tasks[3:]]  # noqa: E731
        threading.Thread(target=again).start()

    tasks[1].future.add_done_callback(ask_again)
    submit_third_during_batch(running, tasks)
    assert scorer.calls == [4, 3]


def test_one_failing_task_does_not_affect_the_others() -> None:
    class FailingScorer(CountingScorer):
        def score_corpus(self, corpus: Corpus, **options: Any) -> dict[str, dict[str, Scores]]:
            if "bad" in corpus.candidates:
                raise DataError("this text is bad")
            return super().score_corpus(corpus, **options)

    tasks = run(FailingScorer(["bleu"]), [Corpus.of([text], ["a"]) for text in ("a", "bad", "b")])
    assert "this text is bad" in str(tasks[1].future.exception())
    assert getattr(tasks[1].future.exception(), "kind", "") == "bad_data"
    assert [len(json.loads(tasks[i].future.result())) for i in (0, 2)] == [1, 1]


def test_a_response_that_cannot_be_written_does_not_affect_the_others() -> None:
    def fail(_: object) -> bytes:
        raise ValueError("not finite")

    scorer, running = CountingScorer(["bleu"]), scheduler(window=TIMEOUT, batch_rows=3)
    tasks = small_tasks(scorer, 3)
    tasks[1].write = fail
    for each in tasks:
        running.submit(each)
    wait(tasks)
    running.close()
    assert getattr(tasks[1].future.exception(), "kind", "") == "internal"
    assert scorer.calls == [3] and tasks[2].future.result()


def test_cancelled_tasks_are_not_scored() -> None:
    scorer, running = CountingScorer(["bleu"]), scheduler(window=TIMEOUT, batch_rows=3)
    running.models.acquire()  # so that no task starts before all are submitted
    tasks = small_tasks(scorer, 4)
    for each in tasks[:3]:
        running.submit(each)
    tasks[1].cancel()
    until_taken(running)
    running.submit(tasks[3])
    running.cancel(tasks[3])
    assert running.waiting_requests == 0
    running.models.release()
    wait(tasks)
    running.close()
    early, late = tasks[1].future, tasks[3].future
    assert early.cancelled() or isinstance(early.exception(), Cancelled)
    assert late.cancelled()
    assert scorer.calls == [2]


def test_a_batch_ends_once_all_of_its_tasks_are_cancelled() -> None:
    scorer, running = CountingScorer(["bleu"]), scheduler(window=TIMEOUT, batch_rows=2)
    running.models.acquire()
    tasks = small_tasks(scorer, 2)
    for each in tasks:
        running.submit(each)
    until_taken(running)
    for each in tasks:
        each.cancel()
    running.models.release()
    wait(tasks)
    running.close()
    assert all(isinstance(each.future.exception(), Cancelled) for each in tasks)
    assert scorer.calls == []


def test_the_lock_is_passed_on_in_order() -> None:
    lock, order = FairLock(), []

    def visitor(name: str) -> None:
        lock.acquire()
        order.append(name)
        lock.release()

    lock.acquire()
    threads = [threading.Thread(target=visitor, args=(name,)) for name in "abc"]
    for number, thread in enumerate(threads, start=1):
        thread.start()
        while lock._callers - 1 < number:
            time.sleep(0.001)
    lock.release()
    lock.acquire()  # returns once all three have had the lock
    order.append("again")
    lock.release()
    for thread in threads:
        thread.join()
    assert order == ["a", "b", "c", "again"]


def test_concurrent_requests_are_batched_and_equal_the_library(opened: Any) -> None:
    api = opened(window=0.3)
    specs = ["chrf", "bertscore:model=hashing", "mover:model=hashing,weights=idf"]

    def ask(number: int) -> Any:
        pair = {"candidate": f"a cat sat {number}", "references": [f"the cat {number}", "a dog"]}
        answer = api.post("/v1/score", json={"pairs": [pair], "metrics": specs[: 2 + number % 2]})
        return pair, answer.json()["scores"]

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(ask, range(36)))
    for pair, scores in answers:
        names = [entry["metric"] for entry in scores]
        alone = nlgauge.score([pair["candidate"]], [pair["references"]], metrics=names)
        assert scores == [alone[name].to_dict() for name in names]
    counted = api.get("/metrics").text
    total = float(counted.split("nlgauge_batch_requests_count ")[1].split("\n")[0])
    assert 18 < total < 36  # half of the requests learn an idf table, so they stay alone


def test_a_full_queue_answers_429(opened: Any) -> None:
    api = opened(queue=2)
    models = api.app.state.dispatcher.scheduler.models
    models.acquire()  # nothing is scored while we hold the models
    body = {"pairs": [{"candidate": "a", "references": "b"}], "metrics": ["bleu"]}
    with ThreadPoolExecutor(8) as pool:
        waiting = []
        while api.get("/health").json()["waiting"] < 2:
            if len(waiting) < 8:
                waiting.append(pool.submit(api.post, "/v1/score", json=body))
            time.sleep(0.05)  # the first are taken by the thread, where they wait for the models
        refused = api.post("/v1/score", json=body)
        also = api.post("/v1/align", json={"candidate": "a", "references": "b"})
        models.release()
        done = [future.result().status_code for future in waiting]
    for answer in (refused, also):
        assert (answer.status_code, answer.json()["error"]["kind"]) == (429, "busy")
        assert int(answer.headers["retry-after"]) >= 1
    assert set(done) <= {200, 429} and 200 in done
    assert api.post("/v1/score", json=body).status_code == 200


def test_waiting_and_running_are_limited_in_time(opened: Any) -> None:
    from nlgauge.service.settings import Limits

    api: TestClient = opened(limits=Limits(seconds=1.0))
    dispatcher = api.app.state.dispatcher  # type: ignore[attr-defined]
    dispatcher.scheduler.models.acquire()
    body = {"pairs": [{"candidate": "a", "references": "b"}], "metrics": ["bleu"]}
    late = api.post("/v1/score", json=body)
    dispatcher.scheduler.models.release()
    assert (late.status_code, late.json()["error"]["kind"]) == (429, "busy")

    def slowly(_: object, task: Task) -> bytes:
        for done in range(100):
            time.sleep(0.05)
            task.progress(done, 100)
        return b"{}"

    dispatcher._handle = slowly
    rows = {"systems": {"a": ["x"], "b": ["y"]}, "references": ["x"], "metrics": ["bleu"]}
    late = api.post("/v1/compare", json=rows)
    assert (late.status_code, late.json()["error"]["kind"]) == (413, "took_too_long")


def test_work_of_a_disconnected_client_is_cancelled(start: Any) -> None:
    """A long request is cancelled between portions once its client has disconnected."""
    import socket
    from urllib.parse import urlsplit

    where = urlsplit(start())
    texts = ", ".join(
        f'{{"candidate": "{"word " * 40}{i}", "references": "{"other " * 40}"}}'
        for i in range(2000)
    )
    body = f'{{"pairs": [{texts}], "metrics": ["ter", "bertscore"]}}'.encode()
    head = (
        "POST /v1/score HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    with socket.create_connection((where.hostname or "", where.port or 0)) as line:
        line.sendall(head + body)
        _until(where.geturl(), "nlgauge_long_running 1")
    _until(where.geturl(), "nlgauge_long_running 0")
    messages = _scrape(where.geturl())
    assert 'route="/v1/score",status="499"' in messages
    assert float(messages.split("\nnlgauge_pairs_total ")[1].split("\n")[0]) < 2000


def _scrape(address: str) -> str:
    from urllib.request import urlopen

    with urlopen(f"{address}/metrics", timeout=TIMEOUT) as answer:
        return str(answer.read().decode())


def _until(address: str, line: str) -> None:
    ends = time.monotonic() + TIMEOUT
    while line not in _scrape(address):
        assert time.monotonic() < ends, f"{line} never came"
        time.sleep(0.02)


def test_results_of_cancelled_requests_are_discarded_without_a_log_message(
    opened: Any, caplog: pytest.LogCaptureFixture
) -> None:
    api = opened()
    scorer, running = CountingScorer(["bleu"]), scheduler(window=0)
    (abandoned,) = small_tasks(scorer, 1)

    async def abandon() -> None:
        running.models.acquire()
        running.submit(abandoned)
        future = asyncio.wrap_future(abandoned.future)
        until_taken(running)
        future.cancel()
        running.models.release()

    asyncio.run(abandon())
    wait([abandoned])
    running.close()
    assert caplog.text == ""
    assert api.get("/health").status_code == 200
