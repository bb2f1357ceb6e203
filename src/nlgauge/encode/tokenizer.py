"""The fast tokenizer of a model, and the maximum number of tokens of the model."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import transformers
from tokenizers import Tokenizer as BackendTokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.processors import TemplateProcessing

from nlgauge.core.cloud import Tokens, unknown_id
from nlgauge.core.errors import DataError, ModelError
from nlgauge.encode.model_files import Located
from nlgauge.encode.run_options import RunOptions
from nlgauge.encode.windows import Window, windows

_WORD_START = "▁"
# Models for which bert-score (with transformers 4) adds a space before the text.
_PREFIX_SPACE = {
    **dict.fromkeys(
        ("roberta", "roberta-prelayernorm", "data2vec-text", "ibert"), "RobertaTokenizer"
    ),
    **dict.fromkeys(("gpt2", "gpt_neo", "gptj", "opt"), "GPT2Tokenizer"),
}
_NO_LIMIT = 1_000_000  # tokenizers without a known limit report huge numbers


class Piece(NamedTuple):
    """A window of one text between the special tokens of the model."""

    text: int
    window: Window
    ids: list[int]


class Tokenizer:
    """Splits texts into tokens, and long texts into windows."""

    def __init__(
        self, located: Located, config: Any, options: RunOptions, positions_before: int = 0
    ) -> None:
        self._name = located.name
        self._long_text = options.long_text
        self._whole, self.prefix, self.suffix = _load(located)
        self._strip = options.strip
        self._space = _PREFIX_SPACE.get(config.model_type) == type(self._whole).__name__
        self._backend = self._whole.backend_tokenizer
        positions = int(getattr(config, "max_position_embeddings", None) or 0)
        positions = positions - positions_before if positions > 0 else _NO_LIMIT  # XLNet has -1
        size = int(min(positions, self._whole.model_max_length, _NO_LIMIT))
        self._special = len(self.prefix + self.suffix)
        self.limit = size - self._special
        if self.limit < 1:
            sizes = f"{size} tokens, and its tokenizer adds {self._special}"
            raise ModelError(f"model {located.name!r} takes {sizes}, which leaves none for a text")
        self.mask_id: int | None = self._whole.mask_token_id
        self._unknown_id: int | None = self._whole.unk_token_id

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the tokens of each text between the special tokens of the model."""
        # Unlike the tokenizer, the backend can treat "[CLS]" in a text as plain text.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        shifts = [0] * len(clean)
        if self._strip:
            shifts = [len(text) - len(text.lstrip()) - self._space for text in clean]
            clean = [f"{' ' * self._space}{text.strip()}" for text in clean]
        encoded = self._backend.encode_batch(clean, add_special_tokens=False)
        return [*map(self._tokens, clean, encoded, shifts)]

    def pieces(self, number: int, text: str, tokens: Tokens) -> Iterator[Piece]:
        """Yield the pieces of a text for the model: the whole text, windows, or truncated."""
        ids = np.where(tokens.unknown, self._unknown_id or 0, tokens.ids)
        content = ids[len(self.prefix) : len(tokens) - len(self.suffix)].tolist()
        length = len(content)
        if length > self.limit and self._long_text == "error":
            counts = f"has {length} tokens, but {self._name} takes {self.limit}"
            hint = "choose long_text=window or long_text=truncate"
            raise DataError(f"the text {text[:40]!r}... {counts}; {hint}")
        if self._long_text == "truncate":
            length = min(length, self.limit)
        for window in windows(length, self.limit):
            inner = content[window.start : window.stop]
            yield Piece(number, window, [*self.prefix, *inner, *self.suffix])

    def truncated(self, tokens: Tokens) -> Tokens:
        """Return the tokens that the model reads, without those dropped by truncation."""
        if self._long_text != "truncate" or len(tokens) <= self.limit + self._special:
            return tokens
        mask = np.ones(len(tokens), dtype=bool)
        mask[len(self.prefix) + self.limit : len(tokens) - len(self.suffix)] = False
        return tokens.keep(mask)

    def notes(self, pieces: Sequence[Piece], tokens: Tokens) -> tuple[str, ...]:
        """Return notes about the treatment of a text that is longer than the limit."""
        if len(pieces) > 1:
            return (f"longer than {self.limit} tokens, encoded in overlapping windows",)
        if len(pieces[0].ids) < len(tokens):
            return (f"longer than {self.limit} tokens, truncated",)
        return ()

    def _tokens(self, text: str, encoding: Any, shift: int) -> Tokens:
        """Return the tokens of an encoding; its text starts at ``shift`` in the original."""
        before, after = len(self.prefix), len(self.suffix)
        ids = np.array([*self.prefix, *encoding.ids, *self.suffix], dtype=np.int64)
        numbers = [i if number is None else number for i, number in enumerate(encoding.word_ids)]
        words = np.array([-1] * before + numbers + [-1] * after, dtype=np.int64)
        edges = self._whole.convert_ids_to_tokens([*self.prefix, *self.suffix])
        strings = [*edges[:before], *encoding.tokens, *edges[before:]]
        if self._unknown_id in encoding.ids:
            unknown = (ids == self._unknown_id) & (words >= 0)
            # A word of unknown pieces may start with a separate piece for the word boundary.
            marks = np.array([string == _WORD_START for string in strings])
            partly_known = np.isin(words, words[~unknown & ~marks])
            unknown |= marks & np.isin(words, words[unknown]) & ~partly_known
            for at in np.flatnonzero(unknown).tolist():
                start, stop = encoding.offsets[at - before]
                strings[at] = strings[at] if marks[at] else text[start:stop]
                ids[at] = unknown_id(strings[at])
        offsets = np.zeros((len(ids), 2), dtype=np.int64)
        if encoding.offsets:  # the space in front may be the place of a token
            inner = np.maximum(np.array(encoding.offsets) + shift, 0)
            offsets[before : len(ids) - after] = inner
        return Tokens(tuple(strings), ids, words < 0, words, offsets)


