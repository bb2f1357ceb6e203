"""Requests that share a call get the scores they would get alone."""

from __future__ import annotations

import asyncio
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
from nlgauge.service.batching import Batcher, Outcome, Ticket
from nlgauge.service.lock import Turns
from nlgauge.service.progress import Cancelled, Effort

PATIENCE = 120  # seconds; the machine may be busy
METRICS = ["bleu", "rouge", "bertscore:model=hashing", "wmd:model=hashing"]
PAIRS = [
    ("a cat sat here", "the cat sat there"),
    ("", "an empty candidate"),
    ("a cat sat here", "the cat sat there"),
    ("rain falls", "it is raining"),
    ("he left the house", "he has left"),
]


class Counting(Scorer):
    """A scorer that remembers how many rows each call had."""

    def __init__(self, metrics: Sequence[str]) -> None:
        super().__init__(metrics)
        self.calls: list[int] = []

    def score_corpus(self, corpus: Corpus, **options: Any) -> dict[str, dict[str, Scores]]:
        self.calls.append(len(corpus))
        return super().score_corpus(corpus, **options)


class Post:
    """Where a batcher delivers."""

    def __init__(self) -> None:
        self.outcomes: dict[Ticket, Outcome] = {}
        self._arrived = threading.Condition()

    def deliver(self, outcomes: Sequence[tuple[Ticket, Outcome]]) -> None:
        with self._arrived:
            self.outcomes.update(outcomes)
            self._arrived.notify()

    def wait(self, count: int) -> None:
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.outcomes) == count, timeout=PATIENCE)


def run(scorer: Scorer, corpora: list[Corpus], *, window: float = PATIENCE) -> list[Outcome]:
    """What a batcher makes of corpora that arrive together: they just fill a batch."""
    post, turns = Post(), Turns()
    batcher = Batcher(post.deliver, window=window, rows=sum(map(len, corpora)))
    tickets = [Ticket(scorer, corpus, "one key", Effort(turns)) for corpus in corpora]
    for ticket in tickets:
        batcher.put(ticket)
    post.wait(len(tickets))
    batcher.close()
    return [post.outcomes[ticket] for ticket in tickets]


def plain(outcome: Outcome) -> list[dict[str, Any]]:
    assert not isinstance(outcome, Exception), outcome
    return [scores.to_dict() for scores in outcome]


@pytest.mark.parametrize("skip_empty", [True, False], ids=["no notes", "a note"])
def test_a_batch_gives_every_ticket_its_own_scores(skip_empty: bool) -> None:
    pairs = [pair for pair in PAIRS if pair[0] or not skip_empty]
    corpora = [Corpus.of([candidate], [reference]) for candidate, reference in pairs]
    texts, references = [c for c, _ in pairs[:4]], [r for _, r in pairs[:4]]
    corpora.append(Corpus.of(texts, references, systems=["x", "y", "x", "y"], ids=list("0011")))
    scorer = Counting(METRICS)
    outcomes = run(scorer, corpora)
    assert scorer.calls == [sum(map(len, corpora))]
    for corpus, outcome in zip(corpora, outcomes, strict=True):
        alone = Scorer(METRICS).score_corpus(corpus)
        expected = [scores.to_dict() for of in alone.values() for scores in of.values()]
        assert plain(outcome) == expected


def test_without_a_window_every_ticket_is_scored_alone() -> None:
    scorer = Counting(["bleu"])
    run(scorer, [Corpus.of([c], [r]) for c, r in PAIRS], window=0)
    assert scorer.calls == [1] * len(PAIRS)


def test_what_comes_while_a_batch_is_scored_is_the_next_without_delay() -> None:
    post, turns, scorer = Post(), Turns(), Counting(["bleu"])
    turns.take()  # the first batch, which is full at once, waits for us
    batcher = Batcher(post.deliver, window=60, rows=2)
    tickets = [Ticket(scorer, Corpus.of(["a"], ["b"]), "key", Effort(turns)) for _ in range(3)]
    for ticket in tickets[:2]:
        batcher.put(ticket)
    while len(batcher):
        time.sleep(0.001)
    batcher.put(tickets[2])
    turns.leave()
    post.wait(3)
    batcher.close()
    assert scorer.calls == [2, 1]


def test_those_who_have_been_answered_and_ask_again_join_the_next_batch() -> None:
    turns, scorer = Turns(), Counting(["bleu"])
    corpora = [Corpus.of(["a"] * rows, ["b"] * rows) for rows in (2, 2, 1, 1, 1)]
    tickets = [Ticket(scorer, corpus, "key", Effort(turns)) for corpus in corpora]

    class Returning(Post):
        """Two clients who ask again at once, from a thread of theirs."""

        def deliver(self, outcomes: Sequence[tuple[Ticket, Outcome]]) -> None:
            if not self.outcomes:
                again = lambda: [batcher.put(ticket) for ticket in tickets[3:]]  # noqa: E731
                threading.Thread(target=again).start()
            super().deliver(outcomes)

    post = Returning()
    turns.take()  # the first batch, which is full at once, waits for us
    batcher = Batcher(post.deliver, window=PATIENCE, rows=4)
    for ticket in tickets[:2]:
        batcher.put(ticket)
    while len(batcher):
        time.sleep(0.001)
    batcher.put(tickets[2])
    time.sleep(2)  # the batch takes so long that its clients are worth waiting for
    turns.leave()
    post.wait(5)
    batcher.close()
    assert scorer.calls == [4, 3]


