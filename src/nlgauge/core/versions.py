"""Versions of installed packages, for signatures and cache keys."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache  # reading a package's metadata takes longer than scoring a short text
def version_of(package: str) -> str:
    """Return the version of a package, or ``absent``."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
