"""nlgauge show: the alignment of two texts."""

from pathlib import Path
from shlex import quote
from typing import Literal

from nlgauge.cli.arguments import FIGURES, OUTPUT, metric_option, option
from nlgauge.cli.option_groups import RuntimeOptions, with_option_groups
from nlgauge.cli.output import check_ending, print_notes, to_json, write_text
from nlgauge.core.errors import UsageError


@with_option_groups
def show_command(
    options: RuntimeOptions,
    candidate: list[str] = option(
        ..., "Candidate text.", "-c", "--candidate", "--candidates", metavar="TEXT"
    ),
    reference: list[str] = option(
        ..., "Reference texts.", "-r", "--reference", "--references", metavar="TEXT..."
    ),
    metrics: list[str] | None = metric_option(None, "Metric [default: mover]."),
    output: Path | None = OUTPUT,
    kind: Literal["flow", "heatmap", "both"] = option(
        "both", "Bands between tokens, a grid of costs, or both.", "--kind", "-k"
    ),
    title: str | None = option(None, "Title of the figure."),
) -> None:
    """Show which tokens are matched, with what mass and at what cost.

    Examples:

    nlgauge show -c "A guy stands on a boat" -r "A man sits in a canoe"

    nlgauge show -c "A guy stands on a boat" -r "A man sits in a canoe" "A man on a boat" -o a.svg

    nlgauge show -c "un bateau" -r "un canoë" -m wmd:special=drop --kind heatmap -o plan.html

    The ending of -o selects the format: .svg, .png or .pdf (figure), .html (web page), .json (all
    numbers) or .txt. Of several references, the best one is shown. Write a text that starts with a
    dash as --candidate="- so" or --reference="- so".
    """
    import shutil

    from nlgauge.scoring import score

    if output is not None:
        check_ending(output, (*FIGURES, ".html", ".json", ".txt"))
    text, metric = _single(candidate, "candidate"), _single(metrics or ["mover"], "metric")
    _refuse_files("-c", candidate)
    _refuse_files("-r", reference)
    (scores,) = score([text], [reference], metrics=metric, runtime=options.runtime).values()
    plan, signature = scores.plan(0), str(scores.signature)
    ending = ".txt" if output is None else output.suffix
    drawn: tuple[str, ...] = ()
    if output is not None and ending in FIGURES:
        from nlgauge.figures.alignment import draw_alignment
        from nlgauge.figures.matplotlib_setup import save

        drawn = save(draw_alignment(plan, kind, title=title), output)
    elif ending == ".json":
        write_text(to_json(plan.to_dict(), indent=2), output)
    elif ending == ".html":
        from nlgauge.figures.alignment_html import page

        write_text(page(plan, kind, title=title, signature=signature), output)
    else:
        from nlgauge.figures.alignment_text import alignment_text

        width = shutil.get_terminal_size().columns
        shown = alignment_text(plan, kind, width=width, title=title, signature=signature)
        write_text(shown, output)
    notes = [*(f"{scores.label}: {note}" for note in scores.warnings), *drawn]
    print_notes(notes, quiet=options.quiet)


def _single(given: list[str], what: str) -> str:
    if len(given) > 1:
        raise UsageError(
            f"one {what} is shown at a time, but {len(given)} were given; "
            "put quotation marks around a text of several words"
        )
    return given[0]


def _refuse_files(option: str, texts: list[str]) -> None:
    """Raise if a text looks like a file and there is one, because other commands take files."""
    for text in texts:
        if ("." in text or "/" in text) and _is_path(text):
            first_line = f'"$(head -n 1 {quote(text)})"'
            raise UsageError(
                f"{option} takes a text, but {text!r} is a file or folder; was a file meant? Its "
                f"first line is shown with {option} {first_line}, all lines are scored with "
                "`nlgauge score`; if the text is meant, put a space after it"
            )


def _is_path(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a name, or with a null character
        return False
