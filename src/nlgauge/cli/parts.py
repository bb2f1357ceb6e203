"""nlgauge score --parts: scores files of any size part by part into a folder, and resumes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from nlgauge.core.totals import Tally
    from nlgauge.scale.run import Run

_SECONDS_BETWEEN_LINES = 60


class PartFormat(StrEnum):
    """File format of segment scores."""

    JSONL = "jsonl"
    PARQUET = "parquet"


class OnError(StrEnum):
    """Reaction to a row that cannot be read."""

    STOP = "stop"
    SKIP = "skip"


class EngineName(StrEnum):
    """Kind of workers."""

    LOCAL = "local"
    RAY = "ray"


_option = partial(typer.Option, rich_help_panel="Files of any size")
Parts = Annotated[
    Path | None,
    _option(
        "--parts",
        metavar="DIR",
        help="Read the input as a stream and write segment scores and a summary to this folder; "
        "the same command resumes an interrupted run.",
    ),
]
PartRows = Annotated[int, _option(min=1, help="Rows per part.")]
Written = Annotated[PartFormat, _option("--part-format", help="File format of segment scores.")]
Errors = Annotated[
    OnError, _option("--on-error", help="Stop at a row that cannot be read, or skip and list it.")
]
Engine = Annotated[EngineName, _option("--engine", help="Worker processes or Ray actors.")]
Workers = Annotated[int, _option(min=1, help="Number of worker processes or Ray actors.")]
Address = Annotated[
    str | None, _option(help="Address of a Ray cluster [default: start one on this machine].")
]


def make_run(
    candidates: list[str],
    references: list[str],
    metrics: list[str],
    folder: Path,
    *,
    wanted: str | None,
    **options: Any,
) -> Run:
    """Return the run over these files; ``options`` are those of ``Run``."""
    from nlgauge.data.systems import InputFiles
    from nlgauge.scale.run import Run

    inputs = InputFiles(candidates, references, wanted)
    return Run(inputs, tuple(metrics), folder, **options)


def execute(run: Run, *, quiet: bool) -> Mapping[str, Mapping[str, Tally]]:
    """Execute the run with progress on stderr and return its corpus scores."""
    with _progress(quiet=quiet) as progress:
        result = run.execute(progress, None if quiet else _confirm_signal)
    if not quiet:
        counts = f"{result.read:,} rows read, {result.scored:,} scored"
        if result.rejected:
            counts += f", {result.rejected:,} rejected (see {run.folder / 'rejected.jsonl'})"
        if result.reused_parts:
            counts += f"; {result.reused_parts:,} parts reused from an earlier run"
        print(f"note: {counts}; segment scores are in {run.folder / 'parts'}", file=sys.stderr)
        for name in result.repaired_parts:
            print(f"note: {name} was damaged and has been scored again", file=sys.stderr)
    return result.scores


def _confirm_signal() -> None:
    message = "\nnote: finishing the parts in progress; a second signal ends the run at once\n"
    os.write(2, message.encode())  # a signal may arrive in the middle of a print


def check_compatible(given: Mapping[str, bool]) -> None:
    """Raise if an option is given that does not work with --parts."""
    from nlgauge.core.errors import UsageError

    for flag, is_given in given.items():
        if is_given:
            raise UsageError(
                f"{flag} cannot be combined with --parts, which writes segment scores to its "
                "folder and fits tables on the references"
            )


def check_parts_given(context: typer.Context) -> None:
    """Raise if an option is given that requires --parts."""
    from nlgauge.core.errors import UsageError

    for name in ("part_rows", "part_format", "on_error", "engine", "workers", "address"):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            flag = "--" + name.replace("_", "-")
            raise UsageError(f"{flag} requires a folder for parts: --parts DIR")


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[str, int], None] | None]:
    """Yield a function to call with the stage and its rows done, or None if quiet."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with ExitStack() as stack:
            yield _Bars(stack)
    else:
        yield _Lines()


class _Bars:
    """A progress bar for each stage."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._stage = ""
        self._bar: Callable[[int, int | None], None] | None = None

    def __call__(self, stage: str, rows: int) -> None:
        from nlgauge.cli.progress import progress_bar

        if stage != self._stage:
            self._stack.close()
            self._stage = stage
            self._bar = self._stack.enter_context(progress_bar(quiet=False, doing=stage))
        if self._bar is not None:
            self._bar(rows, None)


class _Lines:
    """A line from time to time, for log files."""

    def __init__(self) -> None:
        self._start = self._last = time.monotonic()

    def __call__(self, stage: str, rows: int) -> None:
        now = time.monotonic()
        if now - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = now
            minutes = (now - self._start) / 60
            print(f"note: {stage}: {rows:,} rows after {minutes:.0f} minutes", file=sys.stderr)
