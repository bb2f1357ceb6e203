"""Task sets: TOML files with the data, levels and coefficients for ranking metrics.

title = "WMT 2024 metrics task"

[[tasks]]
data = "wmt24"                                file or folder, below the folder of all data
part = ["en-de", "en-es"]                     language pairs: a task for each
references = {en-de = "refB", en-es = "refA"} or one for all; default: all
human = "mqm"                                 criterion; not needed if there is only one
measures = ["system spa", "text acc_eq"]      level and coefficient: a task for each
weight = 1                                    of each of these tasks; default 1
without = ["MSLC", "ref*"]                    systems to leave out, if they are there
pool = false                                  one task of the pairs of systems of all parts
system_score = "mean"                         or "all" or "corpus", as in `correlate`
kind = "mt-metrics-eval"                      layout of the data; default: detected
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from nlgauge.core.errors import FileError, OptionError
from nlgauge.data.detection import read_judged
from nlgauge.data.files import read_lines
from nlgauge.data.judged import JudgedCorpus
from nlgauge.stats.levels import choose_level
from nlgauge.stats.named_coefficients import choose_coefficient
from nlgauge.study.level_scores import SystemScore, check_system_score

_SET_KEYS = ("title", "about", "download", "tasks")
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    **{"data": str, "part": (str, list), "references": (str, dict), "human": str},
    **{"measures": list, "weight": (int, float), "without": list, "pool": bool},
    **{"system_score": str, "kind": str},
}


@dataclass(frozen=True)
class TaskData:
    """Judged data of a task."""

    data: str
    part: str | None = None
    references: str | None = None
    kind: str | None = None
    without: tuple[str, ...] = ()

    def read(self, root: Path, stored: Sequence[str] = ()) -> JudgedCorpus:
        """Return the judged texts without the systems that are left out."""
        options: dict[str, Any] = {"kind": self.kind, "part": self.part}
        options |= {"references": self.references, "stored": stored}
        judged = read_judged(root / self.data, **options)
        for name in self.without:
            try:
                judged = judged.without(name)
            except OptionError:  # it is not among the systems of this part
                continue
        return judged


@dataclass(frozen=True)
class Task:
    """A level and a coefficient on judged data; several data are pooled."""

    sources: tuple[TaskData, ...]
    level: str
    coefficient: str
    human: str | None = None
    weight: float = 1.0
    system_score: SystemScore = "mean"

    @property
    def place(self) -> str:
        """The data in words: "wmt24 en-de"."""
        names = [f"{each.data} {each.part}" if each.part else each.data for each in self.sources]
        first = self.sources[0].data
        return f"{first} {'+'.join(str(s.part) for s in self.sources)}" if names[1:] else names[0]

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest value of the coefficient."""
        return (0.0 if self.coefficient in ("accuracy", "acc_eq", "spa") else -1.0), 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        fields = {"data": self.place, "human": self.human, "level": self.level}
        return {**fields, "coefficient": self.coefficient, "weight": self.weight}


@dataclass(frozen=True)
class TaskSet:
    """Tasks whose weights sum to 1."""

    title: str
    tasks: tuple[Task, ...]
    about: str = ""
    download: str = ""

    def check_data(self, root: Path) -> None:
        """Raise FileError unless the data of all tasks are below a folder."""
        needed: dict[str, dict[str, None]] = {}
        for each in (source for task in self.tasks for source in task.sources):
            needed.setdefault(each.data, {}).update({each.part: None} if each.part else {})
        missing = [name for name in needed if not (root / name).exists()]
        if missing:
            listed = "; ".join(
                f"{name} ({', '.join(parts)})" if parts else name for name, parts in needed.items()
            )
            source = f"; they are in {self.download}" if self.download else ""
            raise FileError(
                f"the tasks of {self.title!r} need in {str(root)!r}: {listed}. "
                f"Not found: {', '.join(missing)}{source}"
            )


def task_set_names() -> tuple[str, ...]:
    """Return the names of the task sets that come with the package."""
    folder = files("nlgauge.study").joinpath("task_sets")
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir()))


