"""The known models: their locations on this machine, and whether their files are intact."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nlgauge.core.errors import ModelError, UsageError
from nlgauge.encode.model_files import EMBEDDED, find_model, package_folder
from nlgauge.encode.model_store import find_problems, stored_model
from nlgauge.encode.packaged_models import packaged_models
from nlgauge.encode.registry import known_names, languages_of, measured_layers, measured_presets
from nlgauge.encode.universal_sentence_encoder import USE, WEIGHTS_SHA256, check_resources
from nlgauge.encode.word_vectors import GLOVE

_PINNED = {EMBEDDED, USE}  # packages whose digests are known
_EXTRAS = {EMBEDDED: "embedded", GLOVE: "glove", USE: "multilingual"}


@dataclass(frozen=True)
class KnownModel:
    """A model of the registry and its location on this machine.

    Attributes
    ----------
    name
        Value of the option ``model``.
    source
        Its origin: a package, the Hugging Face hub, or ``built in``.
    folder
        Its folder; ``None`` if it is not on this machine or needs no files.
    present
        Whether it can be used without a network.
    size
        Bytes of its files on this machine, else of the published ones; ``None`` if unknown.
    licence
        Licence of the weights; empty if unknown.
    languages
        Codes of all supported languages; empty if unknown or many.
    layers
        Measured or published best layers for each kind of matching.
    presets
        Measured best values of options, if known.
    agreement
        Correlation of metrics with human judgements, if it was measured with this model.
    """

    name: str
    source: str
    folder: Path | None
    present: bool
    size: int | None
    licence: str
    languages: tuple[str, ...]
    layers: Mapping[str, tuple[int, ...]]
    presets: Mapping[str, Any] = field(default_factory=dict)
    agreement: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Verified:
    """Whether the files of a model are the published ones; if so, ``problems`` is empty."""

    name: str
    folder: Path
    digest: str  # of the weights, newly computed
    published: bool  # whether the digest could be compared with a published one
    problems: tuple[str, ...]


@cache
def _descriptions() -> Any:
    return json.loads(files(__package__).joinpath("data/model_descriptions.json").read_bytes())


def agreement_data() -> str:
    """Return the name of the data on which agreement was measured."""
    return str(_descriptions()["agreement"])


def known_models() -> list[KnownModel]:
    """Return all models of the registry; those that are installed from packages come first.

    Returns
    -------
    list of KnownModel
        Including models that are not on this machine.

    Examples
    --------
    >>> from nlgauge.encode.model_list import known_models
    >>> [model.name for model in known_models() if model.licence]
    ['embedded', 'glove', 'mpnet', 'use']
    >>> next(model.layers for model in known_models() if model.name == "roberta-large")
    {'greedy': (17,)}
    """
    return [_known(name) for name in known_names()]


def model_path(name: str) -> Path:
    """Return the folder of a model on this machine.

    Parameters
    ----------
    name
        A model of the registry.

    Returns
    -------
    Path
        The folder of its weights.

    Raises
    ------
    ModelError
        If the model is not on this machine, or is built in.

    Examples
    --------
    >>> from nlgauge.encode.model_list import model_path
    >>> model_path("hashing")
    Traceback (most recent call last):
        ...
    nlgauge.core.errors.ModelError: model 'hashing' is built in: it has no files
    """
    model = _find(name)
    if model.folder is not None:
        return model.folder
    if model.present:
        raise ModelError(f"model {name!r} is built in: it has no files")
    if name in packaged_models():
        hint = f"fetch it with: nlgauge models get {name}"
    elif name in _EXTRAS:
        hint = f"install it with: pip install 'nlgauge[{_EXTRAS[name]}]'"
    else:
        hint = "it is fetched from the Hugging Face hub at its first use with --download"
    raise ModelError(f"model {name!r} is not on this machine; {hint}")


def verify_models(names: Sequence[str] = ()) -> list[Verified]:
    """Return for each model whether its files are intact.

    Parameters
    ----------
    names
        Models of the registry; all that are on this machine by default.

    Returns
    -------
    list of Verified
        In the order of the names.

    Raises
    ------
    ModelError
        If a named model is not on this machine.

    Examples
    --------
    >>> from nlgauge.encode.model_list import verify_models
    >>> [(model.digest, model.problems) for model in verify_models(["embedded"])]
    [('53aa51172d14', ())]
    """
    present = [model.name for model in known_models() if model.folder is not None]
    return [_verify(name) for name in names or present]


def _verify(name: str) -> Verified:
    folder = model_path(name)
    packaged = packaged_models().get(name)
    problems = find_problems(packaged, folder) if packaged else []
    if name == GLOVE:  # digests of word vectors are not published
        return Verified(name, folder, "", False, ())
    try:
        if name == USE:
            check_resources()
        digest = WEIGHTS_SHA256[:12] if name == USE else find_model(name).digest
    except ModelError as error:
        return Verified(name, folder, "", True, tuple(problems or [str(error)]))
    return Verified(name, folder, digest, bool(packaged) or name in _PINNED, tuple(problems))


def _find(name: str) -> KnownModel:
    if name not in known_names():
        raise UsageError(
            f"there is no model {name!r}; `nlgauge models list` shows the known models"
        )
    return _known(name)


def _known(name: str) -> KnownModel:
    described = _descriptions()["models"].get(name, {})
    folder = _folder(name, described.get("packages", ()))
    packaged = packaged_models().get(name)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) if folder else 0
    return KnownModel(
        name,
        described.get("source", "Hugging Face hub"),
        folder,
        folder is not None or name == "hashing",
        size or (packaged.size if packaged else described.get("size")),
        described.get("licence", ""),
        languages_of(name),
        measured_layers(name),
        measured_presets(name),
        described.get("agreement", {}),
    )


def _folder(name: str, packages: Sequence[str]) -> Path | None:
    if name == "hashing":
        return None
    if name in packaged_models():
        return stored_model(name)
    if packages:
        folders = (package_folder(package) for package in packages)
        folder = next((each for each in folders if each is not None), None)
        inner = (folder / each for each in ("model", "data", "resources")) if folder else ()
        return next((each for each in inner if each.is_dir()), None)
    return _hub_folder(name)


def _hub_folder(name: str) -> Path | None:
    """Return the folder of a model in the cache of the Hugging Face hub, if it has weights."""
    if find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(name, "config.json")
    folder = Path(config).parent if isinstance(config, str) else None
    return folder if folder and any(folder.glob("*.safetensors")) else None
