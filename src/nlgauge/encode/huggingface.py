"""Hidden states of chosen layers of a Hugging Face encoder."""

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
import torch
import transformers

from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Cloud, Tokens
from nlgauge.core.errors import ModelError, NlgaugeError
from nlgauge.encode.batches import batches
from nlgauge.encode.device import choose_device
from nlgauge.encode.device_copies import HostCopy, one_started
from nlgauge.encode.int8 import quantised
from nlgauge.encode.layer_hooks import LayerRecorder
from nlgauge.encode.model_files import Located
from nlgauge.encode.registry import model_card
from nlgauge.encode.run_options import DEFAULT_OPTIONS, RunOptions
from nlgauge.encode.tokenizer import Piece, Tokenizer
from nlgauge.runtime.progress import current_step
from nlgauge.runtime.threads import thread_count

# The fixed cost of a pass, in tokens: on a CPU, MiniLM takes 4 ms per pass and .14 ms per token.
_CPU_PASS_TOKENS, _GPU_PASS_TOKENS = 48, 512
_CPU_BATCH_TOKENS = 768  # larger batches are no faster and exceed the processor's caches
# Concurrent passes would compete for the cores. Also, torch keeps the number of threads of each
# thread's first use, which must not be the 1 that is set during another call's pass.
_FORWARD = Lock()
# Weights that are not needed for hidden states.
_UNUSED_WEIGHTS = re.compile(r"(^|\.)(pooler|decoder|\w*head)\.")
_TRIAL_TEXTS = ("a man in a boat", "a man in a red boat on the river")  # of different lengths
_REASONS = {  # replace messages about options that nlgauge does not have
    "ignore_mismatched_sizes": "the sizes in config.json do not match the weights",
    "trust_remote_code": "it needs code of its own (auto_map), which is never run",
}


@contextmanager
def forward_pass(threads: int | None = None) -> Iterator[int]:
    """Hold the lock of forward passes and yield the number of available ``threads``."""
    with _FORWARD:
        before = torch.get_num_threads()
        available = min(before, thread_count())
        torch.set_num_threads(threads or available)
        try:
            yield available
        finally:
            torch.set_num_threads(before)


class HuggingFaceModel:
    """The device, tokenizer and card of a model."""

    def __init__(
        self, located: Located, options: RunOptions, model: Any, *, digest: str, dimension: int
    ) -> None:
        self._device = choose_device(options.device)
        self._model = model.eval().to(self._device)
        with _explain_errors(f"the tokenizer of model {located.name!r}"):
            before = _positions_before(model)
            self._tokenizer = Tokenizer(located, model.config, options, before)
        self._vocabulary = getattr(model.config, "vocab_size", None)
        self._batch_tokens = options.batch_tokens
        sizes = {"depth": depth_of(model.config), "dimension": dimension}
        libraries = ("torch", "transformers")
        self.card = model_card(located.name, digest=digest, **sizes, libraries=libraries)

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the tokens of each text that the model reads, including special tokens."""
        return [*map(self._tokenizer.truncated, self._tokenize(texts))]

    def _tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Return all tokens of each text between the special tokens of the model."""
        tokens = self._tokenizer.tokenize(texts)
        highest = max((int(each.ids.max(initial=0)) for each in tokens), default=0)
        if self._vocabulary is not None and highest >= self._vocabulary:
            known = f"token number {highest}, but the model has {self._vocabulary} tokens"
            raise ModelError(f"the tokenizer of model {self.card.name!r} gives {known}")
        return tokens


