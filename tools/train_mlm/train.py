"""Train by the clock: the rate follows the elapsed share of the minutes.

    python train.py --base DIR --corpus DIR --out DIR --minutes 65

Written are final.pt, checkpoint.pt (every five minutes, to resume from) and log.tsv.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

import torch
from batches import Batch, heldout_sentences, tokenize, training_batches
from evaluate import heldout_scores
from model import LowRankMaskedLM, load_base
from torch import nn

SAVE_SECONDS = 300
LOG_SECONDS = 30


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="folder of the MiniLM model")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=75.0)
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--rate", type=float, default=1.5e-3, help="peak rate of low-rank factors")
    parser.add_argument("--vector-rate", type=float, default=1e-3, help="peak rate of all others")
    parser.add_argument("--tokens", type=int, default=1024, help="tokens in a batch")
    parser.add_argument("--packed", type=float, default=0.35, help="share of packed sequences")
    parser.add_argument("--mask", type=float, nargs=2, default=(0.12, 0.40), help="range of rates")
    parser.add_argument("--decay", type=float, default=0.01)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def unigram_bias(documents: list[tuple[str, list[list[int]]]], size: int) -> torch.Tensor:
    """Log frequency of every token, centred: the head starts as a unigram model."""
    counts = Counter(t for _, sentences in documents for s in sentences for t in s)
    values = torch.full((size,), 0.3)
    for token, count in counts.items():
        values[token] += count
    logs = values.log()
    return logs - logs.mean()


def schedule(share: float) -> float:
    """Factor of the peak rate: 3% warm-up, then a cosine to 2%."""
    if share < 0.03:
        return share / 0.03
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, (share - 0.03) / 0.97)))


def prepare(run: argparse.Namespace, documents: list) -> LowRankMaskedLM:
    """The model at step 0."""
    base = load_base(run.base)
    with torch.no_grad():
        dense = base.cls.predictions.transform.dense
        nn.init.orthogonal_(dense.weight)
        base.cls.predictions.bias.copy_(unigram_bias(documents, base.config.vocab_size))
    return LowRankMaskedLM(base, run.rank)


def parameter_groups(model: LowRankMaskedLM, run: argparse.Namespace) -> list[dict]:
    """Factors at the main rate with weight decay; vectors and head at their own, without."""
    factors = [p for n, p in model.trained().items() if "lora_" in n]
    others = [p for n, p in model.trained().items() if "lora_" not in n]
    return [
        {"params": factors, "peak": run.rate, "weight_decay": run.decay},
        {"params": others, "peak": run.vector_rate, "weight_decay": 0.0},
    ]


@dataclass
class Progress:
    """Steps, tokens and seconds so far."""

    step: int = 0
    seen: int = 0
    spent: float = 0.0


def resume(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
    """The state of the last checkpoint, loaded into model and optimizer; zero if there is none."""
    if not path.exists():
        return Progress()
    state = torch.load(path, weights_only=False)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return Progress(state["step"], state["seen"], state["spent"])


def one_step(model: LowRankMaskedLM, optimizer: torch.optim.Optimizer, batch: Batch) -> float:
    """Loss of a batch, after one step of the optimizer."""
    logits = model(batch.ids, batch.attention, batch.positions)
    loss = nn.functional.cross_entropy(logits, batch.answers)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.trained().values(), 1.0)
    optimizer.step()
    return loss.item()


def train(
    run: argparse.Namespace,
    model: LowRankMaskedLM,
    documents: list,
    held: dict[str, list[list[int]]],
    log: TextIO,
) -> Progress:
    """Steps until the minutes are spent."""
    optimizer = torch.optim.AdamW(parameter_groups(model, run), betas=(0.9, 0.98), fused=True)
    saved = run.out / "checkpoint.pt"
    progress = resume(saved, model, optimizer)
    batches = training_batches(
        documents,
        tokens=run.tokens,
        packed_share=run.packed,
        rates=tuple(run.mask),
        seed=run.seed + progress.step,
    )
    start = time.time() - progress.spent
    last_save = last_log = time.time()
    losses: list[float] = []
    while (spent := time.time() - start) < 60 * run.minutes:
        factor = schedule(spent / (60 * run.minutes))
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * factor
        batch = next(batches)
        losses.append(one_step(model, optimizer, batch))
        progress = Progress(progress.step + 1, progress.seen + batch.ids.numel(), spent)
        now = time.time()
        if now - last_log > LOG_SECONDS:
            mean = sum(losses) / len(losses)
            line = (f"{spent / 60:.1f}", str(progress.step), str(progress.seen), f"{factor:.3f}")
            print(*line, f"{mean:.3f}", sep="\t", file=log, flush=True)
            losses, last_log = [], now
        if now - last_save > SAVE_SECONDS:
            save(saved, model, optimizer, progress)
            scores = heldout_scores(model, held)["all"]
            print("heldout", progress.step, scores, sep="\t", file=log, flush=True)
            last_save = time.time()
    return progress


def main() -> None:
    """Train, log and save."""
    run = options()
    torch.manual_seed(run.seed)
    torch.set_num_threads(run.threads)
    run.out.mkdir(parents=True, exist_ok=True)
    tokenizer = run.base / "tokenizer.json"
    documents = tokenize(tokenizer, run.corpus / "train.jsonl")
    held = heldout_sentences(tokenize(tokenizer, run.corpus / "heldout.jsonl"), each=60)
    total = sum(len(s) for _, d in documents for s in d)
    print(f"{total} training tokens", file=sys.stderr)
    model = prepare(run, documents)
    with (run.out / "log.tsv").open("a") as log:
        progress = train(run, model, documents, held, log)
        final = {"weights": model.weights(), "options": vars(run), **asdict(progress)}
        torch.save(final, run.out / "final.pt")
        scores = heldout_scores(model, held)
        print("end", progress.step, progress.seen, scores, sep="\t", file=log)


def save(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, progress: Progress
) -> None:
    """A checkpoint, replaced in one move."""
    part = path.with_suffix(".part")
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), **asdict(progress)}
    torch.save(state, part)
    part.replace(path)


if __name__ == "__main__":
    main()
