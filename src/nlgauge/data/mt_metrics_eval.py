"""The folder layout of mt-metrics-eval (Google): one folder per test set, WMT19 and later.

    sources/en-de.txt                         one segment per line
    references/en-de.refA.txt                 the same lines, translated by people
    system-outputs/en-de/<system>.txt         the same lines, translated by a system
    human-scores/en-de.<criterion>.seg.score  "system<TAB>score" or "system<TAB>None"
    metric-scores/en-de/<metric>-refA.seg.score

A score file holds a block of lines per system, one per segment, in order. Segment ids are line
numbers, from 1. Scores of systems, documents or domains (.sys, .doc, .domain) are not read: they
are means the studies compute. Outputs nobody judged are dropped and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path

from nlgauge.core.errors import FileError, OptionError
from nlgauge.data.files import read_lines
from nlgauge.data.judged import Judged, Row, choose_part, number

FOLDERS = ("sources", "references", "system-outputs", "human-scores")
_ENDING = ".seg.score"


def read_mt_metrics_eval(
    path: str,
    *,
    part: str | None = None,
    references: Sequence[str] | None = None,
    metrics: Sequence[str] = (),
) -> Judged:
    """The judged outputs of one language pair (`part`) of a test set.

    `references` names the ones to use (all if None). A reference that also lies among the outputs
    is a system only while it is not used as a reference. `metrics` names stored scores to bring
    along, as their files are called (`BLEU-refA`).
    """
    folder = Path(path)
    missing = [name for name in FOLDERS if not (folder / name).is_dir()]
    if missing:
        raise FileError(f"{path} is not a test set of mt-metrics-eval: no folder {missing[0]!r}")
    parts = sorted(file.stem for file in (folder / "sources").glob("*.txt"))
    pair = choose_part(path, parts, part, "language pair")
    sources = read_lines(str(folder / "sources" / f"{pair}.txt"))
    used = _references(folder, pair, references, len(sources))
    outputs = _outputs(folder, pair, len(sources))
    human = _human(folder, pair, outputs, len(sources))
    stored = {name: _stored(folder, pair, name, outputs, len(sources)) for name in metrics}
    copies = [name for name in outputs if name in used]
    systems = [name for name in outputs if name not in used]
    rows = [
        Row(
            system,
            str(i + 1),
            outputs[system][i],
            tuple(texts[i] for texts in used.values()),
            {name: scores[system][i] for name, scores in human.items() if system in scores},
            source,
            {name: scores[system][i] for name, scores in stored.items() if system in scores},
        )
        for system in systems
        for i, source in enumerate(sources)
    ]
    judged = [row for row in rows if not all(isnan(score) for score in row.human.values())]
    return Judged.from_rows(
        judged,
        dropped={
            "nobody judged": len(rows) - len(judged),
            f"of references in use ({', '.join(copies)})": len(copies) * len(sources),
        },
    )


def _references(
    folder: Path, pair: str, wanted: Sequence[str] | None, count: int
) -> dict[str, list[str]]:
    files = {
        file.name.removeprefix(f"{pair}.").removesuffix(".txt"): file
        for file in sorted((folder / "references").glob(f"{pair}.*.txt"))
    }
    if not files:
        raise FileError(f"{folder / 'references'} holds no file {pair}.<name>.txt")
    unknown = [name for name in wanted or () if name not in files]
    if unknown:
        raise OptionError(
            f"there is no reference {unknown[0]!r} for {pair!r}; there are: {', '.join(files)}"
        )
    if wanted is not None and not wanted:
        raise OptionError(f"references is empty; choose among: {', '.join(files)}")
    chosen = files if wanted is None else {name: files[name] for name in wanted}
    return {name: _lines(file, count) for name, file in chosen.items()}


def _outputs(folder: Path, pair: str, count: int) -> dict[str, list[str]]:
    files = sorted((folder / "system-outputs" / pair).glob("*.txt"))
    if not files:
        raise FileError(f"{folder / 'system-outputs' / pair} holds no outputs (<system>.txt)")
    return {file.name.removesuffix(".txt"): _lines(file, count) for file in files}


def _lines(file: Path, count: int) -> list[str]:
    lines = read_lines(str(file))
    if len(lines) != count:
        raise FileError(
            f"{file} has {len(lines)} lines, but the sources have {count}; "
            "line i of one belongs to line i of the other"
        )
    return lines


def _human(
    folder: Path, pair: str, outputs: Mapping[str, object], count: int
) -> dict[str, dict[str, list[float]]]:
    files = sorted((folder / "human-scores").glob(f"{pair}.*{_ENDING}"))
    if not files:
        raise FileError(f"{folder / 'human-scores'} holds no file {pair}.<criterion>{_ENDING}")
    return {
        file.name.removeprefix(f"{pair}.").removesuffix(_ENDING): _scores(file, outputs, count)
        for file in files
    }


def _stored(
    folder: Path, pair: str, name: str, outputs: Mapping[str, object], count: int
) -> dict[str, list[float]]:
    file = folder / "metric-scores" / pair / f"{name}{_ENDING}"
    if not file.is_file():
        found = sorted(other.name.removesuffix(_ENDING) for other in file.parent.glob("*.score"))
        raise FileError(f"there is no {file}; stored scores: {', '.join(found) or 'none'}")
    return _scores(file, outputs, count)


def _scores(file: Path, outputs: Mapping[str, object], count: int) -> dict[str, list[float]]:
    """The block of every system: one score per segment, in the order of the sources."""
    blocks: dict[str, list[float]] = {}
    for line, system, score in _cells(file):
        if system not in outputs:
            raise FileError(f"{file}, line {line}: no outputs of a system {system!r} are there")
        blocks.setdefault(system, []).append(number(score, f"{file}, line {line}"))
    wrong = {system: len(block) for system, block in blocks.items() if len(block) != count}
    if wrong:
        system, length = next(iter(wrong.items()))
        raise FileError(
            f"{file}: {length} scores for system {system!r}, but there are {count} segments "
            f"(wrong for {len(wrong)} of {len(blocks)} systems); write None for a missing score"
        )
    return blocks


def _cells(file: Path) -> Iterator[tuple[int, str, str]]:
    for line, text in enumerate(read_lines(str(file)), start=1):
        if not text.strip():
            continue
        fields = text.rsplit(None, 1)
        if len(fields) != 2:
            raise FileError(f"{file}, line {line} is {text[:40]!r}, not 'system<TAB>score'")
        yield line, fields[0].strip(), fields[1]
