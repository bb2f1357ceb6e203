"""Hidden states of chosen layers, recorded by hooks during a forward pass, and checked once."""

from collections.abc import Sequence
from threading import local
from typing import Any

import torch
from torch.nn.utils.rnn import pad_sequence

from nlgauge.core.errors import ModelError
from nlgauge.encode.device_copies import to_device

# Tolerances relative to the largest state: for states of one batch, and for a text alone and in a
# padded batch at a reduced precision.
_SAME, _ROUNDED = 1e-4, 0.05


class _LastLayerReached(Exception):
    """Raised to end a forward pass after the deepest requested layer."""


class LayerRecorder:
    """Runs a model and keeps only the requested layers; several threads may use it at once.

    Layer k is ``hidden_states[k]``: 0 is the embeddings; the last is taken after the final norm.
    """

    def __init__(self, model: Any, depth: int) -> None:
        self._model, self._depth = model, depth
        self._pass = local()  # the requested and the recorded layers of this thread's forward pass
        lists = (module for module in model.modules() if isinstance(module, torch.nn.ModuleList))
        self._blocks: Any = next((blocks for blocks in lists if len(blocks) == depth), None)
        self._hooks: list[Any] = []
        if self._blocks is not None:
            first = self._blocks[0]
            self._hooks = [first.register_forward_pre_hook(self._record_input, with_kwargs=True)]
            for number, block in enumerate(self._blocks, start=1):
                self._hooks.append(block.register_forward_hook(self._output_hook(number)))

    def padding_is_harmless(
        self, texts: Sequence[Sequence[int]], *, what: str, dimension: int, rounded: bool
    ) -> bool:
        """Return whether padding the first text leaves its states unchanged.

        If the model does not return a vector per token and layer, raise an error. If the hooks do
        not record the states that the model itself returns, remove them.
        """
        short, length, layers = texts[:1], len(texts[0]), range(self._depth + 1)
        with torch.inference_mode():
            expected = self._own_states(short)
            shape = (1, length, dimension)
            if len(expected) != len(layers) or any(tuple(x.shape) != shape for x in expected):
                raise ModelError(
                    f"{what} does not give one vector per token in each of its {self._depth} "
                    "layers; use a model of a family that docs/new-model.md lists, such as "
                    "bert-base-multilingual-cased"
                )
            try:
                hooked = self.states(short, layers)
            except (IndexError, KeyError, RuntimeError):  # unusual arguments or outputs
                hooked = []
            if not _all_close(hooked, expected, _SAME):
                for hook in self._hooks:
                    hook.remove()
                self._blocks = None
            padded = [state[:1, :length] for state in self.states(texts, layers)]
        return _all_close(padded, expected, _ROUNDED if rounded else _SAME)

    def _own_states(self, texts: Sequence[Sequence[int]]) -> Sequence[Any]:
        """Return the states of all layers as the model itself collects them."""
        output = self._model(**self._batch(texts), output_hidden_states=True)
        return output.hidden_states or ()

    def states(self, texts: Sequence[Sequence[int]], layers: Sequence[int]) -> list[Any]:
        """Return the states [texts, tokens, d] of each of ``layers``, padded at the end."""
        if self._blocks is None:  # shared or unusual blocks
            all_states = self._own_states(texts)
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
        # Positions of RoBERTa depend on the padding; some configurations of Llama have -1.
        padding = max(self._model.config.pad_token_id or 0, 0)
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


def _all_close(states: Sequence[Any], expected: Sequence[Any], limit: float) -> bool:
    return len(states) == len(expected) and all(
        actual.shape == target.shape
        and bool((actual - target).abs().max() <= limit * target.abs().max())
        for actual, target in zip(states, expected, strict=True)
    )
