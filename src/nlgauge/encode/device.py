"""Torch devices: the device of a name, and batched solvers on it."""

from typing import Any

import torch

from nlgauge.core.device import Array, Device
from nlgauge.core.errors import ModelError
from nlgauge.encode.device_copies import to_device

_CELLS = 1 << 20  # of the matrices of one batch: a GPU needs far more of them than a processor
_LENGTH_STEP = 32  # fewer shapes, because a GPU computes a batch in the time of a few problems


def choose_device(name: str) -> Any:
    """Return a torch device; ``auto`` is the fastest one available."""
    if name != "auto":
        return _open_device(name)
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def _open_device(name: str) -> Any:
    """Return the torch device of a name, or raise ModelError with the available devices."""
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, ValueError) as error:
        devices = ["cpu", *(f"cuda:{n}" for n in range(torch.cuda.device_count()))]
        devices += ["mps"] * torch.backends.mps.is_available()
        reason = str(error).partition("\n")[0].partition(",")[0]
        if reason.startswith(("Expected one of", "Device string")):
            reason = "torch has no device of that name"
        raise ModelError(
            f"device={name!r} cannot be used here ({reason}); choose auto, {', '.join(devices)}"
        ) from None
    return device


def solver_device(name: str) -> Device | None:
    """Return the device of this name for solvers, None if it has no float64, as mps."""
    device = choose_device(name)
    try:
        torch.empty(1, dtype=torch.float64, device=device)
    except (RuntimeError, TypeError):
        return None
    return torch_solvers(device)


def torch_solvers(device: torch.device) -> Device:
    """Return solvers in torch on any device."""
    return Device(
        library=torch,
        send=lambda values: to_device(torch.from_numpy(values), device),
        fetch=lambda values: values.cpu().numpy(),
        inverse=_inverse,
        cells=_CELLS,
        length_step=_LENGTH_STEP,
    )


def _inverse(matrices: Array) -> Array:
    """Return the inverses; `torch.linalg.inv` would wait to see whether they exist."""
    return torch.linalg.inv_ex(matrices).inverse
