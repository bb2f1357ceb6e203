"""TAC summarization (2008-2011) as its users hold it: NIST's evaluation folder, unpacked.

    ROUGE/models/D0801-A.M.100.A.B     a person's summary (last field: a letter) = a reference
    ROUGE/peers/D0801-A.M.100.A.12     a system's summary (last field: its number)
    manual/manual.peer                 NIST's table of the peers (2009-2011: manual.peer.A, .B)

`models` and `peers` may also lie directly in the folder. The segment is the first field of the
name (topic and set, D0801-A), the system is the last one.

NIST's tables have no heading: topic, peer, pyramid score, other counts, linguistic quality and
overall responsiveness, separated by blanks, in 9 columns (2008) or 10 (2009-2011). Read are
`pyramid` (third column), `linguistic_quality` (last but one), `responsiveness` (last).
Instead, a table with a heading may lie in the folder as manual.tsv or manual.csv: columns `topic`
(or `segment`), `system` (or `peer`), and one column per criterion.

Scores of the models (manual.model) are not read: judging a reference by the other references is
another study. Summaries that are not UTF-8 are read as Latin-1 and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nlgauge.core.errors import FileError
from nlgauge.data.files import read_lines, read_numbered_rows
from nlgauge.data.judged import Judged, Row, number

WIDTHS = (9, 10)
_TOPIC = ("topic", "segment", "topic_id", "doc_id")
_SYSTEM = ("system", "peer", "peer_id", "summarizer")

Cell = tuple[str, str]
"""(topic, author of the summary); topics are compared without regard to case."""


def read_tac(path: str) -> Judged:
    """The judged peers of a TAC folder, with the models of their topic as references."""
    folder = Path(path)
    root = folder / "ROUGE" if (folder / "ROUGE" / "peers").is_dir() else folder
    models, broken_models = _summaries(root / "models")
    peers, broken_peers = _summaries(root / "peers")
    references: dict[str, list[str]] = {}
    for (topic, _), text in sorted(models.items()):
        references.setdefault(topic.upper(), []).append(text)
    scores = dict(_manual(folder))
    rows = []
    no_model = 0
    for (topic, system), text in sorted(peers.items(), key=_by_system):
        human = scores.get((topic.upper(), system))
        if human is None:
            continue
        if topic.upper() not in references:
            no_model += 1
            continue
        rows.append(Row(system, topic, text, tuple(references[topic.upper()]), human))
    used = len(rows) + no_model
    notes = []
    if len(scores) > used:
        notes.append(f"{len(scores) - used:,} judgements are of summaries that are not in peers.")
    if broken_models + broken_peers:
        notes.append(f"{broken_models + broken_peers:,} summaries not UTF-8, read as Latin-1.")
    dropped = {"nobody judged": len(peers) - used, "without a model": no_model}
    return Judged.from_rows(rows, dropped=dropped, notes=notes)


def _by_system(item: tuple[Cell, str]) -> tuple[bool, int, str, str]:
    """Systems by number, then those with names, each in the order of topics."""
    topic, system = item[0]
    plain = system.isdecimal()
    return (not plain, int(system) if plain else 0, system, topic)


def _summaries(folder: Path) -> tuple[dict[Cell, str], int]:
    """The summaries of a folder by topic and author, and how many are not UTF-8."""
    if not folder.is_dir():
        raise FileError(f"there is no folder {folder}; TAC needs models/ and peers/ (or ROUGE/...)")
    texts: dict[Cell, str] = {}
    broken = 0
    for file in sorted(folder.iterdir()):
        if not file.is_file() or file.name.startswith("."):
            continue
        fields = file.name.split(".")
        if len(fields) < 2:
            raise FileError(f"{file} is not called <topic>...<author>, as D0801-A.M.100.A.12 is")
        content = file.read_bytes()
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
            broken += 1
        cell = (fields[0], fields[-1])
        if cell in texts:
            raise FileError(f"{folder} holds two summaries of {cell[0]} by {cell[1]}: {file.name}")
        texts[cell] = "\n".join(filter(None, map(str.strip, text.split("\n"))))
    if not texts:
        raise FileError(f"folder {folder} holds no summaries")
    return texts, broken


def _manual(folder: Path) -> Iterator[tuple[Cell, dict[str, float]]]:
    places = (folder, folder / "manual")
    for place in places:
        for name in ("manual.tsv", "manual.csv"):
            if (place / name).is_file():
                yield from _headed(str(place / name), name.split(".")[-1])
                return
    files = [file for place in places for file in sorted(place.glob("manual.peer*"))]
    if not files:
        raise FileError(f"{folder} holds no scores: manual/manual.peer*, manual.tsv or manual.csv")
    for file in files:
        yield from _nist(str(file))


def _nist(path: str) -> Iterator[tuple[Cell, dict[str, float]]]:
    for line, text in enumerate(read_lines(path), start=1):
        cells = text.split()
        if not cells:
            continue
        if len(cells) not in WIDTHS:
            raise FileError(f"{path}, line {line}: {len(cells)} columns, but NIST writes 9 or 10")
        named = {
            "pyramid": cells[2],
            "linguistic_quality": cells[-2],
            "responsiveness": cells[-1],
        }
        where = f"{path}, line {line}"
        human = {name: number(cell, f"{where}: {name}") for name, cell in named.items()}
        yield (cells[0].split(".")[0].upper(), cells[1]), human


def _headed(path: str, kind: str) -> Iterator[tuple[Cell, dict[str, float]]]:
    for line, row in read_numbered_rows(path, kind):
        topic = _first(path, row, _TOPIC)
        system = _first(path, row, _SYSTEM)
        human = {
            name: number(value, f"{path}, line {line}: {name}")
            for name, value in row.items()
            if name not in (topic, system)
        }
        yield (str(row[topic]).upper(), str(row[system])), human


def _first(path: str, row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    lowered = {str(key).lower(): key for key in row}
    for name in names:
        if name in lowered:
            return lowered[name]
    raise FileError(f"{path} has no column {names[0]!r} (accepted: {', '.join(names)})")
