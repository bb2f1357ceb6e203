"""Functions compiled by numba, the extra `fast`; importing this fails where it is not installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

numba: Any = import_module("numba")

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
