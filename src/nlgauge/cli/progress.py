"""A progress bar and the library's log messages on stderr."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nlgauge.cli.output import print_notes

Update = Callable[[int, int | None], None]


@contextmanager
def progress_bar(*, quiet: bool, stage: str = "scoring") -> Iterator[Update | None]:
    """Yield a function to call with (done, total or None), or None if no bar is shown."""
    if quiet:
        yield None
        return
    log, notes = logging.getLogger("nlgauge"), _Notes(logging.INFO)
    previous_level = log.level
    log.addHandler(notes)
    log.setLevel(logging.INFO)
    try:
        if sys.stderr.isatty():
            with _bar(stage) as update:
                yield update
        else:
            yield None
    finally:
        log.setLevel(previous_level)
        log.removeHandler(notes)


class _Notes(logging.Handler):
    """Prints to the current stderr, which a progress bar replaces while it is shown."""

    def emit(self, record: logging.LogRecord) -> None:
        print_notes([record.getMessage()])


@contextmanager
def _bar(stage: str) -> Iterator[Update]:
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn(stage),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[rate]}"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, rate="")

        def update(done: int, total: int | None) -> None:
            speed = bar.tasks[0].speed
            rate = f"{speed:.0f} pairs/s" if speed else ""
            bar.update(task, completed=done, total=total, rate=rate)

        yield update
