"""RunFolder: where a run keeps its parts, so that it can be killed at any moment and resumed.

    manifest.json              what the run is: inputs, signatures, options; at the end, its parts
                               and their checksums
    parts/part-000000-….jsonl  scores of segments
    parts/part-000000-….json   its sums and checksums; it is written last and makes the part done
    rejected.jsonl             rows that could not be scored, and why
    summary.json               corpus scores

Files are written to a temporary name, synced and renamed. A part counts only if its checksums hold.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from nlgauge.core.errors import DataError, FileError, UsageError
from nlgauge.scale.worker import Scored, SegmentFormat

MANIFEST, SUMMARY, REJECTED = "manifest.json", "summary.json", "rejected.jsonl"
CHECKSUM = "segments_sha256"
_LOCK, _TEMPORARY = "run.lock", ".unfinished"


class RunFolder:
    """The files of one run."""

    def __init__(self, path: str | Path, segments: SegmentFormat) -> None:
        self.path = Path(path)
        self._parts = self.path / "parts"
        self._ending = segments

    @contextmanager
    def open(self) -> Iterator[None]:
        """The folder made if need be and held against other runs; leftovers are swept out."""
        with _explained(self.path):
            self._parts.mkdir(parents=True, exist_ok=True)
            lock = (self.path / _LOCK).open("a")
        with lock:
            if not _lock(lock.fileno()):
                raise UsageError(
                    f"another run is writing to {str(self.path)!r}; wait for it, or name another "
                    "folder"
                )
            for left in self.path.rglob(f"*{_TEMPORARY}"):
                left.unlink()
            yield

    def agree(self, plan: Mapping[str, Any]) -> None:
        """Write the plan, or refuse to go on if the folder holds a run of another plan."""
        self.refuse_other(plan)
        if not (self.path / MANIFEST).exists():
            self.write(MANIFEST, plan)

    def refuse_other(self, plan: Mapping[str, Any]) -> None:
        """Refuse to go on if the folder holds a run that differs in what the plan says so far."""
        file = self.path / MANIFEST
        if not file.exists():
            return
        known = _read_json(file)
        differing = list(_differences({key: known.get(key) for key in plan}, dict(plan)))
        if differing:
            listed = "\n  ".join(differing)
            raise UsageError(
                f"{str(self.path)!r} holds a run that was made otherwise:\n  {listed}\n"
                "Name another folder, or delete this one to start anew."
            )

    def write(self, name: str, content: Any) -> None:
        """A JSON file of the run."""
        self._place(self.path / name, [(json.dumps(content, indent=2) + "\n").encode()])

    def write_rejected(self, names: Iterable[str]) -> None:
        """The rows of these parts that could not be scored, one JSON object a line."""
        rows = (row for name in names for row in (self.sums(name) or {}).get("rejected", ()))
        self._place(self.path / REJECTED, ((json.dumps(row) + "\n").encode() for row in rows))

    def keep(self, scored: Scored) -> None:
        """The part's files, the one that makes it done last."""
        self._place(self._segments(scored.name), [scored.segments])
        content = {CHECKSUM: _sha256(scored.segments), **scored.sums}
        whole = {"sha256": _sha256(_canonical(content)), **content}
        self._place(self._sums(scored.name), [(json.dumps(whole) + "\n").encode()])

    def sums(self, name: str) -> dict[str, Any] | None:
        """The sums of a part that is done and undamaged, else None."""
        try:
            content = _read_json(self._sums(name))
            segments = self._segments(name).read_bytes()
        except (OSError, DataError):
            return None
        claimed = content.pop("sha256", None)
        sound = claimed == _sha256(_canonical(content))
        return content if sound and content[CHECKSUM] == _sha256(segments) else None

    def holds(self, name: str) -> bool:
        """Whether the part was once done, be its files sound or not."""
        return self._sums(name).exists()

    def _segments(self, name: str) -> Path:
        return self._parts / f"{name}.{self._ending}"

    def _sums(self, name: str) -> Path:
        return self._parts / f"{name}.json"

    def _place(self, file: Path, content: Iterable[bytes]) -> None:
        temporary = file.with_name(file.name + _TEMPORARY)
        with _explained(self.path):
            try:
                with temporary.open("wb") as out:
                    out.writelines(content)
                    out.flush()
                    os.fsync(out.fileno())
                temporary.replace(file)
                _sync_folder(file.parent)
            except OSError:
                with suppress(OSError):
                    temporary.unlink()
                raise


def _lock(descriptor: int) -> bool:
    """Whether the lock was free; the system frees it when the process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # where there is no such lock, two runs are the user's own care
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Make a rename last through a power cut, where the system can."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise FileError(
                f"the disk of {str(folder)!r} is full; finished parts are kept: make room and "
                "start the same command again"
            ) from error
        raise FileError(f"cannot write to {str(folder)!r}: {error.strerror}") from error


def _read_json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_bytes())
    except ValueError as error:
        raise FileError(f"{str(file)!r} is damaged: {error}; delete it to start anew") from error
    if not isinstance(content, dict):
        raise FileError(f"{str(file)!r} is damaged: not a JSON object; delete it to start anew")
    return content


def _canonical(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True).encode()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _differences(then: Any, now: Any, path: str = "") -> Iterator[str]:
    """The places where two plans differ, as ``path: then -> now``."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*then, *now]):
            yield from _differences(then.get(key), now.get(key), f"{path}.{key}" if path else key)
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for i, (one, other) in enumerate(zip(then, now, strict=True)):
            yield from _differences(one, other, f"{path}[{i}]")
    elif then != now:
        yield f"{path}: then {json.dumps(then)}, now {json.dumps(now)}"
