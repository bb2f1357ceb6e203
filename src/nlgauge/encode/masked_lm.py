"""What a masked language model expects in each place of a text, summed over its places.

Every token is masked in turn, in a copy of the text without padding. Copies of one length go
through the model together, its head is evaluated at the masked places only, and their
distributions are added up at once, so memory holds no more than a batch of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import torch
import transformers

from nlgauge.core.cloud import Floats, Tokens
from nlgauge.core.errors import ModelError
from nlgauge.core.histogram import Histogram
from nlgauge.core.requirements import ModelCard
from nlgauge.encode.huggingface import FORWARD, choose_device, depth_of, load_model
from nlgauge.encode.mlm_update import apply_update, update_digest
from nlgauge.encode.model_files import EMBEDDED, Located
from nlgauge.encode.registry import languages_of
from nlgauge.encode.run_options import DEFAULT_OPTIONS, RunOptions
from nlgauge.encode.tokenizer import Piece, Tokenizer

_MOST_ROWS = 32  # whose distributions are added up at a time
_MOST_COPIES = 96  # of short texts many fit a batch, each with a row as long as the vocabulary


@dataclass(frozen=True)
class _Copy:
    """A text with some places masked, and the masses of what is expected there."""

    text: int
    ids: list[int]
    places: list[int]
    masses: list[float]


class HuggingFaceMaskedLm:
    """Histograms from any Hugging Face model with a masked-language head."""

    def __init__(self, located: Located, options: RunOptions = DEFAULT_OPTIONS) -> None:
        self._device = choose_device(options.device)
        model, digest = _load(located, options.precision)
        self._model = model.eval().to(self._device)
        self._tokenizer = Tokenizer(located, model.config, options.long_text)
        if self._tokenizer.mask_id is None:
            raise ModelError(f"the tokenizer of model {located.name!r} has no mask token")
        self._batch_tokens = options.batch_tokens
        self.card = ModelCard(
            name=located.name,
            digest=digest,
            depth=depth_of(model.config),
            dimension=int(model.config.vocab_size),
            layers={},
            libraries=("torch", "transformers"),
            languages=languages_of(located.name),
        )

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text between the special tokens of the model."""
        return self._tokenizer.tokenize(texts)

    def histograms(
        self,
        texts: Sequence[str],
        weigh: Callable[[Tokens], Floats],
        *,
        temperatures: Sequence[float] = (1.0,),
        whole_words: bool = False,
    ) -> dict[float, list[Histogram]]:
        """The mean expectation over the places of each text, weighted by ``weigh``.

        Tokens without mass are not masked. ``whole_words`` masks all pieces of a word at once. All
        temperatures come from the same passes of the model.
        """
        tokens = self.tokenize(texts)
        pieces = [list(self._tokenizer.pieces(i, texts[i], tokens[i])) for i in range(len(texts))]
        copies = [
            copy
            for i in range(len(texts))
            for copy in self._copies(tokens[i], pieces[i], weigh(tokens[i]), whole_words)
        ]
        sums = self._sums(copies, len(texts), temperatures)
        masked = {copy.text for copy in copies}
        return {
            temperature: [
                Histogram(
                    _normalised(sums[temperature][i]) if i in masked else np.zeros(0),
                    tokens[i].ids[~tokens[i].special],
                    self._tokenizer.remarks(pieces[i], tokens[i]),
                )
                for i in range(len(texts))
            ]
            for temperature in temperatures
        }

    def _sums(
        self, copies: list[_Copy], texts: int, temperatures: Sequence[float]
    ) -> dict[float, torch.Tensor]:
        """By temperature, the logs of every text's summed, weighted distributions."""
        # One block, because thousands of single rows would leave the heap full of holes.
        empty = (texts, self.card.dimension)
        sums = {t: torch.full(empty, -torch.inf, dtype=torch.float64) for t in temperatures}
        mixer = _Mixer(self.card.dimension)
        for batch in self._batches(copies):
            for text, logits, masses in self._expect(batch):
                for temperature, total in sums.items():
                    part = mixer.mix(logits, masses, temperature)
                    torch.logaddexp(total[text], part, out=total[text])
        return sums

    def _copies(
        self, tokens: Tokens, pieces: list[Piece], masses: Floats, whole_words: bool
    ) -> Iterator[_Copy]:
        before = len(self._tokenizer.prefix)
        for piece in pieces:
            groups: dict[int, list[int]] = defaultdict(list)
            for at in range(piece.window.keep_start, piece.window.keep_stop):
                if masses[before + at] > 0:
                    groups[int(tokens.words[before + at]) if whole_words else at].append(at)
            for members in groups.values():
                places = [before + at - piece.window.start for at in members]
                ids = list(piece.ids)
                for place in places:
                    ids[place] = self._tokenizer.mask_id or 0
                yield _Copy(piece.text, ids, places, [float(masses[before + at]) for at in members])

    def _batches(self, copies: list[_Copy]) -> Iterator[list[_Copy]]:
        """Copies of equal length, each batch within the token budget and not too many of them."""
        batch: list[_Copy] = []
        for copy in sorted(copies, key=lambda copy: len(copy.ids)):
            tokens = len(copy.ids) * (len(batch) + 1)
            full = tokens > self._batch_tokens or len(batch) == _MOST_COPIES
            if batch and (full or len(copy.ids) != len(batch[0].ids)):
                yield batch
                batch = []
            batch.append(copy)
        if batch:
            yield batch

    def _expect(self, batch: list[_Copy]) -> Iterator[tuple[int, torch.Tensor, list[float]]]:
        """Texts of the batch, with logits at their masked places and the masses of those.

        Of a text with many places there come several portions.
        """
        ids = torch.tensor([copy.ids for copy in batch], device=self._device)
        rows = [row for row, copy in enumerate(batch) for _ in copy.places]
        places = [place for copy in batch for place in copy.places]
        masses = [mass for copy in batch for mass in copy.masses]
        with FORWARD, torch.inference_mode():
            logits = self._logits(ids, rows, places)
        for text, group in groupby(range(len(rows)), key=lambda row: batch[rows[row]].text):
            own = list(group)
            for start in range(own[0], own[-1] + 1, _MOST_ROWS):
                part = slice(start, min(start + _MOST_ROWS, own[-1] + 1))
                yield text, logits[part], masses[part]

    def _logits(self, ids: Any, rows: list[int], places: list[int]) -> torch.Tensor:
        """The head's answer at the masked places only, whatever the head looks like."""

        def narrow(_: Any, __: Any, output: Any) -> Any:
            output["last_hidden_state"] = output[0][rows, places][None]
            return output

        hook = self._model.base_model.register_forward_hook(narrow)
        try:
            logits: torch.Tensor = self._model(input_ids=ids).logits[0]
        finally:
            hook.remove()
        return logits