class HuggingFaceEncoder(HuggingFaceModel):
    """Clouds of contextual vectors of chosen layers."""

    def __init__(self, located: Located, options: RunOptions = DEFAULT_OPTIONS) -> None:
        model, missing = load_model(located, options, transformers.AutoModel)
        missing = [name for name in missing if not _UNUSED_WEIGHTS.search(name)]
        if missing:
            lacking = f"{missing[0]} and {len(missing) - 1} more; config.json is of another model"
            raise ModelError(f"model {located.name!r} lacks the weights {lacking}")
        # config.is_encoder_decoder is false in checkpoints of the encoder of T5 alone.
        if hasattr(model, "encoder") and hasattr(model, "decoder"):
            model = model.get_encoder()
        description = f"model {located.name!r} of type {model.config.model_type!r}"
        with _explain_errors(description):
            size = int(model.config.hidden_size)
            super().__init__(located, options, model, digest=located.digest, dimension=size)
            self._recorder = LayerRecorder(self._model, self.card.depth)
            pairs = zip(_TRIAL_TEXTS, self._tokenizer.tokenize(_TRIAL_TEXTS), strict=True)
            split = (self._tokenizer.pieces(0, *pair) for pair in pairs)
            last = (self._vocabulary or 2) - 1
            ids = [[min(number, last) for number in next(each).ids] for each in split]
            rounded = options.precision != "float32"
            with forward_pass(), _silence():
                self._padded = self._recorder.padding_is_harmless(
                    ids, what=description, dimension=size, rounded=rounded
                )

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Cloud]:
        """Return a cloud for each text; every distinct text is encoded once."""
        unique = list(dict.fromkeys(texts))
        tokens = self._tokenize(unique)
        split = self._tokenizer.pieces
        pieces = [x for i, text in enumerate(unique) for x in split(i, text, tokens[i]) if x.ids]
        states: dict[int, list[tuple[Piece, Floats]]] = {i: [] for i in range(len(unique))}
        batched = [[pieces[number] for number in batch] for batch in self._batches(pieces)]
        batched.sort(key=lambda batch: -len(batch) * len(batch[0].ids))  # threads end together
        for batch, batch_states in zip(batched, self._run_all(batched, layers), strict=True):
            for row, piece in enumerate(batch):
                states[piece.text].append((piece, batch_states[row, :, : len(piece.ids)]))
        clouds = (self._cloud(tokens[i], states[i], len(layers)) for i in states)
        by_text = dict(zip(unique, clouds, strict=True))
        return [by_text[text] for text in texts]

    def _batches(self, pieces: list[Piece]) -> Iterator[list[int]]:
        """Yield the indices of the pieces of each batch."""
        on_cpu = self._device.type == "cpu"
        limit = min(self._batch_tokens, _CPU_BATCH_TOKENS) if on_cpu else self._batch_tokens
        overhead = _CPU_PASS_TOKENS if on_cpu else _GPU_PASS_TOKENS
        lengths = [len(piece.ids) for piece in pieces]
        if self._padded:
            yield from batches(lengths, most=limit, overhead=overhead)
            return
        groups: dict[int, list[int]] = defaultdict(list)
        for number, length in enumerate(lengths):
            groups[length].append(number)
        for length, group in groups.items():
            for batch in batches([length] * len(group), most=limit, overhead=overhead):
                yield [group[number] for number in batch]

    def _run_all(self, batched: list[list[Piece]], layers: Sequence[int]) -> list[Floats]:
        """Return the states of every batch; on a CPU, each thread runs its own batches."""
        tokens = sum(len(piece.ids) for batch in batched for piece in batch)
        step = current_step()

        def start(batch: list[Piece]) -> tuple[HostCopy, float]:
            states = self._states(batch, layers)
            return HostCopy(states), sum(len(piece.ids) for piece in batch) / tokens

        def finish(started: tuple[HostCopy, float]) -> Floats:
            computed = started[0].numpy()
            step(started[1])
            return computed

        if self._device.type != "cpu" or len(batched) < 2:
            with forward_pass():
                return [finish(started) for started in one_started(start, batched)]
        # Threads that share a batch would wait for each other after every operation.
        with forward_pass(1) as threads, ThreadPoolExecutor(min(threads, len(batched))) as pool:
            return list(pool.map(lambda batch: finish(start(batch)), batched))

    def _states(self, batch: list[Piece], layers: Sequence[int]) -> torch.Tensor:
        """Return the states [texts, layers, tokens, d] of a batch, padded, on the device."""
        with torch.inference_mode():
            states = self._recorder.states([piece.ids for piece in batch], layers)
            return torch.stack(states, dim=1)

    def _cloud(self, tokens: Tokens, states: list[tuple[Piece, Floats]], layers: int) -> Cloud:
        """Return the cloud of a text from the states of its windows."""
        if not states:  # GPT-2 adds no special tokens to an empty text
            points = np.zeros((layers, 0, self.card.dimension), np.float32)
            return Cloud(points, np.zeros(0), tokens)
        before, after = len(self._tokenizer.prefix), len(self._tokenizer.suffix)
        if len(states) == 1 and states[0][1].shape[1] == len(tokens):
            return Cloud(states[0][1], np.full(len(tokens), 1 / len(tokens)), tokens)
        states = sorted(states, key=lambda state: state[0].window.start)
        parts = [states[0][1][:, :before]]
        for piece, points in states:
            window, shift = piece.window, before - piece.window.start
            parts.append(points[:, window.keep_start + shift : window.keep_stop + shift])
        parts.append(points[:, points.shape[1] - after :])
        joined = np.concatenate(parts, axis=1)
        notes = self._tokenizer.notes([piece for piece, _ in states], tokens)
        tokens = self._tokenizer.truncated(tokens)
        return Cloud(joined, np.full(len(tokens), 1 / len(tokens)), tokens, notes)


