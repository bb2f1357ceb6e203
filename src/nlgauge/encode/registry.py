"""Known models: the model for a language, and the layers for each kind of matching."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from nlgauge.core.requirements import ModelCard

MATCHINGS = ("greedy", "transport", "barycenter")


@cache
def _registry() -> Any:
    return json.loads(files(__package__).joinpath("registry.json").read_bytes())


def model_for(language: str) -> str:
    """Return the model for a language code; a multilingual model if the language is not listed."""
    languages: dict[str, str] = _registry()["languages"]
    return languages.get(language, languages["other"])


def languages_of(model: str) -> tuple[str, ...]:
    """Return the codes of all languages of a model, () if unknown or many."""
    return tuple(_registry()["models"].get(model, {}).get("languages", ()))


def known_names() -> tuple[str, ...]:
    """Return the names of all models of the registry."""
    return tuple(_registry()["models"])


def measured_layers(model: str) -> dict[str, tuple[int, ...]]:
    """Return the published or measured layers of a model for each matching, {} if unknown."""
    known = _registry()["models"].get(model, {})
    return {match: tuple(known[match]) for match in MATCHINGS if match in known}


def measured_presets(model: str) -> dict[str, Any]:
    """Return the measured values of a model's options by name, {} if unknown."""
    return dict(_registry()["presets"].get(model, {}))


def best_layers(model: str, depth: int) -> tuple[dict[str, tuple[int, ...]], bool]:
    """Return the layers for every matching, and whether they were measured for this model.

    For unknown models, greedy matching uses the layer at three quarters of the depth; transport and
    barycenters use the last five layers, as MoverScore and BaryScore do.
    """
    last_five = tuple(range(max(1, depth - 4), depth + 1))
    guessed = {"transport": last_five, "barycenter": last_five}
    measured = measured_layers(model)
    return {"greedy": (max(1, round(depth * 0.75)),), **guessed, **measured}, bool(measured)


def presets_of(model: str, depth: int) -> dict[str, Any]:
    """Return the measured values of options by name; those of an unknown model are guessed.

    For unknown models, the layers at one half, two thirds and the whole of the depth are joined.
    Word vectors, which have no depth, are compared without n-grams.
    """
    layers = sorted({-(-depth // 2), -(-2 * depth // 3), depth})
    guessed = {"layers": "+".join(map(str, layers)), "ngram": 3 if depth else 1}
    return {**guessed, **measured_presets(model)}


def model_card(
    name: str, *, digest: str, depth: int, dimension: int, libraries: tuple[str, ...] = ()
) -> ModelCard:
    """Return the card of a model, with the layers and languages of the registry."""
    layers = best_layers(name, depth)
    known = languages_of(name), presets_of(name, depth)
    return ModelCard(name, digest, depth, dimension, *layers, libraries, *known)
