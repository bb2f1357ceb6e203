"""Batching: short requests that ask for the same metrics are scored in one call.

Requests are merged only where that cannot change a number: the same specs, the same number of
references, and no metric that learns from its references. Corpus values and warnings of a request
come from its own rows.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from threading import Condition, Thread
from time import monotonic

from nlgauge.core.corpus import Corpus
from nlgauge.core.scores import Scores
from nlgauge.scoring import Scorer
from nlgauge.service.errors import log
from nlgauge.service.progress import Cancelled, Effort, JointEffort

_PATIENCE = 10  # windows that a batch waits at most while others keep coming
_RETURN = 0.3  # of the time a batch took, in which those whom it answered may ask again

Outcome = list[Scores] | Exception
Deliver = Callable[[Sequence[tuple["Ticket", Outcome]]], None]


@dataclass(frozen=True, eq=False)
class Ticket:
    """A corpus that waits to be scored; tickets of one key may share a call."""

    scorer: Scorer
    corpus: Corpus
    key: Hashable
    effort: Effort


class Batcher:
    """A thread that takes tickets in order and gathers their like.

    A thread that was idle waits until no ticket has come for ``window`` seconds. What has come
    while a batch was scored is the next batch; it waits a little for those who have just been
    answered, as programs that ask for one pair after another would else fall into two halves that
    take turns. With a window of 0 every ticket is scored alone. ``deliver`` is called in the
    thread, once for all tickets of a batch.
    """

    def __init__(self, deliver: Deliver, *, window: float, rows: int) -> None:
        self._deliver = deliver
        self._window = window
        self._rows = rows
        self._queue: deque[Ticket] = deque()
        self._changed = Condition()
        self._open = True
        self._answered = 0  # by the last batch, as far as they are waited for
        self._patience = 0.0
        self._in_vain = False
        self._thread = Thread(target=self._work, name="nlgauge-batches", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        return len(self._queue)

    def put(self, ticket: Ticket) -> None:
        """Queue a ticket."""
        with self._changed:
            self._queue.append(ticket)
            self._changed.notify()

    def close(self) -> None:
        """End the thread once its present batch is done."""
        with self._changed:
            self._open = False
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while batch := self._gather():
            begun = monotonic()
            self._deliver(_score(batch))
            # Where others than those come, it is not tried again at once.
            self._answered, self._in_vain = 0 if self._in_vain else len(batch), False
            self._patience = _RETURN * (monotonic() - begun)

    def _gather(self) -> list[Ticket]:
        """The first ticket and those of its key that come soon enough; none at the end."""
        with self._changed:
            if not self._queue:
                self._changed.wait_for(lambda: self._queue or not self._open)
                self._wait_for_company()
            elif self._window > 0 and self._answered > 1:
                self._wait_for_return()
            return self._take(self._queue[0]) if self._open else []

    def _wait_for_company(self) -> None:
        latest = monotonic() + _PATIENCE * self._window
        ends, seen = monotonic() + self._window, len(self._queue)
        while self._open and (left := ends - monotonic()) > 0:
            if self._full:
                break
            self._changed.wait(left)
            if len(self._queue) > seen:  # others may be on their heels
                ends, seen = min(monotonic() + self._window, latest), len(self._queue)

    def _wait_for_return(self) -> None:
        waiting = len(self._queue)
        self._changed.wait_for(
            lambda: len(self._queue) >= waiting + self._answered or self._full or not self._open,
            self._patience,
        )
        self._in_vain = len(self._queue) - waiting < self._answered / 2

    @property
    def _full(self) -> bool:
        return sum(len(ticket.corpus) for ticket in self._queue) >= self._rows

    def _take(self, first: Ticket) -> list[Ticket]:
        taken: list[Ticket] = []
        left: deque[Ticket] = deque()
        room = self._rows
        for ticket in self._queue:
            alike = ticket.key == first.key and self._window > 0
            if ticket is first or (alike and len(ticket.corpus) <= room):
                taken.append(ticket)
                room -= len(ticket.corpus)
            else:
                left.append(ticket)
        self._queue = left
        return taken


def _score(batch: list[Ticket]) -> list[tuple[Ticket, Outcome]]:
    """What became of every ticket; one that cannot be scored does not spoil the others."""
    wanted = [ticket for ticket in batch if not ticket.effort.unwanted]
    gone: list[tuple[Ticket, Outcome]] = [
        (ticket, Cancelled()) for ticket in batch if ticket.effort.unwanted
    ]
    if len(wanted) > 1:
        try:
            return gone + list(zip(wanted, _together(wanted), strict=True))
        except Cancelled:
            return gone + [(ticket, Cancelled()) for ticket in wanted]
        except Exception as error:  # one of them is at fault, so each is scored alone
            log.info("a batch of %d requests is scored one by one: %s", len(wanted), error)
    return gone + [(ticket, _alone(ticket)) for ticket in wanted]


def _alone(ticket: Ticket) -> Outcome:
    try:
        with ticket.effort.underway():
            board = ticket.scorer.score_corpus(ticket.corpus, progress=ticket.effort.note)
    except Exception as error:  # handed on to whoever waits for it
        return error
    return [scores for of_system in board.values() for scores in of_system.values()]


def _together(batch: list[Ticket]) -> list[Outcome]:
    """The scores of every ticket, from one call with the rows of all."""
    effort = JointEffort([ticket.effort for ticket in batch])
    with effort.underway():
        board = batch[0].scorer.score_corpus(_joined(batch), progress=effort.note)
    return [_of_ticket(number, ticket, board) for number, ticket in enumerate(batch)]


def _joined(batch: list[Ticket]) -> Corpus:
    """All rows, systems and segments of every ticket apart from those of the others."""
    numbered = [(number, ticket.corpus) for number, ticket in enumerate(batch)]
    return Corpus(  # of rows that have been checked already, when their tickets were made
        candidates=tuple(text for _, corpus in numbered for text in corpus.candidates),
        references=tuple(texts for _, corpus in numbered for texts in corpus.references),
        systems=tuple(f"{number} {name}" for number, corpus in numbered for name in corpus.systems),
        ids=tuple(f"{number} {name}" for number, corpus in numbered for name in corpus.ids),
    )


def _of_ticket(
    number: int, ticket: Ticket, board: Mapping[str, Mapping[str, Scores]]
) -> list[Scores]:
    corpus = ticket.corpus
    own = [
        (name, tuple(corpus.ids[row] for row in corpus.rows_of(name)))
        for name in corpus.system_names
    ]
    return [
        dataclasses.replace(scores, system=system, ids=ids, aligner=None)
        for system, ids in own
        for scores in board[f"{number} {system}"].values()
    ]