def test_one_bad_ticket_does_not_spoil_the_others() -> None:
    class Picky(Counting):
        def score_corpus(self, corpus: Corpus, **options: Any) -> dict[str, dict[str, Scores]]:
            if "bad" in corpus.candidates:
                raise DataError("this text is bad")
            return super().score_corpus(corpus, **options)

    outcomes = run(Picky(["bleu"]), [Corpus.of([text], ["a"]) for text in ("a", "bad", "b")])
    assert isinstance(outcomes[1], DataError)
    assert [len(plain(outcomes[i])) for i in (0, 2)] == [1, 1]


def test_cancelled_tickets_are_not_scored() -> None:
    post, turns = Post(), Turns()
    scorer = Counting(["bleu"])
    turns.take()  # so that nothing starts before all is set up
    batcher = Batcher(post.deliver, window=PATIENCE, rows=3)
    tickets = [Ticket(scorer, Corpus.of(["a"], ["b"]), "key", Effort(turns)) for _ in range(3)]
    for ticket in tickets:
        batcher.put(ticket)
    tickets[1].effort.cancel()
    turns.leave()
    post.wait(3)
    batcher.close()
    assert isinstance(post.outcomes[tickets[1]], Cancelled)
    assert scorer.calls == [2]


def test_turns_are_taken_in_order_and_offered() -> None:
    turns, order = Turns(), []

    def visitor(name: str) -> None:
        turns.take()
        order.append(name)
        turns.leave()

    turns.take()
    threads = [threading.Thread(target=visitor, args=(name,)) for name in "abc"]
    for number, thread in enumerate(threads, start=1):
        thread.start()
        while len(turns._waiting) < number:
            time.sleep(0.001)
    turns.offer()  # returns once all three have had their turn
    order.append("again")
    turns.leave()
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
    total = int(counted.split("nlgauge_batch_requests_count ")[1].split("\n")[0])
    assert 18 < total < 36  # half of the requests learn an idf table, so they stay alone


def test_a_full_queue_answers_429(opened: Any) -> None:
    api = opened(queue=2)
    turns = api.app.state.shop._turns
    turns.take()  # nothing is scored while we hold the models
    body = {"pairs": [{"candidate": "a", "references": "b"}], "metrics": ["bleu"]}
    with ThreadPoolExecutor(8) as pool:
        waiting = []
        while api.get("/health").json()["waiting"] < 2:
            if len(waiting) < 8:
                waiting.append(pool.submit(api.post, "/v1/score", json=body))
            time.sleep(0.05)  # the first are taken by the thread, where they wait for the models
        refused = api.post("/v1/score", json=body)
        also = api.post("/v1/align", json={"candidate": "a", "references": "b"})
        turns.leave()
        done = [future.result().status_code for future in waiting]
    for answer in (refused, also):
        assert (answer.status_code, answer.json()["error"]["kind"]) == (429, "busy")
        assert int(answer.headers["retry-after"]) >= 1
    assert set(done) <= {200, 429} and 200 in done
    assert api.post("/v1/score", json=body).status_code == 200


def test_time_is_limited(opened: Any) -> None:
    from nlgauge.service.settings import Limits

    api: TestClient = opened(limits=Limits(seconds=1.0))
    turns = api.app.state.shop._turns  # type: ignore[attr-defined]
    turns.take()
    body = {"pairs": [{"candidate": "a", "references": "b"}], "metrics": ["bleu"]}
    late = api.post("/v1/score", json=body)
    turns.leave()
    assert (late.status_code, late.json()["error"]["kind"]) == (429, "busy")

    def slowly(effort: Effort) -> bytes:
        with effort.underway():
            for done in range(100):
                time.sleep(0.05)
                effort.progress(done, 100)
        return b"{}"

    api.app.state.shop.perform = lambda _, effort: slowly(effort)  # type: ignore[attr-defined]
    rows = {"systems": {"a": ["x"], "b": ["y"]}, "references": ["x"], "metrics": ["bleu"]}
    late = api.post("/v1/compare", json=rows)
    assert (late.status_code, late.json()["error"]["kind"]) == (413, "took_too_long")


def test_a_client_that_leaves_frees_its_work(start: Any) -> None:
    """A long request is given up between portions once its client is gone."""
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
    said = _scrape(where.geturl())
    assert 'route="/v1/score",status="499"' in said
    assert int(said.split("\nnlgauge_pairs_total ")[1].split("\n")[0]) < 2000


def _scrape(address: str) -> str:
    from urllib.request import urlopen

    with urlopen(f"{address}/metrics", timeout=PATIENCE) as answer:
        return str(answer.read().decode())


def _until(address: str, line: str) -> None:
    ends = time.monotonic() + PATIENCE
    while line not in _scrape(address):
        assert time.monotonic() < ends, f"{line} never came"
        time.sleep(0.02)


def test_outcomes_that_nobody_waits_for_are_dropped_quietly(opened: Any) -> None:
    api = opened()

    async def abandoned() -> None:
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        future.cancel()
        from nlgauge.service.scheduler import _wake

        _wake([(future, b"{}")])
        assert future.cancelled()

    asyncio.run(abandoned())
    assert api.get("/health").status_code == 200
