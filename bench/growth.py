"""Growth of time with pairs and with length, and of memory with pairs."""

import math
import subprocess
import sys

import nlgauge
from bench.texts import pairs
from bench.timing import Timing, race

PAIRS = (250, 1000, 4000)
LENGTHS = (16, 64, 256, 512)
MEMORY = (1_000, 20_000)
METRICS = ["bertscore", "mover"]
WORDS = ("the", "cat", "sat", "on", "a", "mat", "while", "rain", "fell", "over", "old", "towns")


def growth(count: int) -> list[Timing]:
    """Seconds for more and more pairs, and for longer and longer ones, with fitted exponents."""
    return [*_by_pairs(count), *_by_length()]


def memory(_: int) -> list[Timing]:
    """Peak memory of a process that scores 1,000 pairs and of one that scores 20,000."""
    timings, peaks = [], {}
    for many in MEMORY:
        program = _MEMORY_PROGRAM.format(count=many, words=WORDS)
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, text=True
        )
        seconds, peaks[many] = map(float, done.stdout.split())
        timings.append(Timing(f"{many} pairs", seconds, many))
    print(", ".join(f"{many} pairs: {peak:.0f} MB at most" for many, peak in peaks.items()))
    return timings


def _by_pairs(count: int) -> list[Timing]:
    candidates, references = pairs(500)
    largest = min(PAIRS[-1], 8 * count)
    # Repeated rows would be scored once: a number makes each copy a distinct text.
    many = range(largest)
    left = [f"{candidates[k % len(candidates)]} {k}" for k in many]
    right = [f"{references[k % len(references)]} {k}" for k in many]
    scorer = nlgauge.Scorer(METRICS)
    timings = []
    for size in [size for size in PAIRS if size <= largest]:
        work = {f"{size} pairs": lambda size=size: scorer.score(left[:size], right[:size])}
        timings += race(work, pairs=size, repeats=1)
    _print_exponent("pairs", [t.pairs for t in timings], timings)
    return timings


def _by_length() -> list[Timing]:
    scorer = nlgauge.Scorer(METRICS)
    timings, sizes = [], []
    for length in LENGTHS:
        rows = max(4, 2048 // length)
        texts = [
            " ".join(WORDS[(k * (i + 3)) % len(WORDS)] for k in range(length - 2))
            for i in range(2 * rows)
        ]
        work = {f"{length} tokens": lambda t=texts, n=rows: scorer.score(t[:n], t[n:])}
        timings += race(work, pairs=rows, repeats=2)
        sizes.append(length)
    _print_exponent(
        "tokens", sizes, [Timing(t.name, t.seconds / t.pairs, 1, t.cpu) for t in timings]
    )
    return timings


def _print_exponent(what: str, sizes: list[int], timings: list[Timing]) -> None:
    slope = exponent(sizes, [timing.seconds for timing in timings])
    print(f"time grows like {what} to the power of {slope:.2f}")


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """The power of the sizes that fits the seconds best: the slope of their logarithms."""
    x, y = [math.log(size) for size in sizes], [math.log(each) for each in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return slope / sum((a - mean_x) ** 2 for a in x)


_MEMORY_PROGRAM = """
import time
import nlgauge
from bench.machine import peak_megabytes
words = {words!r}
texts = [" ".join(words[(k * 7 + i * (k % 5 + 1)) % len(words)] for i in range(12)) + f" {{k}}"
         for k in range(2 * {count})]
scorer = nlgauge.Scorer(["bertscore", "wmd"])
start = time.perf_counter()
scorer.score(texts[: {count}], texts[{count} :])
seconds = time.perf_counter() - start
print(seconds, peak_megabytes())
"""
