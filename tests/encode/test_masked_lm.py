"""Histograms equal a plain loop over masked copies, for every architecture."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from conftest import example
from nlgauge.core.errors import ModelError
from nlgauge.encode import open_masked_lm
from nlgauge.encode.run_options import RunOptions
from nlgauge.runtime.progress import RunProgress

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

TEXTS = [*example("reference.a")[:3], "one", "", "naïve 東京"]
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}


@pytest.fixture(scope="module")
def folders(tmp_path_factory, tokenizer) -> object:
    """A function from an architecture to a folder with such a masked model."""

    def build(kind: str, **changes: int) -> str:
        folder = tmp_path_factory.getbasetemp() / f"masked-{kind}-{len(changes)}"
        if not folder.exists():
            torch.manual_seed(3)
            size = {**SIZES, "vocab_size": len(tokenizer), "intermediate_size": 32, **changes}
            if kind == "distilbert":
                config = transformers.DistilBertConfig(
                    vocab_size=len(tokenizer), dim=16, n_layers=2, n_heads=2, hidden_dim=32
                )
            elif kind in {"albert", "electra"}:
                config = transformers.AutoConfig.for_model(kind, embedding_size=8, **size)
            else:
                config = transformers.AutoConfig.for_model(kind, **size)
            config.pad_token_id = 1
            transformers.AutoModelForMaskedLM.from_config(config).save_pretrained(folder)
            tokenizer.mask_token = "<mask>"
            tokenizer.save_pretrained(folder)
        return str(folder)

    return build


def _uniform(tokens) -> np.ndarray:
    return np.where(tokens.special, 0.0, 1.0)


def _loop(model, ids: list[int], groups: list[list[int]], mask: int, temperature: float):
    total = torch.zeros(model.config.vocab_size, dtype=torch.float64)
    count = 0
    for places in groups:
        masked = list(ids)
        for place in places:
            masked[place] = mask
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([masked])).logits[0].double()
        for place in places:
            total += torch.softmax(logits[place] / temperature, dim=-1)
            count += 1
    return (total / count).log().numpy()


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert", "electra", "albert"])
@pytest.mark.parametrize("whole_words", [False, True])
def test_histograms_equal_a_plain_loop(folders, kind: str, whole_words: bool) -> None:
    folder = folders(kind)
    masked_lm = open_masked_lm(folder, RunOptions(batch_tokens=100))
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    found = masked_lm.histograms(TEXTS, _uniform, temperatures=[1.0, 0.5], whole_words=whole_words)[
        0.5
    ]
    for tokens, histogram in zip(masked_lm.tokenize(TEXTS), found, strict=True):
        places = np.flatnonzero(~tokens.special)
        assert histogram.void == (places.size == 0)
        if places.size:
            of_word = tokens.words if whole_words else np.arange(len(tokens))
            groups = [places[of_word[places] == w].tolist() for w in set(of_word[places].tolist())]
            expected = _loop(model, tokens.ids.tolist(), groups, 4, 0.5)
            np.testing.assert_allclose(histogram.log_probabilities, expected, atol=2e-5)
            assert np.exp(histogram.log_probabilities).sum() == pytest.approx(1)


def test_tokens_without_mass_are_not_masked(folders) -> None:
    masked_lm = open_masked_lm(folders("bert"))
    seen = []
    hook = masked_lm._model.register_forward_pre_hook(
        lambda _, __, named: seen.append(len(named["input_ids"])), with_kwargs=True
    )
    first_only = lambda tokens: (np.arange(len(tokens)) == 1).astype(float)  # noqa: E731
    masked_lm.histograms([TEXTS[0]], first_only)
    hook.remove()
    assert seen == [1]


def test_long_texts_are_read_in_windows(folders) -> None:
    folder = folders("bert", max_position_embeddings=32)
    ((histogram,),) = open_masked_lm(folder).histograms([" ".join(TEXTS[:3])], _uniform).values()
    assert histogram.notes == ("longer than 30 tokens, encoded in overlapping windows",)
    assert np.isfinite(histogram.log_probabilities).all()


def test_an_encoder_without_a_head_is_refused(tiny) -> None:
    with pytest.raises(ModelError, match="has no masked-language head"):
        open_masked_lm(str(tiny("bert")))


def test_progress_is_counted_by_passes(folders) -> None:
    reports: list[int] = []
    run = RunProgress(lambda done, _: reports.append(done), 1000)
    model = open_masked_lm(folders("bert"), RunOptions(batch_tokens=64))
    with run.phase("infolm", 1000):
        model.histograms(TEXTS, _uniform)
    assert len(set(reports)) > 10


def test_threads_do_not_change_each_others_histograms(folders) -> None:
    masked_lm = open_masked_lm(folders("bert"), RunOptions(batch_tokens=64))
    groups = [TEXTS[:2], TEXTS[1:4]] * 8
    expected = [masked_lm.histograms(texts, _uniform)[1.0] for texts in groups]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda texts: masked_lm.histograms(texts, _uniform)[1.0], groups)
        for own, others in zip(expected, found, strict=True):
            for one, other in zip(own, others, strict=True):
                np.testing.assert_array_equal(one.ids, other.ids)
                np.testing.assert_allclose(
                    one.log_probabilities, other.log_probabilities, atol=1e-5
                )
