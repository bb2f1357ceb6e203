"""Readers that turn files into a Corpus, and published human judgements into a Judged corpus."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nlgauge.data.detection import KINDS, read_judged
    from nlgauge.data.judged import Judged
    from nlgauge.data.wmt import Pairs, read_pairs

# Imported on first use: the command line reads plain files without numpy or any of these.
_HOMES = {
    "KINDS": "detection",
    "Judged": "judged",
    "Pairs": "wmt",
    "read_judged": "detection",
    "read_pairs": "wmt",
}

__all__ = ["KINDS", "Judged", "Pairs", "read_judged", "read_pairs"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'nlgauge.data' has no attribute {name!r}")
    return getattr(import_module(f"nlgauge.data.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
