"""Options of the commands that study metrics on judged texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from nlgauge.cli import arguments
from nlgauge.cli.option_groups import RuntimeOptions
from nlgauge.cli.output import OutputOptions
from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from nlgauge.data.judged import JudgedCorpus
    from nlgauge.study import Study

_Names = list[str] | None


def _option(help: str, metavar: str | None = None, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help)


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """Which judged texts are read."""

    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="File or folder of judged texts.", show_default=False),
    ]
    human: Annotated[
        _Names, _option("Human criterion; may be repeated [default: all].", "CRITERION")
    ] = None
    without: Annotated[
        _Names,
        _option("System to leave out, or pattern such as 'abs/*'; may be repeated.", "SYSTEM"),
    ] = None
    kind: Annotated[str | None, _option("Layout of DATA [default: detected].")] = None
    part: Annotated[str | None, _option("Language pair or data set, if DATA contains several.")] = (
        None
    )
    references: Annotated[
        str | None,
        _option("References, if DATA does not contain them.", "FILE", "-r", "--references"),
    ] = None

    def judged(self, stored: Sequence[str] = (), scores_from: Path | None = None) -> "JudgedCorpus":
        """Return the judged texts; an unknown criterion is an error before anything is scored."""
        from nlgauge.data.detection import read_judged
        from nlgauge.study import choose_criteria

        judged = read_judged(
            self.data,
            kind=self.kind,
            part=self.part,
            references=self.references,
            scores=scores_from,
            stored=stored,
        )
        if self.without:
            judged = judged.without(*self.without)
        choose_criteria(judged.criteria, self.human)
        return judged


@dataclass(frozen=True, kw_only=True)
class StudyOptions(RuntimeOptions, DataOptions, OutputOptions):
    """JudgedCorpus texts, how models run and how the result is written."""

    digits: arguments.Decimals = 3


@dataclass(frozen=True, kw_only=True)
class MetricStudyOptions(StudyOptions):
    """Also metrics to compute, and scores that are stored with the data."""

    metric: arguments.Metrics = None
    scores: Annotated[
        _Names, _option("Stored scores, higher is better; human:NAME is a criterion.", "NAME...")
    ] = None
    distances: Annotated[_Names, _option("Stored scores, lower is better.", "NAME...")] = None
    scores_from: Annotated[
        Path | None, _option("Table of more stored scores, by system and segment, or id.", "FILE")
    ] = None
    missing: Annotated[
        Literal["error", "keep"],
        _option("If judged outputs lack a stored score: stop with an error, or keep and count."),
    ] = "error"

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
        """The arguments of the library's functions about stored scores."""
        named = {"scores": self.scores or (), "distances": self.distances or ()}
        return {**named, "missing": self.missing}

    def texts(self) -> "JudgedCorpus":
        """Return the judged texts with their stored scores; unknown names are errors."""
        judged = self.judged(self.stored, self.scores_from)
        if self.scores_from is not None and not self.stored:
            raise UsageError(
                f"{str(self.scores_from)!r} holds scores of {', '.join(judged.stored)}; name those "
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

    def check_two_metrics(self, test: str) -> None:
        """Raise an error if fewer than two metrics are named."""
        named = len(self.metrics) + len(self.stored)
        if named < 2:
            raise UsageError(
                f"{test} compares at least 2 metrics, but {named} was named; "
                "name them with -m, as in -m bleu chrf"
            )
