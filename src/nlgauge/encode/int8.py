"""Linear layers in whole numbers of eight bits: several times the arithmetic of float32.

    y = (Q(x) Q(W)^T) s_x s_W + b,   Q(v) = round(v / s),   s = max |v| / 127

Each row of W and each token of x has a scale of its own. A scale for a whole batch, as in torch's
dynamic quantisation, would let a token's vector depend on the texts it is encoded with. A trace of
that remains: the attention between these layers is float32, which padding changes in the last
digit, and where such a digit turns a rounding over, later layers see another number. Scores of
different batch sizes then differ by as much as int8 differs from float32 (docs/performance.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import torch

from nlgauge.core.errors import ModelError

_LEVELS = 127.0
_ROWS = 256  # tokens at a time: their sums stay in the cache until they are scaled
_TINY = 1e-30  # keeps the scale of a row of zeros from being 0


class Int8Linear(torch.nn.Module):
    """A linear layer with weights of eight bits, applied to every token on its own."""

    scale: torch.Tensor
    weight_t: torch.Tensor
    bias: torch.Tensor

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach()
        scale = weight.abs().amax(dim=1).clamp_min(_TINY) / _LEVELS
        self.register_buffer("scale", scale)
        self.register_buffer("weight_t", (weight / scale[:, None]).round().to(torch.int8).t())
        bias = linear.bias
        self.register_buffer("bias", torch.zeros_like(scale) if bias is None else bias.detach())

    def forward(self, x: Any) -> Any:
        """The output in float32."""
        rows = x.reshape(-1, x.shape[-1])
        made = torch.empty(len(rows), len(self.scale))
        compiled = _compiled()
        (_plainly if compiled is None else partial(_swiftly, compiled))(self, rows, made)
        return made.reshape(*x.shape[:-1], -1)


def _plainly(layer: Int8Linear, rows: torch.Tensor, made: torch.Tensor) -> None:
    scales = rows.abs().amax(dim=1, keepdim=True).clamp_min_(_TINY).div_(_LEVELS)
    whole = (rows / scales).round_().to(torch.int8)
    for part in _parts(rows):
        sums = torch._int_mm(whole[part], layer.weight_t).to(torch.float32).mul_(scales[part])
        torch.addcmul(layer.bias, sums, layer.scale, out=made[part])


def _swiftly(compiled: Any, layer: Int8Linear, rows: torch.Tensor, made: torch.Tensor) -> None:
    whole = torch.empty(rows.shape, dtype=torch.int8)
    scales = torch.empty(len(rows))
    compiled.to_eight_bits(rows.contiguous().numpy(), whole.numpy(), scales.numpy())
    column_scales, bias = layer.scale.numpy(), layer.bias.numpy()
    for part in _parts(rows):
        sums = torch._int_mm(whole[part], layer.weight_t)
        compiled.from_eight_bits(
            *(sums.numpy(), scales[part].numpy(), column_scales, bias, made[part].numpy())
        )


def _parts(rows: torch.Tensor) -> Iterator[slice]:
    return (slice(start, start + _ROWS) for start in range(0, len(rows), _ROWS))


@cache
def _compiled() -> Any:
    """The room of compiled rounding, if numba is installed and knows this numpy."""
    try:
        from nlgauge.encode import eight_bits
    except ImportError:
        return None
    return eight_bits


def quantised(model: Any) -> Any:
    """The model with its linear layers replaced, in place."""
    found = [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if type(child) is torch.nn.Linear
    ]
    if not found:
        raise ModelError(
            f"a model of class {type(model).__name__} has no linear layers that precision=int8 "
            "could replace; use precision=float32 (the default)"
        )
    for parent, name, child in found:
        setattr(parent, name, Int8Linear(child))
    return model
