"""The device of solvers: a named one with float64, only for metrics that need it."""

from __future__ import annotations

import sys

import pytest

from nlgauge import Runtime, encode, score
from nlgauge.core.device import HOST, current_device
from nlgauge.core.errors import ModelError
from nlgauge.measure import sinkhorn

torch = pytest.importorskip("torch")

from nlgauge.encode import device as devices  # noqa: E402

TEXTS = ["a man is on a boat"], ["a guy stands in a canoe"]
SOFT = "lazy_emd:epsilon=.1,model=hashing"


@pytest.fixture
def any_device(monkeypatch):
    """Solve on torch's processor whatever device is named, and list the devices of solvers."""
    used = []
    solve = sinkhorn.solve

    def listed(*arguments):
        used.append(current_device())
        return solve(*arguments)

    monkeypatch.setattr(sinkhorn, "solve", listed)
    monkeypatch.setattr(devices, "choose_device", lambda _: torch.device("cpu"))
    return used


def test_a_named_device_solves(any_device) -> None:
    (found,) = score(*TEXTS, metrics=SOFT, runtime=Runtime(device="cuda")).values()
    assert any_device[-1].library is torch
    for name in ("auto", "cpu"):
        (expected,) = score(*TEXTS, metrics=SOFT, runtime=Runtime(device=name)).values()
        assert any_device[-1] is HOST
    assert found.value == pytest.approx(expected.value, abs=1e-9)


def test_a_device_without_float64_leaves_solvers_on_the_processor(monkeypatch) -> None:
    def refuse(*_, **__):
        raise TypeError("Cannot convert a MPS Tensor to float64 dtype")

    monkeypatch.setattr(devices, "choose_device", lambda _: torch.device("cpu"))
    assert encode.solver_device("mps") is not None
    monkeypatch.setattr(torch, "empty", refuse)
    assert encode.solver_device("mps") is None


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a device of this name")
def test_an_absent_device_is_an_error() -> None:
    with pytest.raises(ModelError, match="device='cuda' cannot be used"):
        score(*TEXTS, metrics=f"gauge|{SOFT}", runtime=Runtime(device="cuda"))


def test_exact_metrics_need_no_torch(monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "nlgauge.encode.device")
    monkeypatch.setitem(sys.modules, "torch", None)
    runtime = Runtime(device="cuda")
    score(*TEXTS, metrics=["chrf", "wmd:model=hashing"], runtime=runtime)
