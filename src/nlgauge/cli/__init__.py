"""The command line: one file per verb, no arithmetic.

Numbers go to stdout, talk to stderr. Exit codes: 0 done, 1 the data or a model is at fault,
2 the call is, 130 interrupted.
"""

from __future__ import annotations

import os
import sys

import typer

from nlgauge.cli import compare, correlate, matrix, metrics, reproduce, score, show, williams
from nlgauge.core.errors import NlgaugeError

# `-c a.txt b.txt` reads naturally, but the parser wants `-c a.txt -c b.txt`.
_REPEATABLE = {
    "-c": "-c",
    "--candidates": "-c",
    "--hypotheses": "-c",
    "--predictions": "-c",
    "-r": "-r",
    "--references": "-r",
    "-m": "-m",
    "--metric": "-m",
    "--metrics": "-m",
}

app = typer.Typer(
    name="nlgauge",
    help="Score generated text against references, and metrics against human judgement.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("score")(score.score_command)
app.command("show")(show.show_command)
app.command("compare")(compare.compare_command)
app.command("correlate")(correlate.correlate_command)
app.command("matrix")(matrix.matrix_command)
app.command("williams")(williams.williams_command)
app.command("reproduce")(reproduce.reproduce_command)
app.command("metrics")(metrics.metrics_command)


@app.callback(invoke_without_command=True)
def _top(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    if version:
        from importlib.metadata import version as installed  # noqa: PLC0415

        print(f"nlgauge {installed('nlgauge')}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command and end the process with its exit code."""
    words = _spread(sys.argv[1:] if arguments is None else arguments)
    try:
        app(words, prog_name="nlgauge")
    except NlgaugeError as error:
        print(f"nlgauge: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:  # the reader of our output, such as head, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        print("nlgauge: interrupted", file=sys.stderr)
        sys.exit(130)


def _spread(words: list[str]) -> list[str]:
    """The words with ``-c a b`` written out as ``-c a -c b``."""
    spread: list[str] = []
    current: str | None = None
    for word in words:
        if word in _REPEATABLE:
            current = _REPEATABLE[word]
        elif word.startswith("-") and word != "-":
            current = None
            spread.append(word)
        elif current is not None:
            spread += [current, word]
        else:
            spread.append(word)
    return spread
