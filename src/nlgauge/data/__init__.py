"""File readers: system outputs are read into a Corpus, human judgements into a JudgedCorpus."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nlgauge.data.detection import KINDS, read_judged
    from nlgauge.data.judged import JudgedCorpus
    from nlgauge.data.rater_labels import RaterLabels, read_labels
    from nlgauge.data.systems import read_systems
    from nlgauge.data.wmt import Pairs, read_pairs

# Imported at first use: the command line reads plain files without numpy.
_MODULES = {
    **dict.fromkeys(("KINDS", "read_judged"), "detection"),
    **dict.fromkeys(("Pairs", "read_pairs"), "wmt"),
    **dict.fromkeys(("RaterLabels", "read_labels"), "rater_labels"),
    "JudgedCorpus": "judged",
    "read_systems": "systems",
}
__all__ = [
    "KINDS",
    "JudgedCorpus",
    "Pairs",
    "RaterLabels",
    "read_judged",
    "read_labels",
    "read_pairs",
    "read_systems",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'nlgauge.data' has no attribute {name!r}")
    return getattr(import_module(f"nlgauge.data.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
