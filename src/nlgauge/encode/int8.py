"""Linear layers in 8-bit integers, which are several times faster than float32.

    y = (Q(x) Q(W)^T) s_x s_W + b,   Q(v) = round(v / s),   s = max |v| / 127

Each row of W and each token of x has its own scale: with one scale per batch, as in torch's dynamic
quantisation, a vector would depend on the other texts. Some dependence remains: padding changes the
last digit of the float32 attention, which may change a rounding. Scores of different batch sizes
then differ by as much as int8 differs from float32 (docs/performance.md).
"""

from typing import Any

import numpy as np
import torch

from nlgauge.core.errors import ModelError
from nlgauge.kernels import int8_rounding

_LEVELS = np.float32(127)
_BLOCK_CELLS = 1 << 18  # of a block of rows and its products, which the processor's cache holds
_MIN_SCALE = np.float32(1e-30)  # the minimum scale, for rows of zeros


class Int8Linear(torch.nn.Module):
    """A linear layer with 8-bit weights."""

    scale: torch.Tensor
    weight_t: torch.Tensor
    bias: torch.Tensor

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach()
        scale = weight.abs().amax(dim=1).clamp_min(float(_MIN_SCALE)) / float(_LEVELS)
        self.register_buffer("scale", scale)
        self.register_buffer("weight_t", (weight / scale[:, None]).round().to(torch.int8).t())
        bias = torch.zeros_like(scale) if linear.bias is None else linear.bias.detach()
        self.register_buffer("bias", bias)

    def forward(self, x: Any) -> Any:
        """Return the output in float32."""
        rows = x.reshape(-1, x.shape[-1]).contiguous()
        output = torch.empty(len(rows), len(self.scale))
        inputs, outputs = rows.numpy(), output.numpy()
        column_scales, bias = self.scale.numpy(), self.bias.numpy()
        size = max(1, _BLOCK_CELLS // max(rows.shape[1], len(self.scale)))
        for start in range(0, len(rows), size):
            part = inputs[start : start + size]
            largest = np.empty(len(part), dtype=np.int32)
            int8_rounding.find_largest(part.view(np.int32), largest)
            scales = np.maximum(largest.view(np.float32), _MIN_SCALE)
            scales /= _LEVELS
            rounded = torch.empty(part.shape, dtype=torch.int8)
            int8_rounding.round_rows(part, scales, rounded.numpy())
            products = torch._int_mm(rounded, self.weight_t).numpy()
            part_of_output = outputs[start : start + size]
            int8_rounding.scale_products(products, scales, column_scales, bias, part_of_output)
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
