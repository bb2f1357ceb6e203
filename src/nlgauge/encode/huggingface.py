"""Hidden states of any Hugging Face encoder, only of the layers asked for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import torch
import transformers
from safetensors import SafetensorError

from nlgauge.core.cloud import Cloud, Floats, Tokens
from nlgauge.core.errors import ModelError
from nlgauge.core.need import ModelCard
from nlgauge.encode.locate import Located
from nlgauge.encode.registry import best_layers
from nlgauge.encode.tokenizer import Piece, Tokenizer
from nlgauge.encode.ways import PLAIN, Ways


class _DeepEnough(Exception):
    """Ends a forward pass once the deepest layer asked for is known."""


class HuggingFaceEncoder:
    """Clouds of contextual vectors; ``hidden_states[k]`` of the model is layer k."""

    def __init__(self, located: Located, ways: Ways = PLAIN) -> None:
        self._device = choose_device(ways.device)
        model = load_model(located, ways.precision, transformers.AutoModel)
        if getattr(model.config, "is_encoder_decoder", False):
            model = model.get_encoder()
        self._model = model.eval().to(self._device)
        self._blocks = _blocks(self._model)
        self._tokenizer = Tokenizer(located, self._model.config, ways.long_text)
        self._batch_tokens = ways.batch_tokens
        depth = depth_of(self._model.config)
        layers, published = best_layers(located.name, depth)
        self.card = ModelCard(
            name=located.name,
            digest=located.digest,
            depth=depth,
            dimension=int(self._model.config.hidden_size),
            layers=layers,
            published=published,
            libraries=("torch", "transformers"),
        )

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text between the special tokens of the model."""
        return self._tokenizer.tokenize(texts)

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Cloud]:
        """A cloud for each text, every distinct text encoded once."""
        unique = list(dict.fromkeys(texts))
        tokens = self.tokenize(unique)
        pieces = [
            piece
            for i, text in enumerate(unique)
            for piece in self._tokenizer.pieces(i, text, tokens[i])
        ]
        states: dict[int, list[tuple[Piece, Floats]]] = {i: [] for i in range(len(unique))}
        for batch in self._batches(pieces):
            for piece, points in zip(batch, self._run(batch, layers), strict=True):
                states[piece.text].append((piece, points))
        clouds = {text: self._cloud(tokens[i], states[i]) for i, text in enumerate(unique)}
        return [clouds[text] for text in texts]

    def _batches(self, pieces: list[Piece]) -> Iterator[list[Piece]]:
        """Pieces of like length together, each padded batch within the token budget."""
        batch: list[Piece] = []
        for piece in sorted(pieces, key=lambda piece: -len(piece.ids)):
            if batch and len(batch[0].ids) * (len(batch) + 1) > self._batch_tokens:
                yield batch
                batch = []
            batch.append(piece)
        if batch:
            yield batch

    def _run(self, batch: list[Piece], layers: Sequence[int]) -> Iterator[Floats]:
        longest = len(batch[0].ids)
        padding = self._model.config.pad_token_id or 0  # RoBERTa numbers positions by it
        ids = torch.full((len(batch), longest), padding, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, piece in enumerate(batch):
            ids[row, : len(piece.ids)] = torch.tensor(piece.ids)
            mask[row, : len(piece.ids)] = 1
        with torch.inference_mode():
            states = self._hidden_states(ids.to(self._device), mask.to(self._device), layers)
            stacked = torch.stack([states[layer] for layer in layers], dim=1)
            points = stacked.to(device="cpu", dtype=torch.float32).numpy()
        for row, piece in enumerate(batch):
            yield points[row, :, : len(piece.ids)]

    def _hidden_states(self, ids: Any, mask: Any, layers: Sequence[int]) -> dict[int, Any]:
        deepest = max(layers)
        if self._blocks is None:  # shared or unusual blocks: let the model collect its states
            output = self._model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
            return dict(enumerate(output.hidden_states))
        found: dict[int, Any] = {}

        def enter(_: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
            found[0] = arguments[0] if arguments else named["hidden_states"]

        def leave(number: int) -> Any:
            def record(_: Any, __: Any, output: Any) -> None:
                found[number] = output[0] if isinstance(output, tuple) else output
                # The last layer's state is taken after the model's final norm, so it runs on.
                if number == deepest < len(self._blocks or ()):
                    raise _DeepEnough

            return record

        hooks = [self._blocks[0].register_forward_pre_hook(enter, with_kwargs=True)]
        hooks += [
            block.register_forward_hook(leave(number))
            for number, block in enumerate(self._blocks, start=1)
        ]
        try:
            output = self._model(input_ids=ids, attention_mask=mask)
            found[len(self._blocks)] = output.last_hidden_state
        except _DeepEnough:
            pass
        finally:
            for hook in hooks:
                hook.remove()
        return found

    def _cloud(self, tokens: Tokens, states: list[tuple[Piece, Floats]]) -> Cloud:
        before, after = len(self._tokenizer.prefix), len(self._tokenizer.suffix)
        states = sorted(states, key=lambda state: state[0].window.start)
        parts = [states[0][1][:, :before]]
        for piece, points in states:
            shift = before - piece.window.start
            parts.append(
                points[:, piece.window.keep_start + shift : piece.window.keep_stop + shift]
            )
        last = states[-1][1]
        parts.append(last[:, last.shape[1] - after :])
        whole = np.concatenate(parts, axis=1)
        remarks = self._tokenizer.remarks([piece for piece, _ in states], tokens)
        if whole.shape[1] < len(tokens):
            mask = np.ones(len(tokens), dtype=bool)
            mask[whole.shape[1] - after : len(tokens) - after] = False
            tokens = tokens.keep(mask)
        return Cloud(whole, np.full(len(tokens), 1 / len(tokens)), tokens, remarks)


def load_model(located: Located, precision: str, kind: Any, **keywords: Any) -> Any:
    """What ``kind.from_pretrained`` makes of the located folder, from safetensors only."""
    if precision == "bfloat16" and not torch.cuda.is_available():
        _require_bfloat16()
    try:
        with _quietly():
            return kind.from_pretrained(
                located.folder,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                dtype=getattr(torch, precision),
                **keywords,
            )
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise ModelError(f"model {located.name!r} cannot be loaded: {error}") from error


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep transformers from reporting on weights: what matters of them is checked here."""
    talk: Any = transformers.utils.logging
    before = talk.get_verbosity()
    talk.set_verbosity_error()
    talk.disable_progress_bar()
    try:
        yield
    finally:
        talk.set_verbosity(before)
        talk.enable_progress_bar()


@cache
def _require_bfloat16() -> None:
    """Refuse bfloat16 where the processor announces it but dies of it, as some virtual ones do.

    An illegal instruction ends the process and cannot be caught, so another process tries first.
    """
    trial = (
        "import torch; x = torch.ones(64, 384, dtype=torch.bfloat16);"
        "torch.nn.functional.linear(x, torch.ones(1536, 384, dtype=torch.bfloat16))"
    )
    if subprocess.run([sys.executable, "-c", trial], capture_output=True, check=False).returncode:
        raise ModelError(
            "this processor fails at bfloat16 arithmetic; use precision=float32 (the default)"
        )


def depth_of(config: Any) -> int:
    """The number of hidden layers that a configuration tells, whatever it calls them."""
    for name in ("num_hidden_layers", "num_layers", "encoder_layers", "n_layers", "n_layer"):
        if getattr(config, name, None):
            return int(getattr(config, name))
    raise ModelError(f"the configuration of type {config.model_type!r} does not tell its layers")


def _blocks(model: Any) -> Any | None:
    """The model's list of blocks, or None where layers cannot be told from modules."""
    depth = depth_of(model.config)
    for module in model.modules():
        if isinstance(module, torch.nn.ModuleList) and len(module) == depth:
            return module
    return None


def choose_device(wanted: str) -> Any:
    """The device asked for; ``auto`` is the fastest there is."""
    if wanted != "auto":
        return torch.device(wanted)
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
