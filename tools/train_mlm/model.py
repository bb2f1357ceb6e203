"""MiniLM with a masked-language head and a low-rank update, and how an update is applied."""

from __future__ import annotations

import math
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor, nn
from transformers import BertForMaskedLM, logging

from nlgauge.encode.mlm_update import apply_tensors

BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
FORMAT = "nlgauge-mlm-update/1"
EMBEDDINGS = "bert.embeddings.word_embeddings.weight"
HEAD = "cls.predictions."


def load_base(folder: Path) -> BertForMaskedLM:
    """MiniLM in a BertForMaskedLM whose head starts as the identity (no bias, unit LayerNorm)."""
    logging.set_verbosity_error()
    model = BertForMaskedLM.from_pretrained(folder)
    transform = model.cls.predictions.transform
    with torch.no_grad():
        nn.init.eye_(transform.dense.weight)
        transform.dense.bias.zero_()
        model.cls.predictions.bias.zero_()
    return model.eval()


class AddLowRank(torch.autograd.Function):
    """`x w^T + bias + (x a^T) b^T` for a frozen w, the products added in place.

    The plain expression needs several more passes over memory, forward and backward.
    """

    @staticmethod
    def forward(ctx, x, weight, bias, a, b):  # noqa: D102
        flat = x.reshape(-1, x.shape[-1])
        low = flat @ a.T
        out = torch.addmm(bias, flat, weight.T).addmm_(low, b.T)
        ctx.save_for_backward(flat, weight, a, b, low)
        return out.view(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx, gradient):  # noqa: D102
        flat, weight, a, b, low = ctx.saved_tensors
        grad = gradient.reshape(-1, gradient.shape[-1])
        grad_low = grad @ b
        grad_x = (grad @ weight).addmm_(grad_low, a)
        grad_x = grad_x.view(*gradient.shape[:-1], -1)
        return grad_x, None, grad.sum(0), grad_low.T @ flat, grad.T @ low


class LowRankLinear(nn.Module):
    """A frozen linear layer plus `x a^T b^T`: weight = base + b @ a; its bias is trained."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base
        width = base.in_features
        self.lora_a = nn.Parameter(torch.randn(rank, width) / math.sqrt(width))
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        """The layer's output for one batch."""
        return AddLowRank.apply(x, self.base.weight, self.base.bias, self.lora_a, self.lora_b)


class LowRankEmbedding(nn.Module):
    """A frozen embedding plus `b[ids] @ a`."""

    def __init__(self, base: nn.Embedding, rank: int) -> None:
        super().__init__()
        self.base = base
        width = base.embedding_dim
        self.lora_a = nn.Parameter(torch.randn(rank, width) / math.sqrt(width))
        self.lora_b = nn.Parameter(torch.zeros(base.num_embeddings, rank))

    def forward(self, ids: Tensor) -> Tensor:
        """Vectors of the token ids."""
        return self.base(ids) + self.lora_b[ids] @ self.lora_a


class LowRankMaskedLM(nn.Module):
    """The model in training: low-rank linears and embeddings, trained biases, norms and head."""

    def __init__(self, model: BertForMaskedLM, rank: int) -> None:
        super().__init__()
        self.model = model
        for parameter in model.parameters():
            parameter.requires_grad_(parameter.dim() == 1)
        predictions = model.cls.predictions
        predictions.transform.dense.weight.requires_grad_(True)
        # The decoder is computed below from the (tied) embeddings; its bias is `predictions.bias`.
        self.decoder = model.get_input_embeddings().weight
        self.bias = predictions.bias
        for layer in model.bert.encoder.layer:
            attention = layer.attention
            for parent, name in (
                (attention.self, "query"),
                (attention.self, "key"),
                (attention.self, "value"),
                (attention.output, "dense"),
                (layer.intermediate, "dense"),
                (layer.output, "dense"),
            ):
                setattr(parent, name, LowRankLinear(getattr(parent, name), rank))
        self.words = LowRankEmbedding(model.bert.embeddings.word_embeddings, rank)
        model.bert.embeddings.word_embeddings = self.words

    def forward(self, ids: Tensor, attention: Tensor | None, positions: Tensor) -> Tensor:
        """Logits at the flat positions only."""
        hidden = self.model.bert(ids, attention_mask=attention).last_hidden_state
        hidden = self.model.cls.predictions.transform(hidden.flatten(0, 1)[positions])
        a, b = self.words.lora_a, self.words.lora_b
        return AddLowRank.apply(hidden, self.decoder, self.bias, a, b)

    def trained(self) -> dict[str, nn.Parameter]:
        """Trained parameters by name, each once."""
        return {n: p for n, p in self.named_parameters() if p.requires_grad}

    @torch.no_grad()
    def weights(self) -> dict[str, Tensor]:
        """All weights under BertForMaskedLM's names, the low-rank products added in."""
        found: dict[str, Tensor] = {}
        for name, module in self.model.named_modules():
            if isinstance(module, LowRankLinear | LowRankEmbedding):
                found[f"{name}.weight"] = module.base.weight + module.lora_b @ module.lora_a
        for name, parameter in self.model.named_parameters():
            key = name.replace(".base.", ".")
            if "lora_" not in key and ".decoder." not in key:
                found.setdefault(key, parameter.detach().clone())
        return found


def apply_update(model: BertForMaskedLM, file: Path) -> BertForMaskedLM:
    """The base model turned into the masked language model of a file, in place."""
    with safe_open(file, "pt") as handle:
        about = handle.metadata() or {}
        if about.get("format") != FORMAT:
            raise ValueError(f"{file} has format {about.get('format')!r}, expected {FORMAT!r}")
        tensors = {key: handle.get_tensor(key) for key in handle.keys()}  # noqa: SIM118
    return apply_tensors(model, tensors)
