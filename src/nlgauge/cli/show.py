"""nlgauge show: alignments of two texts, and predicted errors of a candidate."""

import os
import sys
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

import typer

from nlgauge.cli.arguments import FIGURES, OUTPUT, metric_option, option
from nlgauge.cli.option_groups import RuntimeOptions, given_options, with_option_groups
from nlgauge.cli.output import check_ending, print_notes, to_json, write_text
from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from nlgauge.core.scores import Scores


@with_option_groups
def show_command(
    context: typer.Context,
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
        "both", "Bands between tokens, a grid of costs, or both.", "-k", "--kind"
    ),
    title: str | None = option(None, "Title of the figure."),
    spans: bool = option(False, "Show the predicted errors of the candidate.", "--spans"),
    minor: float | None = option(None, "With --spans: minimum cost of a word in an error."),
    major: float | None = option(None, "With --spans: minimum mean cost of a major error."),
) -> None:
    """Show the alignment of tokens: matches, masses and costs.

    Examples:

    nlgauge show -c "A guy stands on a boat" -r "A man sits in a canoe"

    nlgauge show -c "A guy stands on a boat" -r "A man sits in a canoe" "A man on a boat" -o a.svg

    nlgauge show -c "un bateau" -r "un canoë" -m wmd:special=drop --kind heatmap -o plan.html

    nlgauge show -c "A guy sits on a boat" -r "A guy sits on a chair" -m gauge --spans

    The ending of -o selects the format: .svg, .png or .pdf (figure), .html (web page), .json (all
    numbers) or .txt. With several references, the best one is shown. Write a text that starts with
    a dash as --candidate="- so" or --reference="- so".

    --spans marks words that are expensive to match with every reference. Thresholds are known for
    some metrics with the embedded model; for others, `nlgauge spans DATA` chooses --minor and
    --major.
    """
    import shutil

    from nlgauge.scoring import score

    if output is not None:
        check_ending(output, (*FIGURES, ".html", ".json", ".txt"))
    text, metric = _single(candidate, "candidate"), _single(metrics or ["mover"], "metric")
    _refuse_files("-c", candidate)
    _refuse_files("-r", reference)
    if not spans and (minor, major) != (None, None):
        raise UsageError("--minor and --major are thresholds of predicted errors; add --spans")
    for given in given_options(context, ("kind",)) if spans else ():
        raise UsageError(f"{given} is for alignments, so it excludes --spans; leave one out")
    (scores,) = score([text], [reference], metrics=metric, runtime=options.runtime).values()
    if spans:
        drawn = _show_spans(scores, text, (minor, major), output, title)
        print_notes([*_warnings(scores), *drawn], quiet=options.quiet)
        return
    plan, signature = scores.plan(0), str(scores.signature)
    ending = ".txt" if output is None else output.suffix
    drawn = ()
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
    print_notes([*_warnings(scores), *drawn], quiet=options.quiet)


def _warnings(scores: "Scores") -> list[str]:
    return [f"{scores.label}: {note}" for note in scores.warnings]


def _show_spans(
    scores: "Scores",
    text: str,
    given: tuple[float | None, float | None],
    output: Path | None,
    title: str | None,
) -> tuple[str, ...]:
    """Write the text with its predicted errors; return notes on the drawing."""
    from nlgauge.figures import marked_text as drawing
    from nlgauge.figures.matplotlib_setup import save
    from nlgauge.report.formats import text as table_text
    from nlgauge.report.study_tables import long_table

    minor, major = scores.metric.choose_thresholds(*given)
    spans = scores.spans(0, minor=minor, major=major)
    rows = [{**asdict(span), "text": text[span.start : span.end]} for span in spans]
    signature = str(scores.signature)
    summary = f"thresholds: minor {minor:g}, major {major:g}"
    ending = ".txt" if output is None else output.suffix
    if output is not None and ending in FIGURES:
        return save(drawing.draw_marked_text(text, spans, title=title), output)
    if ending == ".json":
        content: dict[str, Any] = {"candidate": text, "minor": minor, "major": major, "spans": rows}
        write_text(to_json({**content, "signature": signature}, indent=2), output)
    elif ending == ".html":
        page = drawing.page(text, spans, title=title, summary=summary, signature=signature)
        write_text(page, output)
    else:
        colour = output is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
        marked = drawing.marked_text(text, spans, colour=colour)
        for row in rows:
            del row["category"]  # is not predicted
        listed = table_text(long_table(rows)) if rows else "no errors predicted"
        heading = [title] if title else []
        paragraphs = [*heading, marked, listed, f"{summary}\n{signature}"]
        write_text("\n\n".join(paragraphs), output, styled=colour)
    return ()


def _single(given: list[str], what: str) -> str:
    if len(given) > 1:
        raise UsageError(
            f"one {what} is shown at a time, but {len(given)} were given; "
            "put quotation marks around a text of several words"
        )
    return given[0]


def _refuse_files(option: str, texts: list[str]) -> None:
    """Raise an error if a text is the name of a file, because other commands take files."""
    for text in texts:
        if ("." in text or "/" in text) and _is_path(text):
            first_line = f'"$(head -n 1 {quote(text)})"'
            raise UsageError(
                f"{option} takes a text, but {text!r} is a file or folder; show its first line "
                f"with {option} {first_line}, score all lines with `nlgauge score`, or add a space "
                "to the text if it is not meant as a file name"
            )


def _is_path(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a name, or with a null character
        return False
