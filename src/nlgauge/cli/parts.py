"""nlgauge score --parts: files of any size scored part by part into a folder, and resumed."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from nlgauge.cli.arguments import count_option
from nlgauge.cli.option_groups import given_options
from nlgauge.cli.output import print_notes
from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from nlgauge.core.totals import CorpusScore

_SECONDS_BETWEEN_LINES = 60
_NOT_IN_PARTS = ("segments", "idf_corpus", "paired")
_ONLY_IN_PARTS = ("part_rows", "part_format", "on_error", "engine", "workers", "address")


@dataclass(frozen=True, kw_only=True)
class PartsOptions:
    """How files of any size are scored part by part."""

    folder: Annotated[
        Path | None,
        typer.Option(
            "--parts",
            metavar="DIR",
            help="Read the input as a stream and write segment scores and a summary to this "
            "folder; the same command resumes an interrupted run.",
        ),
    ] = None
    part_rows: Annotated[int, typer.Option(min=1, help="Rows per part.")] = 10_000
    part_format: Annotated[
        Literal["jsonl", "parquet"], typer.Option(help="Format of the parts.")
    ] = "jsonl"
    on_error: Annotated[
        Literal["stop", "skip"],
        typer.Option(help="Stop at a row that cannot be read, or skip it and list it."),
    ] = "stop"
    engine: Annotated[Literal["local", "ray"], typer.Option(help="Local processes or Ray.")] = (
        "local"
    )
    workers: Annotated[int, count_option("processes or Ray actors")] = 1
    address: Annotated[
        str | None, typer.Option(help="Address of a Ray cluster [default: start one here].")
    ] = None

    def check(self, context: typer.Context) -> None:
        """Raise an error for options that do not go with --parts, or need it."""
        if self.folder is None:
            for option in given_options(context, _ONLY_IN_PARTS):
                raise UsageError(f"{option} requires a folder for parts: --parts DIR")
        else:
            for option in given_options(context, _NOT_IN_PARTS):
                raise UsageError(
                    f"{option} cannot be combined with --parts, which writes segment scores to its "
                    "folder and fits tables on the references"
                )

    def score(
        self,
        candidates: list[str],
        references: list[str],
        metrics: list[str],
        *,
        wanted: str | None,
        quiet: bool,
        **options: Any,
    ) -> "Mapping[str, Mapping[str, CorpusScore]]":
        """Return corpus scores of the run over these files; ``options`` are those of ``Run``."""
        from nlgauge.data.systems import InputFiles
        from nlgauge.scale.run import Run

        folder = self.folder or Path()
        run = Run(
            InputFiles(candidates, references, wanted),
            tuple(metrics),
            folder,
            part_rows=self.part_rows,
            segments=self.part_format,
            on_error=self.on_error,
            engine=self.engine,
            workers=self.workers,
            address=self.address,
            **options,
        )
        with _counter(quiet=quiet) as count:
            result = run.execute(count, None if quiet else _print_interrupted)
        counts = f"{result.read:,} rows read, {result.scored:,} scored"
        if result.rejected:
            counts += f", {result.rejected:,} rejected (see {folder / 'rejected.jsonl'})"
        if result.reused_parts:
            counts += f"; {result.reused_parts:,} parts reused from an earlier run"
        damaged = [
            f"{name} was damaged and has been scored again" for name in result.repaired_parts
        ]
        print_notes([f"{counts}; segment scores are in {folder / 'parts'}", *damaged], quiet=quiet)
        return result.scores


def _print_interrupted() -> None:
    note = "\nnote: finishing the parts in progress; a second signal ends the run at once\n"
    os.write(2, note.encode())  # a signal may arrive in the middle of a print


@contextmanager
def _counter(*, quiet: bool) -> Iterator[Callable[[str, int], None] | None]:
    """Yield a function to call with the stage and the rows done; None to show nothing."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with ExitStack() as bars:
            yield partial(_update_bar, bars, {})
    else:
        begun = time.monotonic()
        yield partial(_print_minutes, begun, [begun])


def _update_bar(bars: ExitStack, updates: dict[str, Any], stage: str, rows: int) -> None:
    """Update the progress bar of the stage; a new stage replaces the bar of the one before."""
    from nlgauge.cli.progress import progress_bar

    if stage not in updates:
        bars.close()
        updates.clear()
        updates[stage] = bars.enter_context(progress_bar(quiet=False, doing=stage))
    if updates[stage] is not None:
        updates[stage](rows, None)


def _print_minutes(begun: float, printed: list[float], stage: str, rows: int) -> None:
    """Print a line every minute, for log files; ``printed`` are the times of the lines."""
    now = time.monotonic()
    if now - printed[-1] >= _SECONDS_BETWEEN_LINES:
        printed.append(now)
        print_notes([f"{stage}: {rows:,} rows after {(now - begun) / 60:.0f} minutes"])
