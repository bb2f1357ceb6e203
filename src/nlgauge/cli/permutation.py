"""nlgauge permutation: judged texts in, which metric correlates really better out, at any level."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import pairwise_tests, study_output
from nlgauge.cli.study_options import AskedMetrics, asking

if TYPE_CHECKING:
    from nlgauge.study import PermutationMatrix

_EPILOG = """Examples:

nlgauge permutation webnlg.jsonl -m bleu chrf bertscore --human Correctness --level text
--coefficient kendall

nlgauge permutation de-en.jsonl -m bleu chrf ter --coefficient spearman --count 5000 -o p.svg

Read a row: a p below 5 says that its metric correlates with people better than the column's. If two
metrics were equally good, their scores could trade places, for whole inputs, whole systems or both
(Deutsch et al. 2021); p is how often such trades give a difference as large. Unlike Williams's test
it holds for every coefficient and level. p is one-sided, Holm-corrected for all ordered pairs."""


class Over(StrEnum):
    """What trades places."""

    INPUTS = "inputs"
    SYSTEMS = "systems"
    BOTH = "both"


@asking
def permutation_command(
    asked: AskedMetrics,
    level: Annotated[str, typer.Option("--level", help="segment, text or system.")] = "segment",
    coefficient: Annotated[
        str, typer.Option("--coefficient", help="pearson, spearman, kendall, accuracy.")
    ] = "pearson",
    over: Annotated[
        Over | None, typer.Option(help="What trades places [default: both, if there are systems].")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Permutations of each pair.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the permutations.")] = 0,
    correction: Annotated[
        pairwise_tests.Correction, typer.Option(help="Of p for the number of pairs tested.")
    ] = pairwise_tests.Correction.HOLM,
    figure: pairwise_tests.HeatMap = None,
) -> None:
    """Test which metric correlates better with people than which (permutation test)."""
    from nlgauge.study import permutation

    study_output.format_of(asked.output, asked.format, drawn=True)
    study_output.only_figure(figure)
    study_output.check([level], [coefficient])
    asked.need_two("the permutation test")
    study = asked.study()
    found, remarks = [], []
    for name in study.criteria(asked.human):
        made = permutation(
            *(study, name),
            level=level,
            coefficient=coefficient,
            over=None if over is None else over.value,
            count=count,
            seed=seed,
        )
        found.append(_tested(name, made))
        remarks += _remarks(name, made, correction)
    pairwise_tests.hand_over(
        *(asked, study, found), figure=figure, correction=correction, remarks=remarks
    )


permutation_command.__doc__ = f"{permutation_command.__doc__}\n\n{_EPILOG}"


def _tested(criterion: str, made: PermutationMatrix) -> pairwise_tests.Tested:
    about = (
        f"{made.level} level; {made.coefficient}; {made.cells:,} outputs; {made.count:,} "
        f"permutations of {'inputs and systems' if made.over == 'both' else made.over}"
    )
    return pairwise_tests.Tested(
        *(criterion, made.names, made.correlations, made.p, made.p_holm, made.level),
        *(made.coefficient, made.cells, about),
    )


def _remarks(
    criterion: str, made: PermutationMatrix, correction: pairwise_tests.Correction
) -> list[str]:
    """What makes p-values larger than they look: too few permutations, undefined ones."""
    lines = []
    if correction is pairwise_tests.Correction.HOLM and made.smallest >= 0.05:
        lines.append(
            f"{criterion}: with {made.count:,} permutations no corrected p can be below "
            f"{made.smallest:.3f}; raise --count."
        )
    if made.undefined:
        lines.append(
            f"{criterion}: {made.undefined:,} permutations had no defined difference and do not "
            "count."
        )
    if made.cells_dropped:
        lines.append(f"{criterion}: {made.cells_dropped:,} judged outputs lack a score.")
    return lines
