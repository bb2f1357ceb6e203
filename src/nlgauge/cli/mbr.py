"""nlgauge mbr and nlgauge rerank: the best of several candidates for each input."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from nlgauge.cli import arguments
from nlgauge.cli.option_groups import RuntimeOptions, with_option_groups
from nlgauge.cli.output import check_ending, to_json, write_text

if TYPE_CHECKING:
    from nlgauge.data.samples import Samples
    from nlgauge.reranking import Choice


_ENDINGS = {".txt": "text", ".jsonl": "jsonl"}


@dataclass(frozen=True, kw_only=True)
class SampleOptions(RuntimeOptions):
    """Candidates of every input, metrics, and how the best are written."""

    samples: Annotated[
        str, typer.Argument(metavar="FILE", help="Candidates of every input; - reads stdin.")
    ]
    metric: arguments.EmbeddingMetrics = None
    number: Annotated[
        int | None,
        typer.Option("--samples", min=1, help="Candidates per input in a text file."),
    ] = None
    combine: Annotated[
        Literal["rank", "mean"],
        typer.Option(help="Combine several metrics by mean rank or by mean score."),
    ] = "rank"
    format: Annotated[
        Literal["text", "jsonl"] | None,
        typer.Option(
            "--format",
            "-f",
            help="text: the best candidate; jsonl: all candidates with their order "
            "[default: by the ending of -o, else text].",
        ),
    ] = None
    output: arguments.Output = None

    def __post_init__(self) -> None:
        """Raise an error for an output file whose format is not known."""
        if self.output is not None and self.output.suffix and self.format is None:
            check_ending(self.output, _ENDINGS, "; or choose a format with -f")

    def read(self) -> Samples:
        """Return the candidates of every input."""
        from nlgauge.data.samples import read_samples

        return read_samples(self.samples, self.number)

    @contextmanager
    def choosing(self) -> Iterator[dict[str, Any]]:
        """Show a progress bar, and yield the arguments of ``mbr`` and ``rerank``."""
        from nlgauge.scoring import Scorer

        with self.running() as running:
            yield {
                "combine": self.combine,
                "scorer": Scorer(self.metric or ["bertscore"], runtime=running["runtime"]),
                "progress": running["progress"],
            }

    def write(self, ids: tuple[str, ...], choices: list[Choice]) -> None:
        """Write the best candidates."""
        ending = _ENDINGS.get(self.output.suffix) if self.output else None
        if (self.format or ending or "text") == "text":
            lines = [choice.best.replace("\n", " ") for choice in choices]
        else:
            lines = [
                to_json(
                    {
                        "id": name,
                        "best": choice.best,
                        "order": choice.order,
                        "utilities": choice.utilities,
                    }
                )
                for name, choice in zip(ids, choices, strict=True)
            ]
        write_text("\n".join(lines), self.output)


@with_option_groups
def mbr_command(options: SampleOptions) -> None:
    """Choose the candidate most similar to the others (minimum Bayes risk).

    FILE is JSON Lines with a list `candidates` in each row, or, with --samples N, a text file with
    the N candidates of each input on consecutive lines.
    """
    from nlgauge.reranking import mbr

    samples = options.read()
    with options.choosing() as arguments:
        choices = mbr(samples.candidates, **arguments)
    options.write(samples.ids, choices)


@with_option_groups
def rerank_command(options: SampleOptions, references: arguments.ReferenceFiles = None) -> None:
    """Choose the candidate most similar to the references.

    FILE is JSON Lines with the lists `candidates` and `references` in each row, or, with --samples
    N, a text file with the N candidates of each input on consecutive lines.
    """
    from nlgauge.reranking import rerank

    samples = options.read().with_references(references or [])
    with options.choosing() as arguments:
        choices = rerank(samples.candidates, samples.references or (), **arguments)
    options.write(samples.ids, choices)
