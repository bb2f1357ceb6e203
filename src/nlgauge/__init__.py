"""Metrics for generated text, and evaluation of metrics against human judgements.

>>> import nlgauge
>>> scores = nlgauge.score(["A cat sat."], ["The cat sat."], metrics=["bleu", "chrf"])
>>> round(scores["chrf"].value, 1)
61.1
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nlgauge.adapters.frames import score_frame as score_frame
    from nlgauge.core.corpus import Corpus as Corpus
    from nlgauge.core.errors import NlgaugeError as NlgaugeError
    from nlgauge.core.errors import UnknownTokensWarning as UnknownTokensWarning
    from nlgauge.core.scores import Scores as Scores
    from nlgauge.core.signature import Signature as Signature
    from nlgauge.metrics import metric as metric
    from nlgauge.metrics import metric_class as metric_class
    from nlgauge.metrics import metric_names as metric_names
    from nlgauge.reproducibility import explain as explain
    from nlgauge.reranking import mbr as mbr
    from nlgauge.reranking import rerank as rerank
    from nlgauge.runtime import Runtime as Runtime
    from nlgauge.scoring import Scorer as Scorer
    from nlgauge.scoring import align as align
    from nlgauge.scoring import score as score
    from nlgauge.scoring import score_systems as score_systems
    from nlgauge.study import compare as compare
    from nlgauge.study import correlate as correlate

# Names are imported on first use: `import nlgauge` stays fast and never imports torch.
_NAMES = {
    "adapters.frames": ["score_frame"],
    "core.corpus": ["Corpus"],
    "core.errors": ["NlgaugeError", "UnknownTokensWarning"],
    "core.scores": ["Scores"],
    "core.signature": ["Signature"],
    "metrics": ["metric", "metric_class", "metric_names"],
    "reproducibility": ["explain"],
    "reranking": ["mbr", "rerank"],
    "runtime": ["Runtime"],
    "scoring": ["Scorer", "align", "score", "score_systems"],
    "study": ["compare", "correlate"],
}

__all__ = [name for names in _NAMES.values() for name in names]


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
