"""An update adds or replaces weights by the suffix of their name, and keeps the decoder tied."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import needs_embedded

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

QUERY = "bert.encoder.layer.0.attention.self.query"
WORDS = "bert.embeddings.word_embeddings.weight"


@pytest.fixture
def model() -> object:
    torch.manual_seed(1)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.BertConfig(vocab_size=20, intermediate_size=16, **sizes)
    return transformers.BertForMaskedLM(config).eval()


def test_products_and_differences_are_added_and_full_values_written(model) -> None:
    from nlgauge.encode.mlm_update import apply_tensors

    before = {name: value.detach().clone() for name, value in model.named_parameters()}
    tensors = {
        f"{QUERY}.weight.lora_a": torch.randn(2, 8).half(),
        f"{QUERY}.weight.lora_b": torch.randn(8, 2).half(),
        f"{QUERY}.bias.delta": torch.randn(8).half(),
        "cls.predictions.bias.full": torch.randn(20).half(),
    }
    after = dict(apply_tensors(model, tensors).named_parameters())
    factors = [tensors[f"{QUERY}.weight.lora_{side}"].float() for side in "ba"]
    expected = {
        f"{QUERY}.weight": before[f"{QUERY}.weight"] + factors[0] @ factors[1],
        f"{QUERY}.bias": before[f"{QUERY}.bias"] + tensors[f"{QUERY}.bias.delta"].float(),
        "cls.predictions.bias": tensors["cls.predictions.bias.full"].float(),
    }
    assert after.keys() == before.keys()
    for name, value in after.items():
        torch.testing.assert_close(value, expected.get(name, before[name]))


def test_the_decoder_follows_the_word_embeddings(model) -> None:
    from nlgauge.encode.mlm_update import apply_tensors

    factors = {f"{WORDS}.lora_a": torch.ones(1, 8), f"{WORDS}.lora_b": torch.ones(20, 1)}
    ids = torch.tensor([[2, 5, 7, 3]])
    updated = apply_tensors(model, factors)
    assert updated.cls.predictions.decoder.weight is updated.bert.embeddings.word_embeddings.weight
    with torch.no_grad():
        hidden = updated.cls.predictions.transform(updated.bert(ids).last_hidden_state)
        expected = hidden @ dict(updated.named_parameters())[WORDS].T + updated.cls.predictions.bias
        torch.testing.assert_close(updated(ids).logits, expected)


@needs_embedded
def test_the_shipped_update_fills_a_mask_with_a_word_of_the_right_kind() -> None:
    from nlgauge.encode import open_masked_lm

    masked_lm = open_masked_lm("embedded")
    (tokens,) = masked_lm.tokenize(["She opened the door and walked into the room."])
    at = tokens.ids.tolist().index(2341)  # "door"
    ((histogram,),) = masked_lm.histograms(
        ["She opened the door and walked into the room."],
        lambda tokens: (np.arange(len(tokens)) == at).astype(float),
    ).values()
    likeliest = np.argsort(histogram.log_probabilities)[-5:]  # of 30,522; the card lists all five
    assert 2341 in likeliest
