"""Shared by tests of studies: the shipped example as one corpus."""

from __future__ import annotations

from conftest import example
from nlgauge.core.corpus import Corpus

SYSTEMS = ("fluent", "literal", "hasty")


def example_corpus() -> Corpus:
    """Return the outputs of three systems for 36 segments, with one reference each."""
    references = example("reference.a")
    return Corpus.join(
        [Corpus.of(example(name), references, systems=[name] * 36) for name in SYSTEMS]
    )
