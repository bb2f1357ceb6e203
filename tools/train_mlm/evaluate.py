"""Held-out loss and accuracy, and top words for probe sentences, of a finished update.

    python evaluate.py --base DIR --update FILE --corpus DIR [--save FOLDER] > report.json

`nlgauge correlate DATA -m infolm:model=FOLDER` then measures the agreement with human scores.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from batches import CLS, MASK, SEP, heldout_sentences, mask, tokenize
from model import apply_update, load_base
from tokenizers import Tokenizer
from torch import Tensor
from transformers import BertForMaskedLM

Logits = Callable[[Tensor, Tensor | None, Tensor], Tensor]
PROBES = (
    "The capital of France is [MASK].",
    "The president [MASK] the new law on Monday.",
    "She opened the [MASK] and walked into the room.",
    "The company said its profits [MASK] by ten percent last year.",
    "Two people were [MASK] in a car accident near the border.",
    "He has been playing the [MASK] since he was a child.",
    "The government must [MASK] the economy.",
    "The dog chased the [MASK] across the garden.",
    "I would like a cup of [MASK], please.",
    "The police [MASK] the suspect after a long search.",
    "Water boils at one hundred [MASK].",
    "The team won the match by three [MASK] to one.",
    "Doctors recommend that adults [MASK] at least eight hours a night.",
    "The museum is open every day [MASK] Monday.",
    "It was raining, so we took an [MASK].",
    "Germany and France [MASK] a trade agreement.",
    "Prices have risen [MASK] the last five years.",
    "The students are waiting for their [MASK].",
    "He spoke [MASK] than his brother.",
    "According to the report, unemployment is [MASK] again.",
)


def as_logits(model: BertForMaskedLM) -> Logits:
    """Logits at flat positions of a plain BertForMaskedLM, the head computed only there."""

    def logits(ids: Tensor, attention: Tensor | None, positions: Tensor) -> Tensor:
        hidden = model.bert(ids, attention_mask=attention).last_hidden_state
        return model.cls(hidden.flatten(0, 1)[positions])

    return logits


@torch.no_grad()
def heldout_scores(
    logits: Logits, held: dict[str, list[list[int]]], rate: float = 0.15
) -> dict[str, tuple[float, float, int]]:
    """Loss in nats, accuracy and number of masked tokens, by source and over all.

    Single sentences with 15% of the tokens (at least one) replaced by [MASK]; masks only depend on
    a fixed seed, so all models predict the same tokens.
    """
    result: dict[str, np.ndarray] = {}
    sums = np.zeros(3)
    for source, sentences in held.items():
        rng = np.random.default_rng(0)
        ordered = sorted(sentences, key=len)
        part = np.zeros(3)
        for start in range(0, len(ordered), 40):
            group = ordered[start : start + 40]
            batch = mask(group, np.full(len(group), rate), rng, only_mask=True)
            scores = logits(batch.ids, batch.attention, batch.positions)
            loss = torch.nn.functional.cross_entropy(scores, batch.answers, reduction="sum")
            right = (scores.argmax(-1) == batch.answers).sum()
            part += (loss.item(), right.item(), len(batch.answers))
        result[source] = part
        sums += part
    result["all"] = sums
    return {
        name: (round(float(loss / count), 4), round(float(right / count), 4), int(count))
        for name, (loss, right, count) in result.items()
    }


@torch.no_grad()
def top_words(logits: Logits, tokenizer: Tokenizer, sentence: str, count: int = 5) -> list[str]:
    """The likeliest tokens at the [MASK] of a sentence."""
    before, after = sentence.split("[MASK]")
    head = tokenizer.encode(before, add_special_tokens=False).ids
    tail = tokenizer.encode(after, add_special_tokens=False).ids
    ids = torch.tensor([[CLS, *head, MASK, *tail, SEP]])
    scores = logits(ids, None, torch.tensor([1 + len(head)]))[0]
    return [tokenizer.id_to_token(i) for i in scores.topk(count).indices.tolist()]


def save_folder(model: BertForMaskedLM, base: Path, folder: Path) -> None:
    """Save the model with the tokenizer of its base as a Hugging Face folder."""
    model.save_pretrained(folder)
    for path in base.iterdir():
        if path.name.startswith(("tokenizer", "vocab", "special_tokens")):
            shutil.copy(path, folder / path.name)


def main() -> None:
    """Evaluate a finished update file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--update", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--save", type=Path, help="also write the whole model to this folder")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    model = apply_update(load_base(options.base), options.update)
    if options.save:
        save_folder(model, options.base, options.save)
    logits = as_logits(model)
    words = options.base / "tokenizer.json"
    held = heldout_sentences(tokenize(words, options.corpus / "heldout.jsonl"), each=150)
    tokenizer = Tokenizer.from_file(str(words))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    report = {
        "bytes": options.update.stat().st_size,
        "heldout": heldout_scores(logits, held),
        "probes": {s: top_words(logits, tokenizer, s) for s in PROBES},
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
