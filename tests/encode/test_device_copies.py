"""Batches on a device: no pass waits for the host, and values arrive unchanged."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import example
from nlgauge import encode
from nlgauge.encode import open_encoder, open_masked_lm
from nlgauge.encode.run_options import RunOptions

torch = pytest.importorskip("torch")

from nlgauge.encode.device_copies import HostCopy, one_started, to_device  # noqa: E402
from nlgauge.encode.masked_lm import _Copy  # noqa: E402

TEXTS = example("reference.a")[:6]
LAYERS = (1, 3)
OWN = RunOptions(batch_tokens=1999)  # not the models of other tests: weights on meta are lost


@pytest.fixture(autouse=True)
def clear_models():
    """Clear the model cache before and after the test."""
    yield
    encode._open_model.cache_clear()


def test_the_next_batch_is_started_before_one_is_read() -> None:
    reports: list[str] = []

    def start(item: str) -> str:
        reports.append(f"start {item}")
        return item

    for item in one_started(start, "abc"):
        reports.append(f"read {item}")
    assert reports == ["start a", "start b", "read a", "start c", "read b", "read c"]
    assert list(one_started(start, "")) == []


def test_values_arrive_unchanged() -> None:
    values = torch.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(HostCopy(to_device(values, torch.device("cpu"))).numpy(), values)
    halves = HostCopy(values.bfloat16()).numpy()
    assert halves.dtype == np.float32
    np.testing.assert_array_equal(halves, values)


def test_batches_in_turn_have_the_states_of_batches_in_threads(tiny) -> None:
    """Devices other than processors run one batch after the other."""
    encoder = open_encoder(str(tiny("bert")))
    pieces = list(_pieces(encoder))
    batched = [pieces[:2], pieces[2:3], pieces[3:]]
    threads = encoder._run_all(batched, LAYERS)
    started = one_started(lambda batch: HostCopy(encoder._states(batch, LAYERS)), batched)
    for own, other in zip(threads, started, strict=True):
        np.testing.assert_allclose(own, other.numpy(), atol=1e-6)


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_batch_does_not_wait_for_the_host(kind, device, tiny, monkeypatch) -> None:
    """The device meta has no numbers, so that reading one during a pass raises an error.

    transformers reads whether there is padding before the first layer, and nothing later.
    """
    if device == "meta":
        reads = "transformers.masking_utils._ignore_bidirectional_mask_sdpa"
        monkeypatch.setattr(reads, lambda *_, **__: False, raising=False)
    encoder = open_encoder(str(tiny(kind)), OWN)
    batch = list(_pieces(encoder))[:3]
    longest = max(len(piece.ids) for piece in batch)
    encoder._model.to(device)
    states = encoder._states(batch, LAYERS)
    assert states.device.type == device
    assert states.shape == (3, len(LAYERS), longest, encoder.card.dimension)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_masked_batch_does_not_wait_for_the_host(device) -> None:
    model = open_masked_lm("embedded", OWN)
    ids = model.tokenize(["a man in a boat"])[0].ids.tolist()
    model._device = torch.device(device)
    model._model.to(device)
    logits = model._logits([_Copy(0, ids, [1, 3], [0.5, 0.5]), _Copy(0, ids, [2], [1.0])])
    assert logits.device.type == device
    assert logits.shape == (3, model.card.dimension)


def _pieces(encoder):
    tokens = encoder.tokenize(TEXTS)
    for number, text in enumerate(TEXTS):
        yield from encoder._tokenizer.pieces(number, text, tokens[number])
