"""Token sequences (single sentences and packed neighbours), masked batches, held-out sentences."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

CLS, SEP, MASK, PAD = 101, 102, 103, 0
LONGEST = 96
FIRST_WORD = 999  # smaller ids are [unused] and special tokens


@dataclass(frozen=True)
class Batch:
    """Ids with masks put in, attention (None if nothing is padded), flat positions, answers."""

    ids: Tensor
    attention: Tensor | None
    positions: Tensor
    answers: Tensor


def tokenize(tokenizer_file: Path, corpus_file: Path) -> list[tuple[str, list[list[int]]]]:
    """Source and token ids of every sentence, document by document."""
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    result = []
    with corpus_file.open() as handle:
        for line in handle:
            document = json.loads(line)
            encoded = tokenizer.encode_batch(document["sentences"], add_special_tokens=False)
            result.append((document["source"], [e.ids for e in encoded]))
    return result


def sequences(
    documents: list[tuple[str, list[list[int]]]], rng: random.Random, packed_share: float
) -> list[list[int]]:
    """One epoch: each sentence once, alone or packed with its neighbours up to 96 tokens."""
    result = []
    for _, sentences in documents:
        i = 0
        while i < len(sentences):
            current = list(sentences[i])
            i += 1
            if rng.random() < packed_share:
                limit = rng.randint(40, LONGEST - 2)
                while i < len(sentences) and len(current) + len(sentences[i]) <= limit:
                    current += sentences[i]
                    i += 1
            result.append([CLS, *current[: LONGEST - 2], SEP])
    return result


def grouped(items: list[list[int]], tokens: int, rng: random.Random) -> list[list[list[int]]]:
    """Shuffled groups of equal length with about `tokens` tokens; only remainders are padded."""
    by_length: dict[int, list[list[int]]] = defaultdict(list)
    rng.shuffle(items)
    for item in items:
        by_length[(len(item) + 1) // 2].append(item)
    groups = []
    for half, members in by_length.items():
        size = max(1, tokens // (2 * half))
        groups += [members[i : i + size] for i in range(0, len(members), size)]
    rng.shuffle(groups)
    return groups


def pad(group: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Ids and attention of a group, filled up to its longest."""
    width = max(map(len, group))
    ids = np.full((len(group), width), PAD, dtype=np.int64)
    for row, item in enumerate(group):
        ids[row, : len(item)] = item
    return ids, ids != PAD


def mask(
    group: list[list[int]], rates: np.ndarray, rng: np.random.Generator, only_mask: bool = False
) -> Batch:
    """A batch with each row masked at its own rate, at least one token a row.

    90% of the chosen tokens become [MASK], 5% a random word and 5% stay (optionally all [MASK]).
    """
    ids, attention = pad(group)
    word = attention & (ids != CLS) & (ids != SEP)
    draw = np.where(word, rng.random(ids.shape), 2.0)
    chosen = draw < rates[:, None]
    rows = np.arange(len(ids))
    chosen[rows, draw.argmin(1)] |= word.any(1)
    answers = ids[chosen]
    fate = rng.random(answers.shape)
    changed = np.full(answers.shape, MASK)
    if not only_mask:
        changed = np.where(fate < 0.05, answers, changed)
        wild = rng.integers(FIRST_WORD, 30522, answers.shape)
        changed = np.where((fate >= 0.05) & (fate < 0.10), wild, changed)
    ids[chosen] = changed
    return Batch(
        torch.from_numpy(ids),
        None if attention.all() else torch.from_numpy(attention.astype(np.int64)),
        torch.from_numpy(np.flatnonzero(chosen)),
        torch.from_numpy(answers),
    )


def training_batches(
    documents: list[tuple[str, list[list[int]]]],
    *,
    tokens: int,
    packed_share: float,
    rates: tuple[float, float],
    seed: int,
) -> Iterator[Batch]:
    """Endless masked batches; every epoch is packed, shuffled and masked again."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    while True:
        for group in grouped(sequences(documents, rng, packed_share), tokens, rng):
            yield mask(group, numbers.uniform(*rates, len(group)), numbers)


def heldout_sentences(
    documents: list[tuple[str, list[list[int]]]], each: int, seed: int = 7
) -> dict[str, list[list[int]]]:
    """At most `each` single sentences of 8 to 60 tokens per source."""
    found: dict[str, list[list[int]]] = defaultdict(list)
    for source, sentences in documents:
        found[source] += [[CLS, *s, SEP] for s in sentences if 8 <= len(s) <= 60]
    rng = random.Random(seed)
    return {k: rng.sample(v, min(each, len(v))) for k, v in sorted(found.items())}
