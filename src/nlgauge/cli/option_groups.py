"""Groups of options that several commands share: dataclasses whose fields become options."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Any, get_type_hints

import typer

from nlgauge.cli import arguments
from nlgauge.runtime import Runtime

_FIRST = ("data", "samples", "metric", "scores", "distances", "scores_from", "missing", "human")
"""Fields that are listed before a command's own options; the others follow them."""


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the fields of its dataclass parameters as options."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    shared = {
        field.name: Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
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
    first = [shared[name] for name in _FIRST if name in shared]
    parameters = [*first, *own, *(each for each in shared.values() if each not in first)]

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
    """Return those of the options ``names`` that are on the command line, as --option."""
    found = []
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name in names and source is not None and source.name == "COMMANDLINE":
            found.append(option.opts[-1])
    return found


@dataclass(frozen=True, kw_only=True)
class RuntimeOptions:
    """Where and how models run."""

    device: arguments.Device = "auto"
    batch_tokens: arguments.BatchTokens = 2048
    precision: arguments.Precision = None
    threads: arguments.Threads = None
    download: arguments.Download = False
    cache: arguments.Cache = None
    quiet: arguments.Quiet = False

    @property
    def runtime(self) -> Runtime:
        """The settings as the library takes them."""
        return Runtime(
            self.device,
            self.batch_tokens,
            self.precision,
            self.cache,
            self.download or None,
            threads=self.threads,
        )

    @contextmanager
    def running(self) -> Iterator[dict[str, Any]]:
        """Show a progress bar, and yield the arguments ``runtime`` and ``progress``."""
        from nlgauge.cli.progress import progress_bar

        with progress_bar(quiet=self.quiet) as progress:
            yield {"runtime": self.runtime, "progress": progress}
