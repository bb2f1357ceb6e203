"""What every verb of studies is asked: which judged texts, which metrics, and how to answer.

A verb takes these as one value, its first parameter; ``asking`` puts the options of that value on
the command line, so that they are written down once.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from nlgauge.cli import arguments, study_output

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nlgauge.data.judged import JudgedCorpus
    from nlgauge.study import Study


class Missing(StrEnum):
    """What becomes of judged outputs that stored scores lack."""

    ERROR = "error"
    KEEP = "keep"


Data = Annotated[
    Path,
    typer.Argument(metavar="DATA", help="A file or folder of judged texts.", show_default=False),
]
Human = Annotated[
    list[str] | None,
    typer.Option(
        "--human", metavar="CRITERION", help="What people judged; may be repeated [default: all]."
    ),
]
Scores = Annotated[
    list[str] | None,
    typer.Option(
        "--scores",
        metavar="NAME...",
        help="Scores that came with the data, higher is better; human:NAME for a criterion.",
    ),
]
Distances = Annotated[
    list[str] | None,
    typer.Option("--distances", metavar="NAME...", help="The same, where lower is better."),
]
ScoresFrom = Annotated[
    Path | None,
    typer.Option(
        "--scores-from",
        metavar="FILE",
        help="A table of more such scores, by system and segment, or by id.",
    ),
]
Gaps = Annotated[
    Missing,
    typer.Option(help="Where such scores lack judged outputs: stop, or keep the gap and count it."),
]
Without = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        metavar="SYSTEM",
        help="Leave out a system (a human one, say), or 'abs/*'; may be repeated.",
    ),
]
Kind = Annotated[str | None, typer.Option("--kind", help="The layout of DATA [default: guessed].")]
Part = Annotated[
    str | None, typer.Option("--part", help="A language pair or data set, where DATA has several.")
]
References = Annotated[
    str | None,
    typer.Option(
        "-r", "--references", metavar="FILE", help="References, where the layout keeps them apart."
    ),
]
Digits = Annotated[int, typer.Option("-w", "--width", min=0, max=15, help="Decimals.")]

_FIRST = ("data", "metric", "scores", "distances", "scores_from", "missing", "human")
"""These stand before a verb's own options, the others after them."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Which judged texts, and how the answer is delivered."""

    data: Data
    human: Human = None
    format: study_output.Chosen = None
    output: arguments.Output = None
    digits: Digits = 3
    without: Without = None
    kind: Kind = None
    part: Part = None
    references: References = None
    device: arguments.Device = "auto"
    batch_tokens: arguments.BatchTokens = 2048
    download: arguments.Download = False
    cache: arguments.Cache = None
    quiet: arguments.Quiet = False

    def judged(self, stored: Sequence[str] = (), scores_from: Path | None = None) -> JudgedCorpus:
        """The judged texts; criteria that nobody judged are refused before anything is scored."""
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

    @contextmanager
    def scoring(self) -> Iterator[dict[str, Any]]:
        """The options of a conductor that scores, with a bar that shows how far it is."""
        from nlgauge.cli.progress import progress_bar

        with progress_bar(quiet=self.quiet) as progress:
            yield {
                "runtime": arguments.make_runtime(
                    self.device, self.batch_tokens, self.download, self.cache, quiet=self.quiet
                ),
                "progress": progress,
            }


@dataclass(frozen=True, kw_only=True)
class AskedMetrics(Asked):
    """Also which metrics: to be computed, or whose scores came with the data."""

    metric: arguments.Metrics = None
    scores: Scores = None
    distances: Distances = None
    scores_from: ScoresFrom = None
    missing: Gaps = Missing.ERROR

    @property
    def metrics(self) -> list[str]:
        """The metrics to be computed: those named, or bleu if none and no stored scores are."""
        return list(self.metric or ([] if self.scores or self.distances else ["bleu"]))

    @property
    def stored(self) -> list[str]:
        """The names of scores that came with the data."""
        return [*(self.scores or ()), *(self.distances or ())]

    @property
    def came_along(self) -> dict[str, Any]:
        """The options of a conductor on scores that came with the data."""
        return {
            "scores": self.scores or (),
            "distances": self.distances or (),
            "missing": self.missing.value,
        }

    def texts(self) -> JudgedCorpus:
        """The judged texts with the scores that came along; unknown names are refused."""
        from nlgauge.core.errors import UsageError

        judged = self.judged(self.stored, self.scores_from)
        if self.scores_from is not None and not self.stored:
            raise UsageError(
                f"{str(self.scores_from)!r} holds scores of {', '.join(judged.stored)}; name those "
                "you want with --scores, or with --distances where lower is better"
            )
        for name in self.stored:
            next(judged.stored_rows(name), None)
        return judged

    def study(self) -> Study:
        """The judged texts, scored in one pass."""
        from nlgauge.study import measure

        judged = self.texts()
        with self.scoring() as how:
            return measure(judged, self.metrics, **self.came_along, **how)

    def need_two(self, test: str) -> None:
        """Refuse a test of differences between metrics if fewer than two are named."""
        from nlgauge.core.errors import UsageError

        named = len(self.metrics) + len(self.stored)
        if named < 2:
            raise UsageError(
                f"{test} compares at least 2 metrics, but {named} was named; "
                "name them with -m, as in -m bleu chrf"
            )


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """The verb with the fields of its first parameter, an Asked, as options beside its own."""
    hints = get_type_hints(command, include_extras=True)
    first, *own = signature(command).parameters.values()
    kind = hints[first.name]
    types = get_type_hints(kind, include_extras=True)
    shared = {
        field.name: Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=types[field.name],
        )
        for field in fields(kind)
    }
    mine = [each.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[each.name]) for each in own]
    before = [shared[name] for name in _FIRST if name in shared]
    after = [each for name, each in shared.items() if name not in _FIRST]
    parameters = [*before, *mine, *after]

    @wraps(command)
    def verb(**words: Any) -> None:
        asked = kind(**{name: words.pop(name) for name in shared})
        command(asked, **words)

    verb.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    verb.__annotations__ = {each.name: each.annotation for each in parameters}
    return verb
