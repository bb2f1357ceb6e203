"""Clean sentences, split by document into training and held-out text without near-duplicates.

    python corpus.py --archives DIR --out DIR

Writes train.jsonl and heldout.jsonl (one document a line: source, id, sentences) and counts.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from pathlib import Path

from sources import SOURCES

HELDOUT_SHARE = 0.04
SHINGLE = 5
BOUNDARY = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])")
ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|Gen|Sen|Rep|Jr|Sr|vs|etc|e\.g|i\.e|cf|No|Vol|pp?|[A-Z])\.$"
)
UNWANTED = re.compile(r"https?:|www\.|[{}<>|\\~^=_@#$]{1}.*[{}<>|\\~^=_@#]|::|\$\(|\w_\w|%\w")
PLAIN = {
    "\u2018": "'",
    "\u2019": "'",
    "\u201c": '"',
    "\u201d": '"',
    "\u2013": "-",
    "\u2014": " - ",
    "\u00a0": " ",
    "\u2026": "...",
    "``": '"',
    "''": '"',
}


def stable_hash(text: str) -> int:
    """A 64-bit number that is the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def split_sentences(paragraph: str) -> list[str]:
    """Sentences of one paragraph; there is no boundary after an abbreviation or initial."""
    sentences: list[str] = []
    start = 0
    for match in BOUNDARY.finditer(paragraph):
        piece = paragraph[start : match.end()].strip()
        if not ABBREVIATION.search(piece):
            sentences.append(piece)
            start = match.end()
    sentences.append(paragraph[start:].strip())
    return sentences


def clean(text: str) -> list[str]:
    """Good sentences of a document: 4 to 90 words, mostly letters, no markup or addresses."""
    for odd, plain in PLAIN.items():
        text = text.replace(odd, plain)
    kept = []
    for paragraph in text.splitlines():
        for raw in split_sentences(" ".join(paragraph.split())):
            sentence = re.sub(r"\s*\[[^\]]{0,60}\]", "", raw)
            letters = sum(c.isalpha() or c in " ,.'" for c in sentence)
            if (
                4 <= len(sentence.split()) <= 90
                and letters > 0.88 * len(sentence)
                and sum(c.isupper() for c in sentence) < 0.3 * len(sentence)
                and sum(ord(c) > 0x24F for c in sentence) < 3
                and not UNWANTED.search(sentence)
            ):
                kept.append(sentence)
    return kept


def shingles(sentence: str) -> list[int]:
    """Hashes of all runs of five lower-case words (of the whole sentence if shorter)."""
    words = re.findall(r"[a-z0-9']+", sentence.lower())
    if len(words) <= SHINGLE:
        return [stable_hash(" ".join(words))]
    runs = range(len(words) - SHINGLE + 1)
    return [stable_hash(" ".join(words[i : i + SHINGLE])) for i in runs]


def collect(archives: Path) -> tuple[list[dict], list[dict]]:
    """Training and held-out documents; a sentence occurs once in the whole corpus."""
    seen: set[int] = set()
    train: list[dict] = []
    held: list[dict] = []
    for name, source in SOURCES.items():
        documents = sorted(source.read(archives), key=lambda d: stable_hash(d[0]))
        words = 0
        for key, text in documents:
            sentences = []
            for sentence in clean(text):
                mark = stable_hash(re.sub(r"\W+", " ", sentence.lower()))
                if mark not in seen:
                    seen.add(mark)
                    sentences.append(sentence)
            words += sum(len(s.split()) for s in sentences)
            if sentences:
                share = stable_hash(f"split/{name}/{key}") / 2**64
                target = held if share < HELDOUT_SHARE else train
                target.append({"source": name, "id": key, "sentences": sentences})
            if words > source.ceiling:
                break
        print(f"{name}: {words} words", file=sys.stderr)
    return train, held


def without_near_duplicates(held: list[dict], train: list[dict]) -> list[dict]:
    """Held-out documents without sentences that share over 30% of their shingles with training."""
    known = {h for d in train for s in d["sentences"] for h in shingles(s)}
    result = []
    for document in held:
        sentences = []
        for sentence in document["sentences"]:
            runs = shingles(sentence)
            if sum(h in known for h in runs) <= 0.3 * len(runs):
                sentences.append(sentence)
        if sentences:
            result.append({**document, "sentences": sentences})
    return result


def main() -> None:
    """Build both files and the count of sentences and words by source."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archives", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    train, held = collect(options.archives)
    held = without_near_duplicates(held, train)
    counts: dict[str, Counter] = {}
    for split, documents in (("train", train), ("heldout", held)):
        with (options.out / f"{split}.jsonl").open("w") as handle:
            for document in documents:
                handle.write(json.dumps(document) + "\n")
                count = counts.setdefault(document["source"], Counter())
                count[f"{split}_documents"] += 1
                count[f"{split}_sentences"] += len(document["sentences"])
                count[f"{split}_words"] += sum(len(s.split()) for s in document["sentences"])
    (options.out / "counts.json").write_text(json.dumps(counts, indent=1))
    print(json.dumps(counts, indent=1))


if __name__ == "__main__":
    main()
