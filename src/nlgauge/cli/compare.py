"""nlgauge compare: paired tests of systems, and the segments on which they differ."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from nlgauge.cli import arguments
from nlgauge.cli.arguments import argument, option, resamples_option, seed_option
from nlgauge.cli.option_groups import InputOptions, with_option_groups
from nlgauge.cli.output import RunOptions, print_notes
from nlgauge.cli.titles import comparison_titles, metric_titles, with_titles
from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from nlgauge.report.table import Table
    from nlgauge.study import Comparison, SegmentDifference


@dataclass(frozen=True, kw_only=True)
class CompareInputs(InputOptions):
    """Texts of systems, or tables of stored scores."""

    systems: list[str] | None = argument(
        None, "FILE", "Texts, as with -c, or tables with --scores."
    )
    candidates: list[str] = arguments.OPTIONAL_CANDIDATES
    scores: list[str] | None = option(
        None,
        "Columns of stored scores, higher is better: of metrics, or of systems in one table that "
        "does not name systems.",
        metavar="COLUMN,...",
    )
    distances: list[str] | None = option(
        None, "Columns of stored scores, lower is better.", metavar="COLUMN,..."
    )
    missing: Literal["error", "drop"] = option(
        "error", "If items lack a stored score in a system: stop with an error, or drop them."
    )
    cluster: str | None = option(
        None,
        "Column of documents or prompts, which are resampled or exchanged as wholes; of text "
        "files, a file with a line for each segment.",
        metavar="COLUMN",
    )

    @property
    def paths(self) -> list[str]:
        """The files, whether named with -c or without."""
        return [*(self.systems or ()), *(self.candidates or ())]

    def read_arguments(self) -> dict[str, Any]:
        """Return the arguments of ``compare``: texts and metrics, or tables of stored scores."""
        from nlgauge.data.columns import split_names
        from nlgauge.data.systems import InputFiles, read_inputs

        stored = {
            name: [part for text in getattr(self, name) or () for part in split_names(text)]
            for name in ("scores", "distances")
        }
        if any(stored.values()):
            return self._tables(stored)
        if self.missing != "error":
            raise UsageError("--missing is for stored scores; name them with --scores")
        sets, columns = self.references or [], self.chosen_columns
        files = InputFiles(self.paths, sets, self.input_format, self.sources, columns, self.cluster)
        corpus, clusters = read_inputs(files)
        ids = corpus.ids_of(corpus.system_names[0])
        labels = None if clusters is None else [clusters.get(name) for name in ids]
        return {"systems": corpus, "metrics": self.metrics, "cluster": labels}

    def _tables(self, stored: dict[str, list[str]]) -> dict[str, Any]:
        texts = {"-r": self.references, "-s": self.sources, "-m": self.metric}
        for flag in (flag for flag, given in texts.items() if given):
            raise UsageError(f"stored scores are compared without texts; leave out {flag}")
        if self.system_columns is not None:
            raise UsageError("name the columns of systems with --scores, not --system-columns")
        if not self.paths:
            names = [name for each in stored.values() for name in each if Path(name).exists()]
            hint = f"; put {names[0]} before --scores" if names else ""
            raise UsageError(f"no tables: name at least one file{hint}")
        own = {"columns": self.chosen_columns, "cluster": self.cluster, "missing": self.missing}
        return {"systems": self.paths, "format": self.input_format, **stored, **own}


@with_option_groups
def compare_command(
    options: RunOptions,
    inputs: CompareInputs,
    method: arguments.SystemTest = option(
        "bootstrap", "Paired test; permutation is exact if few segments differ."
    ),
    count: int = resamples_option("resamples or trials"),
    seed: int = seed_option("the test"),
    differ: int = option(
        0, "Number of segments to show on which systems differ most in the first metric.", min=0
    ),
    fail_if_worse: bool = option(
        False,
        "Exit with code 1 if a system is significantly worse than the first (p Holm < .05).",
        "--fail-if-worse",
    ),
) -> None:
    """Test whether systems differ from the first one.

    Examples:

    nlgauge compare -c baseline.txt new.txt -r ref.txt -m bleu chrf

    nlgauge compare -c a.txt b.txt c.txt -r ref.txt -m bertscore --method randomisation --differ 5

    nlgauge compare -c wide.csv --system-columns A,B --columns reference=gold -m chrf

    nlgauge compare results.csv --scores A,B --method permutation --cluster document

    nlgauge compare runA/samples_x.jsonl runB/samples_x.jsonl --scores acc --method mcnemar

    Files and tables are those of `nlgauge score`. The first system is the baseline. p-values are
    two-sided; "p Holm" is corrected for the number of systems, "p uncorrected" is not.
    Two systems are in different clusters if every system of the better cluster is significantly
    better than every system of the worse one (p uncorrected < .05; JSON lists all pairs).

    With --scores or --distances no texts are needed: the files are tables of scores, or logs of
    lm-evaluation-harness (samples_*.jsonl) and inspect (.eval, .json). mcnemar (exact) and
    mcnemar-midp are for outcomes 0 and 1.
    """
    from nlgauge.report.study_tables import long_table
    from nlgauge.study import compare

    given = inputs.read_arguments()
    with options.running() as running:
        result = compare(**given, method=method, count=count, seed=seed, **running)
    digits = 2 if options.digits is None else options.digits
    content, tables, text = result.to_dict(), _tables(result, digits), ""
    rows = content["systems"]
    long = [long_table(rows)]
    if differ:
        segments = result.differing(differ)
        content["differ"] = [each.to_dict() for each in segments]
        if segments and options.chosen == "text" and result.corpus is not None:
            text = _side_by_side(content["differ"], inputs.metrics, options, digits)
        elif segments:
            tables.append(_differing(segments, digits))
            long.append(tables[-1])
        rows = [*rows, *content["differ"]]
    options.write(content, rows, tables, long=long, text=text, notes=result.notes)
    if fail_if_worse and result.worse:
        for each in result.worse:
            change = f"{each.metric} {each.value:.4g}, p Holm {each.p_holm:.3g}"
            print_notes([f"{each.system} is worse than {result.baseline}: {change}."])
        raise typer.Exit(1)


def _side_by_side(
    rows: list[dict[str, Any]], metrics: list[str], options: RunOptions, digits: int
) -> str:
    from nlgauge.report.differences import side_by_side

    width = 100 if options.output else min(shutil.get_terminal_size().columns, 160)
    return side_by_side(with_titles(rows, metric_titles(metrics)), width=width, digits=digits)


def _tables(result: "Comparison", digits: int) -> "list[Table]":
    from nlgauge.report.study_tables import comparison_table

    first, titles = result.scores[result.baseline], comparison_titles(result)
    footers = {label: [str(scores.signature)] for label, scores in first.items()}
    footers[list(first)[-1]].extend([result.test_note, result.cluster_note])
    return [
        comparison_table(
            titles[label],
            scores.scale.direction,
            [entry.to_dict() for entry in result.of(label)],
            digits=max(digits, 4) if _is_small(result, label) else digits,
            footer=footers[label],
        )
        for label, scores in first.items()
    ]


def _is_small(result: "Comparison", label: str) -> bool:
    """Return whether scores are at most 1: by the metric's range, or the values if stored."""
    if result.corpus is not None:
        return result.scores[result.baseline][label].scale.high <= 1
    return all(abs(entry.value) <= 1 for entry in result.of(label))


def _differing(segments: "tuple[SegmentDifference, ...]", digits: int) -> "Table":
    from nlgauge.report.table import Column, Table

    texts = segments[0].candidate is not None
    last = ("baseline_candidate", "candidate") if texts else ("baseline_value", "value")
    fields = ("segment", "system", "difference", *last)
    names = (*fields[:3], segments[0].baseline, "system's", *(["reference"] * texts))
    rows = tuple(
        (*(getattr(each, field) for field in fields), *([" / ".join(each.references)] * texts))
        for each in segments
    )
    return Table(tuple(Column(name, digits) for name in names), rows)