def _load(located: Located) -> tuple[Any, list[int], list[int]]:
    """Return the fast tokenizer and the special ids before and after a text."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(
        located.folder, local_files_only=True, trust_remote_code=False
    )
    if isinstance(tokenizer, transformers.ByT5Tokenizer):
        tokenizer = _bytes_tokenizer(tokenizer)
    if not tokenizer.is_fast:
        raise ModelError(
            f"model {located.name!r} has only a slow tokenizer ({type(tokenizer).__name__}), which "
            "does not report the words of its tokens; use a model with a tokenizer.json, such as "
            "bert-base-multilingual-cased, or ByT5 for bytes"
        )
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()  # tokenizer.json may have its own limit and padding
    backend.no_padding()
    probe = backend.encode("a", add_special_tokens=True)
    content = [i for i, special in enumerate(probe.special_tokens_mask) if not special]
    first, last = (content[0], content[-1]) if content else (0, -1)
    backend.encode_special_tokens = True
    return tokenizer, probe.ids[:first], probe.ids[last + 1 :]


def _bytes_tokenizer(slow: Any) -> Any:
    """Return a fast tokenizer for ByT5, with a token per byte, that reports words and offsets."""
    letters = sorted(ByteLevel.alphabet())  # bytes that are not letters have codes from 256 on
    direct = {letter for letter in letters if ord(letter) < 256}
    others = [byte for byte in range(256) if chr(byte) not in direct]
    bytes_of = {letter: ord(letter) for letter in direct}
    bytes_of |= dict(zip(letters[len(direct) :], others, strict=True))
    first = slow.convert_tokens_to_ids(chr(0))
    fast = BackendTokenizer(BPE({letter: first + byte for letter, byte in bytes_of.items()}, []))
    fast.pre_tokenizer = ByteLevel(add_prefix_space=False)
    end = str(slow.eos_token)
    fast.post_processor = TemplateProcessing(
        single=f"$A {end}", special_tokens=[(end, slow.eos_token_id)]
    )
    kind: Any = transformers.PreTrainedTokenizerFast
    return kind(tokenizer_object=fast)
