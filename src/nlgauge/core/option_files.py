"""Files that options name: word vectors, stop words, baselines, models."""

from pathlib import Path

from nlgauge.core.errors import FileError


def require_file(path: str | Path, what: str) -> None:
    """Raise an error if the path is a pipe, a device or a folder.

    The reader of the file reports paths that do not exist.
    """
    place = Path(path)
    try:
        if place.is_file() or not place.exists():
            return
        kind = "a folder" if place.is_dir() else "a pipe" if place.is_fifo() else "a device"
    except (OSError, ValueError) as error:  # no permission, or an invalid name
        raise FileError(f"{what} {str(path)!r} cannot be read: {error}") from None
    raise FileError(f"{what} {str(path)!r} is {kind}; name a file")


def expand_home(path: str | Path) -> Path:
    """Return a path with the home folder in place of ``~``."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        reason = "its home folder is unknown; write the path in full"
        raise FileError(f"{str(path)!r} cannot be found: {reason}") from None
