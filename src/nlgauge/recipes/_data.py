"""The data of a recipe: which files are there, and which of their rows take part."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nlgauge.core.errors import FileError
from nlgauge.data.judged import JudgedCorpus


def find(data: Path, wanted: Mapping[str, str]) -> tuple[dict[str, Path], tuple[str, ...]]:
    """The files and folders that lie under a folder, by part, and a sentence on those that do not.

    A name ending in .gz will do for one without. None at all is an error.
    """
    if not data.is_dir():
        raise FileError(f"there is no folder {str(data)!r} to look for data in")
    found: dict[str, Path] = {}
    for part, name in wanted.items():
        for path in (data / name, data / f"{name}.gz"):
            if path.exists():
                found.setdefault(part, path)
    if not found:
        listed = ", ".join(wanted.values())
        raise FileError(f"{data} holds none of the files looked for, gzipped or not: {listed}")
    lost = [name for part, name in wanted.items() if part not in found]
    if not lost:
        return found, ()
    listed = ", ".join(lost)
    return found, (f"Missing in the data folder, gzipped or not, and so left out here: {listed}.",)


def some_inputs(judged: JudgedCorpus, count: int | None) -> JudgedCorpus:
    """At most ``count`` inputs, evenly spaced in their order, each with all its systems."""
    inputs = list(dict.fromkeys(judged.corpus.ids))
    if count is None or count >= len(inputs):
        return judged
    chosen = {inputs[i * len(inputs) // count] for i in range(count)}
    keep = [row for row, name in enumerate(judged.corpus.ids) if name in chosen]
    said = (
        f"a sample, evenly spaced: {count:,} of {len(inputs):,} inputs, "
        f"{len(keep):,} of {len(judged):,} rows."
    )
    return judged.take(keep, said)
