"""nlgauge mbr and nlgauge rerank: the best of several candidates for each input."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nlgauge.cli import arguments
from nlgauge.cli.arguments import argument, option
from nlgauge.cli.option_groups import RuntimeOptions, with_option_groups
from nlgauge.cli.output import check_output, to_json, write_text

if TYPE_CHECKING:
    from nlgauge.data.samples import Samples
    from nlgauge.reranking import Choice


_ENDINGS = {".txt": "text", ".jsonl": "jsonl"}


@dataclass(frozen=True, kw_only=True)
class SampleOptions(RuntimeOptions):
    """Candidates of every input, metrics, and how the best are written."""

    samples: str = argument(..., "FILE", "Candidates of every input; - reads stdin.")
    metric: list[str] | None = arguments.EMBEDDING_METRICS
    sources: str | None = arguments.SOURCES
    columns: list[str] | None = arguments.option(
        None,
        "Names of the columns, such as candidates=nbest,reference=ref.",
        metavar="ROLE=COLUMN,...",
    )
    number: int | None = option(None, "Candidates per input in a text file.", "--samples", min=1)
    combine: Literal["rank", "mean"] = option(
        "rank", "Combine several metrics by mean rank or by mean score."
    )
    format: Literal["text", "jsonl"] | None = option(
        None,
        "text: the best candidate; jsonl: all candidates with their order "
        "[default: by the ending of -o, else text].",
        *("--format", "-f"),
    )
    output: Path | None = arguments.OUTPUT

    def __post_init__(self) -> None:
        """Raise an error if the format of the output file is unknown."""
        check_output(self.output, self.format, _ENDINGS)

    def read(self) -> "Samples":
        """Return the candidates of every input."""
        from nlgauge.data.samples import read_samples

        samples = read_samples(self.samples, self.number, columns=self.columns)
        return samples.with_sources(self.sources)

    def choose(
        self, choose: "Callable[..., list[Choice]]", samples: "Samples", *references: Any
    ) -> None:
        """Choose with ``mbr`` or ``rerank``, and write the choices."""
        given: dict[str, Any] = {"sources": samples.sources, "combine": self.combine}
        given["metrics"] = self.metric or ["bertscore"]
        with self.running() as running:
            choices = choose(samples.candidates, *references, **given, **running)
        ending = _ENDINGS.get(self.output.suffix) if self.output else None
        if (self.format or ending or "text") == "text":
            lines = [choice.best.replace("\n", " ") for choice in choices]
        else:
            fields = ("best", "order", "utilities")
            lines = [
                to_json({"id": name, **{field: getattr(each, field) for field in fields}})
                for name, each in zip(samples.ids, choices, strict=True)
            ]
        write_text("\n".join(lines), self.output)


@with_option_groups
def mbr_command(options: SampleOptions) -> None:
    """Choose the candidate most similar to the others (MBR).

    This is minimum Bayes risk decoding with a metric as the utility. Several metrics are combined
    by rank.

    FILE is JSON Lines or a JSON list; each row has a list `candidates` and optionally a `source`.
    With --samples N, it is a text file with the N candidates of each input on consecutive lines.
    """
    from nlgauge.reranking import mbr

    options.choose(mbr, options.read())


@with_option_groups
def rerank_command(
    options: SampleOptions, references: list[str] | None = arguments.REFERENCES
) -> None:
    """Choose the candidate most similar to the references.

    FILE is JSON Lines or a JSON list; each row has the lists `candidates` and `references` and
    optionally a `source`. With --samples N, it is a text file with the N candidates of each input
    on consecutive lines.
    """
    from nlgauge.reranking import rerank

    samples = options.read().with_references(references or [])
    options.choose(rerank, samples, samples.references or ())
