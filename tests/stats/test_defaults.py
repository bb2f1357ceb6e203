"""Options that several functions have in common have the same default in all."""

from __future__ import annotations

import inspect
from importlib import import_module
from pkgutil import iter_modules

import pytest

import nlgauge.stats


def _defaults(option: str) -> dict[str, object]:
    """Return the default of an option by the function or method that has one."""
    found = {}
    for each in iter_modules(nlgauge.stats.__path__, "nlgauge.stats."):
        owners = [import_module(each.name)]
        owners += [value for _, value in inspect.getmembers(owners[0], inspect.isclass)]
        for owner in owners:
            for name, function in inspect.getmembers(owner, inspect.isfunction):
                options = inspect.signature(function).parameters
                if function.__module__ == each.name and option in options:
                    found[f"{each.name}.{name}"] = options[option].default
    return {name: value for name, value in found.items() if value is not inspect.Parameter.empty}


@pytest.mark.parametrize(
    ("option", "default"), [("alpha", 0.05), ("confidence", 0.95), ("power", 0.8), ("seed", 0)]
)
def test_an_option_has_one_default(option: str, default: float) -> None:
    found = _defaults(option)
    assert len(found) > 3
    assert {name: value for name, value in found.items() if value not in (default, None)} == {}


def test_the_numbers_of_resamples() -> None:
    others = {"paired_randomisation": 10_000, "paired_permutation": 10_000, "chance_accuracy": 100}
    found = {name.rsplit(".", 1)[1]: value for name, value in _defaults("count").items()}
    assert len(found) > 10
    assert found == dict.fromkeys(found, 1000) | others
