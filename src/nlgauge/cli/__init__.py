"""The command line interface: it reads arguments and files, calls the library and prints results.

Results go to stdout, notes to stderr. Exit codes: 0 success, 1 error in the data or a model,
2 error in the call, 130 interrupted.
"""

import errno
import io
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import typer
from typer.core import TyperGroup

from nlgauge.cli import (
    cache,
    card,
    compare,
    correlate,
    darr,
    interpret,
    judge,
    matrix,
    mbr,
    metrics,
    models,
    plan,
    reproduce,
    rescale,
    score,
    serve,
    show,
    signatures,
    spans,
    submission,
    tuning,
)
from nlgauge.cli.completion import repeat_metric_flag
from nlgauge.cli.output import print_message, print_notes
from nlgauge.core.errors import NlgaugeError

# `-c a.txt b.txt` is allowed, but the parser needs `-c a.txt -c b.txt`.
_REPEATABLE = {
    **dict.fromkeys(("-c", "--candidates", "--hypotheses", "--predictions"), "-c"),
    **dict.fromkeys(("-r", "--references"), "-r"),
    **dict.fromkeys(("-m", "--metric", "--metrics"), "-m"),
    **{name: name for name in ("--scores", "--distances", "--difference", "--sizes")},
}
_REPEATABLE_BY_COMMAND = {  # in other commands a file may follow --columns
    "judge": {"--human": "--human", "--own": "--own"},
    "score": {"--columns": "--columns"},
}
_NEGATIVE = re.compile(r"-\.?\d.*")
_INTERRUPTED = 130
_LONGEST_SUMMARY = 80  # characters; longer than the terminal, it continues on the next line
_CANNOT_WRITE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


class _SectionedHelp(TyperGroup):
    """Lists the commands of ``nlgauge --help`` in the sections of ``_COMMANDS``."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands: dict[str, Any] = dict(self.commands)
        width = max(map(len, commands))
        rows: dict[str, list[tuple[str, str]]] = {}
        for name, command in commands.items():
            row = name.ljust(width), command.get_short_help_str(_LONGEST_SUMMARY)
            rows.setdefault(command.rich_help_panel, []).append(row)
        for title in _COMMANDS:
            with formatter.section(title):
                formatter.write_dl(rows[title])


_COMMANDS: dict[str, tuple[typer.Typer | Callable[..., None], ...]] = {
    "Score texts": (
        *(score.score_command, show.show_command, mbr.mbr_command, mbr.rerank_command),
        *(signatures.verify_command, signatures.explain_command),
    ),
    "Compare systems": (compare.compare_command, plan.app, interpret.interpret_command),
    "Evaluate metrics and judges": (
        *(correlate.correlate_command, darr.darr_command, spans.spans_command),
        *(matrix.matrix_command, matrix.williams_command, matrix.permutation_command),
        *(tuning.tune_command, card.card_command, judge.judge_command),
        *(reproduce.reproduce_command, submission.submission_command),
    ),
    "Metrics, models and cache": (metrics.metrics_command, models.app, rescale.app, cache.app),
    "Web service": (serve.serve_command,),
}

app = typer.Typer(
    name="nlgauge",
    cls=_SectionedHelp,
    help="Score generated text, and evaluate metrics against human judgements.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _title, _commands in _COMMANDS.items():
    for _command in _commands:
        if isinstance(_command, typer.Typer):
            app.add_typer(_command, rich_help_panel=_title)
        else:
            _name = _command.__name__.removesuffix("_command")
            app.command(_name, rich_help_panel=_title)(_command)


@app.callback(invoke_without_command=True)
def _print_version(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        from importlib.metadata import version as installed

        print(f"nlgauge {installed('nlgauge')}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command and end the process with its exit code."""
    try:
        _run_command(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # also while the message of an error is printed
        _fail("interrupted", _INTERRUPTED)


def _run_command(words: list[str]) -> None:
    """Run the command, and end the process with its exit code and the message of its error."""
    words = _repeat_flags(words)
    if "_NLGAUGE_COMPLETE" in os.environ:
        repeat_metric_flag(os.environ)
    sys.stdout = sys.stdout or io.StringIO()  # None if the caller has closed it
    sys.stderr = sys.stderr or io.StringIO()
    try:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = partial(_print_warning, warnings.showwarning)
                code = _invoke(words)
        except SystemExit as ended:
            if isinstance(ended.__context__, BrokenPipeError):  # typer exits with code 1
                raise ended.__context__ from None
            sys.stdout.flush()
            raise
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        sys.stdout.flush()
        sys.exit(code)
    except NlgaugeError as error:
        _fail(str(error), error.exit_code)
    except BrokenPipeError:  # the reader of the output, such as head, has exited
        _discard_output()
        sys.exit(0)
    except OSError as error:
        if error.errno not in _CANNOT_WRITE:
            raise
        _discard_output()
        _fail(f"the output cannot be written: {error.strerror}", 1)
    except MemoryError:
        advice = "score in parts (--parts DIR, smaller --part-rows), with smaller batches"
        _fail(f"out of memory; {advice} (--batch-tokens) or fewer metrics at a time", 1)


def _invoke(words: list[str]) -> int:
    """Run the command and return its exit code; print the message of an error in the call."""
    try:
        return app(words, prog_name="nlgauge", standalone_mode=False) or 0
    except Exception as error:
        if not hasattr(error, "show"):  # not an error that typer or click found in the call
            raise
        call: Any = error
        call.message = str(call.message).removeprefix("Value error, ")
        call.show()
        invalid = getattr(call, "param", None)
        several = next((word for word in words if word in _REPEATABLE), None)
        if several and getattr(invalid, "param_type_name", "") == "argument":
            required = [each for each in call.ctx.command.params if each.required]
            arguments = [each for each in required if each.param_type_name == "argument"]
            names = " ".join(each.metavar for each in arguments)
            print(
                f"{several} takes all words after it; write {names} before it: "
                f"{call.ctx.command_path} {names} {several} ...",
                file=sys.stderr,
            )
        return int(call.exit_code)


def _discard_output() -> None:
    """Redirect stdout to the null device, because Python flushes it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _fail(message: str, code: int) -> None:
    if code >= _INTERRUPTED:  # the process ends already
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print_message(f"nlgauge: {message}")
    sys.exit(code)


def _print_warning(
    show: Callable[..., None], message: Warning | str, category: type[Warning], *place: Any
) -> None:
    """Print nlgauge's own warnings as notes, and those of other packages only with -W."""
    if category.__module__.partition(".")[0] == "nlgauge":
        print_notes([str(message)])
    elif sys.warnoptions:
        show(message, category, *place)


def _repeat_flags(words: list[str]) -> list[str]:
    """Return the words with ``-c a b`` written as ``-c a -c b``."""
    repeated: list[str] = []
    current: str | None = None
    repeatable = _REPEATABLE | _REPEATABLE_BY_COMMAND.get(words[0] if words else "", {})
    for word in words:
        if word in repeatable:
            current = repeatable[word]
            continue
        if word.startswith("-") and word != "-" and not _NEGATIVE.fullmatch(word):
            current = None
        repeated += [word] if current is None else [current, word]
    return repeated
