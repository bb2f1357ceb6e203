"""Shards: safetensors files of many records, never changed once they have their name.

The name is the checksum of the content, so a shard can be judged without any index. A record is a
few named arrays; a field's arrays stand one after the other in one tensor, and ``<field>.ends``
says where each stops. Reading maps the file and hands out views of it.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import MissingExtra

Array = npt.NDArray[Any]
Record = Mapping[str, Array]

KEY_BYTES = 16
SMALL_BYTES = 4_000_000
ENDING = ".safetensors"
UNFINISHED = ".part"
_KEYS = "keys"
_ENDS = ".ends"
_TYPES = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "U8": "u1", "BOOL": "?"}


class Damaged(Exception):
    """A shard whose content is not what its name promises."""


@dataclass(frozen=True, eq=False)
class Shard:
    """An open shard: what it is about, its keys in order, and its fields."""

    about: str
    rows: Mapping[bytes, int]
    fields: Mapping[str, tuple[Array, Sequence[int]]]  # values, and where each record begins

    def record(self, key: bytes, wanted: Set[str]) -> dict[str, Array]:
        """Those arrays of a key that are wanted and here, as read-only views of the file."""
        row = self.rows[key]
        return {
            name: values[begins[row] : begins[row + 1]]
            for name, (values, begins) in self.fields.items()
            if name in wanted
        }


@dataclass(frozen=True)
class Written:
    """A shard's name, its size, and what the index has to know of it."""

    name: str
    size: int
    about: str
    fields: str
    keys: tuple[bytes, ...]

    @classmethod
    def of(cls, name: str, size: int, shard: Shard) -> Written:
        """What the index has to know of a shard that is there already."""
        return cls(name, size, shard.about, field_list(shard.fields), tuple(shard.rows))


def field_list(names: Mapping[str, Any]) -> str:
    """Field names in the one order in which the index keeps them."""
    return " ".join(sorted(names))


def write_shard(folder: Path, about: str, records: Mapping[bytes, Record]) -> Written:
    """Put records with equal fields into a file that is there whole or not at all."""
    content = _content(about, records)
    name = hashlib.sha256(content).hexdigest()[: 2 * KEY_BYTES]
    unfinished = folder / f"{name}-{secrets.token_hex(4)}{UNFINISHED}"
    try:
        with unfinished.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(folder / f"{name}{ENDING}")
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    fields = field_list(next(iter(records.values())))
    return Written(name, len(content), about, fields, tuple(records))


def read_shard(path: Path, *, check: bool) -> Shard:
    """The shard in a file; with ``check`` its content must have the checksum of its name."""
    try:
        content = _load(path)
        if check and hashlib.sha256(content).hexdigest()[: 2 * KEY_BYTES] != path.stem:
            raise Damaged(path.name)
        about, tensors = _parse(content)
        keys = tensors.pop(_KEYS).tobytes()
        rows = {keys[at : at + KEY_BYTES]: at // KEY_BYTES for at in range(0, len(keys), KEY_BYTES)}
        names = [name for name in tensors if not name.endswith(_ENDS)]
        fields = {name: (tensors[name], [0, *tensors[name + _ENDS].tolist()]) for name in names}
        return Shard(about, rows, fields)
    except (ValueError, KeyError, TypeError) as error:  # an empty file, or a header of nonsense
        raise Damaged(path.name) from error


def shard_paths(folder: Path) -> Iterator[Path]:
    """All finished shards of a folder."""
    return (path for path in sorted(folder.glob(f"*{ENDING}")) if len(path.stem) == 2 * KEY_BYTES)


def _content(about: str, records: Mapping[bytes, Record]) -> bytes:
    try:
        from safetensors.numpy import save
    except ImportError:
        raise MissingExtra("the embedding cache", "safetensors", "torch") from None
    keys = np.frombuffer(b"".join(records), dtype=np.uint8)
    tensors = {_KEYS: keys.reshape(len(records), KEY_BYTES)}
    for name in next(iter(records.values())):
        parts = [record[name] for record in records.values()]
        tensors[name] = np.concatenate(parts)
        tensors[name + _ENDS] = np.cumsum([len(part) for part in parts], dtype=np.int64)
    return bytes(save(tensors, metadata={"about": about}))


def _load(path: Path) -> bytes | mmap.mmap:
    """The content, mapped if it is large: every map holds a file open, and those are limited."""
    with path.open("rb") as stream:
        if path.stat().st_size < SMALL_BYTES:
            return stream.read()
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)


def _parse(content: bytes | mmap.mmap) -> tuple[str, dict[str, Array]]:
    """The tensors as views of the mapped file, where the library's reader would copy each."""
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    about = header.pop("__metadata__")["about"]
    tensors = {}
    for name, entry in header.items():
        dtype = np.dtype(_TYPES[entry["dtype"]])
        first, last = entry["data_offsets"]
        flat = np.frombuffer(content, dtype, (last - first) // dtype.itemsize, start + first)
        tensors[name] = flat.reshape(entry["shape"])
    return about, tensors
