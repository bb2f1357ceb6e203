"""What recipes are made of: a paper, the lines of its table, the data found, what is written."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from nlgauge.core.errors import FileError, MissingExtra
from nlgauge.core.metric import Metric
from nlgauge.data.judged import Judged
from nlgauge.figures.matrix import Panel
from nlgauge.metrics import metric as build_metric
from nlgauge.report.inks import INKS
from nlgauge.report.table import Column, Table, Value
from nlgauge.scoring import Progress
from nlgauge.studying import Study, measure

EMBEDDED = "embedded (all-MiniLM-L6-v2, 6 layers)"

Numbers = Mapping[tuple[str, str], float]
"""By the name of a line and the heading of a column."""


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
    """With which model, where and in what portions a recipe scores."""

    model: str | None = None
    device: str = "auto"
    batch_tokens: int = 2048
    progress: Progress | None = None


@dataclass(frozen=True)
class Section:
    """A table under its title."""

    title: str
    table: Table


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """What a recipe made: tables and figures by file name, plain results, and what was said."""

    recipe: str
    paper: Paper
    model: str
    tables: Mapping[str, Sequence[Section]]
    figures: Mapping[str, Sequence[Panel]]
    results: Mapping[str, Any]
    missing: tuple[str, ...]
    remarks: tuple[str, ...]

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
            written += _draw(self.figures, place)
        except MissingExtra as error:
            return tuple(written), (f"no figures were drawn: {error}",)
        return tuple(written), ()


def find(data: Path, wanted: Mapping[str, str]) -> tuple[dict[str, Path], tuple[str, ...]]:
    """The files that lie under the folder, by part, and a sentence on those that do not.

    A name ending in .gz will do for one without. None at all is an error.
    """
    if not data.is_dir():
        raise FileError(f"there is no folder {str(data)!r} to look for data in")
    found: dict[str, Path] = {}
    for part, name in wanted.items():
        for path in (data / name, data / f"{name}.gz"):
            if path.is_file():
                found.setdefault(part, path)
    if not found:
        listed = ", ".join(wanted.values())
        raise FileError(f"{data} holds none of the files looked for, gzipped or not: {listed}")
    lost = [name for part, name in wanted.items() if part not in found]
    if not lost:
        return found, ()
    listed = ", ".join(lost)
    return found, (f"Missing in the data folder, gzipped or not, and so left out here: {listed}.",)


def measured(data: Judged | Path, lines: Sequence[Line], setting: Setting) -> Study:
    """The judged texts scored in one pass with the metrics of the lines, under the lines' names."""
    asked = {line.name: line.spec for line in lines if line.spec is not None}
    study = measure(
        data,
        [with_model(spec, setting.model) for spec in asked.values()],
        device=setting.device,
        batch_tokens=setting.batch_tokens,
        progress=setting.progress,
    )
    names = dict(zip(study.labels, asked, strict=True))
    board = {
        system: {names[label]: scores for label, scores in found.items()}
        for system, found in study.board.items()
    }
    renamed = [dataclasses.replace(each, name=names[each.name]) for each in study.measured]
    return dataclasses.replace(study, measured=tuple(renamed), board=board)


def with_model(spec: str, model: str | None) -> Metric:
    """The metric of a spec, on the model if one is named and the metric takes one."""
    built = build_metric(spec)
    takes = any(field.name == "model" for field in dataclasses.fields(built))
    return build_metric(spec, model=model) if takes and model is not None else built


def model_of(study: Study) -> str:
    """The name of the model that the metrics of a study were served from."""
    first = next(iter(study.board.values()))
    models = [getattr(scores.metric, "model", None) for scores in first.values()]
    used = dict.fromkeys(EMBEDDED if name == "embedded" else str(name) for name in models if name)
    return ", ".join(used) or "none"


def beside(
    lines: Sequence[Line],
    heads: Mapping[str, str],
    ours: Numbers,
    published: Numbers,
    *,
    digits: int,
    footer: Sequence[str] = (),
) -> Table:
    """Our numbers beside the published ones; ``heads`` are columns and how their headings read."""
    columns = [Column("metric"), Column("in the paper")]
    for heading in heads.values():
        columns += [Column(heading, digits, "higher"), Column("published", digits)]
    rows: list[tuple[Value, ...]] = []
    for line in lines:
        cells: list[Value] = [line.name if line.spec else "", line.published or ""]
        for head in heads:
            cells += [ours.get((line.name, head)), published.get((line.published or "", head))]
        rows.append(tuple(cells))
    return Table(tuple(columns), tuple(rows), tuple(footer))


def entries(
    part: str, lines: Sequence[Line], heads: Sequence[str], ours: Numbers, published: Numbers
) -> Iterator[dict[str, Any]]:
    """The numbers of ``beside`` one by one, as plain values."""
    for line in lines:
        for head in heads:
            yield {
                "data": part,
                "metric": line.name if line.spec else None,
                "in_the_paper": line.published,
                "coefficient": head,
                "ours": plain(ours.get((line.name, head))),
                "published": published.get((line.published or "", head)),
            }


def plain(value: float | None) -> float | None:
    """The number, or None where it is undefined."""
    return float(value) if value is not None and isfinite(value) else None


def _markdown(rebuilt: Rebuilt, sections: Sequence[Section]) -> str:
    parts = [f"# {rebuilt.paper.title}", "\n".join(f"* {line}" for line in rebuilt.about)]
    for section in sections:
        parts += [f"## {section.title}", INKS["markdown"](section.table)]
    return "\n\n".join(parts) + "\n"


def _latex(rebuilt: Rebuilt, sections: Sequence[Section]) -> str:
    parts = ["\n".join(f"% {line}" for line in (rebuilt.paper.title, *rebuilt.about))]
    parts += [f"% {section.title}\n{INKS['latex'](section.table)}" for section in sections]
    return "\n\n".join(parts) + "\n"


def _draw(figures: Mapping[str, Sequence[Panel]], place: Path) -> list[Path]:
    from nlgauge.figures.canvas import save  # noqa: PLC0415 (matplotlib is slow to import)
    from nlgauge.figures.matrix import heat  # noqa: PLC0415

    written = []
    for stem, panels in figures.items():
        drawn = heat(panels)
        for ending in (".svg", ".png"):
            save(drawn, place / f"{stem}{ending}")
            written.append(place / f"{stem}{ending}")
    return written