def read_tasks(path: str | Path) -> TaskSet:
    """Return the task set of a TOML file, or one that comes with the package, such as "wmt24".

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    TaskSet

    Raises
    ------
    FileError
        If the file is missing or not TOML, or has unknown keys or invalid values.

    Examples
    --------
    >>> found = read_tasks("wmt24")
    >>> len(found.tasks), found.tasks[0].place, found.tasks[0].coefficient
    (6, 'wmt24 en-de', 'spa')
    """
    name = str(path)
    if name in task_set_names():
        text = files("nlgauge.study").joinpath(f"task_sets/{name}.toml").read_text("utf-8")
    elif Path(name).is_file():
        text = "\n".join(read_lines(name))
    else:
        listed = ", ".join(task_set_names())
        raise FileError(f"there is no file {name!r}, and no task set of that name: {listed}")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{name} is not TOML: {error}") from None
    return _task_set(name, content)


def _task_set(name: str, content: Mapping[str, Any]) -> TaskSet:
    _check_keys(name, content, _SET_KEYS)
    entries = content.get("tasks")
    tables = isinstance(entries, list) and all(isinstance(each, dict) for each in entries)
    if not entries or not tables:
        raise FileError(f"{name} has no [[tasks]]")
    tasks = [
        task for i, entry in enumerate(entries, 1) for task in _tasks(f"{name}, task {i}", entry)
    ]
    total = sum(task.weight for task in tasks)
    weighted = tuple(replace(task, weight=task.weight / total) for task in tasks)
    texts = {key: str(content.get(key, "")).strip() for key in ("title", "about", "download")}
    texts["title"] = texts["title"] or Path(name).stem
    return TaskSet(tasks=weighted, **texts)


def _check_keys(where: str, content: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in content:
        if key not in known:
            raise FileError(f"{where} has an unknown key {key!r}; the keys are {', '.join(known)}")


def _tasks(where: str, entry: Mapping[str, Any]) -> Iterator[Task]:
    """Yield the tasks of an entry: one for each part (or all of them) and measure."""
    _check_keys(where, entry, tuple(_TYPES))
    for key, value in entry.items():
        if not isinstance(value, _TYPES[key]) or (key == "weight" and isinstance(value, bool)):
            raise FileError(f"{where}: {key} is {value!r:.60}, which is not of the right type")
        inner = list(value.values()) if isinstance(value, dict) else value
        if isinstance(inner, list) and not all(isinstance(each, str) for each in inner):
            raise FileError(f"{where}: {key} is {value!r:.60}, which does not hold texts only")
    for key in ("data", "measures"):
        if not entry.get(key):
            raise FileError(f"{where} has no {key!r}")
    if not 0 < entry.get("weight", 1) < float("inf"):
        raise FileError(f"{where}: weight is {entry['weight']}; it must be a positive number")
    check_system_score(entry.get("system_score", "mean"))
    shared = {key: entry[key] for key in ("human", "weight", "system_score") if key in entry}
    sources = _sources(where, entry)
    pool = entry.get("pool", False)
    for measure in entry["measures"]:
        level, coefficient = _measure(where, measure)
        if pool and (level, coefficient) != ("system", "accuracy"):
            raise FileError(f"{where}: pool is for the measure 'system accuracy', not {measure!r}")
        for group in [sources] if pool else [(source,) for source in sources]:
            yield Task(group, level, coefficient, **shared)


def _sources(where: str, entry: Mapping[str, Any]) -> tuple[TaskData, ...]:
    parts = entry.get("part")
    part_names = parts if isinstance(parts, list) else [parts]
    references = entry.get("references")
    if isinstance(references, dict) and set(references) != set(part_names):
        listed = ", ".join(map(str, part_names))
        raise FileError(f"{where}: references are named for other parts than {listed}")
    return tuple(
        TaskData(
            entry["data"],
            part,
            references[part] if isinstance(references, dict) else references,
            entry.get("kind"),
            tuple(entry.get("without", ())),
        )
        for part in part_names
    )


def _measure(where: str, measure: object) -> tuple[str, str]:
    names = measure.split() if isinstance(measure, str) else []
    if len(names) != 2:
        example = "'system spa'"
        raise FileError(
            f"{where}: the measure {measure!r} is not a level and a coefficient: {example}"
        )
    try:
        level, coefficient = choose_level(names[0]), choose_coefficient(names[1])
        coefficient.check_level(level)
    except OptionError as error:
        raise FileError(f"{where}: {error}") from None
    return level, coefficient.name
