"""Files opened as bytes, whatever they were packed with: gzip and Zstandard are seen by content."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from nlgauge.core.errors import FileError, MissingExtra

_GZIP = b"\x1f\x8b"
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_AT_ONCE = 4096  # packed bytes; small, as Zstandard may make 32,000 times as many of them


@contextmanager
def open_bytes(path: str) -> Iterator[IO[bytes]]:
    """The unpacked content of a file, or of stdin for ``-``; what cannot be read is told."""
    try:
        with _opened(path) as raw:
            start = raw.peek(4)[:4]
            if start[:2] == _GZIP:
                yield cast(IO[bytes], gzip.GzipFile(fileobj=raw))
            elif start == _ZSTANDARD:
                yield io.BufferedReader(_zstandard(raw))
            else:
                yield raw
    except FileNotFoundError:
        raise FileError(f"there is no file {path!r}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"file {path!r} cannot be read: {error}") from error


@contextmanager
def _opened(path: str) -> Iterator[io.BufferedReader]:
    if path != "-":
        with Path(path).open("rb") as raw:
            yield raw
    elif isinstance(sys.stdin.buffer, io.BufferedReader):
        yield sys.stdin.buffer
    else:  # a stand-in for stdin that cannot be peeked into
        yield io.BufferedReader(cast(io.RawIOBase, io.BytesIO(sys.stdin.buffer.read())))


def _zstandard(raw: IO[bytes]) -> Any:
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("a Zstandard file", "zstandard", "streams") from None

    class Reader(io.RawIOBase):
        """Unpacked bytes, frame after frame; damage is the OSError that other files would give."""

        def __init__(self) -> None:
            self._frame: Any = None
            self._unpacked = memoryview(b"")

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            while not self._unpacked and (packed := raw.read(_AT_ONCE)):
                self._unpacked = memoryview(self._unpack(packed))
            if not self._unpacked and self._frame is not None:
                # zstandard's own reader ends here as if nothing were missing.
                raise OSError("it ends in the middle of a Zstandard frame")
            size = min(len(buffer), len(self._unpacked))
            buffer[:size], self._unpacked = self._unpacked[:size], self._unpacked[size:]
            return size

        def _unpack(self, packed: bytes) -> bytes:
            unpacked = []
            while packed:
                frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
                try:
                    unpacked.append(frame.decompress(packed))
                except zstandard.ZstdError as error:
                    raise OSError(str(error)) from error
                packed = frame.unused_data if frame.eof else b""
                self._frame = None if frame.eof else frame
            return b"".join(unpacked)

    return Reader()
