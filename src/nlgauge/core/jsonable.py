"""Conversion of results to values that JSON can hold."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np


def to_jsonable(value: Any) -> Any:
    """Return the value with NaN and infinities as None, and arrays and tuples as lists."""
    if isinstance(value, float | np.floating):
        return float(value) if isfinite(value) else None
    if isinstance(value, np.ndarray | np.integer | np.bool_):
        return to_jsonable(value.tolist())
    if isinstance(value, Mapping):
        return {key: to_jsonable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [to_jsonable(entry) for entry in value]
    return value
