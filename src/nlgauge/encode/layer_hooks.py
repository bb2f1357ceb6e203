"""Hidden states of chosen layers, recorded by hooks during a forward pass."""

from collections.abc import Sequence
from threading import local
from typing import Any

import torch
from torch.nn.utils.rnn import pad_sequence

from nlgauge.encode.transfer import to_device


class _LastLayerReached(Exception):
    """Raised to end a forward pass after the deepest requested layer."""


class LayerRecorder:
    """Runs a model and keeps only the requested layers; several threads may use it at once.

    Layer k is ``hidden_states[k]``: 0 is the embeddings; the last is taken after the final norm.
    """

    def __init__(self, model: Any, depth: int) -> None:
        self._model = model
        self._pass = local()  # the requested and the recorded layers of this thread's forward pass
        lists = (module for module in model.modules() if isinstance(module, torch.nn.ModuleList))
        self._blocks: Any = next((blocks for blocks in lists if len(blocks) == depth), None)
        self._hooks: list[Any] = []
        if self._blocks is not None:
            first = self._blocks[0]
            self._hooks = [first.register_forward_pre_hook(self._record_input, with_kwargs=True)]
            for number, block in enumerate(self._blocks, start=1):
                self._hooks.append(block.register_forward_hook(self._output_hook(number)))

    def remove_hooks(self) -> None:
        """Remove the hooks and let the model collect hidden states, for unusual blocks."""
        for hook in self._hooks:
            hook.remove()
        self._blocks = None

    def own_states(self, texts: Sequence[Sequence[int]]) -> Sequence[Any]:
        """Return the states of all layers as the model itself collects them."""
        output = self._model(**self._batch(texts), output_hidden_states=True)
        return output.hidden_states or ()

    def states(self, texts: Sequence[Sequence[int]], layers: Sequence[int]) -> list[Any]:
        """Return the states [texts, tokens, d] of each of ``layers``, padded at the end."""
        if self._blocks is None:  # shared or unusual blocks
            all_states = self.own_states(texts)
            return [all_states[layer] for layer in layers]
        states: dict[int, Any] = {}
        self._pass.found, self._pass.wanted = states, frozenset(layers)
        try:
            output = self._model(**self._batch(texts))
            states[len(self._blocks)] = output.last_hidden_state
        except _LastLayerReached:
            pass
        finally:
            del self._pass.found, self._pass.wanted
        return [states[layer] for layer in layers]

    def _batch(self, texts: Sequence[Sequence[int]]) -> dict[str, Any]:
        padding = self._model.config.pad_token_id or 0  # RoBERTa's positions depend on it
        rows = [torch.tensor(text) for text in texts]
        ids = pad_sequence(rows, batch_first=True, padding_value=padding)
        mask = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
        inputs = to_device(torch.stack([ids, mask]), self._model.device)
        return {"input_ids": inputs[0], "attention_mask": inputs[1]}

    def _record_input(self, _: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        if 0 in getattr(self._pass, "wanted", ()):
            self._pass.found[0] = arguments[0] if arguments else keywords["hidden_states"]

    def _output_hook(self, number: int) -> Any:
        def record(_: Any, __: Any, output: Any) -> None:
            layers = getattr(self._pass, "wanted", None)
            if layers is None or number not in layers or number == len(self._blocks or ()):
                return
            self._pass.found[number] = output[0] if isinstance(output, tuple) else output
            if number == max(layers):
                raise _LastLayerReached

        return record
