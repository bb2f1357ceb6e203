"""Single options and arguments that several commands share."""

import warnings
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from nlgauge.core.errors import UsageError

FIGURES = (".svg", ".png", ".pdf")


def check_level(levels: Any) -> Any:
    """Raise an error for an unknown level before any work is done."""
    from nlgauge.study import choose_level

    for level in [levels] if isinstance(levels, str) else levels or ():
        choose_level(level)
    return levels


def _check_coefficient(names: Any) -> Any:
    from nlgauge.study import choose_coefficient

    for name in [names] if isinstance(names, str) else names or ():
        choose_coefficient(name)
    return names


def _check_figure(path: Path | None) -> Path | None:
    if path is not None and path.suffix not in FIGURES:
        known = ", ".join(FIGURES)
        raise UsageError(f"cannot draw to {str(path)!r}: a figure's name ends in {known}")
    return path


def _hide_warnings(quiet: bool) -> bool:
    if quiet:
        warnings.simplefilter("ignore", UserWarning)
    return quiet


def metric_option(help: str) -> Any:
    """Return the option -m."""
    return typer.Option("-m", "--metric", metavar="NAME[:OPTION=VALUE,...]", help=help)


def figure_option(what: str) -> Any:
    """Return an option that names the file of a figure."""
    help = f"Also draw {what} (.svg, .png or .pdf)."
    return typer.Option(callback=_check_figure, help=help)


def seed_option(what: str) -> Any:
    """Return the option --seed."""
    return typer.Option(min=0, help=f"Random seed of {what}.")


def count_option(what: str) -> Any:
    """Return an option for a positive number."""
    return typer.Option(min=1, help=f"Number of {what}.")


_COEFFICIENTS = "pearson, spearman, kendall_b, kendall_c or accuracy"

Candidates = Annotated[
    list[str],
    typer.Option(
        *("-c", "--candidates", "--hypotheses", "--predictions"),
        metavar="FILE...",
        help="Candidate texts, one file per system; - reads stdin.",
    ),
]
ReferenceFiles = Annotated[
    list[str] | None,
    typer.Option("-r", "--references", metavar="FILE...", help="References, one file per set."),
]
Metrics = Annotated[list[str] | None, metric_option("Metrics [default: bleu].")]
EmbeddingMetrics = Annotated[list[str] | None, metric_option("Metrics [default: bertscore].")]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="Output file [default: stdout].")
]
TextOrJson = Annotated[
    Literal["text", "json"], typer.Option("--format", "-f", help="Output format.")
]
DECIMALS = typer.Option("-w", "--width", min=0, max=15, help="Number of decimal places.")
Decimals = Annotated[int, DECIMALS]
PairedTest = Literal["bootstrap", "randomisation"]
Resampled = Literal["inputs", "systems", "both"]
Level = Annotated[str, typer.Option(callback=check_level, help="segment, text or system.")]
Levels = Annotated[
    list[str] | None,
    typer.Option(
        "--level",
        metavar="LEVEL",
        callback=check_level,
        help="segment, text or system; may be repeated [default: segment, and system if at least "
        "3 systems are judged].",
    ),
]
Coefficient = Annotated[str, typer.Option(callback=_check_coefficient, help=f"{_COEFFICIENTS}.")]
Coefficients = Annotated[
    list[str] | None,
    typer.Option(
        "--coefficient",
        metavar="NAME",
        callback=_check_coefficient,
        help=f"{_COEFFICIENTS}; may be repeated [default: pearson].",
    ),
]
Confidence = Annotated[
    bool, typer.Option("--confidence", help="Add 95% bootstrap confidence intervals.")
]
Resamples = Annotated[int, count_option("bootstrap resamples")]
Seed = Annotated[int, seed_option("the bootstrap")]
BarChart = Annotated[Path | None, figure_option("a bar chart")]
HeatMap = Annotated[Path | None, figure_option("a heat map")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 or mps.")]
BatchTokens = Annotated[
    int, typer.Option(min=1, help="Maximum number of tokens in a batch; a CPU uses at most 768.")
]
Precision = Annotated[
    Literal["float32", "bfloat16", "int8"] | None,
    typer.Option(help="Arithmetic of models, for metrics that set none [default: float32]."),
]
Threads = Annotated[
    int | None, typer.Option(min=1, help="Maximum number of threads [default: all cores].")
]
Download = Annotated[
    bool, typer.Option("--download", help="Allow downloads from the Hugging Face Hub.")
]
Cache = Annotated[
    str | None,
    typer.Option(
        metavar="DIR", help="Folder of the embedding cache [default: NLGAUGE_CACHE, else no cache]."
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "-q", "--quiet", callback=_hide_warnings, help="Hide warnings, notes and progress."
    ),
]
