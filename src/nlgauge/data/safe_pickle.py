"""Pickles of plain data, read without running anything in them.

A pickle is a program that may call any function. Two checks prevent that: of its operations, listed
without being executed, only those that build plain data pass; and the unpickler resolves only the
two names that numpy writes for a number, to replacements that do nothing but decode its bytes.
"""

import io
import pickle
import pickletools
import struct
from functools import partial
from typing import Any

from nlgauge.core.errors import FileError
from nlgauge.data.files import open_bytes

_ALLOWED = {  # operations that build plain data and call nothing ...
    *("PROTO", "FRAME", "STOP", "MARK", "POP", "POP_MARK", "DUP"),
    *("NONE", "NEWTRUE", "NEWFALSE", "FLOAT", "BINFLOAT"),
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
    *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
    *("EMPTY_LIST", "LIST", "APPEND", "APPENDS"),
    *("EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"),
    *("EMPTY_DICT", "DICT", "SETITEM", "SETITEMS", "EMPTY_SET", "ADDITEMS", "FROZENSET"),
    *("GET", "BINGET", "LONG_BINGET", "PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"),
    *("GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD"),  # ... or call one of the replacements
}
_CODES = {  # those of struct for the types of numpy
    **{"f2": "e", "f4": "f", "f8": "d", "b1": "?"},
    **{"i1": "b", "i2": "h", "i4": "i", "i8": "q"},
    **{"u1": "B", "u2": "H", "u4": "I", "u8": "Q"},
}


class _NumberType:
    """Replaces an instance of numpy.dtype: struct code and byte order of a number."""

    __slots__ = ("code", "order")

    def __init__(self, code: Any, *_: Any) -> None:
        if not (isinstance(code, str) and code in _CODES):
            raise pickle.UnpicklingError(f"numbers of kind {code!r:.40} are not read")
        self.code, self.order = _CODES[code], "<"

    def __setstate__(self, state: Any) -> None:
        if not (isinstance(state, tuple) and len(state) >= 2 and state[1] in ("<", ">", "|", "=")):
            raise pickle.UnpicklingError(f"the state {state!r:.40} is not that of a number")
        self.order = state[1]


class _Function(partial[Any]):
    """Replaces a function that a pickle calls; it refuses to be given a state."""

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError(f"a name is given a state: {state!r:.40}")


def _scalar(kind: Any, content: Any) -> Any:
    if not (isinstance(kind, _NumberType) and isinstance(content, bytes)):
        raise pickle.UnpicklingError("a number is not made of a kind and bytes")
    return struct.unpack((">" if kind.order == ">" else "<") + kind.code, content)[0]


_REPLACEMENTS = {
    ("numpy", "dtype"): _Function(_NumberType),
    ("numpy.core.multiarray", "scalar"): _Function(_scalar),
    ("numpy._core.multiarray", "scalar"): _Function(_scalar),
}


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if (module_name, global_name) not in _REPLACEMENTS:
            raise pickle.UnpicklingError(f"it names {module_name}.{global_name}")
        return _REPLACEMENTS[module_name, global_name]


def read_plain_pickle(path: str) -> Any:
    """Return the data of a pickle file, or raise FileError if it holds anything but plain data."""
    with open_bytes(path) as opened:
        content = opened.read()
    try:
        for operation, argument, place in pickletools.genops(content):
            name = operation.name
            if name not in _ALLOWED:
                raise pickle.UnpicklingError(f"byte {place} asks for the operation {name}")
            if name == "GLOBAL" and tuple(str(argument).split(" ", 1)) not in _REPLACEMENTS:
                raise pickle.UnpicklingError(f"it names {str(argument).replace(' ', '.', 1)}")
            # Memory grows with a memo number; a valid one counts the objects before it.
            if name in {"PUT", "LONG_BINPUT"} and int(argument or 0) > len(content):
                raise pickle.UnpicklingError(f"byte {place} reserves {argument} memo cells")
        return _PlainUnpickler(io.BytesIO(content)).load()
    except Exception as error:  # a broken pickle may raise anything
        reason = str(error) or type(error).__name__
        raise FileError(
            f"{path} is not a pickle of plain data (containers, numbers, texts): {reason:.200}. "
            "It was not executed; ask its author for JSON"
        ) from None
