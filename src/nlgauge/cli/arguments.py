"""Arguments that several verbs take, each written down once."""

from __future__ import annotations

import warnings
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from nlgauge.runtime import Runtime


class Test(StrEnum):
    """The paired tests of systems."""

    BOOTSTRAP = "bootstrap"
    RANDOMISATION = "randomisation"


Candidates = Annotated[
    list[str],
    typer.Option(
        "-c",
        "--candidates",
        "--hypotheses",
        "--predictions",
        metavar="FILE...",
        help="Candidate texts, one file per system; - is stdin.",
    ),
]
ReferenceFiles = Annotated[
    list[str] | None,
    typer.Option("-r", "--references", metavar="FILE...", help="References, one file per set."),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "-m", "--metric", metavar="NAME[:OPTION=VALUE,...]", help="Metrics [default: bleu]."
    ),
]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write to a file instead of stdout.")
]
Language = Annotated[
    str | None,
    typer.Option(
        "--lang",
        metavar="CODE",
        help="Language of the texts, as zh or ja: tokenizers, models and prices that suit it.",
    ),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps.")]
BatchTokens = Annotated[
    int,
    typer.Option(min=1, help="Tokens in a batch of the encoder at most; a processor takes 768."),
]
Download = Annotated[
    bool, typer.Option("--download", help="Allow models to be fetched from their hub.")
]
Cache = Annotated[
    str | None,
    typer.Option(
        "--cache",
        metavar="DIR",
        help="Keep embeddings in this folder between runs [default: NLGAUGE_CACHE, else none].",
    ),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress, no notes.")]


def make_runtime(
    device: str = "auto",
    batch_tokens: int = 2048,
    download: bool = False,
    cache: str | None = None,
    lang: str | None = None,
    *,
    quiet: bool,
) -> Runtime:
    """Return the runtime settings that a command's options name; `quiet` hides warnings."""
    if quiet:
        warnings.simplefilter("ignore", UserWarning)
    return Runtime(device, batch_tokens, None, cache, download or None, lang)
