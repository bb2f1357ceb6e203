"""Taps: the hidden states of chosen layers, caught while a model computes them."""

from __future__ import annotations

from collections.abc import Sequence
from threading import local
from typing import Any

import torch


class _DeepEnough(Exception):
    """Ends a forward pass once the deepest layer asked for is known."""


class Taps:
    """Runs a model and keeps only the layers asked for; several threads may do so at once.

    ``hidden_states[k]`` of the model is layer k: 0 are the embeddings, the last is taken after the
    model's final norm.
    """

    def __init__(self, model: Any, depth: int) -> None:
        self._model = model
        self._pass = local()  # what the forward pass of this thread wants and has found
        self._blocks = _blocks(model, depth)
        if self._blocks is not None:
            self._blocks[0].register_forward_pre_hook(self._enter, with_kwargs=True)
            for number, block in enumerate(self._blocks, start=1):
                block.register_forward_hook(self._leave(number))

    def states(self, ids: Any, mask: Any, layers: Sequence[int]) -> list[Any]:
        """The states [texts, tokens, d] of each layer asked for, in that order."""
        if self._blocks is None:  # shared or unusual blocks: let the model collect its states
            output = self._model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
            return [output.hidden_states[layer] for layer in layers]
        found: dict[int, Any] = {}
        self._pass.found, self._pass.wanted = found, frozenset(layers)
        try:
            output = self._model(input_ids=ids, attention_mask=mask)
            found[len(self._blocks)] = output.last_hidden_state
        except _DeepEnough:
            pass
        finally:
            del self._pass.found, self._pass.wanted
        return [found[layer] for layer in layers]

    def _enter(self, _: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        if 0 in getattr(self._pass, "wanted", ()):
            self._pass.found[0] = arguments[0] if arguments else named["hidden_states"]

    def _leave(self, number: int) -> Any:
        def record(_: Any, __: Any, output: Any) -> None:
            wanted = getattr(self._pass, "wanted", None)
            if wanted is None or number not in wanted or number == len(self._blocks or ()):
                return
            self._pass.found[number] = output[0] if isinstance(output, tuple) else output
            if number == max(wanted):
                raise _DeepEnough

        return record


def _blocks(model: Any, depth: int) -> Any | None:
    """The model's list of blocks, or None where layers cannot be told from modules."""
    for module in model.modules():
        if isinstance(module, torch.nn.ModuleList) and len(module) == depth:
            return module
    return None
