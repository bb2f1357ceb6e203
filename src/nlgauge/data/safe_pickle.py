"""Pickles of plain data, read without running anything in them.

A pickle is a program that may call any function. Here ``pickletools`` lists its operations, and
only those that build plain data are executed. The two names that numpy writes for a number are
replaced by functions that decode its bytes. A few bytes can describe data that take forever to hash
or print, so keys must be numbers or texts, and the depth and printed size of the data are limited.
"""

import pickletools
import struct
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from nlgauge.core.errors import FileError
from nlgauge.data.files import open_bytes

_MAX_DEPTH = 50
_MAX_GROWTH = 100  # printed size divided by the size of the file, which stores repeated texts once
_MAX_BITS = 1024
_CODES = {  # codes of struct for numpy types
    **{"f2": "e", "f4": "f", "f8": "d", "b1": "?"},
    **{"i1": "b", "i2": "h", "i4": "i", "i8": "q"},
    **{"u1": "B", "u2": "H", "u4": "I", "u8": "Q"},
}


class _NumberType:
    """Replacement of numpy.dtype: struct code and byte order of a number."""

    def __init__(self, code: Any, *_: Any) -> None:
        if not (isinstance(code, str) and code in _CODES):
            kind = repr(code[:40]) if isinstance(code, str) else type(code).__name__
            raise ValueError(f"numbers of kind {kind} are not read")
        self.code, self.order = _CODES[code], "<"


def _scalar(kind: Any, content: Any) -> Any:
    if not (isinstance(kind, _NumberType) and isinstance(content, bytes)):
        raise ValueError("a number is not made of a kind and bytes")
    return struct.unpack((">" if kind.order == ">" else "<") + kind.code, content)[0]


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "numpy dtype": _NumberType,
    "numpy.core.multiarray scalar": _scalar,
    "numpy._core.multiarray scalar": _scalar,
}


def _function(names: Sequence[Any]) -> Callable[..., Any]:
    name = " ".join(names)
    if name not in _FUNCTIONS:
        raise ValueError(f"it names {name.replace(' ', '.', 1)}")
    return _FUNCTIONS[name]


def _call(items: Sequence[Any]) -> Any:
    function, arguments = items
    if function is not _NumberType and function is not _scalar:
        raise ValueError("it calls a value that is not a function")
    return function(*arguments)


def _set_order(target: Any, states: Sequence[Any]) -> None:
    (state,) = states
    if not isinstance(target, _NumberType):
        raise ValueError("a value is given a state")
    if not (isinstance(state, tuple) and len(state) >= 2 and state[1] in ("<", ">", "|", "=")):
        raise ValueError("the state of a number has no byte order")
    target.order = state[1]


def _set_items(target: Any, items: Sequence[Any]) -> None:
    for key, value in zip(items[::2], items[1::2], strict=True):
        if not isinstance(key, str | bytes | int | float | None):
            raise ValueError(f"a key is a {type(key).__name__}, not a number or a text")
        dict.__setitem__(target, key, value)


_VALUES = {  # operations whose argument is the value
    *("NONE", "FLOAT", "BINFLOAT", "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
    *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
}
# The number of items that an operation takes from the stack (None: those above the mark), and the
# function that creates a value from them or changes the value below them.
_MAKE: dict[str, tuple[int | None, Callable[[list[Any]], Any]]] = {
    **{"NEWTRUE": (0, all), "NEWFALSE": (0, any), "EMPTY_LIST": (0, list), "EMPTY_DICT": (0, dict)},
    **{"EMPTY_TUPLE": (0, tuple), "TUPLE1": (1, tuple), "TUPLE2": (2, tuple), "TUPLE3": (3, tuple)},
    **{"TUPLE": (None, tuple), "LIST": (None, list), "STACK_GLOBAL": (2, _function)},
    **{"REDUCE": (2, _call)},
}
_CHANGE: dict[str, tuple[int | None, Callable[[Any, list[Any]], None]]] = {
    **{"APPEND": (1, list.extend), "APPENDS": (None, list.extend), "BUILD": (1, _set_order)},
    **{"SETITEM": (2, _set_items), "SETITEMS": (None, _set_items)},
}


def _build(content: bytes) -> Any:
    """Return the value that the operations of a pickle build on their stack."""
    stack: list[Any] = []
    marks: list[int] = []
    memo: dict[Any, Any] = {}

    def take(count: int | None) -> list[Any]:
        start = marks.pop() if count is None else len(stack) - count
        items = stack[max(start, 0) :]
        del stack[max(start, 0) :]
        return items

    for operation, argument, place in pickletools.genops(content):
        name = operation.name
        if name in _VALUES:
            if isinstance(argument, int) and argument.bit_length() > _MAX_BITS:
                raise ValueError(f"byte {place} starts a number of {argument.bit_length():,} bits")
            stack.append(argument)
        elif name in _MAKE:
            count, make = _MAKE[name]
            stack.append(make(take(count)))
        elif name in _CHANGE:
            count, change = _CHANGE[name]
            items = take(count)
            change(stack[-1], items)
        elif name == "GLOBAL":
            stack.append(_function([argument]))
        elif name == "DICT":
            items = take(None)
            stack.append({})
            _set_items(stack[-1], items)
        elif name == "MARK":
            marks.append(len(stack))
        elif name in ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"):
            memo[len(memo) if name == "MEMOIZE" else argument] = stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        elif name not in ("PROTO", "FRAME", "STOP"):
            raise ValueError(f"byte {place} asks for the operation {name}")
    return stack.pop()


def _measure(value: Any, limit: int, known: dict[int, tuple[int, int]], above: int = 0) -> Any:
    """Return the depth of a value and its printed size, or raise if one exceeds its limit."""
    if value is None or isinstance(value, str | bytes | int | float):
        return 0, 1 + len(value) if isinstance(value, str | bytes) else 1
    if not isinstance(value, list | tuple | dict):
        raise TypeError("it contains a function")
    if id(value) not in known:
        parts = chain(value, value.values()) if isinstance(value, dict) else value
        sizes = [(0, 1)]
        if above < _MAX_DEPTH:
            sizes += [_measure(part, limit, known, above + 1) for part in parts]
        depth, size = 1 + max(sizes)[0], sum(size for _, size in sizes)
        if above == _MAX_DEPTH or depth > _MAX_DEPTH:
            raise ValueError(f"it is nested more than {_MAX_DEPTH} levels deep")
        if size > limit:
            raise ValueError(f"its data are more than {_MAX_GROWTH} times as large as the file")
        known[id(value)] = depth, size
    return known[id(value)]


def read_plain_pickle(path: str) -> Any:
    """Return the data of a pickle file; raise FileError if it contains anything but plain data."""
    with open_bytes(path) as opened:
        content = opened.read()
    try:
        value = _build(content)
        _measure(value, _MAX_GROWTH * len(content), {})
        return value
    except Exception as error:  # a damaged pickle may raise any exception
        reason = str(error) or type(error).__name__
        raise FileError(
            f"{path} is not a pickle of plain data (lists, dictionaries, numbers, texts): "
            f"{reason:.200}. It was not executed; ask its author for JSON"
        ) from None
