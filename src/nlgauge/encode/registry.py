"""What is known of models: which suits a language, and which layers suit a way of matching."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

MATCHINGS = ("greedy", "transport", "barycenter")


@cache
def _registry() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        files(__package__).joinpath("registry.json").read_text("utf-8")
    )
    return content


def model_for(language: str) -> str:
    """The model that suits a language code; languages not listed share a multilingual one."""
    languages: dict[str, str] = _registry()["languages"]
    return languages.get(language, languages["other"])


def best_layers(model: str, depth: int) -> tuple[dict[str, tuple[int, ...]], bool]:
    """The layers for every way of matching, and whether they were measured for this model.

    Unknown models take the layer at three quarters of their depth for greedy matching; transport
    and barycenters take the last five, as MoverScore and BaryScore do.
    """
    last_five = tuple(range(max(1, depth - 4), depth + 1))
    guessed: dict[str, tuple[int, ...]] = {
        "greedy": (max(1, round(depth * 0.75)),),
        "transport": last_five,
        "barycenter": last_five,
    }
    known = _registry()["models"].get(model, {})
    measured = {match: tuple(layers) for match, layers in known.items() if match in MATCHINGS}
    return guessed | measured, bool(measured)
