"""Linear layers in 8-bit integers, which are several times faster than float32.

    y = (Q(x) Q(W)^T) s_x s_W + b,   Q(v) = round(v / s),   s = max |v| / 127

Each row of W and each token of x has its own scale: with one scale per batch, as in torch's dynamic
quantisation, a vector would depend on the other texts. Some dependence remains: padding changes the
last digit of the float32 attention, which may change a rounding. Scores of different batch sizes
then differ by as much as int8 differs from float32 (docs/performance.md).
"""

from typing import Any

import torch

from nlgauge.core.errors import ModelError

_LEVELS = 127.0
_BLOCK_ROWS = 256  # tokens per block, so that intermediate results stay in the processor's cache
_MIN_SCALE = 1e-30  # the minimum scale, for rows of zeros


class Int8Linear(torch.nn.Module):
    """A linear layer with 8-bit weights."""

    scale: torch.Tensor
    weight_t: torch.Tensor
    bias: torch.Tensor

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach()
        scale = weight.abs().amax(dim=1).clamp_min(_MIN_SCALE) / _LEVELS
        self.register_buffer("scale", scale)
        self.register_buffer("weight_t", (weight / scale[:, None]).round().to(torch.int8).t())
        bias = torch.zeros_like(scale) if linear.bias is None else linear.bias.detach()
        self.register_buffer("bias", bias)

    def forward(self, x: Any) -> Any:
        """Return the output in float32."""
        rows = x.reshape(-1, x.shape[-1])
        output = torch.empty(len(rows), len(self.scale))
        for start in range(0, len(rows), _BLOCK_ROWS):
            part = rows[start : start + _BLOCK_ROWS]
            scales = part.abs().amax(dim=1, keepdim=True).clamp_min_(_MIN_SCALE).div_(_LEVELS)
            quantised_part = (part / scales).round_().to(torch.int8)
            sums = torch._int_mm(quantised_part, self.weight_t).to(torch.float32).mul_(scales)
            torch.addcmul(self.bias, sums, self.scale, out=output[start : start + _BLOCK_ROWS])
        return output.reshape(*x.shape[:-1], -1)


def quantised(model: Any) -> Any:
    """Return the model with its linear layers replaced in place."""
    layers = [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if type(child) is torch.nn.Linear
    ]
    if not layers:
        model_type = type(model).__name__
        raise ModelError(f"{model_type} has no linear layers for int8; use precision=float32")
    # Without VNNI, sums of products saturate at 16 bits in some versions of torch
    # (pytorch/pytorch#136746).
    largest = torch.full((32, 64), 127, dtype=torch.int8)
    if not bool((torch._int_mm(largest, largest.t()) == 127 * 127 * 64).all()):
        raise ModelError(
            "precision=int8 is not exact on this processor with this version of torch "
            f"({torch.__version__}); use precision=float32 (the default) or a newer torch"
        )
    for parent, name, child in layers:
        setattr(parent, name, Int8Linear(child))
    return model
