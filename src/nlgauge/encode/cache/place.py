"""Where the cache lies and how large it may grow, as the caller or the environment says."""

from __future__ import annotations

import os
import re
from pathlib import Path

from nlgauge.core.errors import OptionError, UsageError

CACHE_VARIABLE = "NLGAUGE_CACHE"
SIZE_VARIABLE = "NLGAUGE_CACHE_SIZE"
DEFAULT_SIZE = "10GB"
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgt]?)(i?)b?)", re.IGNORECASE)


def chosen_cache(folder: str | Path | None) -> Path | None:
    """The folder asked for, else that of ``NLGAUGE_CACHE``; None where neither names one.

    An empty name means no cache, so that one call can do without the environment's.
    """
    wanted = os.environ.get(CACHE_VARIABLE, "") if folder is None else str(folder)
    if not wanted:
        return None
    path = Path(wanted).expanduser().absolute()
    if path.exists() and not path.is_dir():
        raise UsageError(f"the cache {wanted!r} is a file; name a folder, which may be new")
    size_limit()  # a size that is none is refused before anything is computed
    return path


def size_limit() -> int:
    """The bytes a cache may take: ``NLGAUGE_CACHE_SIZE``, else 10 GB."""
    return parse_size(os.environ.get(SIZE_VARIABLE) or DEFAULT_SIZE)


def parse_size(text: str) -> int:
    """The bytes that 500MB, 10GB, 1.5GiB or a bare number mean."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise OptionError(f"the cache size {text!r} is none: write 500MB, 10GB or 1.5GiB")
    number, unit, binary = match.group(1), match.group(2).lower(), match.group(3)
    return int(float(number) * (_BINARY[unit] if binary and unit else _UNITS[unit]))
