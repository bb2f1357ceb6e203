"""What a value depends on besides its text: another model, way or version is another value."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path

from nlgauge.core.versions import version_of
from nlgauge.encode.model_files import find_model
from nlgauge.encode.run_options import Ways

_LIBRARIES = ("nlgauge", "torch", "transformers", "tokenizers")
_UNRELATED = {"batch_tokens", "download"}  # options that values do not depend on
_SETTINGS = ("*.json", "*.txt", "*.model")


def identity(name: str, ways: Ways) -> dict[str, str]:
    """The digests of the model's files, the ways it is run, and the libraries that run it.

    Versions belong to it because signatures tell them. A new way does so unless it is named here.
    """
    chosen = {way: str(value) for way, value in asdict(ways).items() if way not in _UNRELATED}
    versions = {library: version_of(library) for library in _LIBRARIES}
    if name == "hashing":
        return {"model": name, **chosen, "nlgauge": versions["nlgauge"]}
    located = find_model(name, download=ways.download)
    files = {"weights": located.digest, "settings": _settings(located.folder)}
    # Of a folder only the last name, so that a model is itself by whichever path it is reached.
    return {"model": Path(name).name, **files, **chosen, **versions}


def _settings(folder: Path) -> str:
    """The digest of a model's configuration, tokenizer and vocabulary."""
    content = hashlib.sha256()
    for path in sorted(path for pattern in _SETTINGS for path in folder.glob(pattern)):
        content.update(f"{path.name} {path.stat().st_size} ".encode())
        content.update(path.read_bytes())
    return content.hexdigest()[:12]
