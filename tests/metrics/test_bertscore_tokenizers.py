"""compat=bert_score with byte-level tokenizers: stripped texts, a space before them, truncation."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from byte_level_models import save_model
from conftest import example, needs_embedded
from nlgauge import Scorer, score
from tolerances import COSINE

PREFIX = {"roberta": " ", "bart": "", "gpt-2": " "}  # what bert-score puts before a text
LONG = " ".join(example("reference.b") * 2)
PAIRS = [
    *zip(example("literal")[:6], example("reference.a")[:6], strict=True),
    ("  the man in the boat ", "a man\n"),
    (LONG, " ".join(example("reference.a") * 2)),
    ("The boat", LONG),
]


@pytest.fixture(scope="module", params=PREFIX)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(request.param, tmp_path_factory.mktemp("models") / request.param)


class Oracle:
    """BERTScore of one layer, written out with transformers."""

    def __init__(self, folder: Path) -> None:
        import transformers

        self.prefix = PREFIX[folder.name]
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.model = transformers.AutoModel.from_pretrained(folder).eval()
        self.special = set(self.tokenizer.encode(""))

    def ids(self, text: str) -> list[int]:
        written = self.prefix + text.strip()
        return self.tokenizer.encode(written, truncation=True, max_length=512)

    def idf(self, texts: list[str]) -> dict[int, float]:
        seen = Counter(token for text in texts for token in set(self.ids(text)))
        return {token: math.log((len(texts) + 1) / (n + 1)) for token, n in seen.items()}

    def vectors(self, ids: list[int]) -> np.ndarray:
        import torch

        model = self.model
        if model.config.is_encoder_decoder:
            model = model.get_encoder()
        with torch.inference_mode():
            states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
        points = states[2][0].numpy().astype(float)
        return points / np.linalg.norm(points, axis=1, keepdims=True)

    def score(self, left: str, right: str, idf: dict[int, float] | None, unseen: float) -> tuple:
        sides = self.ids(left), self.ids(right)
        cosines = self.vectors(sides[0]) @ self.vectors(sides[1]).T
        best = cosines.max(axis=1), cosines.max(axis=0)
        parts = []
        for ids, values in zip(sides, best, strict=True):
            weights = np.array([1.0 if idf is None else idf.get(token, unseen) for token in ids])
            weights[[token in self.special for token in ids]] = 0
            parts.append(float(weights @ values / weights.sum()))
        return 2 * math.prod(parts) / sum(parts), *parts


@needs_embedded
@pytest.mark.parametrize("weights", ["uniform", "idf"])
def test_compat_reads_texts_as_bert_score_does(model: Path, weights: str) -> None:
    candidates, references = map(list, zip(*PAIRS, strict=True))
    oracle = Oracle(model)
    idf = oracle.idf(references) if weights == "idf" else None
    unseen = math.log(len(references) + 1)
    expected = [oracle.score(*pair, idf, unseen) for pair in PAIRS]
    spec = f"bertscore:model={model},layer=2,compat=bert_score,weights={weights}"
    (scores,) = Scorer(spec).score(candidates, references).values()
    found = np.stack([*scores.segment_components.values()], axis=1)
    np.testing.assert_allclose(found, expected, atol=COSINE)
    assert scores.signature["long_text"] == "truncate"
    assert "truncated" in " ".join(scores.warnings)


@needs_embedded
def test_without_compat_texts_are_read_as_they_are(tmp_path: Path) -> None:
    model = save_model("roberta", tmp_path)
    candidate, reference = PAIRS[0]
    for compat, differs in (("", True), (",compat=bert_score", False)):
        spec = f"bertscore:model={model},layer=2{compat}"
        scores = score([candidate, f" {candidate}"], [reference] * 2, metrics=spec)[spec].segments
        assert (abs(scores[0] - scores[1]) > COSINE) == differs


def test_other_treatments_of_long_texts_can_be_asked_for() -> None:
    spec = "bertscore:model=hashing,compat=bert_score"
    for options, expected in (("", "truncate"), (",long_text=error", "error")):
        (scores,) = score(["a"], ["a"], metrics=spec + options).values()
        assert scores.signature["long_text"] == expected
