"""nlgauge score --parts: files of any size scored part by part into a folder, and resumed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from nlgauge.core.totals import Tally
    from nlgauge.scale.run import Run

_PANEL = "Files of any size"
_SECONDS_BETWEEN_LINES = 60


class PartFormat(StrEnum):
    """How segment scores are written."""

    JSONL = "jsonl"
    PARQUET = "parquet"


class OnError(StrEnum):
    """What becomes of a run when a row cannot be read."""

    STOP = "stop"
    SKIP = "skip"


class EngineName(StrEnum):
    """Who does the work."""

    LOCAL = "local"
    RAY = "ray"


Parts = Annotated[
    Path | None,
    typer.Option(
        "--parts",
        metavar="DIR",
        help="Read as a stream, write scores of segments and a summary to this folder; "
        "the same command resumes a run that was broken off.",
        rich_help_panel=_PANEL,
    ),
]
PartRows = Annotated[int, typer.Option(min=1, help="Rows of a part.", rich_help_panel=_PANEL)]
Written = Annotated[PartFormat, typer.Option("--part-format", rich_help_panel=_PANEL)]
Errors = Annotated[
    OnError,
    typer.Option(
        "--on-error",
        help="Stop at a row that cannot be read, or skip and list it.",
        rich_help_panel=_PANEL,
    ),
]
Engine = Annotated[EngineName, typer.Option("--engine", rich_help_panel=_PANEL)]
Workers = Annotated[int, typer.Option(min=1, help="Processes or actors.", rich_help_panel=_PANEL)]
Address = Annotated[
    str | None,
    typer.Option(help="Of a Ray cluster [default: one is started here].", rich_help_panel=_PANEL),
]


def plan(
    candidates: list[str],
    references: list[str],
    metrics: list[str],
    folder: Path,
    *,
    wanted: str | None,
    **options: Any,
) -> Run:
    """The run over these files; ``options`` are those of ``Run``."""
    from nlgauge.data.streams import Sources
    from nlgauge.scale.run import Run

    sources = Sources.of(candidates, references, wanted=wanted)
    return Run(sources, tuple(metrics), folder, **options)


def go(run: Run, *, quiet: bool) -> Mapping[str, Mapping[str, Tally]]:
    """Corpus scores of the run, with a count of rows on the way and a word on what it left."""
    with _counter(quiet=quiet) as told:
        outcome = run.go(told, None if quiet else _say_heard)
    if not quiet:
        counts = f"{outcome.read:,} rows read, {outcome.scored:,} scored"
        if outcome.rejected:
            counts += f", {outcome.rejected:,} rejected (see {run.folder / 'rejected.jsonl'})"
        if outcome.kept:
            counts += f"; {outcome.kept:,} parts were done before"
        print(f"note: {counts}; scores of segments are in {run.folder / 'parts'}", file=sys.stderr)
        for name in outcome.redone:
            print(f"note: {name} was damaged and has been scored again", file=sys.stderr)
    return outcome.board


def _say_heard() -> None:
    words = "\nnote: finishing the parts under way; a second signal ends the run at once\n"
    os.write(2, words.encode())  # a signal may come in the middle of a print


def refuse_together(given: Mapping[str, bool]) -> None:
    """Refuse options that a run in parts has no use for."""
    from nlgauge.core.errors import UsageError

    for flag, there in given.items():
        if there:
            raise UsageError(
                f"{flag} does not go with --parts, which keeps the scores of segments in its "
                "folder and fits tables on the references"
            )


_ONLY_IN_PARTS = ("part_rows", "part_format", "on_error", "engine", "workers", "address")


def refuse_alone(context: typer.Context) -> None:
    """Refuse options of a run in parts where no folder for parts is named."""
    from nlgauge.core.errors import UsageError

    for name in _ONLY_IN_PARTS:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            flag = "--" + name.replace("_", "-")
            raise UsageError(f"{flag} is for runs in parts; name a folder for them: --parts DIR")


@contextmanager
def _counter(*, quiet: bool) -> Iterator[Callable[[str, int], None] | None]:
    """A function to call with what is done and for how many rows; None to show nothing."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with ExitStack() as stack:
            yield _Bars(stack)
    else:
        yield _Lines()


class _Bars:
    """A bar for every stage."""

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
    """A line now and then, for the logs of long runs that nobody watches."""

    def __init__(self) -> None:
        self._begun = self._said = time.monotonic()

    def __call__(self, stage: str, rows: int) -> None:
        now = time.monotonic()
        if now - self._said >= _SECONDS_BETWEEN_LINES:
            self._said = now
            minutes = (now - self._begun) / 60
            print(f"note: {stage}: {rows:,} rows after {minutes:.0f} minutes", file=sys.stderr)
