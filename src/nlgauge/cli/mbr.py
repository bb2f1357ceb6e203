"""nlgauge mbr and nlgauge rerank: the best of several candidates for each input."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nlgauge.cli import arguments
from nlgauge.cli.arguments import argument, option
from nlgauge.cli.option_groups import RuntimeOptions, with_option_groups
from nlgauge.cli.output import check_output, to_json, write_text
from nlgauge.cli.progress import progress_bar

if TYPE_CHECKING:
    from nlgauge.data.samples import Samples
    from nlgauge.reranking import Choice


_ENDINGS = {".txt": "text", ".jsonl": "jsonl"}


@dataclass(frozen=True, kw_only=True)
class SampleOptions(RuntimeOptions):
    """Candidates of every input, metrics, and how the best are written."""

    samples: str = argument(..., "FILE", "Candidates of every input; - reads stdin.")
    metric: list[str] | None = arguments.EMBEDDING_METRICS
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
        """Raise an error for an output file whose format is not known."""
        check_output(self.output, self.format, _ENDINGS)

    def read(self) -> "Samples":
        """Return the candidates of every input."""
        from nlgauge.data.samples import read_samples

        return read_samples(self.samples, self.number)

    def choose(
        self, choose: "Callable[..., list[Choice]]", ids: Sequence[str], *texts: Any
    ) -> None:
        """Choose with ``mbr`` or ``rerank``, and write the choices."""
        from nlgauge.scoring import Scorer

        scorer = Scorer(self.metric or ["bertscore"], runtime=self.runtime)
        with progress_bar(quiet=self.quiet) as progress:
            choices = choose(*texts, combine=self.combine, scorer=scorer, progress=progress)
        ending = _ENDINGS.get(self.output.suffix) if self.output else None
        if (self.format or ending or "text") == "text":
            lines = [choice.best.replace("\n", " ") for choice in choices]
        else:
            fields = ("best", "order", "utilities")
            lines = [
                to_json({"id": name, **{field: getattr(each, field) for field in fields}})
                for name, each in zip(ids, choices, strict=True)
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
    options.choose(mbr, samples.ids, samples.candidates)


@with_option_groups
def rerank_command(
    options: SampleOptions, references: list[str] | None = arguments.REFERENCES
) -> None:
    """Choose the candidate most similar to the references.

    FILE is JSON Lines with the lists `candidates` and `references` in each row, or, with --samples
    N, a text file with the N candidates of each input on consecutive lines.
    """
    from nlgauge.reranking import rerank

    samples = options.read().with_references(references or [])
    options.choose(rerank, samples.ids, samples.candidates, samples.references or ())
