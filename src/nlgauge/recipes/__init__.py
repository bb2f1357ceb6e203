"""Recipes: each module reproduces one paper's tables from its data, next to the published numbers.

A recipe lists its files, its metrics and the published numbers. Cells without data or without a
published number stay empty, and missing files are listed. Only `nlgauge reproduce` imports this
package.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from nlgauge.core.errors import UsageError

if TYPE_CHECKING:
    from nlgauge.recipes.recipe import Reproduction, Settings

RECIPES = ("bary", "benchmark", "infolm", "lazy_emd", "mover")

__all__ = ["RECIPES", "choose_recipe", "reproduce"]


def choose_recipe(name: str) -> str:
    """Return the name of a recipe; raise UsageError with the list if it is unknown."""
    if name not in RECIPES:
        raise UsageError(f"there is no recipe {name!r}; the recipes are: {', '.join(RECIPES)}")
    return name


def reproduce(name: str, data: str | Path, settings: "Settings | None" = None) -> "Reproduction":
    """Return the tables and figures of one recipe, computed from the data in a folder.

    >>> found = reproduce("bary", "data", Settings(model="bert-base-uncased"))  # doctest: +SKIP
    """
    from nlgauge.recipes.recipe import Settings

    recipe = import_module(f"nlgauge.recipes.{choose_recipe(name)}")
    reproduction: Reproduction = recipe.rebuild(Path(data), settings or Settings())
    return reproduction
