"""Progress moves within chunks, and long work is announced; clocks are injected."""

from __future__ import annotations

import logging

import pytest

from nlgauge import corpus_run, score
from nlgauge.cli.progress import progress_bar
from nlgauge.runtime.progress import RunProgress, counted, current_step, duration, portion
from nlgauge.runtime.threads import one_ahead, spread


class Clock:
    """A clock that tests set."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_steps_are_shares_of_rows_and_never_exceed_them() -> None:
    reports: list[int] = []
    run = RunProgress(lambda done, _: reports.append(done), 100)
    with run.phase("a", 40):
        for _ in counted(range(4)):
            pass
        with portion(0.5):
            list(counted(range(2)))  # more than was announced
    assert reports == [10, 20, 30, 40, 40, 40]
    with run.phase("b", 60):
        list(counted(range(3)))
    assert reports[-3:] == [60, 80, 99], "only the end of a run reports the last row"
    run.report(100)
    assert reports[-1] == 100


def test_progress_of_threads_is_reported_by_the_waiting_thread() -> None:
    reports: list[int] = []
    run = RunProgress(lambda done, _: reports.append(done), 10)
    with run.listening(), run.phase("a", 10):
        found = spread(lambda some: sum(counted(some)), range(10), least=1)
    run.report()
    assert sum(found) == 45
    assert reports[-1] == 9
    assert list(one_ahead(lambda item: item + 1, range(4))) == [1, 2, 3, 4]


def test_a_callback_that_raises_ends_the_run() -> None:
    def cancel(done: int, _: int) -> None:
        if done:
            raise KeyboardInterrupt

    texts = [f"{number} texts" for number in range(100)]
    with pytest.raises(KeyboardInterrupt):
        score(texts, texts, metrics="wmd:model=hashing", progress=cancel)


@pytest.mark.parametrize(
    ("seconds", "share", "output"),
    [
        (2.0, 0.001, None),  # too early for an estimate
        (4.0, 0.5, None),  # four more seconds
        (4.0, 0.01, "about 7 min left, mostly for infolm: 8 of 800 rows took 4 s"),
        (60.0, 0.01, "about 1.6 h left, mostly for infolm: 8 of 800 rows took 60 s"),
    ],
)
def test_long_work_is_announced_once(seconds, share, output, caplog) -> None:
    clock = Clock()
    run = RunProgress(None, 800, clock)
    with run.phase("bleu", 4):
        clock.now += seconds / 4
    with run.phase("infolm", 4):
        clock.now += 3 * seconds / 4
    with caplog.at_level(logging.INFO, logger="nlgauge"):
        run.estimate(8, share)
        run.estimate(8, share)
    assert caplog.messages == ([] if output is None else [output])


@pytest.mark.parametrize(
    ("seconds", "share", "output"),
    [
        (2.0, 0.001, None),  # too early for an estimate
        (4.0, 0.5, None),
        (4.0, 0.01, "about 7 min left for infolm: 1.0% of a chunk of rows took 4 s"),
    ],
)
def test_one_long_pair_is_announced_while_it_is_scored(seconds, share, output, caplog) -> None:
    clock = Clock()
    run = RunProgress(None, 1, clock)
    with caplog.at_level(logging.INFO, logger="nlgauge"), run.phase("infolm", 1):
        clock.now += seconds
        for _ in range(3):
            current_step()(share)
    assert caplog.messages == ([] if output is None else [output])


def test_the_command_line_shows_the_announcement(monkeypatch, capsys) -> None:
    clock = Clock()

    class Slow(RunProgress):
        def __init__(self, *given: object) -> None:
            super().__init__(*given, clock)

        def estimate(self, done: int, share: float) -> None:
            clock.now += 60
            super().estimate(done, share)

    monkeypatch.setattr(corpus_run, "RunProgress", Slow)
    texts = [f"{number} texts" for number in range(100)]
    score(texts, texts, metrics="chrf")
    assert capsys.readouterr().err == "", "Python says nothing"
    with progress_bar(quiet=False):
        score(texts, texts, metrics="chrf")
    captured = capsys.readouterr().err
    assert captured.startswith("note: about 13 min left, mostly for "), captured
    assert captured.endswith(": 8 of 100 rows took 60 s\n"), captured
    with progress_bar(quiet=True):
        score(texts, texts, metrics="chrf")
    assert capsys.readouterr().err == ""


def test_durations() -> None:
    assert [*map(duration, (12.4, 100, 5399, 9000))] == ["12 s", "2 min", "90 min", "2.5 h"]
