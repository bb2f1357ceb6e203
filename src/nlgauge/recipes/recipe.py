"""What recipes are made of: a paper, the lines of its tables, rebuilt parts, what is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlgauge.core.errors import FileError, MissingExtra
from nlgauge.report.formats import FORMATS
from nlgauge.report.table import Table
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw = Callable[[], "Figure"]
"""Makes a figure when asked, so that a recipe runs where nothing can be drawn."""


@dataclass(frozen=True)
class Paper:
    """Where the published numbers stand, and which model they were made with."""

    title: str
    source: str
    model: str


@dataclass(frozen=True)
class Line:
    """A line of a table: our metric and the paper's name for it, either of which may be missing."""

    name: str
    spec: str | None = None
    published: str | None = None


@dataclass(frozen=True)
class Setting:
    """With which model, where, in what portions and on how many inputs a recipe scores."""

    model: str | None = None
    runtime: Runtime = DEFAULT
    progress: Progress | None = None
    inputs: int | None = None
    """At most so many inputs of a data set; None takes all, or what a slow recipe can afford."""


@dataclass(frozen=True)
class Section:
    """A table under its title."""

    title: str
    table: Table


@dataclass(frozen=True, eq=False)
class Part:
    """What came of one question of a paper: tables and figures by file name, and plain results."""

    tables: Mapping[str, Sequence[Section]] = field(default_factory=dict)
    figures: Mapping[str, Draw] = field(default_factory=dict)
    results: Mapping[str, Any] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    models: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """What a recipe made: tables and figures by file name, plain results, and what was said."""

    recipe: str
    paper: Paper
    model: str
    tables: Mapping[str, Sequence[Section]]
    figures: Mapping[str, Draw]
    results: Mapping[str, Any]
    missing: tuple[str, ...]
    remarks: tuple[str, ...]

    @classmethod
    def of(
        cls, recipe: str, paper: Paper, parts: Iterable[Part], missing: Sequence[str]
    ) -> Rebuilt:
        """The parts as one, in their order."""
        joined = list(parts)
        models = dict.fromkeys(name for part in joined for name in part.models)
        return cls(
            *(recipe, paper, ", ".join(models) or "none"),
            _merged(part.tables for part in joined),
            _merged(part.figures for part in joined),
            _merged(part.results for part in joined),
            tuple(missing),
            tuple(dict.fromkeys(said for part in joined for said in part.remarks)),
        )

    @property
    def about(self) -> tuple[str, ...]:
        """Which paper and model stand behind the published numbers, which behind ours."""
        return (
            f"Published: {self.paper.source}; model: {self.paper.model}.",
            f"Ours: computed here; model: {self.model}.",
            *self.missing,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "recipe": self.recipe,
            "paper": self.paper.title,
            "source": self.paper.source,
            "model_published": self.paper.model,
            "model_ours": self.model,
            "missing": list(self.missing),
            **self.results,
            "notes": list(self.remarks),
        }

    def write(self, folder: str | Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
        """The files written to the folder, and a sentence if figures could not be drawn."""
        place = Path(folder)
        texts = {"summary.json": json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"}
        for stem, sections in self.tables.items():
            texts[f"{stem}.md"] = _markdown(self, sections)
            texts[f"{stem}.tex"] = _latex(self, sections)
        try:
            place.mkdir(parents=True, exist_ok=True)
            for name, text in texts.items():
                (place / name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise FileError(f"cannot write to {str(place)!r}: {error.strerror}") from error
        written = [place / name for name in texts]
        try:
            for stem, draw in self.figures.items():
                written += _save(draw, place / stem)
        except MissingExtra as error:
            return tuple(written), (f"no figures were drawn: {error}",)
        return tuple(written), ()


def _merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The mappings as one; where several have a key, their lists or mappings are joined."""
    whole: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            if key not in whole:
                whole[key] = value
            elif isinstance(value, Mapping):
                whole[key] = {**whole[key], **value}
            else:
                whole[key] = [*whole[key], *value]
    return whole


def _markdown(rebuilt: Rebuilt, sections: Sequence[Section]) -> str:
    parts = [f"# {rebuilt.paper.title}", "\n".join(f"* {line}" for line in rebuilt.about)]
    for section in sections:
        parts += [f"## {section.title}", FORMATS["markdown"](section.table)]
    return "\n\n".join(parts) + "\n"


def _latex(rebuilt: Rebuilt, sections: Sequence[Section]) -> str:
    parts = ["\n".join(f"% {line}" for line in (rebuilt.paper.title, *rebuilt.about))]
    parts += [f"% {section.title}\n{FORMATS['latex'](section.table)}" for section in sections]
    return "\n\n".join(parts) + "\n"


def _save(draw: Draw, stem: Path) -> list[Path]:
    from nlgauge.figures.matplotlib_setup import save

    figure = draw()
    paths = [stem.with_name(f"{stem.name}{ending}") for ending in (".svg", ".png")]
    for path in paths:
        save(figure, path)
    return paths
