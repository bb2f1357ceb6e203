"""Metrics for generated text, and evaluation of metrics against human judgements.

>>> import nlgauge
>>> scores = nlgauge.score(["A cat sat."], ["The cat sat."], metrics=["bleu", "chrf"])
>>> round(scores["chrf"].value, 1)
61.1
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nlgauge.adapters.frames import score_frame
    from nlgauge.core.corpus import Corpus
    from nlgauge.core.errors import NlgaugeError
    from nlgauge.core.scores import Scores
    from nlgauge.core.signature import Signature
    from nlgauge.metrics import metric, metric_class, metric_names
    from nlgauge.reproducibility import explain
    from nlgauge.reranking import mbr, rerank
    from nlgauge.runtime import Runtime
    from nlgauge.scoring import Scorer, align, score, score_systems
    from nlgauge.study import compare, correlate

# Names are imported on first use: `import nlgauge` stays fast and never imports torch.
_NAMES = {
    "adapters.frames": ["score_frame"],
    "core.corpus": ["Corpus"],
    "core.errors": ["NlgaugeError"],
    "core.scores": ["Scores"],
    "core.signature": ["Signature"],
    "metrics": ["metric", "metric_class", "metric_names"],
    "reproducibility": ["explain"],
    "reranking": ["mbr", "rerank"],
    "runtime": ["Runtime"],
    "scoring": ["Scorer", "align", "score", "score_systems"],
    "study": ["compare", "correlate"],
}

__all__ = [
    "Corpus",
    "NlgaugeError",
    "Runtime",
    "Scorer",
    "Scores",
    "Signature",
    "align",
    "compare",
    "correlate",
    "explain",
    "mbr",
    "metric",
    "metric_class",
    "metric_names",
    "rerank",
    "score",
    "score_frame",
    "score_systems",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("nlgauge")
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"nlgauge.{module}"), name)
    raise AttributeError(f"module 'nlgauge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
