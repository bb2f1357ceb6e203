"""RunFolder: the files of a run that can be killed at any time and resumed.

    manifest.json              inputs, signatures and options; at the end, parts and checksums
    parts/part-000000-….jsonl  segment scores
    parts/part-000000-….json   sums and checksums; written last, it completes the part
    rejected.jsonl             rows that could not be scored, with the reason
    summary.json               corpus scores
    ids/                       digests of ids, and corpus tables, during the run
    run.stop                   makes workers stop after their current part

Files are written to a temporary name, synced and renamed. A part is valid if its checksums match.
These include its name and the plan of the run, so that the files of another part are not accepted.
"""

import errno
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from typing import Any, Literal
from uuid import uuid4

from nlgauge.core.errors import DataError, FileError, UsageError
from nlgauge.core.jsonable import unique_keys
from nlgauge.scale.segments import PartScores, SegmentFormat

MANIFEST, SUMMARY, REJECTED = "manifest.json", "summary.json", "rejected.jsonl"
CHECKSUM = "segments_sha256"
NOT_SHARED = (
    "a worker does not see {!r}; all machines need the folder of --parts, and the input files, "
    "in a file system that they share"
)
_LOCK, _TEMPORARY, _STOP = "run.lock", ".unfinished", "run.stop"
_PARTS, _SCRATCH = "parts", "ids"


class RunFolder:
    """The files of one run."""

    def __init__(self, path: str | Path, segments: SegmentFormat) -> None:
        self.path = Path(path)
        self._segment_format = segments
        self._run = ""  # digest of the plan

    @property
    def scratch(self) -> Path:
        """The folder of temporary files."""
        return self.path / _SCRATCH

    @contextmanager
    def open(self) -> Iterator[None]:
        """Create the folder, lock it against other runs and delete temporary files."""
        with explain_errors(self.path):
            (self.path / _PARTS).mkdir(parents=True, exist_ok=True)
            lock = _check_regular(self.path / _LOCK).open("a")
        with lock:
            if not _lock(lock.fileno()):
                busy = f"another run is writing to {str(self.path)!r}"
                raise UsageError(f"{busy}; wait for it, or use another folder")
            self._clean()
            try:
                yield
            finally:
                self._clean()

    def _clean(self) -> None:
        """Delete temporary files of a run that was killed or lost workers."""
        for path in self.path.rglob(f"*{_TEMPORARY}"):
            path.unlink(missing_ok=True)
        rmtree(self.scratch, ignore_errors=True)
        (self.path / _STOP).unlink(missing_ok=True)

    def request_stop(self) -> None:
        """Make workers stop after their current part."""
        with suppress(OSError):  # they finish their tasks then
            (self.path / _STOP).touch()

    def stop_requested(self) -> bool:
        """Whether workers should stop."""
        return (self.path / _STOP).exists()

    def check_shared(self) -> None:
        """Raise an error if this worker, perhaps on another machine, cannot access the folder."""
        if not (self.path / MANIFEST).exists():
            raise FileError(NOT_SHARED.format(str(self.path / MANIFEST)))

    def check_plan(self, plan: Mapping[str, Any]) -> None:
        """Raise an error if the folder contains a run with a different plan."""
        file = self.path / MANIFEST
        known = _read_json(file) if file.exists() else plan
        listed = "\n  ".join(_differences({key: known.get(key) for key in plan}, dict(plan)))
        if listed:
            raise UsageError(
                f"{str(self.path)!r} contains a run with other inputs or options:\n  {listed}\n"
                "Use another folder, or delete this one to start over."
            )

    def write_plan(self, plan: Mapping[str, Any]) -> None:
        """Write the plan unless it exists; raise an error if the existing plan differs."""
        self.check_plan(plan)
        self._run = _sha256(_canonical(plan))
        if not (self.path / MANIFEST).exists():
            self.write(MANIFEST, plan)

    def write(self, name: str, content: Any) -> None:
        """Write a JSON file."""
        self.write_bytes(name, [(json.dumps(content, indent=2) + "\n").encode()])

    def write_bytes(self, name: str, pieces: Iterable[bytes]) -> None:
        """Write a file of the folder piece by piece."""
        with explain_errors(self.path):
            replace_file(self.path / name, pieces, sync=True)

    def write_part(self, scores: PartScores) -> None:
        """Write the files of a part; the one that completes it is written last."""
        self.write_bytes(self._segments_name(scores.name), [scores.segments])
        identity = {"part": scores.name, "run": self._run}
        content = {**identity, CHECKSUM: _sha256(scores.segments), **scores.sums}
        signed = {"sha256": _sha256(_canonical(content)), **content}
        self.write_bytes(self._sums_name(scores.name), [(json.dumps(signed) + "\n").encode()])

    def read_sums(self, name: str, *, check_segments: bool = True) -> dict[str, Any] | None:
        """Return the sums of a part, or None if they or its segment scores are not valid."""
        with suppress(OSError, DataError):
            content = _read_json(self.path / self._sums_name(name))
            signed = content.pop("sha256", None) == _sha256(_canonical(content))
            if not signed or (content.get("part"), content.get("run")) != (name, self._run):
                return None
            segments = _check_regular(self.path / self._segments_name(name))
            if not check_segments or content[CHECKSUM] == _sha256(segments.read_bytes()):
                return content
        return None

    def find_part(self, name: str) -> Literal["scored", "reused", "repaired"]:
        """Return whether the part has to be scored, can be reused, or has to be repaired."""
        if self.read_sums(name) is not None:
            return "reused"
        return "repaired" if self.has_part(name) else "scored"

    def has_part(self, name: str) -> bool:
        """Whether the part was completed once, even if its files are damaged now."""
        return (self.path / self._sums_name(name)).exists()

    def _segments_name(self, part: str) -> str:
        return f"{_PARTS}/{part}.{self._segment_format}"

    def _sums_name(self, part: str) -> str:
        return f"{_PARTS}/{part}.json"


