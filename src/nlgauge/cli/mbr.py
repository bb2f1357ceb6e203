"""nlgauge mbr and nlgauge rerank: many candidates of each input in, the best of them out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import arguments
from nlgauge.cli.output import deliver
from nlgauge.cli.study_options import asking

if TYPE_CHECKING:
    from nlgauge.data.samples import Samples
    from nlgauge.reranking import Choice

_INPUT = """The input is JSON Lines with a list `candidates` (and for rerank `references`) in each
row, or, with --samples N, a text file with the N candidates of each input on lines that follow each
other."""


class Combine(StrEnum):
    """How several metrics become one opinion."""

    RANK = "rank"
    MEAN = "mean"


class Format(StrEnum):
    """What is written of each input."""

    TEXT = "text"
    JSONL = "jsonl"


@dataclass(frozen=True, kw_only=True)
class AskedSamples:
    """Which candidates, by which metrics, and how the best of them are delivered."""

    samples: Annotated[
        str, typer.Argument(metavar="FILE", help="The candidates of every input; - is stdin.")
    ]
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--metric",
            metavar="NAME[:OPTION=VALUE,...]",
            help="Metrics [default: bertscore].",
        ),
    ] = None
    number: Annotated[
        int | None,
        typer.Option("--samples", min=1, help="Candidates of each input in a text file."),
    ] = None
    combine: Annotated[
        Combine,
        typer.Option(help="Several metrics by the mean of their ranks, or of their scores."),
    ] = Combine.RANK
    format: Annotated[
        Format, typer.Option("--format", "-f", help="The best text, or all with their order.")
    ] = Format.TEXT
    output: arguments.Output = None
    device: arguments.Device = "auto"
    batch_tokens: arguments.BatchTokens = 2048
    download: arguments.Download = False
    cache: arguments.Cache = None
    quiet: arguments.Quiet = False

    def read(self) -> Samples:
        """The candidates of every input."""
        from nlgauge.data.samples import read_samples

        return read_samples(self.samples, self.number)

    @contextmanager
    def choosing(self) -> Iterator[dict[str, Any]]:
        """The options of a conductor that chooses, with a bar that shows how far it is."""
        from nlgauge.cli.progress import progress_bar
        from nlgauge.scoring import Scorer

        runtime = arguments.make_runtime(
            self.device, self.batch_tokens, self.download, self.cache, quiet=self.quiet
        )
        metrics = self.metric or ["bertscore"]
        scorer = Scorer(metrics, runtime=runtime)
        with progress_bar(quiet=self.quiet) as progress:
            yield {"combine": self.combine.value, "scorer": scorer, "progress": progress}


@asking
def mbr_command(asked: AskedSamples) -> None:
    """Take of each input the candidate most like all the others (minimum Bayes risk)."""
    from nlgauge.reranking import mbr

    found = asked.read()
    with asked.choosing() as how:
        choices = mbr(found.candidates, **how)
    deliver(_written(found.ids, choices, asked.format), asked.output)


@asking
def rerank_command(asked: AskedSamples, references: arguments.ReferenceFiles = None) -> None:
    """Take of each input the candidate most like the references."""
    from nlgauge.reranking import rerank

    found = asked.read().with_references(references or [])
    with asked.choosing() as how:
        choices = rerank(found.candidates, found.references or (), **how)
    deliver(_written(found.ids, choices, asked.format), asked.output)


mbr_command.__doc__ = f"{mbr_command.__doc__}\n\n{_INPUT}"
rerank_command.__doc__ = f"{rerank_command.__doc__}\n\n{_INPUT}"


def _written(ids: tuple[str, ...], choices: list[Choice], format: Format) -> str:
    import json

    if format is Format.TEXT:
        return "\n".join(choice.best.replace("\n", " ") for choice in choices)
    rows: list[dict[str, Any]] = [
        {
            "id": name,
            "best": choice.best,
            "order": list(choice.order),
            "utilities": choice.utilities.tolist(),
        }
        for name, choice in zip(ids, choices, strict=True)
    ]
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
