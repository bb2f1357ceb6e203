"""Growth of CPU time and memory of a pair with its length, from 512 to 8,192 tokens per side."""

import subprocess
import sys

from bench.growth import exponent
from bench.timing import Timing

LENGTHS = (512, 2048, 8192)
MODEL_LENGTH = 2048  # with the embedded model, once
METRICS = ("bertscore", "wmd", "gauge", "mover", "lazy_emd", "depth", "bary", "bary:weights=idf")
LIMIT = 240  # seconds of CPU time after which a run is ended
INFOLM_LENGTH = 64  # tokens that are scored in order to estimate more


def long(_: int) -> list[Timing]:
    """Each metric in a process of its own: hashing model for growth, embedded model for size."""
    timings = []
    for metric in METRICS:
        own = [_measure(metric, "hashing", length) for length in LENGTHS]
        done = [(size, t) for size, t in zip(LENGTHS, own, strict=True) if t.cpu is not None]
        if len(done) > 1:
            power = exponent([size for size, _ in done], [t.cpu or 0.0 for _, t in done])
            print(f"{metric}: CPU time grows like tokens to the power of {power:.2f}", flush=True)
        timings += own
    timings += [_measure(metric, "embedded", MODEL_LENGTH) for metric in METRICS]
    few = _measure("infolm", "embedded", INFOLM_LENGTH)
    if few.cpu is not None:
        _print_infolm(few.cpu)
    return [*timings, few]


def _measure(metric: str, model: str, length: int) -> Timing:
    """The CPU time of one pair, without the start of Python and of the model, and the peak."""
    joined = f"{metric}{',' if ':' in metric else ':'}model={model}"
    name = f"{metric}, {model}, {length:,} tokens"
    command = [sys.executable, "-c", _PROGRAM, joined, str(length), str(LIMIT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{name}: not finished within {LIMIT} s of CPU time ({done.stderr[-200:].strip()})")
        return Timing(name, float("inf"), 1)
    seconds, cpu, peak = map(float, done.stdout.split())
    print(f"{name}: {cpu:.2f} s of CPU time, {peak:.0f} MB at most", flush=True)
    return Timing(name, seconds, 1, cpu, peak)


def _print_infolm(cpu: float) -> None:
    """Print estimates for InfoLM: a pass per token, each over a window of at most 512 tokens."""
    for length in LENGTHS:
        window = min(length, 512)
        estimate = cpu * (length / INFOLM_LENGTH) * (window / INFOLM_LENGTH)
        print(f"infolm, embedded, {length:,} tokens: about {estimate:.0f} s of CPU time")


_PROGRAM = """
import resource, sys, time
import numpy as np
import nlgauge
from bench.machine import peak_megabytes
spec, length, limit = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
rng = np.random.default_rng(0)
letters = list("etaoinshrdlu")
words = ["".join(rng.choice(letters, size=rng.integers(2, 4))) for _ in range(3000)]
if "embedded" in spec:  # words that are one token each
    common = "time year people way day man thing woman life child world school state family".split()
    words = [*common, *"student group country problem hand part place case week company".split(),
             *"system program question work government number night point home water".split(),
             *"room mother area money story fact month lot right study book eye job word".split()]
chances = 1 / np.arange(1, len(words) + 1)
def draw(size):
    return " ".join(rng.choice(words, size=size, p=chances / chances.sum()))
# Short rows in addition to the long one, because the idf of a single text is 0.
left, right = ([*(draw(8) for _ in range(30)), draw(length - 2)] for _ in "ab")
scorer = nlgauge.Scorer(spec, runtime=nlgauge.Runtime(cache=""))
scorer.score(["a b c"], ["a c d"])  # loads libraries and the model
start, busy = time.perf_counter(), time.process_time()
scorer.score(left, right)
seconds, busy = time.perf_counter() - start, time.process_time() - busy
print(seconds, busy, peak_megabytes())
"""
