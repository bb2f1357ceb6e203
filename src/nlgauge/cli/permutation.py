"""nlgauge permutation: permutation tests between metrics, at any level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import arguments
from nlgauge.cli.option_groups import with_option_groups
from nlgauge.cli.pairwise_tests import (
    Correction,
    CriterionTests,
    MatrixOptions,
    write_tests,
)

if TYPE_CHECKING:
    from nlgauge.study import PermutationMatrix


@with_option_groups
def permutation_command(
    options: MatrixOptions,
    level: arguments.Level = "segment",
    coefficient: arguments.Coefficient = "pearson",
    over: Annotated[
        arguments.Resampled | None,
        typer.Option(help="What is exchanged [default: both, if there are several systems]."),
    ] = None,
    count: Annotated[int, arguments.count_option("permutations of each pair")] = 1000,
    seed: Annotated[int, arguments.seed_option("the permutations")] = 0,
    correction: Correction = "holm",
    figure: arguments.HeatMap = None,
) -> None:
    """Test which metrics correlate better with human judgements (permutation test).

    Examples:

    nlgauge permutation webnlg.jsonl -m bleu chrf bertscore --human Correctness --level text
    --coefficient kendall

    nlgauge permutation de-en.jsonl -m bleu chrf ter --coefficient spearman --count 5000 -o p.svg

    A p below 5 means that the metric of the row correlates better than that of the column. Under
    the null hypothesis the scores of two metrics are exchangeable, for whole inputs, whole systems
    or both (Deutsch et al. 2021); p is the share of permutations with a difference as large. Unlike
    Williams's test it is valid for every coefficient and level. p is one-sided and Holm-corrected
    for all ordered pairs.
    """
    from nlgauge.study import permutation

    options.check_two_metrics("the permutation test")
    study = options.study()
    tests, notes = [], []
    for criterion in study.criteria(options.human):
        found = permutation(
            study,
            criterion,
            level=level,
            coefficient=coefficient,
            over=over,
            count=count,
            seed=seed,
        )
        summary = (
            f"{found.level} level; {found.coefficient}; {found.cells:,} outputs; {found.count:,} "
            f"permutations of {'inputs and systems' if found.over == 'both' else found.over}"
        )
        tests.append(
            CriterionTests(criterion, found, found.coefficient, found.cells, summary, correction)
        )
        notes += [f"{criterion}: {note}" for note in _notes(found, correction)]
    write_tests(options, study, tests, figure=figure, notes=notes)


def _notes(found: PermutationMatrix, correction: str) -> list[str]:
    """Return what makes p-values larger: too few or undefined permutations."""
    notes = []
    if correction == "holm" and found.smallest >= 0.05:
        notes.append(
            f"with {found.count:,} permutations no corrected p can be below "
            f"{found.smallest:.3f}; raise --count."
        )
    if found.undefined:
        notes.append(
            f"{found.undefined:,} permutations have no defined difference and are not counted."
        )
    if found.cells_dropped:
        notes.append(f"{found.cells_dropped:,} judged outputs lack a score.")
    return notes
