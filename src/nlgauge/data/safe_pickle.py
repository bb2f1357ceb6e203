"""Pickles of plain data, read without running anything that is in them.

A pickle is a program: it may name any function of the machine and call it. Here two gates stand
before it. First, the operations are walked without being executed, and one that builds plain data
(dict, list, tuple, set, text, bytes, number, None) passes; others are refused by name. Second, the
unpickler knows exactly two names, the ones numpy writes for a single number, and gives stand-ins
of ours for them that decode the bytes of a number and can do nothing else.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import struct
from pathlib import Path
from typing import Any

from nlgauge.core.errors import FileError

PLAIN = frozenset(
    {
        *("PROTO", "FRAME", "STOP", "MARK", "POP", "POP_MARK", "DUP"),
        *("NONE", "NEWTRUE", "NEWFALSE", "FLOAT", "BINFLOAT"),
        *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4"),
        *("STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
        *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
        *("EMPTY_LIST", "LIST", "APPEND", "APPENDS"),
        *("EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"),
        *("EMPTY_DICT", "DICT", "SETITEM", "SETITEMS", "EMPTY_SET", "ADDITEMS", "FROZENSET"),
        *("GET", "BINGET", "LONG_BINGET", "PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"),
    }
)
"""Operations that build plain data and call nothing."""

NAMED = frozenset({"GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD"})
"""Operations that name or call something: allowed, because only the two stand-ins have names."""

_KINDS = {
    **{"f2": "e", "f4": "f", "f8": "d", "b1": "?"},
    **{"i1": "b", "i2": "h", "i4": "i", "i8": "q"},
    **{"u1": "B", "u2": "H", "u4": "I", "u8": "Q"},
}
"""What numpy and what struct call a kind of number."""


class _Kind:
    """Stand-in for numpy.dtype: the kind and byte order of one number."""

    __slots__ = ("code", "order")

    def __init__(self, code: str) -> None:
        self.code = code
        self.order = "<"

    def __setstate__(self, state: Any) -> None:
        if not (isinstance(state, tuple) and len(state) >= 2 and state[1] in ("<", ">", "|", "=")):
            raise pickle.UnpicklingError(f"the state {state!r:.40} is not that of a number")
        self.order = state[1]


class _KindOf:
    """Called as numpy.dtype is called in a pickle: with a code such as 'f8'."""

    __slots__ = ()

    def __call__(self, code: Any, *_: Any) -> _Kind:
        if not (isinstance(code, str) and code in _KINDS):
            raise pickle.UnpicklingError(f"numbers of kind {code!r:.40} are not read")
        return _Kind(_KINDS[code])

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError(f"a name is given a state: {state!r:.40}")


class _Scalar:
    """Called as numpy's `scalar` is called in a pickle: with a kind and the bytes of a number."""

    __slots__ = ()

    def __call__(self, kind: Any, content: Any) -> float | int | bool:
        if not (isinstance(kind, _Kind) and isinstance(content, bytes)):
            raise pickle.UnpicklingError("a number is not made of a kind and bytes")
        order = ">" if kind.order == ">" else "<"
        value: float | int | bool = struct.unpack(order + kind.code, content)[0]
        return value

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError(f"a name is given a state: {state!r:.40}")


_STAND_INS: dict[tuple[str, str], Any] = {
    ("numpy", "dtype"): _KindOf(),
    ("numpy.core.multiarray", "scalar"): _Scalar(),
    ("numpy._core.multiarray", "scalar"): _Scalar(),
}


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if (module_name, global_name) not in _STAND_INS:
            raise pickle.UnpicklingError(f"it names {module_name}.{global_name}")
        return _STAND_INS[module_name, global_name]


def read_plain_pickle(path: str) -> Any:
    """The plain data in a pickle file; a pickle that asks for anything else is refused unopened."""
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise FileError(f"there is no file {path!r}") from None
    except OSError as error:
        raise FileError(f"file {path!r} cannot be read: {error}") from error
    try:
        _refuse_operations(content)
        return _PlainUnpickler(io.BytesIO(content)).load()
    except Exception as error:  # a broken pickle may raise anything; nothing of it has been run
        reason = str(error) or type(error).__name__
        raise FileError(
            f"{path} is not a pickle of plain data (containers, numbers, texts): {reason:.200}. "
            "It was not executed; ask its author for JSON"
        ) from None


def _refuse_operations(content: bytes) -> None:
    for operation, argument, place in pickletools.genops(content):
        if operation.name not in PLAIN | NAMED:
            raise pickle.UnpicklingError(f"byte {place} asks for the operation {operation.name}")
        if operation.name == "GLOBAL" and tuple(str(argument).split(" ", 1)) not in _STAND_INS:
            raise pickle.UnpicklingError(f"it names {str(argument).replace(' ', '.', 1)}")
        # A memo number costs memory up to its size; an honest one counts what came before it.
        if operation.name in {"PUT", "LONG_BINPUT"} and int(argument or 0) > len(content):
            raise pickle.UnpicklingError(f"byte {place} reserves {argument} memo cells")
