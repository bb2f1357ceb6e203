"""nlgauge matrix, williams and permutation: metrics against metrics."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from nlgauge.cli import arguments
from nlgauge.cli.arguments import figure_option, option, resamples_option, seed_option
from nlgauge.cli.option_groups import with_option_groups
from nlgauge.cli.study_options import MetricStudyOptions
from nlgauge.cli.titles import metric_titles

if TYPE_CHECKING:
    from nlgauge.study import PermutationMatrix, Study, WilliamsMatrix

    Tests = WilliamsMatrix | PermutationMatrix
    """The tests of one criterion: p[i, j] is the p-value of "metric i is better than metric j"."""

Correction = Literal["holm", "none"]
_CORRECTION = "Correction of p-values for the number of pairs."


@dataclass(frozen=True, kw_only=True)
class MatrixOptions(MetricStudyOptions):
    """Options of a study whose output file may be a heat map."""

    draws_output: ClassVar[bool] = True


@with_option_groups
def matrix_command(
    options: MatrixOptions,
    level: str = arguments.LEVEL,
    coefficient: str = arguments.COEFFICIENT,
    cluster: bool = option(False, "Place similar metrics next to each other.", "--cluster"),
    show: Literal["coefficients", "p", "both"] = option(
        "both", "Coefficients, p-values below .05, or both.", "--show"
    ),
    figure: Path | None = figure_option("a heat map"),
) -> None:
    """Correlate metrics with each other and with human judgements.

    Examples:

    nlgauge matrix de-en.jsonl -m bleu chrf ter bertscore mover --coefficient kendall -o matrix.pdf

    nlgauge matrix webnlg.jsonl -m bleu chrf --human Fluency --level system --cluster -f markdown

    The ending of -o selects the format; .svg, .png and .pdf are heat maps. All numbers are computed
    on the outputs that are judged and scored by every metric.
    """
    from nlgauge.core.jsonable import to_jsonable
    from nlgauge.figures.matrix import coefficients, heat, p_values
    from nlgauge.report.study_tables import matrix_table, p_table
    from nlgauge.study import matrix, require_scipy

    require_scipy("nlgauge matrix")  # before the metrics are computed
    study = options.study()
    result = matrix(
        study, human=options.human, level=level, coefficient=coefficient, cluster=cluster
    )
    notes = list(study.notes)
    if result.cells_dropped:
        notes.append(f"{result.cells_dropped:,} judged outputs lack another criterion or a score.")
    kind = {"level": result.level, "coefficient": result.coefficient}
    rows = [
        {
            "first": first,
            "second": second,
            **kind,
            "value": result.values[i, j],
            "p": result.p[i, j],
        }
        for (i, first), (j, second) in permutations(enumerate(result.names), 2)
    ]
    title = f"{result.level} level, {result.coefficient}"
    footer = [f"{title}; {result.cells:,} outputs", *study.signatures.values()]
    values, names = result.values.tolist(), _titles(result.names, options.metrics)
    tables = [
        matrix_table(result.coefficient, names, values, digits=options.digits, footer=footer),
        p_table(names, result.p.tolist()),
    ]
    panels = [coefficients(names, result.values, title=title), p_values(names, result.p)]
    shown = {"coefficients": slice(1), "p": slice(1, 2), "both": slice(2)}[show]
    fields = ("names", "level", "coefficient", "values", "p", "cells", "cells_dropped")
    content = {name: getattr(result, name) for name in fields}
    options.write(
        {**content, "signatures": study.signatures, "notes": notes},
        map(to_jsonable, rows),
        tables[shown],
        figures={figure: lambda: heat(panels[shown])},
        notes=notes,
    )


@with_option_groups
def williams_command(
    options: MatrixOptions,
    level: str = option("segment", "segment, document or system.", callback=arguments.check_level),
    correction: Correction = option("none", _CORRECTION),
    figure: Path | None = figure_option("a heat map"),
) -> None:
    """Compare correlations of metrics by Williams's test.

    Examples:

    nlgauge williams de-en.jsonl -m bleu chrf bertscore

    nlgauge williams webnlg.jsonl -m bleu chrf ter --human Correctness --level system -o p.svg

    A p below .05 means that the Pearson correlation of the row's metric is higher than that of the
    column's. The test is one-sided, and valid for Pearson's r only; for other coefficients and the
    text level see nlgauge permutation. With many pairs, use --correction holm.
    """
    from nlgauge.study import require_scipy, williams

    require_scipy("nlgauge williams")  # before the metrics are computed

    def describe(result: Any) -> tuple[int, str, list[str]]:
        return result.n, f"pearson; {result.n:,} points", []

    test = partial(williams, level=level)
    _run("Williams's test", test, describe, options, correction, figure)


@with_option_groups
def permutation_command(
    options: MatrixOptions,
    level: str = arguments.LEVEL,
    coefficient: str = arguments.COEFFICIENT,
    over: arguments.Exchanged | None = option(
        None,
        "What is exchanged: whole inputs, systems, both, single cells, or for acc_eq decisions on "
        "pairs [default: both, if there are several systems].",
    ),
    average: arguments.Average = arguments.AVERAGE,
    count: int = resamples_option("permutations of each pair"),
    seed: int = seed_option("the permutations"),
    correction: Correction = option("holm", _CORRECTION),
    figure: Path | None = figure_option("a heat map"),
) -> None:
    """Compare correlations of metrics by a permutation test.

    Examples:

    nlgauge permutation webnlg.jsonl -m bleu chrf bertscore --human Correctness --level text
    --coefficient kendall

    nlgauge permutation de-en.jsonl -m bleu chrf --coefficient spearman --resamples 5000 -o p.svg

    A p below .05 means that the metric of the row correlates better than that of the column. Under
    the null hypothesis the scores of two metrics are exchangeable, for whole inputs, whole systems,
    both (Deutsch et al. 2021) or single cells (as at WMT); p is the share of permutations with a
    difference at least as large. Unlike Williams's test, it is valid for every coefficient and
    level. p is one-sided and Holm-corrected for all ordered pairs. As at WMT, metrics are sorted,
    and each has the rank of the previous one unless a metric of that rank is significantly better
    (uncorrected p <= .05).
    """
    from nlgauge.study import permutation

    def describe(result: "PermutationMatrix") -> tuple[int, str, list[str]]:
        exchanged = "inputs and systems" if result.over == "both" else str(result.over)
        summary = (
            f"{result.coefficient}; {result.cells:,} outputs; {result.count:,} permutations of "
            f"{exchanged}"
        )
        notes = []
        if correction == "holm" and result.smallest >= 0.05:
            notes.append(
                f"with {result.count:,} permutations no corrected p can be below "
                f"{result.smallest:.3f}; raise --resamples."
            )
        if result.undefined:
            notes.append(
                f"{result.undefined:,} permutations have no defined difference and are not counted."
            )
        return result.cells, summary, notes

    test = partial(
        permutation,
        level=level,
        coefficient=coefficient,
        over=over,
        average=average,
        count=count,
        seed=seed,
    )
    _run("the permutation test", test, describe, options, correction, figure)


def _titles(names: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """Return the names, with those of metrics replaced by their titles."""
    titles = metric_titles(metrics, set(names) - set(metrics))
    return [titles.get(name, name) for name in names]


def _run(
    name: str,
    test: "Callable[[Study, str], Tests]",
    describe: Callable[[Any], tuple[int, str, list[str]]],
    options: MatrixOptions,
    correction: Correction,
    figure: Path | None,
) -> None:
    """Test every criterion and write the results; ``describe`` gives points, summary and notes."""
    from nlgauge.core.jsonable import to_jsonable
    from nlgauge.figures.matrix import directed, heat
    from nlgauge.report.study_tables import williams_table

    options.require_two(name)
    study = options.study()
    rows, tables, panels, notes = [], [], [], list(study.notes)
    for criterion in study.criteria(options.human):
        result = test(study, criterion)
        n, summary, remarks = describe(result)
        notes += [f"{criterion}: {remark}" for remark in remarks]
        if result.cells_dropped:
            notes.append(f"{criterion}: {result.cells_dropped:,} judged outputs lack a score.")
        kind = {"criterion": criterion, "level": result.level, "coefficient": result.coefficient}
        metrics = list(enumerate(zip(result.names, result.correlations, strict=True)))
        ranks = result.ranks()
        for (i, (better, r_better)), (j, (than, r_than)) in permutations(metrics, 2):
            pair = {"better": better, "than": than, "r_better": r_better, "r_than": r_than}
            tested = {"p": result.p[i, j], "p_holm": result.p_holm[i, j], "n": n}
            tested |= {"rank_better": ranks[i], "rank_than": ranks[j]}
            rows.append(to_jsonable({**kind, **pair, **tested}))
        p, corrected = result.p, "not corrected"
        if correction == "holm":
            p, corrected = result.p_holm, "Holm-corrected"
        names = _titles(result.names, options.metrics)
        panels.append(directed(names, p, title=f"p, {criterion}"))
        table = williams_table(
            names,
            result.correlations.tolist(),
            p.tolist(),
            ranks=ranks,
            coefficient="r" if result.coefficient == "pearson" else result.coefficient,
            footer=[f"human: {criterion}; {result.level} level; {summary}; p {corrected}"],
        )
        tables.append(table)
    content = {"tests": rows, "signatures": study.signatures, "notes": notes}
    options.write(content, rows, tables, figures={figure: lambda: heat(panels)}, notes=notes)