def load_model(located: Located, options: RunOptions, kind: Any) -> tuple[Any, list[str]]:
    """Return ``kind.from_pretrained`` of the folder, and the names of missing weights."""
    int8, device = options.precision == "int8", choose_device(options.device).type
    if int8 and device != "cpu":
        hint = "choose device=cpu or precision=float32"
        raise ModelError(f"precision=int8 runs on processors, not on {device}; {hint}")
    if options.precision == "bfloat16" and not torch.cuda.is_available():
        _require_bfloat16()
    # Callers check for missing weights.
    with _silence(), _explain_errors(f"model {located.name!r}"):
        model, report = kind.from_pretrained(
            located.folder,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            dtype=torch.float32 if int8 else getattr(torch, options.precision),
            output_loading_info=True,
        )
    return quantised(model) if int8 else model, sorted(report["missing_keys"])


@contextmanager
def _silence() -> Iterator[None]:
    """Suppress messages of transformers about checkpoints, attention and padding."""
    logging: Any = transformers.utils.logging
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        logging.enable_progress_bar()


@contextmanager
def _explain_errors(subject: str) -> Iterator[None]:
    """Turn any exception that a library raises about the files of a model into ModelError."""
    try:
        yield
    except (NlgaugeError, MemoryError):
        raise
    except Exception as error:
        message = " ".join(str(error).split())
        known = (reason for phrase, reason in _REASONS.items() if phrase in message)
        first = re.split(r"(?<=[.!?]) ", message)[0][:300]
        reason = next(known, f"{type(error).__name__}: {first}")
        raise ModelError(f"{subject} cannot be loaded: {reason}") from error


@cache
def _require_bfloat16() -> None:
    """Raise an error if bfloat16 is an illegal instruction, tested in a separate process."""
    trial = (
        "import torch; x = torch.ones(64, 384, dtype=torch.bfloat16);"
        "torch.nn.functional.linear(x, torch.ones(1536, 384, dtype=torch.bfloat16))"
    )
    if subprocess.run([sys.executable, "-c", trial], capture_output=True, check=False).returncode:
        message = "this processor fails at bfloat16 arithmetic; use precision=float32 (the default)"
        raise ModelError(message)


def _positions_before(model: Any) -> int:
    """Return the number of unused positions: RoBERTa's positions start after the padding id."""
    names = (name for name, _ in model.named_modules() if name.endswith("position_embeddings"))
    tables = (model.get_submodule(name) for name in names)
    unused = (getattr(table, "padding_idx", None) for table in tables)
    return next((number + 1 for number in unused if number is not None), 0)


def depth_of(config: Any) -> int:
    """Return the number of hidden layers in a configuration."""
    for name in ("num_hidden_layers", "num_layers", "encoder_layers", "n_layers", "n_layer"):
        if (depth := getattr(config, name, None) or 0) > 0:
            return int(depth)
    raise ModelError(f"the configuration of type {config.model_type!r} has no number of layers")
