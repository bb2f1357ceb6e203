"""The suites of timings, by name."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial

import nlgauge
from bench.cache import cache
from bench.embedding import embedding, encoder
from bench.first_use import first_use
from bench.growth import growth, memory
from bench.infolm import infolm
from bench.long import long
from bench.peers import peers, solvers
from bench.texts import pairs
from bench.timing import Timing, race

Suite = Callable[[int], list[Timing]]


def imports(_: int) -> list[Timing]:
    """Time to start, compared with starting Python alone."""
    commands = {
        "python -c pass": ["-c", "pass"],
        "import nlgauge": ["-c", "import nlgauge"],
        "nlgauge --help": ["-m", "nlgauge", "--help"],
    }
    works = {name: partial(_run_python, words) for name, words in commands.items()}
    return race(works, pairs=1, repeats=5)


def _run_python(words: list[str]) -> None:
    subprocess.run([sys.executable, *words], capture_output=True, check=True)


def lexical(count: int) -> list[Timing]:
    """Lexical metrics against sacrebleu's own corpus BLEU."""
    import sacrebleu

    candidates, references = pairs(count)
    works = {"sacrebleu.corpus_bleu": partial(sacrebleu.corpus_bleu, candidates, [references])}
    for name in nlgauge.metric_names():
        if nlgauge.metric(name).needs.kind == "text" and name != "external":  # needs a program
            works[name] = partial(nlgauge.Scorer(name).score, candidates, references)
    return race(works, pairs=len(candidates))


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
