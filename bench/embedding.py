"""Embedding metrics compared with their encoder alone."""

from collections.abc import Callable

import nlgauge
from bench.texts import pairs
from bench.timing import Timing, race
from nlgauge.encode import open_encoder
from nlgauge.encode.run_options import RunOptions

LAYERS = (2, 3, 4, 5, 6)
ALONE = ("gauge", "bertscore", "wmd", "mover", "lazy_emd", "bary", "bary:weights=idf", "depth")
TOGETHER = ("bertscore", "mover", "bary:weights=idf", "lazy_emd")


def encoder(count: int) -> list[Timing]:
    """The encoder alone in each precision, and the share of the matrix-multiply peak it reaches."""
    candidates, references = pairs(count)
    unique = list(dict.fromkeys([*candidates, *references]))
    plain = open_encoder("embedded")
    whole = open_encoder("embedded", RunOptions(precision="int8"))
    timings = race(
        {
            "encoder, layers 2 to 6": lambda: plain.encode(unique, LAYERS),
            "encoder, layer 4": lambda: plain.encode(unique, (4,)),
            "encoder, layer 6": lambda: plain.encode(unique, (6,)),
            "encoder, layer 6, int8": lambda: whole.encode(unique, (6,)),
            "tokenizer alone": lambda: plain.tokenize(unique),
        },
        pairs=len(candidates),
    )
    work, peak = _flops(plain, unique), _peak()
    reached = work / next(t for t in timings if t.name == "encoder, layer 6").seconds
    print(
        f"encoder, layer 6: {reached / 1e9:.0f} GFLOP/s, {reached / peak:.0%} of the "
        f"{peak / 1e9:.0f} GFLOP/s of a product of matrices of 2048 x 2048"
    )
    return timings


def embedding(count: int) -> list[Timing]:
    """Each metric alone, and several in one pass, against the encoder with all layers they use."""
    candidates, references = pairs(count)
    unique = list(dict.fromkeys([*candidates, *references]))
    plain = open_encoder("embedded")
    works: dict[str, Callable[[], object]] = {
        "encoder, layers 2 to 6": lambda: plain.encode(unique, LAYERS),
        "encoder, layer 4": lambda: plain.encode(unique, (4,)),
        "encoder, layers 3, 4 and 6": lambda: plain.encode(unique, (3, 4, 6)),
    }
    runs = {name: [name] for name in ALONE}
    runs["four in one pass"] = list(TOGETHER)
    runs["the four and depth in one pass"] = [*TOGETHER, "depth"]
    for name, metrics in runs.items():
        scorer = nlgauge.Scorer(metrics)
        works[name] = lambda scorer=scorer: scorer.score(candidates, references)
    return race(works, pairs=len(candidates))


def _flops(plain: object, texts: list[str]) -> int:
    """Multiplications and additions of MiniLM's linear layers and attention, without padding."""
    total = 0
    for tokens in plain.tokenize(texts):
        n = len(tokens)
        total += 6 * (2 * n * (4 * 384 * 384 + 2 * 384 * 1536) + 4 * 384 * n * n)
    return total


def _peak() -> float:
    """Operations per second of a large product of matrices, at best."""
    import torch

    square = torch.randn(2048, 2048)
    (timing,) = race({"peak": lambda: torch.mm(square, square)}, pairs=1, repeats=10)
    return 2 * 2048**3 / timing.seconds
