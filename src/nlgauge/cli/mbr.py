"""nlgauge mbr and nlgauge rerank: many candidates of each input in, the best of them out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import arguments
from nlgauge.cli.delivery import deliver

if TYPE_CHECKING:
    from nlgauge.choosing import Choice

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


Samples = Annotated[
    str, typer.Argument(metavar="FILE", help="The candidates of every input; - is stdin.")
]
Number = Annotated[
    int | None, typer.Option("--samples", min=1, help="Candidates of each input in a text file.")
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "-m", "--metric", metavar="NAME[:OPTION=VALUE,...]", help="Metrics [default: bertscore]."
    ),
]
Combined = Annotated[
    Combine, typer.Option(help="Several metrics by the mean of their ranks, or of their scores.")
]
Chosen = Annotated[
    Format, typer.Option("--format", "-f", help="The best text, or all with their order.")
]


def mbr_command(
    samples: Samples,
    metric: Metrics = None,
    number: Number = None,
    combine: Combined = Combine.RANK,
    format: Chosen = Format.TEXT,
    output: arguments.Output = None,
    device: arguments.Device = "auto",
    batch_tokens: arguments.BatchTokens = 2048,
    download: arguments.Download = False,
    cache: arguments.Cache = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Take of each input the candidate most like all the others (minimum Bayes risk)."""
    from nlgauge.choosing import mbr  # noqa: PLC0415
    from nlgauge.data.samples import read_samples  # noqa: PLC0415

    arguments.use_cache(cache, quiet=quiet)
    found = read_samples(samples, number)
    with _scoring(metric, device, batch_tokens, download=download, quiet=quiet) as how:
        choices = mbr(found.candidates, combine=combine.value, **how)
    deliver(_written(found.ids, choices, format), output)


def rerank_command(
    samples: Samples,
    references: arguments.ReferenceFiles = None,
    metric: Metrics = None,
    number: Number = None,
    combine: Combined = Combine.RANK,
    format: Chosen = Format.TEXT,
    output: arguments.Output = None,
    device: arguments.Device = "auto",
    batch_tokens: arguments.BatchTokens = 2048,
    download: arguments.Download = False,
    cache: arguments.Cache = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Take of each input the candidate most like the references."""
    from nlgauge.choosing import rerank  # noqa: PLC0415
    from nlgauge.data.samples import read_samples  # noqa: PLC0415

    arguments.use_cache(cache, quiet=quiet)
    found = read_samples(samples, number).with_references(references or [])
    with _scoring(metric, device, batch_tokens, download=download, quiet=quiet) as how:
        choices = rerank(found.candidates, found.references or (), combine=combine.value, **how)
    deliver(_written(found.ids, choices, format), output)


mbr_command.__doc__ = f"{mbr_command.__doc__}\n\n{_INPUT}"
rerank_command.__doc__ = f"{rerank_command.__doc__}\n\n{_INPUT}"


@contextmanager
def _scoring(
    metrics: list[str] | None, device: str, batch_tokens: int, *, download: bool, quiet: bool
) -> Iterator[dict[str, Any]]:
    """The scorer of the metrics, and a bar that shows how far it is."""
    from nlgauge.cli.progress import progress_bar  # noqa: PLC0415
    from nlgauge.scoring import Scorer  # noqa: PLC0415

    if download:
        os.environ["NLGAUGE_DOWNLOAD"] = "1"
    scorer = Scorer(metrics or ["bertscore"], device=device, batch_tokens=batch_tokens)
    with progress_bar(quiet=quiet) as progress:
        yield {"scorer": scorer, "progress": progress}


def _written(ids: tuple[str, ...], choices: list[Choice], format: Format) -> str:
    import json  # noqa: PLC0415

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
