"""WMT as its organisers published it: DAseg folders and files of ranked pairs (daRR).

DAseg (Graham et al., WMT15-17) is a folder of four parallel files per language pair:

    newstest2015.source.cs-en  newstest2015.reference.cs-en
    newstest2015.mt-system.cs-en  newstest2015.human.cs-en

Line i of each belongs together. The package does not say which system wrote a line, so all rows
are of the system "unknown" and the segment id is the line number, from 1.

Pairs are a table with the columns segment (or SID), better, worse and perhaps a language pair (LP),
separated by tabs, commas or blanks, gzipped or not, as in WMT's RR-seglevel.csv.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nlgauge.core.errors import DataError, FileError, OptionError
from nlgauge.data.files import read_lines
from nlgauge.data.judged import Judged, Row, choose_part, number

UNKNOWN = "unknown"
_DASEG = re.compile(r"(?P<test>.+)\.(?P<role>source|reference|mt-system|human)\.(?P<pair>[^.]+)")
_ROLES = ("mt-system", "reference", "human")
_PAIR_COLUMNS = {
    "segment": ("segment", "sid", "seg_id", "segment_id", "id"),
    "better": ("better",),
    "worse": ("worse",),
}


def read_daseg(path: str, *, part: str | None = None) -> Judged:
    """The judged segments of one language pair of a DAseg folder; the criterion is `da_z`."""
    folder = Path(path)
    files: dict[str, dict[str, Path]] = {}
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        match = _DASEG.fullmatch(file.name.removesuffix(".gz"))
        if match:
            files.setdefault(match["pair"], {})[match["role"]] = file
    if not files:
        raise FileError(
            f"{path} is not a DAseg folder: it holds no files such as newstest2015.human.cs-en"
        )
    pair = choose_part(path, sorted(files), part, "language pair")
    return Judged.from_rows(list(_daseg_rows(path, pair, files[pair])))


def _daseg_rows(path: str, pair: str, files: dict[str, Path]) -> Iterator[Row]:
    missing = [role for role in _ROLES if role not in files]
    if missing:
        raise FileError(f"{path} lacks the file of {' and '.join(missing)} for {pair!r}")
    lines = {role: read_lines(str(file)) for role, file in files.items()}
    counts = {role: len(texts) for role, texts in lines.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{role} {count}" for role, count in counts.items())
        raise FileError(f"{path}: the files of {pair!r} have different numbers of lines: {listed}")
    for i, score in enumerate(lines["human"]):
        yield Row(
            UNKNOWN,
            str(i + 1),
            lines["mt-system"][i],
            (lines["reference"][i],),
            {"da_z": number(score, f"{files['human']}, line {i + 1}")},
            lines["source"][i] if "source" in lines else None,
        )


@dataclass(frozen=True)
class Pairs:
    """Ranked pairs (segment id, better system, worse system), for `study.pairs_from_names`."""

    triples: tuple[tuple[str, str, str], ...]
    said: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.triples)

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        return iter(self.triples)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems compared, in order of first appearance."""
        return tuple(dict.fromkeys(name for triple in self.triples for name in triple[1:]))

    @property
    def segments(self) -> tuple[str, ...]:
        """The segments compared on, in order of first appearance."""
        return tuple(dict.fromkeys(triple[0] for triple in self.triples))

    def without(self, *systems: str) -> Pairs:
        """The pairs in which none of these systems takes part."""
        for name in systems:
            if name not in self.systems:
                raise OptionError(f"no system is called {name!r}; there are {self.systems}")
        kept = tuple(row for row in self.triples if row[1] not in systems and row[2] not in systems)
        if not kept:
            raise DataError(f"leaving out {', '.join(systems)} leaves none of {len(self)} pairs")
        note = f"left out {', '.join(systems)}: {len(self) - len(kept):,} pairs."
        return Pairs(kept, (*self.said, note))


def read_pairs(path: str, *, part: str | None = None) -> Pairs:
    """The ranked pairs of a file; `part` is the language pair where the file holds several."""
    lines = read_lines(path)
    if not lines:
        raise FileError(f"file {path!r} holds no pairs: it is empty")
    mark = next((mark for mark in ("\t", ",") if mark in lines[0]), None)
    heading = [name.strip().strip('"').lower() for name in lines[0].split(mark)]
    columns = {name: _column(path, heading, names) for name, names in _PAIR_COLUMNS.items()}
    table = list(_cells(path, lines, mark, len(heading)))
    if "lp" in heading:
        at = heading.index("lp")
        parts = list(dict.fromkeys(cells[at] for _, cells in table))
        pair = choose_part(path, parts, part, "language pair")
        table = [(line, cells) for line, cells in table if cells[at] == pair]
    elif part is not None:
        raise OptionError(f"{path} has no column LP, so part={part!r} cannot be chosen from it")
    triples = []
    for line, cells in table:
        segment, better, worse = (cells[at] for at in columns.values())
        if better == worse:
            raise FileError(f"{path}, line {line} sets system {better!r} against itself")
        triples.append((segment, better, worse))
    if not triples:
        raise FileError(f"file {path!r} holds a heading but no pairs")
    pairs = Pairs(tuple(triples), ())
    said = f"{len(pairs):,} pairs of {len(pairs.systems)} systems on {len(pairs.segments):,}"
    return Pairs(pairs.triples, (f"{said} segments; dropped 0.",))


def _column(path: str, heading: Sequence[str], names: Sequence[str]) -> int:
    for name in names:
        if name in heading:
            return heading.index(name)
    raise FileError(
        f"{path} has no column {names[0]!r} (accepted: {', '.join(names)}); its first line reads "
        f"{', '.join(heading)[:80]!r}"
    )


def _cells(
    path: str, lines: Sequence[str], mark: str | None, width: int
) -> Iterator[tuple[int, list[str]]]:
    for line, text in enumerate(lines[1:], start=2):
        if not text.strip():
            continue
        cells = [cell.strip().strip('"') for cell in text.split(mark)]
        if len(cells) != width:
            raise FileError(
                f"{path}, line {line}: {len(cells)} fields, but the heading names {width}"
            )
        yield line, cells
