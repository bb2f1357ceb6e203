"""Options of the commands that study metrics on judged texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nlgauge.cli import arguments
from nlgauge.cli.arguments import argument, option
from nlgauge.cli.option_groups import TableOptions
from nlgauge.cli.output import OutputOptions, RunOptions
from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from nlgauge.data.judged import JudgedCorpus
    from nlgauge.study import Study

_Names = list[str] | None


@dataclass(frozen=True, kw_only=True)
class DataOptions(OutputOptions, TableOptions):
    """Which judged texts are read."""

    data: Path = argument(..., "DATA", "File or folder of judged texts.")
    human: _Names = option(
        None, "Human criterion; may be repeated [default: all].", metavar="CRITERION"
    )
    without: _Names = option(
        None, "System to leave out, or pattern such as 'abs/*'; may be repeated.", metavar="SYSTEM"
    )
    kind: str | None = option(
        None, "Layout of DATA, such as rows or mqm [default: detected].", metavar="KIND"
    )
    part: str | None = option(
        None, "Language pair or data set, if DATA contains several.", metavar="PART"
    )
    references: str | None = option(
        None,
        "File of references if DATA has none, or names of references to use, such as refA,refB.",
        *("-r", "--references"),
        metavar="FILE",
    )
    weights: str | None = option(
        None,
        "Weights of MQM errors, such as major=10,minor/style=0.5.",
        metavar="SEVERITY=WEIGHT,...",
    )

    def one_criterion(self, needed_by: str) -> str | None:
        """Return the named human criterion, if any; raise an error if there are several."""
        if len(self.human or ()) > 1:
            raise UsageError(f"{needed_by} one criterion; name --human once")
        return self.human[0] if self.human else None

    def judged(self, stored: Sequence[str] = (), scores_from: Path | None = None) -> "JudgedCorpus":
        """Return the judged texts, after checking that the criteria exist."""
        from nlgauge.data.detection import read_judged
        from nlgauge.study import choose_criteria

        judged = read_judged(
            self.data,
            kind=self.kind,
            part=self.part,
            references=self.references,
            scores=scores_from,
            stored=stored,
            columns=self.chosen_columns,
            weights=self.weights,
        )
        if self.without:
            judged = judged.without(*self.without)
        choose_criteria(judged.criteria, self.human)
        return judged


@dataclass(frozen=True, kw_only=True)
class StudyOptions(RunOptions, DataOptions):
    """Options for judged texts, models and output."""

    digits: int = arguments.decimals_option(3)


@dataclass(frozen=True, kw_only=True)
class MetricStudyOptions(StudyOptions):
    """Options of studies, with metrics to compute and scores stored with the data."""

    metric: _Names = arguments.METRICS
    scores: _Names = option(
        None, "Stored scores, higher is better; human:NAME is a criterion.", metavar="NAME..."
    )
    distances: _Names = option(None, "Stored scores, lower is better.", metavar="NAME...")
    scores_from: Path | None = option(
        None, "Table with more stored scores, by system and segment, or by id.", metavar="FILE"
    )
    missing: Literal["error", "keep"] = option(
        "error", "If judged outputs lack a stored score: stop with an error, or keep them."
    )

    @property
    def metrics(self) -> list[str]:
        """The metrics to compute: bleu if neither metrics nor stored scores are named."""
        return list(self.metric or ([] if self.stored else ["bleu"]))

    @property
    def stored(self) -> list[str]:
        """The names of stored scores."""
        return [*(self.scores or ()), *(self.distances or ())]

    @property
    def stored_arguments(self) -> dict[str, Any]:
        """The arguments of library functions for stored scores."""
        named = {"scores": self.scores or (), "distances": self.distances or ()}
        return {**named, "missing": self.missing}

    def require_two(self, what: str) -> None:
        """Raise an error if fewer than two metrics are named."""
        named = len(self.metrics) + len(self.stored)
        if named < 2:
            raise UsageError(
                f"{what} compares at least 2 metrics, but {named} was named; name them with -m, as "
                "in -m bleu chrf"
            )

    def texts(self) -> "JudgedCorpus":
        """Return the judged texts with their stored scores; unknown names are errors."""
        judged = self.judged(self.stored, self.scores_from)
        if self.scores_from is not None and not self.stored:
            raise UsageError(
                f"{str(self.scores_from)!r} has scores of {', '.join(judged.stored)}; name those "
                "you want with --scores, or with --distances if lower is better"
            )
        for name in self.stored:
            next(judged.stored_rows(name), None)
        return judged

    def study(self) -> "Study":
        """Return the judged texts with all scores, computed in one pass."""
        from nlgauge.study import measure

        judged = self.texts()
        with self.running() as running:
            return measure(judged, self.metrics, **self.stored_arguments, **running)
