"""Any metric as a torchmetrics Metric, for training loops with one or several processes.

The state holds the texts as bytes in tensors, which torchmetrics synchronises between processes.
``compute`` scores all of them at once, so corpus scores are exact, and every candidate is compared
with its own references in any order of batches and processes.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch

from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import MissingExtra, UsageError
from nlgauge.core.scores import Scores
from nlgauge.inputs import Spec
from nlgauge.runtime import DEFAULT, Runtime
from nlgauge.scoring import Scorer

try:
    import torchmetrics
except ImportError:
    raise MissingExtra("nlgauge.adapters.torchmetrics", "torchmetrics", "torchmetrics") from None


class TextMetric(torchmetrics.Metric):
    """A torchmetrics Metric that computes a metric of nlgauge.

    Parameters
    ----------
    metric
        The metric, as ``"bertscore:layer=4"``.
    runtime
        Device, batch size, cache and other settings.
    **keywords
        Arguments of ``torchmetrics.Metric``.

    Examples
    --------
    >>> chrf = TextMetric("chrf")
    >>> chrf.update(["a cat"], ["a cat"])
    >>> chrf.compute()
    tensor(100.)
    """

    is_differentiable = False
    full_state_update = False

    def __init__(
        self, metric: Spec = "bleu", *, runtime: Runtime = DEFAULT, **keywords: Any
    ) -> None:
        super().__init__(**keywords)
        self._scorer = Scorer(metric, runtime=runtime)
        ((self.label, self._metric),) = self._scorer.metrics.items()
        for name in ("text", "lengths", "references"):
            self.add_state(name, default=[], dist_reduce_fx="cat")
        self.text: list[Any]
        self.lengths: list[Any]
        self.references: list[Any]

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override] # a constant elsewhere
        """Whether higher scores are better."""
        return self._metric.scale.direction == "higher"

    def update(
        self,
        candidates: str | Sequence[str],
        references: str | Sequence[str | Sequence[str | None]],
    ) -> None:
        """Add texts; ``references[i]`` is one reference of ``candidates[i]`` or a list of them."""
        if isinstance(candidates, str):
            candidates, references = [candidates], [references]  # type: ignore[list-item]
        corpus = Corpus.of(candidates, references)
        rows = zip(corpus.candidates, corpus.references, strict=True)
        texts = [text.encode() for candidate, group in rows for text in (candidate, *group)]
        counts = [len(group) for group in corpus.references]
        self.text.append(self._tensor(list(b"".join(texts)), torch.uint8))
        self.lengths.append(self._tensor([len(text) for text in texts], torch.int64))
        self.references.append(self._tensor(counts, torch.int64))

    def compute(self) -> Any:
        """Return the corpus score of all texts so far (the first component)."""
        return self._tensor(self._score().value, torch.float32)

    def components(self) -> dict[str, float]:
        """Return all components of the corpus score of the texts of this process."""
        return self._score().components

    def _score(self) -> Scores:
        content = bytes(_concatenate(self.text).to(torch.uint8).cpu().numpy())
        ends = _concatenate(self.lengths).cumsum(0).tolist()
        texts = (content[start:end].decode() for start, end in pairwise([0, *ends]))
        candidates, references = [], []
        for count in _concatenate(self.references).tolist():
            candidates.append(next(texts))
            references.append([next(texts) for _ in range(count)])
        if not candidates:
            raise UsageError(f"{self.label} has no texts; call update before compute")
        (scores,) = self._scorer.score(candidates, references).values()
        return scores

    def _tensor(self, values: Any, kind: Any) -> Any:
        return torch.tensor(values, dtype=kind, device=self.device)


def _concatenate(state: Any) -> Any:
    """Return a state as one tensor; torchmetrics replaces the list by a tensor when it syncs."""
    if isinstance(state, torch.Tensor):
        return state
    return torch.cat(state) if state else torch.zeros(0, dtype=torch.int64)
