"""Hidden states of any Hugging Face encoder, only of the layers asked for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from threading import Lock
from typing import Any

import numpy as np
import torch
import transformers
from safetensors import SafetensorError

from nlgauge.core.cloud import Cloud, Floats, Tokens
from nlgauge.core.errors import ModelError
from nlgauge.core.requirements import ModelCard
from nlgauge.encode.batches import batches
from nlgauge.encode.int8 import quantised
from nlgauge.encode.layer_hooks import Taps
from nlgauge.encode.model_files import Located
from nlgauge.encode.registry import best_layers, languages_of
from nlgauge.encode.run_options import DEFAULT_OPTIONS, RunOptions
from nlgauge.encode.tokenizer import Piece, Tokenizer
from nlgauge.runtime.threads import thread_count

# What a pass costs beside its tokens, in tokens: on a processor MiniLM takes 4 ms for the calls and
# .14 ms for a token; elsewhere hundreds of tokens run at once.
_PASS_TOKENS, _LAUNCH_TOKENS = 48, 512
_CACHED_TOKENS = 768  # in one pass of a processor; more of them gain nothing and leave its caches
# Two calls at once would only take the cores from each other. Besides, torch remembers for each
# thread how many threads it saw at its first use, which must not be the 1 of another's pass.
FORWARD = Lock()


class HuggingFaceEncoder:
    """Clouds of contextual vectors, of the layers asked for."""

    def __init__(self, located: Located, options: RunOptions = DEFAULT_OPTIONS) -> None:
        self._device = choose_device(options.device)
        if options.precision == "int8" and self._device.type != "cpu":
            raise ModelError(
                f"precision=int8 runs on processors, not on {self._device.type}; choose device=cpu "
                "or precision=float32"
            )
        model = load_model(located, options.precision, transformers.AutoModel)
        if getattr(model.config, "is_encoder_decoder", False):
            model = model.get_encoder()
        self._model = model.eval().to(self._device)
        self._tokenizer = Tokenizer(located, self._model.config, options.long_text)
        self._batch_tokens = options.batch_tokens
        depth = depth_of(self._model.config)
        self._taps = Taps(self._model, depth)
        layers, published = best_layers(located.name, depth)
        self.card = ModelCard(
            name=located.name,
            digest=located.digest,
            depth=depth,
            dimension=int(self._model.config.hidden_size),
            layers=layers,
            published=published,
            libraries=("torch", "transformers"),
            languages=languages_of(located.name),
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
        cut = self._batches(pieces)
        for batch, found in zip(cut, self._run_all(cut, layers), strict=True):
            for row, piece in enumerate(batch):
                states[piece.text].append((piece, found[row, :, : len(piece.ids)]))
        clouds = {text: self._cloud(tokens[i], states[i]) for i, text in enumerate(unique)}
        return [clouds[text] for text in texts]

    def _batches(self, pieces: list[Piece]) -> list[list[Piece]]:
        """Pieces of like length together; the largest batch first, so that none is waited for."""
        here = self._device.type == "cpu"
        cut = batches(
            [len(piece.ids) for piece in pieces],
            most=min(self._batch_tokens, _CACHED_TOKENS) if here else self._batch_tokens,
            overhead=_PASS_TOKENS if here else _LAUNCH_TOKENS,
        )
        cut.sort(key=lambda batch: -len(batch) * len(pieces[batch[0]].ids))
        return [[pieces[number] for number in batch] for batch in cut]

    def _run_all(self, cut: list[list[Piece]], layers: Sequence[int]) -> list[Floats]:
        """The states of every batch: on a processor, one batch in each thread.

        Within a batch the threads would wait for one another after each of hundreds of steps.
        """
        if self._device.type != "cpu" or len(cut) < 2:
            with FORWARD:
                return [self._run(batch, layers) for batch in cut]
        with FORWARD:
            before = torch.get_num_threads()
            torch.set_num_threads(1)
            try:
                with ThreadPoolExecutor(min(before, thread_count(), len(cut))) as pool:
                    return list(pool.map(partial(self._run, layers=layers), cut))
            finally:
                torch.set_num_threads(before)

    def _run(self, batch: list[Piece], layers: Sequence[int]) -> Floats:
        """The states [texts, layers, tokens, d] of a batch, padded behind."""
        longest = len(batch[0].ids)
        padding = self._model.config.pad_token_id or 0  # RoBERTa numbers positions by it
        ids = torch.full((len(batch), longest), padding, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, piece in enumerate(batch):
            ids[row, : len(piece.ids)] = torch.tensor(piece.ids)
            mask[row, : len(piece.ids)] = 1
        with torch.inference_mode():
            states = self._taps.states(ids.to(self._device), mask.to(self._device), layers)
            stacked = torch.stack(states, dim=1)
            points: Floats = stacked.to(device="cpu", dtype=torch.float32).numpy()
        return points

    def _cloud(self, tokens: Tokens, states: list[tuple[Piece, Floats]]) -> Cloud:
        before, after = len(self._tokenizer.prefix), len(self._tokenizer.suffix)
        if len(states) == 1 and states[0][1].shape[1] == len(tokens):  # nothing to sew together
            return Cloud(states[0][1], np.full(len(tokens), 1 / len(tokens)), tokens)
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
            model = kind.from_pretrained(
                located.folder,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                dtype=torch.float32 if precision == "int8" else getattr(torch, precision),
                **keywords,
            )
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise ModelError(f"model {located.name!r} cannot be loaded: {error}") from error
    return quantised(model) if precision == "int8" else model


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


def choose_device(wanted: str) -> Any:
    """The device asked for; ``auto`` is the fastest there is."""
    if wanted != "auto":
        return torch.device(wanted)
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
