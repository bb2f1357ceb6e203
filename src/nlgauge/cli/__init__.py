"""The command line: one file per verb, no arithmetic.

Numbers go to stdout, talk to stderr. Exit codes: 0 done, 1 the data or a model is at fault,
2 the call is, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import warnings

import typer

from nlgauge.cli import (
    cache,
    compare,
    correlate,
    darr,
    explain,
    layers,
    matrix,
    mbr,
    metrics,
    permutation,
    reproduce,
    rescale,
    score,
    serve,
    show,
    sweep,
    verify,
    williams,
)
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
    "--scores": "--scores",
    "--distances": "--distances",
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
app.command("permutation")(permutation.permutation_command)
app.command("darr")(darr.darr_command)
app.command("sweep")(sweep.sweep_command)
app.command("reproduce")(reproduce.reproduce_command)
app.command("metrics")(metrics.metrics_command)
app.command("mbr")(mbr.mbr_command)
app.command("rerank")(mbr.rerank_command)
app.command("explain")(explain.explain_command)
app.command("verify")(verify.verify_command)
app.command("serve")(serve.serve_command)
app.add_typer(rescale.app, name="rescale")
app.add_typer(layers.app, name="layers")
app.add_typer(cache.app, name="cache")


@app.callback(invoke_without_command=True)
def _top(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    if version:
        from importlib.metadata import version as installed

        print(f"nlgauge {installed('nlgauge')}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command and end the process with its exit code."""
    words = _spread(sys.argv[1:] if arguments is None else arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _note
            app(words, prog_name="nlgauge")
    except NlgaugeError as error:
        print(f"nlgauge: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:  # the reader of our output, such as head, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        print(
            "nlgauge: out of memory; score in parts (--parts DIR, smaller --part-rows), with "
            "smaller batches (--batch-tokens) or fewer metrics at a time",
            file=sys.stderr,
        )
        sys.exit(1)
    except KeyboardInterrupt:
        print("nlgauge: interrupted", file=sys.stderr)
        sys.exit(130)


def _note(message: Warning | str, *_: object, **__: object) -> None:
    """Say a warning as the notes of all verbs are said."""
    print(f"note: {message}", file=sys.stderr)


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
