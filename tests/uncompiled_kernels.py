"""The Python sources of the compiled kernels, imported without their extensions."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from unittest import mock

from nlgauge import kernels

# A module comes after those that it imports.
NAMES = ["duality", "newton_system", "support", "interior_point", "tree", "pricing", "active_set"]
NAMES += ["network_simplex", "fixed_point", "depth", "int8_rounding"]
FOLDER = Path(kernels.__file__).parent


def load():
    """Return the uncompiled modules by name; other imports still give the compiled ones."""
    found = {}
    with mock.patch.dict(sys.modules), mock.patch.dict(vars(kernels)):
        for name in NAMES:
            full = f"{kernels.__name__}.{name}"
            spec = spec_from_file_location(full, FOLDER / f"{name}.py")
            found[name] = sys.modules[full] = module_from_spec(spec)
            setattr(kernels, name, found[name])
            spec.loader.exec_module(found[name])
    return found


def use(monkeypatch):
    """Replace the compiled kernels by their sources for the duration of a test."""
    from nlgauge.measure import barycenter, depth, transport, unbalanced

    plain = load()
    monkeypatch.setattr(transport, "network_simplex", plain["network_simplex"])
    monkeypatch.setattr(unbalanced, "interior_point", plain["interior_point"])
    monkeypatch.setattr(unbalanced, "active_set", plain["active_set"])
    monkeypatch.setattr(barycenter, "fixed_point", plain["fixed_point"])
    monkeypatch.setattr(depth, "kernels", plain["depth"])
