"""The parts of a recipe: its paper, table rows, settings and results, and the files written."""

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlgauge.core.errors import FileError, MissingExtra
from nlgauge.core.printable import printable
from nlgauge.report.formats import latex, markdown, markdown_text
from nlgauge.report.table import Table
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw = Callable[[], "Figure"]
"""Draws a figure when it is written, so that a recipe runs without matplotlib."""

Numbers = Mapping[tuple[str, str], float]
"""Numbers by row and column of a table."""


@dataclass(frozen=True)
class Paper:
    """The source of the published numbers, and their model."""

    title: str
    source: str
    model: str


@dataclass(frozen=True)
class TableRow:
    """A row of a table: our metric and the paper's name for it; either may be missing."""

    name: str
    spec: str | None = None
    published: str | None = None


def with_model_name(row: str, model: str) -> str:
    """Return the label of a row's metric with another model than the recipe's."""
    return f"{row} ({model})"


@dataclass(frozen=True, eq=False)
class Publication:
    """The TOML file of a recipe: its paper, the rows of its tables, published numbers and notes."""

    paper: Paper
    rows: Mapping[str, tuple[TableRow, ...]]
    tables: Mapping[str, Mapping[str, str]]
    notes: Mapping[str, str]
    others: Mapping[str, Any]

    @classmethod
    def load(cls, recipe: str) -> "Publication":
        """Return the publication of a recipe."""
        text = files("nlgauge.recipes").joinpath(f"{recipe}.toml").read_text("utf-8")
        content = tomllib.loads(text)
        rows = {
            key: tuple(TableRow(name, spec or None, paper or None) for name, spec, paper in lines)
            for key, lines in content.pop("rows").items()
        }
        tables, notes = content.pop("tables"), content.pop("notes")
        return cls(Paper(**content.pop("paper")), rows, tables, notes, content)


@dataclass(frozen=True)
class Settings:
    """Model, runtime and number of inputs of a recipe."""

    model: str | None = None
    runtime: Runtime = DEFAULT
    progress: Progress | None = None
    inputs: int | None = None
    """Maximum inputs of a data set; None uses all, or the sample of a slow recipe."""
    other_models: tuple[str, ...] = ()
    """Models with numbers in further columns of the tables."""


@dataclass(frozen=True)
class Section:
    """A table and its title."""

    title: str
    table: Table


@dataclass(frozen=True, eq=False)
class Part:
    """Results of a part of a paper: tables and figures by file name, values for JSON, notes."""

    tables: Mapping[str, Sequence[Section]] = field(default_factory=dict)
    figures: Mapping[str, Draw] = field(default_factory=dict)
    results: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    models: Sequence[str] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Reproduction(Part):
    """The result of a recipe: its parts joined."""

    recipe: str
    paper: Paper
    missing: Sequence[str]

    @classmethod
    def of(
        cls, recipe: str, paper: Paper, parts: Iterable[Part], missing: Sequence[str]
    ) -> "Reproduction":
        """Return the parts joined in their order."""
        joined = list(parts)
        return cls(
            _merge(part.tables for part in joined),
            _merge(part.figures for part in joined),
            _merge(part.results for part in joined),
            tuple(dict.fromkeys(note for part in joined for note in part.notes)),
            tuple(dict.fromkeys(name for part in joined for name in part.models)),
            recipe=recipe,
            paper=paper,
            missing=tuple(missing),
        )

    @property
    def model(self) -> str:
        """The names of all models."""
        return ", ".join(self.models) or "none"

    @property
    def about(self) -> tuple[str, ...]:
        """Sentences about the paper, and the models of the published and computed numbers."""
        return (
            f"Published: {self.paper.source}; model: {self.paper.model}.",
            f"Ours: computed here; model: {self.model}.",
            *self.missing,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "recipe": self.recipe,
            "paper": self.paper.title,
            "source": self.paper.source,
            "model_published": self.paper.model,
            "model_ours": self.model,
            "missing": list(self.missing),
            **self.results,
            "notes": list(self.notes),
        }

    def write(self, folder: str | Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
        """Write all files; return their paths, and a sentence if figures could not be drawn."""
        place = Path(folder)
        texts = {"summary.json": json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"}
        for stem, sections in self.tables.items():
            about = [printable(line) for line in self.about]
            listed = "\n".join(f"* {markdown_text(line)}" for line in about)
            md = [f"# {self.paper.title}", listed]
            tex = ["\n".join(f"% {line}" for line in (self.paper.title, *about))]
            for section in sections:
                title = printable(section.title)
                md += [f"## {markdown_text(title)}", markdown(section.table)]
                tex.append(f"% {title}\n{latex(section.table)}")
            texts[f"{stem}.md"] = "\n\n".join(md) + "\n"
            texts[f"{stem}.tex"] = "\n\n".join(tex) + "\n"
        try:
            place.mkdir(parents=True, exist_ok=True)
            for name, text in texts.items():
                (place / name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise FileError(f"cannot write to {str(place)!r}: {error.strerror}") from error
        written = [place / name for name in texts]
        notes: list[str] = []
        try:
            from nlgauge.figures.matplotlib_setup import save

            for stem, draw in self.figures.items():
                figure = draw()
                for path in (place / f"{stem}.svg", place / f"{stem}.png"):
                    notes += save(figure, path)
                    written.append(path)
        except MissingExtra as error:
            return tuple(written), (f"no figures were drawn: {error}",)
        return tuple(written), tuple(notes)


def _merge(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the mappings as one; the lists or mappings of a key are joined."""
    merged: dict[str, Any] = {}
    for key, value in chain(*(part.items() for part in parts)):
        if isinstance(value, Mapping):
            merged[key] = {**merged.get(key, {}), **value}
        else:
            merged[key] = [*merged[key], *value] if key in merged else value
    return merged