class _Mixer:
    """Sums of softmaxes in logarithms, on two blocks of memory that are used again and again.

    Fresh blocks of ever other sizes, tens of megabytes each, would leave the heap full of holes.
    """

    def __init__(self, vocabulary: int) -> None:
        self._blocks = torch.empty(2, _MOST_ROWS, vocabulary, dtype=torch.float64)

    def mix(self, logits: torch.Tensor, masses: list[float], temperature: float) -> torch.Tensor:
        """The log of the weighted sum of the softmaxes of at most ``_MOST_ROWS`` rows."""
        expected, spare = self._blocks[:, : len(logits)]
        expected.copy_(logits).div_(temperature)
        weights = torch.tensor(masses, dtype=torch.float64).log_()[:, None]
        expected += weights - _log_sum(expected, spare, dim=1)
        return _log_sum(expected, spare, dim=0)[0]


def _log_sum(values: torch.Tensor, spare: torch.Tensor, dim: int) -> torch.Tensor:
    """``torch.logsumexp`` of finite values without a block of its own."""
    peak = values.amax(dim, keepdim=True)
    return torch.sub(values, peak, out=spare).exp_().sum(dim, keepdim=True).log_().add_(peak)


def _normalised(total: torch.Tensor) -> Floats:
    """The sums as log-probabilities, in place."""
    total -= torch.logsumexp(total, dim=0)
    return np.asarray(total.numpy())


def _load(located: Located, precision: str) -> tuple[Any, str]:
    """The model with its head, and a digest of both; a head of random numbers is refused."""
    kind = transformers.AutoModelForMaskedLM
    if located.name == EMBEDDED:
        model = load_model(located, precision, transformers.BertForMaskedLM)
        return apply_update(model), f"{located.digest}+{update_digest()}"
    model, report = load_model(located, precision, kind, output_loading_info=True)
    missing = sorted(report["missing_keys"])
    if missing:
        raise ModelError(
            f"model {located.name!r} has no masked-language head ({missing[0]} and "
            f"{len(missing) - 1} more weights are missing); take one trained with masks, such as "
            "bert-base-uncased"
        )
    return model, located.digest
