"""Functions compiled by numba, the extra `fast`; importing this fails where it is not installed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

numba: Any = import_module("numba")
events: Any = import_module("numba.core.event")

Work = TypeVar("Work", bound=Callable[..., Any])


def compiled(
    *, kept: bool = False, careless: bool = False, any_order: bool = False
) -> Callable[[Work], Work]:
    """Return a decorator that makes machine code, which runs without Python's lock.

    `kept` stores it on disk for the next process, unless no folder can be written to; `careless`
    assumes that no number is NaN; `any_order` lets sums be taken in the order that is fastest. A
    division by 0 gives inf or NaN, as in numpy.
    """
    given: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    liberties = {"nnan", "nsz"} if careless else set()
    if any_order:
        liberties |= {"reassoc", "contract"}
    if liberties:
        given["fastmath"] = liberties

    def compile_(work: Work) -> Work:
        try:
            made: Work = numba.njit(cache=kept, **given)(work)
        except RuntimeError:  # numba found no place for its cache
            made = numba.njit(**given)(work)
        return made

    return compile_


class Announcer(events.Listener):  # type: ignore[misc]  # numba has no types
    """Tells, at the first function that is in no cache, why the work seems to stand still."""

    def __init__(self) -> None:
        self._told = False

    def on_start(self, event: Any) -> None:
        """Tell it once; many functions are compiled for one that is called."""
        if not self._told and _ours(event.data["dispatcher"]):
            self._told = True
            logging.getLogger(__name__).info(
                "compiling for this processor; the first use takes up to 20 seconds longer"
            )

    def on_end(self, event: Any) -> None:
        """Say nothing more."""


def _ours(dispatcher: Any) -> bool:
    return str(dispatcher.py_func.__module__).partition(".")[0] == __name__.partition(".")[0]


events.register("numba:compile", Announcer())
