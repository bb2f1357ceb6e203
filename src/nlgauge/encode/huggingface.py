"""Hidden states of any Hugging Face encoder, only of the layers asked for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from nlgauge.core.cloud import Cloud, Floats, Tokens
from nlgauge.core.errors import DataError, MissingExtra, ModelError
from nlgauge.core.need import ModelCard
from nlgauge.encode.locate import Located
from nlgauge.encode.registry import best_layers
from nlgauge.encode.windows import Window, windows

try:
    import torch
    import transformers
    from safetensors import SafetensorError
except ImportError as error:
    raise MissingExtra("an embedding metric", error.name or "torch", "embedded") from None

_NO_LIMIT = 1_000_000  # tokenizers without a known limit report absurdly large numbers


class _DeepEnough(Exception):
    """Ends a forward pass once the deepest layer asked for is known."""


@dataclass(frozen=True)
class _Piece:
    """A window of one text, with the special tokens the model wants around it."""

    text: int
    window: Window
    ids: list[int]


class HuggingFaceEncoder:
    """Clouds of contextual vectors; ``hidden_states[k]`` of the model is layer k."""

    def __init__(
        self,
        located: Located,
        *,
        long_text: str = "window",
        precision: str = "float32",
        device: str = "auto",
        batch_tokens: int = 2048,
    ) -> None:
        self._device = _device(device)
        self._model = _load_model(located, precision).to(self._device)
        self._blocks = _blocks(self._model)
        self._tokenizer, self._prefix, self._suffix = _load_tokenizer(located)
        self._limit = _limit(self._model.config, self._tokenizer) - len(self._prefix + self._suffix)
        self._backend = self._tokenizer.backend_tokenizer
        self._long_text = long_text
        self._batch_tokens = batch_tokens
        depth = _depth(self._model.config)
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
        # The backend is called directly: it can be told to read "[CLS]" in a text as plain text.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return [
            self._tokens(encoding)
            for encoding in self._backend.encode_batch(clean, add_special_tokens=False)
        ]

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Cloud]:
        """A cloud for each text, every distinct text encoded once."""
        unique = list(dict.fromkeys(texts))
        tokens = self.tokenize(unique)
        pieces = [piece for i, text in enumerate(unique) for piece in self._pieces(i, text, tokens)]
        states: dict[int, list[tuple[_Piece, Floats]]] = {i: [] for i in range(len(unique))}
        for batch in self._batches(pieces):
            for piece, points in zip(batch, self._run(batch, layers), strict=True):
                states[piece.text].append((piece, points))
        clouds = {text: self._cloud(tokens[i], states[i]) for i, text in enumerate(unique)}
        return [clouds[text] for text in texts]

    def _tokens(self, encoding: Any) -> Tokens:
        before, after = len(self._prefix), len(self._suffix)
        ids = [*self._prefix, *encoding.ids, *self._suffix]
        special = np.zeros(len(ids), dtype=bool)
        special[:before] = True
        special[len(ids) - after :] = True
        numbers = [
            number if number is not None else i for i, number in enumerate(encoding.word_ids)
        ]
        words = np.array([-1] * before + numbers + [-1] * after, dtype=np.int64)
        edges = self._tokenizer.convert_ids_to_tokens([*self._prefix, *self._suffix])
        strings = (*edges[:before], *encoding.tokens, *edges[before:])
        return Tokens(strings, np.array(ids, dtype=np.int64), special, words)

    def _pieces(self, number: int, text: str, tokens: list[Tokens]) -> Iterator[_Piece]:
        before, after = len(self._prefix), len(self._suffix)
        content = tokens[number].ids[before : len(tokens[number]) - after].tolist()
        length = len(content)
        if length > self._limit and self._long_text == "error":
            raise DataError(
                f"the text {text[:40]!r}... has {length} tokens, but {self.card.name} takes "
                f"{self._limit}; choose long_text=window or long_text=truncate"
            )
        if self._long_text == "truncate":
            length = min(length, self._limit)
        for window in windows(length, self._limit):
            inner = content[window.start : window.stop]
            yield _Piece(number, window, [*self._prefix, *inner, *self._suffix])

    def _batches(self, pieces: list[_Piece]) -> Iterator[list[_Piece]]:
        """Pieces of like length together, each padded batch within the token budget."""
        batch: list[_Piece] = []
        for piece in sorted(pieces, key=lambda piece: -len(piece.ids)):
            if batch and len(batch[0].ids) * (len(batch) + 1) > self._batch_tokens:
                yield batch
                batch = []
            batch.append(piece)
        if batch:
            yield batch

    def _run(self, batch: list[_Piece], layers: Sequence[int]) -> Iterator[Floats]:
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

    def _cloud(self, tokens: Tokens, states: list[tuple[_Piece, Floats]]) -> Cloud:
        before, after = len(self._prefix), len(self._suffix)
        states = sorted(states, key=lambda state: state[0].window.start)
        parts = [states[0][1][:, :before]]
        for piece, points in states:
            window = piece.window
            kept = slice(
                before + window.keep_start - window.start, before + window.keep_stop - window.start
            )
            parts.append(points[:, kept])
        last = states[-1][1]
        parts.append(last[:, last.shape[1] - after :])
        whole = np.concatenate(parts, axis=1)
        remarks: tuple[str, ...] = ()
        if len(states) > 1:
            remarks = (f"longer than {self._limit} tokens, encoded in overlapping windows",)
        if whole.shape[1] < len(tokens):
            remarks = (f"longer than {self._limit} tokens, truncated",)
            mask = np.ones(len(tokens), dtype=bool)
            mask[whole.shape[1] - after : len(tokens) - after] = False
            tokens = tokens.keep(mask)
        return Cloud(whole, np.full(len(tokens), 1 / len(tokens)), tokens, remarks)


def _load_model(located: Located, precision: str) -> Any:
    if precision == "bfloat16" and not torch.cuda.is_available():
        _require_bfloat16()
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        model = transformers.AutoModel.from_pretrained(
            located.folder,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            dtype=getattr(torch, precision),
        )
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise ModelError(f"model {located.name!r} cannot be loaded: {error}") from error
    if getattr(model.config, "is_encoder_decoder", False):
        model = model.get_encoder()
    return model.eval()


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


def _load_tokenizer(located: Located) -> tuple[Any, list[int], list[int]]:
    """The fast tokenizer, and the special ids the model wants before and after a text."""
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            located.folder, local_files_only=True, trust_remote_code=False
        )
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"the tokenizer of model {located.name!r} cannot be loaded: {error}"
        ) from error
    if not tokenizer.is_fast:
        raise ModelError(
            f"model {located.name!r} has no fast tokenizer (tokenizer.json); make one with "
            "transformers.AutoTokenizer.from_pretrained(folder, use_fast=True).save_pretrained(...)"
        )
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()  # tokenizer.json may carry a limit and padding of its own
    backend.no_padding()
    probe = backend.encode("a", add_special_tokens=True)
    content = [i for i, special in enumerate(probe.special_tokens_mask) if not special]
    first, last = (content[0], content[-1]) if content else (0, -1)
    backend.encode_special_tokens = True
    return tokenizer, probe.ids[:first], probe.ids[last + 1 :]


def _limit(config: Any, tokenizer: Any) -> int:
    """How many tokens the model takes, whatever huge number the tokenizer claims."""
    positions = getattr(config, "max_position_embeddings", None) or _NO_LIMIT
    if getattr(config, "model_type", "") in {"roberta", "xlm-roberta", "camembert", "mpnet"}:
        positions -= (config.pad_token_id or 0) + 1  # these number positions from padding onwards
    return int(min(positions, tokenizer.model_max_length, _NO_LIMIT))


def _depth(config: Any) -> int:
    for name in ("num_hidden_layers", "num_layers", "encoder_layers", "n_layers", "n_layer"):
        if getattr(config, name, None):
            return int(getattr(config, name))
    raise ModelError(f"the configuration of type {config.model_type!r} does not tell its layers")


def _blocks(model: Any) -> Any | None:
    """The model's list of blocks, or None where layers cannot be told from modules."""
    depth = _depth(model.config)
    for module in model.modules():
        if isinstance(module, torch.nn.ModuleList) and len(module) == depth:
            return module
    return None


def _device(wanted: str) -> Any:
    if wanted != "auto":
        return torch.device(wanted)
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
