"""nlgauge score --parts: score files of any size in parts; interrupted runs can be resumed."""

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from nlgauge.cli.arguments import option
from nlgauge.cli.option_groups import given_options
from nlgauge.cli.output import print_notes
from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from nlgauge.core.totals import CorpusScore
    from nlgauge.data.systems import InputFiles

_SECONDS_BETWEEN_LINES = 60
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # pathlib collapses the slashes
_NOT_IN_PARTS = ("segments", "idf_corpus", "paired")
_ONLY_IN_PARTS = ("part_rows", "part_format", "on_error", "engine", "workers", "address")


@dataclass(frozen=True, kw_only=True)
class PartsOptions:
    """Options of runs in parts."""

    folder: Path | None = option(
        None,
        "Read the input as a stream and write segment scores and a summary to this folder; the "
        "same command resumes an interrupted run.",
        *("--parts",),
        metavar="DIR",
    )
    part_rows: int = option(10_000, "Rows per part.", min=1)
    part_format: Literal["jsonl", "parquet"] = option("jsonl", "Format of the parts.")
    on_error: Literal["stop", "skip"] = option(
        "stop", "Stop at a row that cannot be read, or skip it and list it."
    )
    engine: Literal["local", "ray"] = option("local", "Local processes or Ray.")
    workers: int = option(1, "Number of processes or Ray actors.", min=1)
    address: str | None = option(None, "Address of a Ray cluster [default: start one here].")

    def check(self, context: typer.Context) -> None:
        """Raise an error for options that require --parts or cannot be combined with it."""
        if self.folder is None:
            for given in given_options(context, _ONLY_IN_PARTS):
                raise UsageError(f"{given} requires a folder for parts: --parts DIR")
        else:
            if _URL.match(str(self.folder)):
                raise UsageError(
                    "--parts takes a local folder, not a URL; only the input may be a URL. Mount "
                    "the bucket, or copy the folder afterwards"
                )
            for given in given_options(context, _NOT_IN_PARTS):
                raise UsageError(
                    f"{given} cannot be combined with --parts, which writes segment scores to its "
                    "folder and fits tables on the references"
                )

    def score(
        self,
        inputs: "InputFiles",
        metrics: list[str],
        *,
        quiet: bool,
        **options: Any,
    ) -> "Mapping[str, Mapping[str, CorpusScore]]":
        """Return corpus scores of the run over these files; ``options`` are those of ``Run``."""
        from nlgauge.scale.run import Run

        folder = self.folder or Path()
        run = Run(
            inputs,
            tuple(metrics),
            folder,
            segments=self.part_format,
            **{name: getattr(self, name) for name in _ONLY_IN_PARTS if name != "part_format"},
            **options,
        )
        with _counter(quiet=quiet) as count:
            result = run.execute(count, partial(_stop, quiet))
        counts = f"{result.read:,} rows read, {result.scored:,} scored"
        if result.rejected:
            counts += f", {result.rejected:,} rejected (see {folder / 'rejected.jsonl'})"
        if result.reused_parts:
            counts += f"; {result.reused_parts:,} parts reused from an earlier run"
        notes = [f"{counts}; segment scores are in {folder / 'parts'}"]
        notes += [f"{part} was damaged and has been scored again" for part in result.repaired_parts]
        print_notes(notes, quiet=quiet)
        return result.scores


def _stop(quiet: bool, repeated: bool) -> None:
    """Say what the first signal does; end the process at the second one.

    An exception might be raised in the code of any library, and be lost or printed there. Workers
    end with this process, and finished parts are kept.
    """
    if repeated:
        show_cursor = "\x1b[?25h"  # the progress bar hides it
        _print_line("nlgauge: interrupted; run the same command again to resume", show_cursor)
        os._exit(128 + signal.SIGINT)
    if not quiet:
        _print_line("note: finishing the parts in progress; a second signal ends the run at once")


def _print_line(line: str, on_terminal: str = "") -> None:
    """Print to stderr, below the progress bar; a signal may arrive in the middle of a print."""
    with suppress(OSError):  # stderr is closed, or its reader has ended, such as tee at Ctrl-C
        stderr = sys.stderr.fileno()
        before, after = ("\n", on_terminal) if os.isatty(stderr) else ("", "")
        os.write(stderr, f"{before}{line}\n{after}".encode())


@contextmanager
def _counter(*, quiet: bool) -> Iterator[Callable[[str, int], None] | None]:
    """Yield a function to call with the stage and the rows done, or None if nothing is shown."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with ExitStack() as bars:
            yield partial(_update_bar, bars, {})
    else:
        started = time.monotonic()
        yield partial(_print_minutes, started, [started])


def _update_bar(bars: ExitStack, updates: dict[str, Any], stage: str, rows: int) -> None:
    """Update the progress bar of the stage; a new stage replaces the bar of the one before."""
    from nlgauge.cli.progress import progress_bar

    if stage not in updates:
        bars.close()
        updates.clear()
        updates[stage] = bars.enter_context(progress_bar(quiet=False, stage=stage))
    if updates[stage] is not None:
        updates[stage](rows, None)


def _print_minutes(started: float, printed: list[float], stage: str, rows: int) -> None:
    """Print a line every minute, for log files; ``printed`` are the times of the lines so far."""
    now = time.monotonic()
    if now - printed[-1] >= _SECONDS_BETWEEN_LINES:
        printed.append(now)
        print_notes([f"{stage}: {rows:,} rows after {(now - started) / 60:.0f} minutes"])
