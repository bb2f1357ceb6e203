"""Recipes: each file rebuilds one paper's tables from its data, ours beside the published numbers.

A recipe says which files it looks for, which metrics it asks and what the paper printed. It guesses
nothing: files that are not there and numbers that the paper does not give stay empty, and are said.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from nlgauge.recipes.recipe import Rebuilt, Setting

RECIPES = ("bary", "benchmark", "infolm", "lazy_emd", "mover")

__all__ = ["RECIPES", "choose_recipe", "reproduce"]


def choose_recipe(name: str) -> str:
    """The name, if there is such a recipe; an unknown one is refused with the list."""
    if name not in RECIPES:
        raise UsageError(f"there is no recipe {name!r}; the recipes are: {', '.join(RECIPES)}")
    return name


def reproduce(name: str, data: str | Path, setting: Setting | None = None) -> Rebuilt:
    """The tables and figures of one recipe, rebuilt from the data in a folder.

    >>> rebuilt = reproduce("bary", "data", Setting(model="bert-base-uncased"))  # doctest: +SKIP
    """
    from nlgauge.recipes.recipe import Setting as Plain

    recipe = import_module(f"nlgauge.recipes.{choose_recipe(name)}")
    rebuilt: Rebuilt = recipe.rebuild(Path(data), setting or Plain())
    return rebuilt
