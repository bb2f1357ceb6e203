"""Groups of options that several commands share: dataclasses whose fields become options."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

import typer

from nlgauge.cli import arguments
from nlgauge.core.errors import UsageError
from nlgauge.runtime import Runtime

if TYPE_CHECKING:
    from nlgauge.core.corpus import Corpus
    from nlgauge.data.columns import Columns
    from nlgauge.data.systems import InputFiles

_FIRST = (
    *("data", "samples", "systems", "candidates", "references", "sources", "metric"),
    *("input_format", "columns", "system_columns", "no_header"),
    *("scores", "distances", "scores_from", "missing", "cluster", "human"),
)
"""Fields that are listed before a command's own options; the others follow them."""


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the fields of its dataclass parameters as options.

    Parameters before the first dataclass are listed first.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    shared = {
        field.name: Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=get_type_hints(group, include_extras=True)[field.name],
        )
        for group in groups.values()
        for field in fields(group)
    }
    own = [
        each.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[each.name])
        for each in signature(command).parameters.values()
        if each.name not in groups
    ]
    leading = len(list(takewhile(lambda name: name not in groups, signature(command).parameters)))
    first = [shared[name] for name in _FIRST if name in shared]
    others = (each for each in shared.values() if each not in first)
    parameters = [*own[:leading], *first, *own[leading:], *others]

    @wraps(command)
    def wrapper(**values: Any) -> None:
        built = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**built, **values)

    wrapper.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {each.name: each.annotation for each in parameters}
    return wrapper


def given_options(context: typer.Context, names: Collection[str]) -> list[str]:
    """Return which of the options ``names`` are on the command line, as --option."""
    sources = {name: context.get_parameter_source(name) for name in names}
    given = {name for name, source in sources.items() if source and source.name == "COMMANDLINE"}
    return [option.opts[-1] for option in context.command.params if option.name in given]


def refuse_without(
    context: typer.Context, names: Collection[str], needed: str, *, present: bool
) -> None:
    """Raise an error for an option that has no effect, because ``needed`` is not ``present``."""
    for given in () if present else given_options(context, names):
        raise UsageError(f"{given} has no effect without {needed}; add it, or leave out {given}")


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How the columns of a table are named."""

    columns: list[str] | None = arguments.COLUMNS
    no_header: bool = arguments.NO_HEADER

    @property
    def chosen_columns(self) -> "Columns":
        """The columns, as readers expect them."""
        from nlgauge.data.columns import Columns

        return Columns.of(self.columns, header=not self.no_header)


@dataclass(frozen=True, kw_only=True)
class InputOptions(TableOptions):
    """Texts of systems: files of candidates, references and sources, or tables."""

    candidates: list[str] = arguments.CANDIDATES
    references: list[str] | None = arguments.REFERENCES
    sources: str | None = arguments.SOURCES
    metric: list[str] | None = arguments.METRICS
    input_format: Literal["text", "jsonl", "json", "tsv", "csv", "parquet", "eval"] | None = (
        arguments.option(None, "Format of the candidates [default: by the file name].", "--input")
    )
    system_columns: str | None = arguments.SYSTEM_COLUMNS

    @property
    def chosen_columns(self) -> "Columns":
        """The columns, including those of systems."""
        from nlgauge.data.columns import Columns, split_names

        texts = super().chosen_columns.to_dict()
        if self.system_columns is not None:
            texts["systems"] = [*texts.get("systems", ()), *split_names(self.system_columns)]
        return Columns.of(texts, header=not self.no_header)

    @property
    def metrics(self) -> list[str]:
        """The metrics, by default bleu."""
        return self.metric or ["bleu"]

    def files(self) -> "InputFiles":
        """The files, to be read row by row; they may be URLs."""
        from nlgauge.data.systems import InputFiles
        from nlgauge.data.urls import url_or_path

        candidates, sets = (
            map(url_or_path, each or ()) for each in (self.candidates, self.references)
        )
        sources = None if self.sources is None else url_or_path(self.sources)
        return InputFiles(
            list(candidates), list(sets), self.input_format, sources, self.chosen_columns
        )

    def read(self) -> "Corpus":
        """Return the texts."""
        from nlgauge.data.systems import read_systems

        return read_systems(
            self.candidates,
            self.references or [],
            sources=self.sources,
            wanted=self.input_format,
            columns=self.chosen_columns,
        )

    def record(self) -> dict[str, Any]:
        """Return the given arguments of ``read_systems``, for the output."""
        columns = self.chosen_columns
        given = {
            "sources": self.sources,
            "wanted": self.input_format,
            "columns": columns.to_dict() or None,
            "header": None if columns.header else False,
        }
        named = {"candidates": self.candidates, "references": self.references or []}
        return named | {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class RuntimeOptions:
    """Where and how models run."""

    device: str = arguments.DEVICE
    batch_tokens: int = arguments.BATCH_TOKENS
    precision: Literal["float32", "bfloat16", "int8"] | None = arguments.option(
        None, "Precision of models, for metrics that do not set it [default: float32]."
    )
    threads: int | None = arguments.option(
        None, "Maximum number of threads [default: all cores].", min=1
    )
    download: bool = arguments.DOWNLOAD
    cache: str | None = arguments.option(
        None,
        "Folder of the embedding cache [default: NLGAUGE_CACHE, else no cache].",
        metavar="DIR",
    )
    lang: str | None = arguments.LANG
    quiet: bool = arguments.QUIET

    @property
    def runtime(self) -> Runtime:
        """The settings as a ``Runtime``."""
        names = ("device", "batch_tokens", "precision", "threads", "cache", "lang")
        given = {name: getattr(self, name) for name in names}
        return Runtime(**given, download=self.download or None)

    @contextmanager
    def running(self) -> Iterator[dict[str, Any]]:
        """Show a progress bar, and yield the arguments ``runtime`` and ``progress``."""
        from nlgauge.cli.progress import progress_bar

        with progress_bar(quiet=self.quiet) as progress:
            yield {"runtime": self.runtime, "progress": progress}
