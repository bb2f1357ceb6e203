"""What is timed beside what."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import nlgauge
from bench.cache import cache
from bench.embedding import embedding, encoder
from bench.first_use import first_use
from bench.growth import growth, memory
from bench.infolm import infolm
from bench.long import long
from bench.peers import peers, solvers
from bench.texts import pairs
from bench.timing import Timing, best_of

Suite = Callable[[int], list[Timing]]


def imports(_: int) -> list[Timing]:
    """Starting up, against starting Python alone."""
    commands = {
        "python -c pass": ["-c", "pass"],
        "import nlgauge": ["-c", "import nlgauge"],
        "nlgauge --help": ["-m", "nlgauge", "--help"],
    }
    return [
        best_of(
            name,
            lambda words=words: subprocess.run(
                [sys.executable, *words], capture_output=True, check=True
            ),
            pairs=1,
            repeats=5,
        )
        for name, words in commands.items()
    ]


def lexical(count: int) -> list[Timing]:
    """Lexical metrics against sacrebleu's own corpus BLEU."""
    import sacrebleu

    candidates, references = pairs(count)
    floor = best_of(
        "sacrebleu.corpus_bleu",
        lambda: sacrebleu.corpus_bleu(candidates, [references]),
        pairs=len(candidates),
    )
    names = [
        name
        for name in nlgauge.metric_names()
        if nlgauge.metric(name).needs.kind == "text" and name != "external"  # which needs a program
    ]
    return [floor, *(_ours(name, candidates, references) for name in names)]


def _ours(name: str, candidates: list[str], references: list[str]) -> Timing:
    scorer = nlgauge.Scorer(name)
    return best_of(name, lambda: scorer.score(candidates, references), pairs=len(candidates))


# A new suite is a function from a number of pairs to timings, the one to compare with first.
SUITES: dict[str, Suite] = {
    "imports": imports,
    "first_use": first_use,
    "lexical": lexical,
    "encoder": encoder,
    "embedding": embedding,
    "peers": peers,
    "solvers": solvers,
    "growth": growth,
    "memory": memory,
    "long": long,
    "infolm": infolm,
    "cache": cache,
}
