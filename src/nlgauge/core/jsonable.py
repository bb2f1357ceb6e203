"""Conversion of values to JSON, and checks of JSON objects."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any


def unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dict; an ``object_pairs_hook`` that rejects repeated keys."""
    content = dict(pairs)
    if len(content) < len(pairs):
        (repeated, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {repeated!r:.80} occurs twice")
    return content


def to_jsonable(value: Any) -> Any:
    """Return the value with NaN and infinities as None, and arrays and tuples as lists."""
    if hasattr(value, "tolist"):  # a numpy array or number
        value = value.tolist()
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: to_jsonable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [to_jsonable(entry) for entry in value]
    return value
