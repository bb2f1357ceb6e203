"""nlgauge models: list, get, verify and path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import needs_embedded
from model_packages import NAME, flip_byte, make_packages, use_registry, wheel_of
from nlgauge.cli import main
from nlgauge.encode.model_list import known_models
from nlgauge.encode.packaged_models import packaged_models


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["models", *map(str, words)])
    shown = capsys.readouterr()
    return int(stop.value.code or 0), shown.out, shown.err


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NLGAUGE_MODELS", str(tmp_path / "store"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "store"


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Wheels of a small model in place of mpnet."""
    registry = make_packages(tmp_path / "wheels")
    entries = json.loads(registry.read_bytes())
    registry.write_text(json.dumps({"mpnet": entries[NAME]}), "utf-8")
    use_registry(monkeypatch, registry)
    yield tmp_path / "wheels"
    packaged_models.cache_clear()


def test_the_list_has_every_known_model(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "list")
    assert code == 0
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line}
    assert rows["mpnet"] == ["no", "439", "Apache-2.0", "en", "0.774", "0.755"]
    assert rows["use"][3:] == ["15", "languages"]
    assert "hashing" not in rows
    listed = json.loads(run(capsys, "list", "--format", "json")[1])
    assert [model["name"] for model in listed["models"]] == [x.name for x in known_models()]
    by_name = {model["name"]: model for model in listed["models"]}
    assert by_name["roberta-large"]["layers"] == {"greedy": [17]}
    assert by_name["hashing"]["present"]
    assert not by_name["mpnet"]["present"]
    assert "ru" in by_name["use"]["languages"]
    assert "WMT15" in listed["agreement"]
    others = sum(model["source"] == "Hugging Face hub" for model in listed["models"])
    assert f"the best layers of {others} models" in out
    assert max(map(len, out.splitlines())) <= 100


def test_get_path_and_verify(wheels: Path, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "path", "mpnet")
    assert (code, err) == (
        1,
        "nlgauge: model 'mpnet' is not on this machine; fetch it with: nlgauge models get mpnet\n",
    )
    code, out, err = run(capsys, "get", "mpnet", "--find-links", wheels)
    assert (code, out) == (0, f"{store / 'mpnet'}\n")
    assert err.startswith("part 1 of 3: ")
    assert run(capsys, "get", "mpnet", "--quiet") == (0, f"{store / 'mpnet'}\n", "")
    assert run(capsys, "path", "mpnet") == (0, f"{store / 'mpnet'}\n", "")
    digest = packaged_models()["mpnet"].weights.sha256[:12]
    expected = f"mpnet: as published, weights sha256 {digest}\n"
    assert run(capsys, "verify", "mpnet") == (0, expected, "")
    flip_byte(store / "mpnet" / "tokenizer.json")
    code, out, _ = run(capsys, "verify", "mpnet")
    assert code == 1
    assert out.startswith("mpnet: tokenizer.json is not the published file")
    flip_byte(store / "mpnet" / "model.safetensors")
    code, out, _ = run(capsys, "verify", "mpnet")
    assert code == 1
    assert "tokenizer.json is not" in out
    assert "model.safetensors is not" in out


def test_a_damaged_part_is_an_error(wheels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flip_byte(wheel_of(wheels, 2))
    code, out, err = run(capsys, "get", "mpnet", "--find-links", wheels)
    assert (code, out) == (1, "")
    assert "nlgauge: part 2 of 3 (tiny-model-part-002 0.0.1) has sha256 " in err


def test_unknown_names_are_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("path", "verify", "get"):
        code, _, err = run(capsys, verb, "mpent")
        assert code == 2
        assert "'mpent'" in err
    assert "built in: it has no files" in run(capsys, "path", "hashing")[2]
    assert "at its first use with --download" in run(capsys, "path", "roberta-large")[2]


@needs_embedded
def test_the_embedded_model_is_listed_as_installed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "verify", "embedded")
    assert (code, out) == (0, "embedded: as published, weights sha256 53aa51172d14\n")
    assert Path(run(capsys, "path", "embedded")[1].strip(), "model.safetensors").is_file()


def test_a_model_in_the_hub_cache_is_listed_as_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="the extra 'torch' is not installed")
    (tmp_path / "model.safetensors").write_bytes(b"1234")
    config = str(tmp_path / "config.json")
    monkeypatch.setattr(
        hub, "try_to_load_from_cache", lambda name, _: config if name == "roberta-base" else None
    )
    here = [x for x in known_models() if x.folder == tmp_path]
    assert [(model.name, model.size) for model in here] == [("roberta-base", 4)]
