"""What is said on stderr while work goes on: one progress bar on a terminal, and notes."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tell = Callable[[int, int | None], None]


@contextmanager
def progress_bar(*, quiet: bool, doing: str = "scoring") -> Iterator[Tell | None]:
    """A function to call with (done, total or None), or None where no bar should be shown."""
    if quiet:
        yield None
        return
    with _notes(), _bar(doing) as tell:
        yield tell


@contextmanager
def _notes() -> Iterator[None]:
    """Show what the library reports of its work."""
    log, notes = logging.getLogger("nlgauge"), _Notes(logging.INFO)
    before = log.level
    log.addHandler(notes)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(before)
        log.removeHandler(notes)


class _Notes(logging.Handler):
    """Looks stderr up for each note, because a bar that is shown puts itself in its place."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print it as other notes are."""
        print(f"note: {record.getMessage()}", file=sys.stderr)


@contextmanager
def _bar(doing: str) -> Iterator[Tell | None]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(doing),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, pace="")

        def tell(done: int, total: int | None) -> None:
            speed = bar.tasks[0].speed
            pace = f"{speed:.0f} pairs/s" if speed else ""
            bar.update(task, completed=done, total=total, pace=pace)

        yield tell
