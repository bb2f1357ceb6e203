"""Distributions that a masked language model predicts, averaged over the positions of a text.

Every token is masked in turn in an unpadded copy of the text. Copies of the same length form a
batch. Distributions are summed immediately, so that only those of two batches are in memory: one
that is being summed, and one that the device computes meanwhile.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers

from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Tokens, normal_vector
from nlgauge.core.errors import ModelError
from nlgauge.core.histogram import Histogram
from nlgauge.core.requirements import Unknown
from nlgauge.encode.device_copies import HostCopy, one_started, to_device
from nlgauge.encode.huggingface import HuggingFaceModel, forward_pass, load_model
from nlgauge.encode.mlm_update import apply_tensors, update_digest
from nlgauge.encode.model_files import EMBEDDED, Located
from nlgauge.encode.run_options import DEFAULT_OPTIONS, RunOptions
from nlgauge.encode.tokenizer import Piece
from nlgauge.runtime.progress import current_step

_MAX_ROWS = 32  # distributions summed at a time
_UNKNOWN_SPREAD = 4.0  # deviation of the logits of unknown tokens: two distributions hardly overlap
_MAX_COPIES = 96  # in a batch: even a short text needs a row as long as the vocabulary
_Part = tuple[int, torch.Tensor, list[float]]  # a text, logits and masses of its positions


class _Copy(NamedTuple):  # a text with some positions masked, and their masses
    text: int
    ids: list[int]
    positions: list[int]
    masses: list[float]


class _Batch(NamedTuple):  # copies of texts, and the logits of their masked positions
    copies: list[_Copy]
    logits: HostCopy

    def parts(self) -> Iterator[_Part]:
        """Yield texts with the logits and the masses of at most ``_MAX_ROWS`` masked positions."""
        logits = self.logits.tensor()
        texts = [copy.text for copy in self.copies for _ in copy.positions]
        masses = [mass for copy in self.copies for mass in copy.masses]
        for text, group in groupby(range(len(texts)), key=texts.__getitem__):
            indices = list(group)
            for start in range(indices[0], indices[-1] + 1, _MAX_ROWS):
                part = slice(start, min(start + _MAX_ROWS, indices[-1] + 1))
                yield text, logits[part], masses[part]


class HuggingFaceMaskedLm(HuggingFaceModel):
    """Histograms from any Hugging Face model with a masked-language head."""

    def __init__(self, located: Located, options: RunOptions = DEFAULT_OPTIONS) -> None:
        model, digest = _load(located, options)
        dimension = int(model.config.vocab_size)
        super().__init__(located, options, model, digest=digest, dimension=dimension)
        if self._tokenizer.mask_id is None:
            raise ModelError(f"the tokenizer of model {located.name!r} has no mask token")

    def histograms(
        self,
        texts: Sequence[str],
        weigh: Callable[[Tokens], Floats],
        *,
        temperatures: Sequence[float] = (1.0,),
        whole_words: bool = False,
        unknown: Unknown = "string",
    ) -> dict[float, list[Histogram]]:
        """Return the mean prediction over the positions of each text, weighted by ``weigh``.

        Tokens without mass are not masked. All temperatures share the same forward passes. The
        prediction for an unknown token would be the same for all words in its place, so it is
        replaced by a distribution that depends on the string.
        """
        tokens = self._tokenize(texts)
        pieces = [list(self._tokenizer.pieces(i, texts[i], tokens[i])) for i in range(len(texts))]
        copies: list[_Copy] = []
        invented: list[Iterator[_Part]] = []
        for i, each in enumerate(tokens):
            masses = weigh(each)
            if unknown == "string" and each.unknown.any():
                invented.append(self._invent(each, pieces[i], masses))
                masses = np.where(each.unknown, 0.0, masses)
            copies += self._copies(each, pieces[i], masses, whole_words)
        started = one_started(self._predict, self._batches(copies))
        predicted = (part for each in self._count_steps(started, copies) for part in each.parts())
        histograms: dict[float, list[Histogram]] = {}
        for t, sums in self._sums(chain(predicted, *invented), len(texts), temperatures).items():
            histograms[t] = []
            for i, total in enumerate(sums):
                mass = torch.logsumexp(total, dim=0)
                notes = self._tokenizer.notes(pieces[i], tokens[i])
                content = tokens[i].ids[~tokens[i].special]
                void = mass == -torch.inf or (unknown == "string" and (content < 0).all())
                logs = np.zeros(0) if void else total.sub_(mass).numpy()
                histograms[t].append(Histogram(logs, content, notes))
        return histograms

    def _sums(
        self, parts: Iterable[_Part], texts: int, temperatures: Sequence[float]
    ) -> dict[float, torch.Tensor]:
        """Return, for every temperature, the log of each text's weighted sum of distributions."""
        # A few large blocks, because thousands of small ones would fragment the heap.
        empty = (texts, self.card.dimension)
        sums = {t: torch.full(empty, -torch.inf, dtype=torch.float64) for t in temperatures}
        blocks = torch.empty(2, _MAX_ROWS, self.card.dimension, dtype=torch.float64)
        for text, logits, masses in parts:
            for t, total in sums.items():
                part = _mix(blocks, logits, masses, t)
                torch.logaddexp(total[text], part, out=total[text])
        return sums

    def _invent(self, tokens: Tokens, pieces: list[Piece], masses: Floats) -> Iterator[_Part]:
        """Yield the text with the logits and the mass of each unknown token."""
        stop = len(self._tokenizer.prefix) + pieces[-1].window.keep_stop
        for at in np.flatnonzero(tokens.unknown[:stop] & (masses[:stop] > 0)).tolist():
            logits = _UNKNOWN_SPREAD * normal_vector(-1 - tokens.ids[at], self.card.dimension)
            yield pieces[0].text, torch.from_numpy(logits)[None], [masses[at]]

    def _copies(
        self, tokens: Tokens, pieces: list[Piece], masses: Floats, whole_words: bool
    ) -> Iterator[_Copy]:
        before = len(self._tokenizer.prefix)
        for piece in pieces:
            groups: dict[int, list[int]] = defaultdict(list)
            for at in range(before + piece.window.keep_start, before + piece.window.keep_stop):
                if masses[at] > 0:
                    groups[int(tokens.words[at]) if whole_words else at].append(at)
            for members in groups.values():
                positions = [at - piece.window.start for at in members]
                ids = list(piece.ids)
                for position in positions:
                    ids[position] = self._tokenizer.mask_id or 0
                yield _Copy(piece.text, ids, positions, masses[members].tolist())

    def _batches(self, copies: list[_Copy]) -> Iterator[list[_Copy]]:
        """Yield copies of equal length within the limits of a batch."""
        ordered = sorted(copies, key=lambda copy: len(copy.ids))
        for length, group in groupby(ordered, key=lambda copy: len(copy.ids)):
            members, size = list(group), min(max(1, self._batch_tokens // length), _MAX_COPIES)
            for start in range(0, len(members), size):
                yield members[start : start + size]

    def _count_steps(self, started: Iterable[_Batch], copies: list[_Copy]) -> Iterator[_Batch]:
        """Yield the batches, and report progress by the share of tokens."""
        step, total = current_step(), sum(len(copy.ids) for copy in copies)
        for batch in started:
            yield batch
            step(sum(len(copy.ids) for copy in batch.copies) / total)

    def _predict(self, batch: list[_Copy]) -> _Batch:
        """Start the passes of a batch and the copy of its logits to the host."""
        return _Batch(batch, HostCopy(self._logits(batch)))

    def _logits(self, batch: list[_Copy]) -> torch.Tensor:
        """Return the logits [masked positions, vocabulary] of a batch, on the device."""
        ids = to_device(torch.tensor([copy.ids for copy in batch]), self._device)
        places = [(row, at) for row, copy in enumerate(batch) for at in copy.positions]
        rows, positions = to_device(torch.tensor(places).T.contiguous(), self._device)

        def narrow(_: Any, __: Any, output: Any) -> Any:  # the head only receives masked positions
            output["last_hidden_state"] = output[0][rows, positions][None]
            return output

        with forward_pass(), torch.inference_mode():  # the hook would change other threads' passes
            hook = self._model.base_model.register_forward_hook(narrow)
            try:
                logits: torch.Tensor = self._model(input_ids=ids).logits[0]
                return logits
            finally:
                hook.remove()


def _mix(
    blocks: torch.Tensor, logits: torch.Tensor, masses: list[float], temperature: float
) -> torch.Tensor:
    """Return the log of the weighted sum of softmaxes, computed in two blocks of memory."""
    values, spare = blocks[:, : len(logits)]
    values.copy_(logits).div_(temperature)
    weights = torch.tensor(masses, dtype=torch.float64).log_()[:, None]
    values += weights - _log_sum(values, spare, dim=1)
    return _log_sum(values, spare, dim=0)[0]


def _log_sum(values: torch.Tensor, spare: torch.Tensor, dim: int) -> torch.Tensor:
    """Return ``torch.logsumexp`` of finite values, computed in ``spare``."""
    peak = values.amax(dim, keepdim=True)
    return torch.sub(values, peak, out=spare).exp_().sum(dim, keepdim=True).log_().add_(peak)


def _load(located: Located, options: RunOptions) -> tuple[Any, str]:
    """Return the model with its head and a digest; raise an error if the head is untrained."""
    if located.name == EMBEDDED:
        model, _ = load_model(located, options, transformers.BertForMaskedLM)
        return apply_tensors(model), f"{located.digest}+{update_digest()}"
    kind = transformers.AutoModelForMaskedLM
    model, missing = load_model(located, options, kind)
    if missing:
        lacking = f"{missing[0]} and {len(missing) - 1} more weights are missing"
        raise ModelError(
            f"model {located.name!r} has no masked-language head ({lacking}); use one trained "
            "with masking, such as bert-base-uncased"
        )
    return model, located.digest
