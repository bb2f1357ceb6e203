"""nlgauge judge: agreement of a judge with people, and its biases."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nlgauge.cli import arguments
from nlgauge.cli.arguments import argument, option
from nlgauge.cli.option_groups import TableOptions, with_option_groups
from nlgauge.cli.output import ReportOptions
from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from nlgauge.data.columns import Columns


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(ReportOptions, TableOptions):
    """A table of labels, and how the result is written."""

    data: Path = argument(..., "DATA", "Table of labels.")
    columns: list[str] | None = option(
        None,
        "Columns that have other names than usual: item, rater, label, position, length, system, "
        "cluster.",
        metavar="ROLE=COLUMN,...",
    )
    digits: int = arguments.decimals_option(3)

    @property
    def chosen_columns(self) -> "Columns":
        """The columns as the reader of labels takes them."""
        from nlgauge.data.columns import Columns
        from nlgauge.data.rater_labels import LABEL_COLUMNS

        return Columns.of(self.columns, header=not self.no_header, roles=tuple(LABEL_COLUMNS))


@with_option_groups
def judge_command(
    options: JudgeOptions,
    judge: str = option(..., "The rater to check: a model or a person.", metavar="NAME"),
    human: list[str] | None = option(
        None,
        "People [default: all other raters of a table with a row per label].",
        metavar="NAME...",
    ),
    order: str | None = option(
        None, "Labels from lowest to highest, as low,mid,high.", metavar="LABEL,..."
    ),
    scale: Literal["nominal", "ordinal", "interval", "ratio"] | None = option(
        None, "Scale of the labels [default: interval for numbers, ordinal with --order, nominal]."
    ),
    pool: bool = option(
        False, "Treat the k-th human label of every item as that of person k.", "--pool"
    ),
    epsilon: float = option(
        0.1,
        "Advantage that the alternative annotator test grants the judge for its lower cost.",
        min=0,
        max=1,
    ),
    own: list[str] | None = option(
        None, "The judge's own systems, to measure self-preference.", metavar="SYSTEM..."
    ),
    count: int = arguments.resamples_option("bootstrap resamples"),
    seed: int = arguments.seed_option("the bootstrap"),
    figure: Path | None = arguments.figure_option("the confusion matrix"),
) -> None:
    """Check whether a judge (LLM or person) is reliable.

    Examples:

    nlgauge judge labels.csv --judge gpt --human anna ben carla

    nlgauge judge votes.jsonl --judge gpt --order bad,fair,good --figure confusion.pdf

    nlgauge judge pairs.csv --judge gpt --human anna --columns item=pair,position=shown_first

    DATA is a table (.jsonl, .json, .tsv, .csv, .parquet, also .gz) with a column for each rater, or
    with the columns item, rater and label. Blank cells are labels that were not given. Agreement of
    the judge with people is compared with that of people with each other: percent agreement,
    Cohen's kappa, Krippendorff's alpha and Gwet's AC1, and weighted forms for ordered labels. With
    3 people or more, the alternative annotator test (Calderon et al. 2025) says whether the judge
    may replace one of them. Biases are measured if the table has the columns position (the label of
    the output shown first), length (a number or a text) or system (with --own).
    """
    from nlgauge.data.columns import split_names
    from nlgauge.figures.confusion import confusion
    from nlgauge.report.judge_tables import judge_tables
    from nlgauge.study import judge as check

    result = check(
        options.data,
        judge,
        human,
        order=None if order is None else split_names(order),
        scale=scale,
        pool=pool,
        epsilon=epsilon,
        own=own or (),
        columns=options.chosen_columns,
        count=count,
        seed=seed,
    )
    if figure is not None and result.confusion is None:
        raise UsageError(
            f"there are {len(result.labels):,} different labels, too many for the confusion matrix "
            "of --figure; leave it out"
        )
    content = result.to_dict()
    options.write(
        content,
        result.rows(),
        judge_tables(content, digits=options.digits),
        figures={
            figure: lambda: confusion(
                result.labels, content["confusion"], across=result.judge, down="people"
            )
        },
        notes=result.notes,
    )
