"""Options and arguments shared by several commands, and functions that create them."""

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import typer

from nlgauge.cli.completion import complete_metric
from nlgauge.core.errors import FileError, UsageError

FIGURES = (".svg", ".png", ".pdf")


def command_group(name: str, help: str) -> typer.Typer:
    """Return a group of subcommands."""
    return typer.Typer(name=name, help=help, no_args_is_help=True, rich_markup_mode=None)


def option(default: Any, help: str, *names: str, **settings: Any) -> Any:
    """Return an option of a command; the settings are those of ``typer.Option``."""
    return typer.Option(default, *names, help=help, **settings)


def argument(default: Any, metavar: str, help: str | None, **settings: Any) -> Any:
    """Return a positional argument of a command; it is required if the default is ``...``."""
    return typer.Argument(default, metavar=metavar, help=help, **settings)


def metric_option(default: str | None, help: str) -> Any:
    """Return the option -m."""
    names = ("-m", "--metric")
    metavar = "NAME[:OPTION=VALUE,...]"
    return option(default, help, *names, metavar=metavar, autocompletion=complete_metric)


def figure_option(what: str) -> Any:
    """Return an option that names the file of a figure."""
    return option(None, f"Also draw {what} (.svg, .png or .pdf).", callback=_check_figure)


def seed_option(what: str) -> Any:
    """Return the option --seed."""
    return option(0, f"Random seed of {what}.", min=0)


def resamples_option(what: str, default: int = 1000) -> Any:
    """Return the option --resamples."""
    return option(default, f"Number of {what}.", "--resamples", min=1)


def decimals_option(default: int | None) -> Any:
    """Return the option --width."""
    what = "Number of decimal places; JSON, CSV and TSV have all."
    return option(default, what, "-w", "--width", min=0, max=15)


def _check_names(choose: str) -> Callable[[Any], Any]:
    """Return a callback that raises an error for an unknown name before any work is done."""

    def check(names: Any) -> Any:
        from nlgauge import study

        for name in [names] if isinstance(names, str) else names or ():
            getattr(study, choose)(name)
        return names

    return check


def _check_figure(path: Path | None) -> Path | None:
    if path is not None and path.suffix not in FIGURES:
        known = ", ".join(FIGURES)
        raise UsageError(f"cannot draw to {str(path)!r}: a figure's name ends in {known}")
    if path is not None:
        check_writable(path)
    return path


def check_writable(path: Path) -> None:
    """Raise an error, before any work is done, if the file cannot be written."""
    reason = ""
    if not path.parent.is_dir():
        reason = f"there is no folder {str(path.parent)!r}"
    elif path.is_dir():
        reason = "it is a folder"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        reason = "permission denied"
    if reason:
        raise FileError(f"cannot write {str(path)!r}: {reason}")


def _hide_warnings(quiet: bool) -> bool:
    if quiet:
        warnings.simplefilter("ignore", UserWarning)
    return quiet


check_level, _check_coefficient = map(_check_names, ("choose_level", "choose_coefficient"))
_LEVELS = "segment, text, by_system, document or system"
_COEFFICIENTS = "pearson, spearman, kendall_b, kendall_c or accuracy"
_PAIRWISE = "acc_eq (text and system level), spa (system level) or pairwise_pearson (text level)"
LEVEL = option("segment", f"{_LEVELS}.", callback=check_level)
LEVELS = option(
    None,
    f"{_LEVELS}; may be repeated [default: segment, and system if at least 3 systems are judged].",
    metavar="LEVEL",
    callback=check_level,
)
COEFFICIENT = option("pearson", f"{_COEFFICIENTS}, {_PAIRWISE}.", callback=_check_coefficient)
COEFFICIENTS = option(
    None,
    f"{_COEFFICIENTS}, {_PAIRWISE}; may be repeated [default: pearson].",
    metavar="NAME",
    callback=_check_coefficient,
)
_CANDIDATES = ("-c", "--candidates", "--hypotheses", "--predictions")
CANDIDATES = option(
    ..., "Candidate texts, one file per system; - reads stdin.", *_CANDIDATES, metavar="FILE..."
)
OPTIONAL_CANDIDATES = option(
    [], "Candidate texts, one file per system; the same as FILE.", *_CANDIDATES, metavar="FILE..."
)
REFERENCES = option(None, "References, one file per set.", "-r", "--references", metavar="FILE...")
SOURCES = option(
    None,
    "Source texts, one line per segment, for metrics that use them.",
    *("-s", "--source", "--sources"),
    metavar="FILE",
)
COLUMNS = option(
    None,
    "Names of the columns of a table, such as candidate=mt,reference=ref.",
    metavar="ROLE=COLUMN,...",
)
SYSTEM_COLUMNS = option(
    None, "Columns of a table, each with the outputs of one system.", metavar="COLUMN,..."
)
NO_HEADER = option(
    False, "The TSV or CSV has no header line; its columns are called 1, 2, ...", "--no-header"
)
LANG = option(
    None,
    "Language of the texts, such as zh; selects tokenizers, models and penalties.",
    metavar="CODE",
)
METRICS = metric_option(None, "Metrics [default: bleu].")
SCORE_METRICS = metric_option(
    None, "Metrics [default: bleu and chrf, and gauge if its model is installed]."
)
EMBEDDING_METRICS = metric_option(None, "Metrics [default: bertscore].")
CONFIDENCE = option(False, "Add 95% bootstrap confidence intervals.", "--confidence")
INTERVAL = option(
    "bootstrap",
    "Method of --confidence; fisher is for pearson, not at the text or by_system level.",
)
OUTPUT = option(None, "Output file [default: stdout].", "-o", "--output")
TEXT_OR_JSON = option("text", "Output format.", "--format", "-f")
TextOrJson = Literal["text", "json"]
PairedTest = Literal["bootstrap", "randomisation", "permutation"]
SystemTest = Literal["bootstrap", "randomisation", "permutation", "mcnemar", "mcnemar-midp"]
IntervalMethod = Literal["bootstrap", "fisher"]
Resampled = Literal["inputs", "systems", "both"]
Exchanged = Literal["both", "inputs", "systems", "cells", "pairs"]
Average = Literal["macro", "micro"]
AVERAGE = option(
    "macro",
    "Mean over inputs (text level) or systems (by_system): unweighted, or by number of outputs.",
)
DEVICE = option("auto", "auto, cpu, cuda, cuda:1 or mps.")
BATCH_TOKENS = option(2048, "Maximum number of tokens in a batch; a CPU uses at most 768.", min=1)
DOWNLOAD = option(False, "Allow downloads from the Hugging Face Hub.", "--download")
QUIET = option(
    False, "Hide warnings, notes and progress.", "-q", "--quiet", callback=_hide_warnings
)
