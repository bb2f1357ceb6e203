"""The folder and the size limit of the embedding cache, from arguments or the environment."""

import os
import re
from pathlib import Path

from nlgauge.core.errors import OptionError, UsageError
from nlgauge.core.option_files import expand_home

CACHE_VARIABLE = "NLGAUGE_CACHE"
SIZE_VARIABLE = "NLGAUGE_CACHE_SIZE"
DEFAULT_SIZE = "10GB"
_PREFIXES = " kmgt"
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)


def cache_folder(folder: str | Path | None) -> Path | None:
    """Return the given folder, else ``NLGAUGE_CACHE``, else None.

    An empty name disables the cache even if the environment variable is set.
    """
    name = os.environ.get(CACHE_VARIABLE, "") if folder is None else str(folder)
    if not name:
        return None
    path = expand_home(name).absolute()
    if path.exists() and not path.is_dir():
        raise UsageError(f"the cache {name!r} is a file; name a folder, which may be new")
    size_limit()  # raises an error for an invalid size before anything is computed
    return path


def size_limit() -> int:
    """Return the maximum size of a cache in bytes: ``NLGAUGE_CACHE_SIZE``, else 10 GB."""
    return parse_size(os.environ.get(SIZE_VARIABLE) or DEFAULT_SIZE)


def parse_size(text: str) -> int:
    """Return the bytes of a size such as 500MB, 10GB, 1.5GiB or a bare number."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise OptionError(f"invalid cache size {text!r}: write 500MB, 10GB or 1.5GiB")
    number, prefix, binary = match.groups()
    base = 1024 if binary else 1000
    return int(float(number) * base ** _PREFIXES.index(prefix.lower() or " "))