def replace_file(file: Path, content: Iterable[bytes], *, sync: bool = False) -> None:
    """Write a file to a unique name and rename it, because a lost worker may write it, too."""
    temporary = file.with_name(f"{file.name}.{uuid4().hex}{_TEMPORARY}")
    try:
        with temporary.open("wb") as out:
            out.writelines(content)
            if sync:
                out.flush()
                os.fsync(out.fileno())
        temporary.replace(file)
        if sync:
            _sync_folder(file.parent)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise


def _lock(descriptor: int) -> bool:
    """Take the lock if it is free; the system releases it when the process ends."""
    try:
        import fcntl
    except ImportError:  # this system has no such lock
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power failure, if the system supports it."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def explain_errors(folder: Path) -> Iterator[None]:
    """Turn the errors of writing to a folder into FileErrors."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise FileError(
                f"the disk of {str(folder)!r} is full; finished parts are kept: free some space "
                "and run the same command again"
            ) from error
        raise FileError(f"cannot write to {str(folder)!r}: {error.strerror}") from error


def _read_json(file: Path) -> dict[str, Any]:
    _check_regular(file)
    try:
        content = json.loads(file.read_bytes(), object_pairs_hook=unique_keys)
        if not isinstance(content, dict):
            raise ValueError("not a JSON object")
    except ValueError as error:
        raise FileError(f"{str(file)!r} is damaged: {error}; delete it to start over") from error
    return content


def _check_regular(file: Path) -> Path:
    """Return the file; raise an error for a pipe or device, which may block forever."""
    if file.exists() and not file.is_file():
        raise FileError(f"{str(file)!r} is not a regular file; delete it")
    return file


def _canonical(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True).encode()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _differences(then: Any, now: Any, path: str = "") -> Iterator[str]:
    """Yield the places where two plans differ."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*then, *now]):
            yield from _differences(then.get(key), now.get(key), f"{path}.{key}" if path else key)
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for i, (old, new) in enumerate(zip(then, now, strict=True)):
            yield from _differences(old, new, f"{path}[{i}]")
    elif then != now:
        yield f"{path}: then {json.dumps(then)}, now {json.dumps(now)}"
