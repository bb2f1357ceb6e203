"""A check of a new model: whether it returns a vector per token and layer."""

from collections.abc import Sequence
from typing import Any

import torch

from nlgauge.core.errors import ModelError
from nlgauge.encode.layer_hooks import LayerRecorder

TEXTS = ("a man in a boat", "a man in a red boat on the river")  # of different lengths
# Tolerances relative to the largest state: for states of one batch, and for a text alone and in a
# padded batch at a reduced precision.
_SAME, _ROUNDED = 1e-4, 0.05


def padding_is_harmless(
    recorder: LayerRecorder,
    texts: Sequence[list[int]],
    *,
    what: str,
    size: tuple[int, int],
    rounded: bool,
) -> bool:
    """Return whether padding leaves states unchanged; raise an error if states are missing.

    ``size`` is the number of layers and of dimensions. If the hooks do not record the hidden states
    that the model itself returns, they are removed.
    """
    depth, dimension = size
    short = texts[:1]
    length = len(texts[0])
    layers = range(depth + 1)
    with torch.inference_mode():
        expected = recorder.own_states(short)
        shape = (1, length, dimension)
        if len(expected) != depth + 1 or any(tuple(state.shape) != shape for state in expected):
            raise ModelError(
                f"{what} does not give one vector per token in each of its {depth} layers; use a "
                "model of a family that docs/new-model.md lists, such as "
                "bert-base-multilingual-cased"
            )
        try:
            hooked = recorder.states(short, layers)
        except (IndexError, KeyError, RuntimeError):  # unusual arguments or outputs
            hooked = []
        if not _all_close(hooked, expected, _SAME):
            recorder.remove_hooks()
        padded = [state[:1, :length] for state in recorder.states(texts, layers)]
    return _all_close(padded, expected, _ROUNDED if rounded else _SAME)


def _all_close(states: Sequence[Any], expected: Sequence[Any], limit: float) -> bool:
    return len(states) == len(expected) and all(
        actual.shape == target.shape
        and bool((actual - target).abs().max() <= limit * target.abs().max())
        for actual, target in zip(states, expected, strict=True)
    )
