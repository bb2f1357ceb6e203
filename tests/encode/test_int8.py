"""Linear layers in int8 against the float32 layers they replace."""

from __future__ import annotations

import numpy as np
import pytest

import uncompiled_kernels

torch = pytest.importorskip("torch")

from nlgauge.core.errors import ModelError  # noqa: E402
from nlgauge.encode import int8, open_encoder  # noqa: E402
from nlgauge.encode.int8 import Int8Linear, quantised  # noqa: E402
from nlgauge.encode.run_options import RunOptions  # noqa: E402


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return torch.nn.Linear(48, 80)


def test_the_output_is_within_the_rounding_of_both_sides(layer) -> None:
    x = torch.randn(3, 7, 48)
    with torch.inference_mode():
        apart = (Int8Linear(layer)(x) - layer(x)).abs()
        steps_x = x.abs().amax(-1, keepdim=True) / 127
        steps_w = layer.weight.abs().amax(1) / 127
        # Half a step on either side, times what it is multiplied with, summed over 48 inputs.
        bound = 0.5 * steps_x * layer.weight.abs().sum(1) + 0.5 * steps_w * (
            x.abs().sum(-1, keepdim=True) + 24 * steps_x
        )
    assert bool((apart <= bound + 1e-5).all())
    assert apart.max() > 0


def test_a_token_does_not_depend_on_other_rows(layer) -> None:
    x = torch.randn(600, 48) * torch.logspace(-3, 3, 600)[:, None]  # more than a block of rows
    whole = Int8Linear(layer)
    with torch.inference_mode():
        together = whole(x)
        alone = torch.cat([whole(row[None]) for row in x])
    np.testing.assert_allclose(together.numpy(), alone.numpy(), rtol=1e-6, atol=1e-6)


def test_zeros_give_the_bias(layer) -> None:
    with torch.inference_mode():
        made = Int8Linear(layer)(torch.zeros(2, 48))
    np.testing.assert_array_equal(made[0].numpy(), layer.bias.detach().numpy())


def test_a_layer_without_bias_has_none() -> None:
    linear = torch.nn.Linear(16, 8, bias=False)
    with torch.inference_mode():
        assert not Int8Linear(linear)(torch.zeros(1, 16)).any()


def test_every_linear_layer_of_a_model_is_replaced() -> None:
    inner = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.GELU())
    model = quantised(torch.nn.Sequential(inner, torch.nn.Linear(16, 16)))
    assert [type(m).__name__ for m in model.modules()].count("Int8Linear") == 2
    assert not [m for m in model.modules() if type(m) is torch.nn.Linear]


def test_a_model_without_linear_layers_is_refused(tiny) -> None:
    with pytest.raises(ModelError, match="no linear layers"):
        open_encoder(str(tiny("gpt-2")), RunOptions(precision="int8"))


def test_other_devices_are_refused(tiny) -> None:
    with pytest.raises(ModelError, match="not on meta"):
        open_encoder(str(tiny("bert")), RunOptions(precision="int8", device="meta"))


def test_clouds_stay_near_those_of_float32(tiny) -> None:
    folder = str(tiny("bert"))
    texts = ["one text", "another, somewhat longer text"]
    exact = open_encoder(folder).encode(texts, (2,))
    whole = open_encoder(folder, RunOptions(precision="int8")).encode(texts, (2,))
    for left, right in zip(exact, whole, strict=True):
        cosines = (left.layer * right.layer).sum(1)
        cosines /= np.linalg.norm(left.layer, axis=1) * np.linalg.norm(right.layer, axis=1)
        assert cosines.min() > 0.99
        assert not np.array_equal(left.layer, right.layer)


@pytest.mark.parametrize("size", [1e-33, 1e-3, 1.0, 1e6])
def test_blocks_of_rows_give_the_numbers_of_the_formula(layer, size) -> None:
    x = torch.randn(2, 300, 48) * size
    x[0, 0] = 0
    quantised_layer = Int8Linear(layer)
    with torch.inference_mode():
        found = quantised_layer(x)
    rows = x.reshape(-1, 48).double()
    scales = (rows.abs().amax(1, keepdim=True).clamp_min(1e-30).float() / 127).double()
    whole = (rows.float() / scales.float()).round().double()
    sums = whole @ quantised_layer.weight_t.double()
    expected = sums * scales * quantised_layer.scale.double() + layer.bias.detach().double()
    expected = expected.reshape(2, 300, -1).numpy()
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6, atol=1e-6 * max(size, 1))


def test_rounding_uncompiled_gives_the_same_numbers(layer, monkeypatch) -> None:
    x = torch.randn(5, 48)
    quantised_layer = Int8Linear(layer)
    with torch.inference_mode():
        compiled = quantised_layer(x)
        monkeypatch.setattr(int8, "int8_rounding", uncompiled_kernels.load()["int8_rounding"])
        np.testing.assert_allclose(quantised_layer(x), compiled, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_not_lost(layer, value) -> None:
    x = torch.randn(2, 48)
    x[0, 3] = value
    with torch.inference_mode():
        output = Int8Linear(layer)(x)
    assert bool(output[0].isnan().all())
    assert bool(output[1].isfinite().all())


def test_products_that_saturate_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = torch._int_mm

    def saturating(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return exact(x, y).clamp(max=32767)

    monkeypatch.setattr(torch, "_int_mm", saturating)
    with pytest.raises(ModelError, match="not exact on this processor"):
        quantised(torch.nn.Sequential(torch.nn.Linear(4, 4)))
