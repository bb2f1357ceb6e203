"""WMT data as published by its organisers: DAseg folders and files of ranked pairs (daRR).

DAseg (Graham et al., WMT15-17) is a folder of four parallel files per language pair:
newstest2015.{source,reference,mt-system,human}.cs-en. They do not name the system of a line, so all
rows have the system "unknown" and the segment id is the line number, from 1.

Pairs are a table with the columns segment (or SID), better, worse and perhaps a language pair (LP),
separated by tabs, commas or blanks, gzipped or not, as in WMT's RR-seglevel.csv.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nlgauge.core.errors import DataError, FileError, OptionError
from nlgauge.data.columns import require_column
from nlgauge.data.files import read_lines
from nlgauge.data.judged import JudgedCorpus, JudgedRow, choose_part, parse_score

_DASEG = re.compile(r"(?P<test>.+)\.(?P<role>source|reference|mt-system|human)\.(?P<pair>[^.]+)")
_PAIR_COLUMNS = (("segment", "sid", "seg_id", "segment_id", "id"), ("better",), ("worse",))


def read_daseg(path: str, *, part: str | None = None) -> JudgedCorpus:
    """Return the segments of one language pair of a DAseg folder; the criterion is `da_z`."""
    pairs: dict[str, dict[str, Path]] = {}
    for file in sorted(Path(path).glob("*")):
        if match := _DASEG.fullmatch(file.name.removesuffix(".gz")):
            pairs.setdefault(match["pair"], {})[match["role"]] = file
    if not pairs:
        raise FileError(f"{path} is not a DAseg folder: no files such as newstest2015.human.cs-en")
    pair = choose_part(path, sorted(pairs), part, "language pair")
    files = pairs[pair]
    missing = [role for role in ("mt-system", "reference", "human") if role not in files]
    if missing:
        raise FileError(f"{path} lacks the file of {' and '.join(missing)} for {pair!r}")
    lines = {role: read_lines(str(file)) for role, file in files.items()}
    if len(set(map(len, lines.values()))) > 1:
        listed = ", ".join(f"{role} {len(texts)}" for role, texts in lines.items())
        raise FileError(f"{path}: the files of {pair!r} have different numbers of lines: {listed}")
    rows = []
    for i, score in enumerate(lines["human"]):
        human = {"da_z": parse_score(score, f"{files['human']}, line {i + 1}")}
        source = lines["source"][i] if "source" in lines else None
        output, reference = lines["mt-system"][i], lines["reference"][i]
        rows.append(JudgedRow("unknown", str(i + 1), output, (reference,), human, source))
    return JudgedCorpus.from_rows(rows)


@dataclass(frozen=True)
class Pairs:
    """Ranked pairs of outputs, for `pairs_from_names`.

    Parameters
    ----------
    triples
        Segment id, better system and worse system of each pair.
    notes
        Sentences about what was read and left out.
    """

    triples: tuple[tuple[str, str, str], ...]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.triples)

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        return iter(self.triples)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, in order of first appearance."""
        return tuple(dict.fromkeys(name for triple in self.triples for name in triple[1:]))

    @property
    def segments(self) -> tuple[str, ...]:
        """The segments, in order of first appearance."""
        return tuple(dict.fromkeys(triple[0] for triple in self.triples))

    def without(self, *systems: str) -> "Pairs":
        """Return the pairs that do not involve these systems."""
        for name in systems:
            if name not in self.systems:
                raise OptionError(f"no system is called {name!r}; there are {self.systems}")
        kept = tuple(row for row in self.triples if row[1] not in systems and row[2] not in systems)
        if not kept:
            raise DataError(f"leaving out {', '.join(systems)} leaves none of {len(self)} pairs")
        note = f"left out {', '.join(systems)}: {len(self) - len(kept):,} pairs."
        return Pairs(kept, (*self.notes, note))


def read_pairs(path: str, *, part: str | None = None) -> Pairs:
    """Read ranked pairs.

    Parameters
    ----------
    path
        A table with the columns segment, better and worse.
    part
        Language pair to read if the file has several in a column LP.

    Returns
    -------
    Pairs

    Raises
    ------
    FileError
        If the file is missing, malformed or without pairs.
    OptionError
        If ``part`` is needed or unknown.
    """
    lines = read_lines(path)
    if not lines:
        raise FileError(f"file {path!r} has no pairs: it is empty")
    mark = next((mark for mark in ("\t", ",") if mark in lines[0]), None)
    table = [
        (number, [cell.strip().strip('"') for cell in text.split(mark)])
        for number, text in enumerate(lines, start=1)
        if number == 1 or text.strip()
    ]
    heading = [name.lower() for name in table.pop(0)[1]]
    for number, cells in table:
        if len(cells) != len(heading):
            count = (
                f"{len(cells)} field{'s' * (len(cells) != 1)}, but the heading names {len(heading)}"
            )
            raise FileError(f"{path}, line {number}: {count}")
    columns = [heading.index(require_column(path, heading, names)) for names in _PAIR_COLUMNS]
    if "lp" in heading:
        at = heading.index("lp")
        languages = dict.fromkeys(cells[at] for _, cells in table)
        pair = choose_part(path, languages, part, "language pair")
        table = [(number, cells) for number, cells in table if cells[at] == pair]
    elif part is not None:
        raise OptionError(f"{path} has no column LP, so part={part!r} cannot be chosen from it")
    triples = []
    for number, cells in table:
        segment, better, worse = (cells[at] for at in columns)
        if better == worse:
            raise FileError(f"{path}, line {number} compares system {better!r} with itself")
        triples.append((segment, better, worse))
    if not triples:
        raise FileError(f"file {path!r} has a heading but no pairs")
    pairs = Pairs(tuple(triples), ())
    counts = f"{len(pairs):,} pairs of {len(pairs.systems)} systems on {len(pairs.segments):,}"
    return Pairs(pairs.triples, (f"{counts} segments.",))
