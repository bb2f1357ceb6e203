"""Url: a file or folder of an object store or another file system, read with the package fsspec.

Only the input of a run in parts that a user names becomes a Url. Readers open a Url in its file
system and all other names as local paths, so a URL in a row, a file or a request to the service is
never opened.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast
from urllib.parse import unquote

from nlgauge.core.errors import FileError, MissingExtra, UsageError

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_PASSWORD = re.compile(r"[^/]*//[^/]*:[^/]*@")
_BUFFER = 1 << 20  # bytes of a request


class Url(str):
    """The URL of a file or folder, such as ``s3://bucket/rows.jsonl``."""

    __slots__ = ()

    def open(self) -> io.BufferedReader:
        """Open the file; every read requests a range of bytes."""
        return io.BufferedReader(cast(io.RawIOBase, _RangeReader(self)), _BUFFER)

    def size(self) -> int:
        """Return the number of bytes of the file."""
        system, path = self.locate()
        with _explained(self):
            return int(system.info(path)["size"])

    def files(self) -> "list[Url] | None":
        """Return the files of a folder by name, or None if there is no such folder."""
        system, path = self.locate()
        with _explained(self):
            if not system.isdir(path):
                return None
            listed = system.ls(path, detail=True)
        names = (each["name"].rpartition("/")[2] for each in listed if each["type"] == "file")
        return [Url(f"{self.rstrip('/')}/{name}") for name in sorted(names) if name]

    def locate(self) -> tuple[Any, str]:
        """Return the file system and the path in it."""
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise MissingExtra(f"reading {str(self)!r}", "fsspec", "remote") from None
        try:
            system, path = url_to_fs(str(self), use_listings_cache=False)
        except ImportError as error:  # the message names the package of the protocol
            raise FileError(f"{str(self)!r} needs a package that is missing: {error}") from None
        except Exception as error:
            raise FileError(_reason(self, error)) from error
        return system, path


def url_or_path(text: str) -> str:
    """Return the Url that a user has named, or the local path; ``file://`` is a local path."""
    if not _URL.match(text):
        return text
    if "::" in text:
        raise UsageError(f"{text!r} chains URLs with '::', which is not supported")
    if _PASSWORD.match(text):
        raise UsageError("a URL contains a password; set it in the environment instead")
    protocol, _, rest = text.partition("://")
    if protocol.lower() == "file":
        host, slash, path = rest.partition("/")
        if host not in ("", "localhost"):
            raise UsageError(f"{text!r} names a file on another machine; write file:///PATH")
        return unquote(slash + path)
    return Url(text)


class _RangeReader(io.RawIOBase):
    """Reads ranges of bytes of a remote file."""

    def __init__(self, url: Url) -> None:
        super().__init__()
        self._url, self._at = url, 0
        self._system, self._path = url.locate()
        self._size = url.size()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        stop = min(self._at + len(buffer), self._size)
        if stop <= self._at:
            return 0
        with _explained(self._url):
            data = self._system.cat_file(self._path, start=self._at, end=stop)
        if not 0 < len(data) <= stop - self._at:
            asked = f"{stop - self._at} bytes were requested and {len(data)} returned"
            raise FileError(f"{str(self._url)!r} cannot be read in ranges: {asked}")
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


@contextmanager
def _explained(url: Url) -> Iterator[None]:
    """Turn the errors of a file system into FileErrors."""
    try:
        yield
    except FileNotFoundError:
        raise FileError(f"there is no file {str(url)!r}") from None
    except Exception as error:  # packages of object stores raise their own exceptions
        raise FileError(_reason(url, error)) from error


def _reason(url: Url, error: Exception) -> str:
    protocol = url.partition("://")[0]
    words = str(error).strip() or type(error).__name__
    hint = f"check the address, and the credentials of {protocol}:// in the environment"
    return f"file {str(url)!r} cannot be read: {words}; {hint}"
