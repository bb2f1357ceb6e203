"""One progress bar on stderr, silent where stderr is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(
    *, quiet: bool, doing: str = "scoring"
) -> Iterator[Callable[[int, int | None], None] | None]:
    """A function to call with (done, total or None), or None where nothing should be shown."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
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
