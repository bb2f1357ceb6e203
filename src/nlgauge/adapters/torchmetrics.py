"""Any metric as a torchmetrics Metric, for training loops with one or several processes.

The state consists of the texts as bytes in tensors, which torchmetrics synchronises between
processes. ``compute`` scores all texts at once, so corpus scores are exact, and every candidate is
compared with its own references in any order of batches and processes.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import nan
from typing import Any, ClassVar

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
        The metric, such as ``"bertscore:layer=4"``.
    runtime
        Device, batch size, cache and other settings.
    return_sentence_level_score
        Whether ``compute`` returns the scores of segments, too, in order of updates and processes.
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
    _STATES: ClassVar[dict[str, torch.dtype]] = {
        "text": torch.uint8,
        "lengths": torch.int64,
        "references": torch.int64,
    }

    def __init__(
        self,
        metric: Spec = "bleu",
        *,
        runtime: Runtime = DEFAULT,
        return_sentence_level_score: bool = False,
        **keywords: Any,
    ) -> None:
        super().__init__(**keywords)
        self.return_sentence_level_score = return_sentence_level_score
        self._scorer = Scorer(metric, runtime=runtime)
        ((self.label, self._metric),) = self._scorer.metrics.items()
        for name in self._STATES:
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
        candidates: str | Sequence[str] | None = None,
        references: str | Sequence[str | Sequence[str | None]] | None = None,
        *,
        preds: str | Sequence[str] | None = None,
        target: str | Sequence[str | Sequence[str | None]] | None = None,
    ) -> None:
        """Add texts; ``references[i]`` is one reference of ``candidates[i]`` or a list of them.

        ``preds`` and ``target`` are other names of both, which torchmetrics uses.
        """
        outputs = _either("candidates", candidates, "preds", preds)
        groups = _either("references", references, "target", target)
        if isinstance(outputs, str):
            outputs, groups = [outputs], [groups]
        if len(outputs) + len(groups) == 0:
            return
        corpus = Corpus.of(outputs, groups)
        rows = zip(corpus.candidates, corpus.references, strict=True)
        texts = [text.encode() for candidate, group in rows for text in (candidate, *group)]
        counts = [len(group) for group in corpus.references]
        values = list(b"".join(texts)), [len(text) for text in texts], counts
        for (name, kind), new in zip(self._STATES.items(), values, strict=True):
            getattr(self, name).append(self._tensor(new, kind))

    def compute(self) -> Any:
        """Return the corpus score of all texts so far (the first component).

        It is NaN if all batches were empty. With ``return_sentence_level_score``, the scores of the
        segments follow as a second tensor.
        """
        if self._update_count and not len(_concatenate(self.references)):
            found: tuple[float, list[float]] = nan, []
        else:
            scores = self._score()
            found = scores.value, scores.segments.tolist()
        value, segments = (self._tensor(each, self._dtype) for each in found)
        return (value, segments) if self.return_sentence_level_score else value

    def set_dtype(self, dst_type: Any) -> "TextMetric":
        """Set the type of computed scores; states are bytes and integers and stay unchanged."""
        self._dtype = dst_type
        return self

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Return a figure and axes with the score, or with a sequence of scores."""
        if val is None and self.return_sentence_level_score:
            val = self.compute()[0]
        figure, axes = self._plot(val, ax)  # type: tuple[Any, Any]
        axes.set_title(self.label)
        return figure, axes

    def _sync_dist(self, *arguments: Any, **keywords: Any) -> None:
        """Synchronise; a process without texts sends empty states of the right type."""
        for name, kind in self._STATES.items():
            if not len(getattr(self, name)):
                setattr(self, name, [self._tensor([], kind)])
        super()._sync_dist(*arguments, **keywords)

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


def _either(name: str, value: Any, other: str, others: Any) -> Any:
    """Return the argument that was given under one of its two names."""
    if (value is None) == (others is None):
        raise UsageError(f"update needs {name}, or {other} as torchmetrics calls it, but not both")
    return others if value is None else value
