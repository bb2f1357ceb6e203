"""Models are found where they should be, refused where unsafe, and never fetched unasked."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import pytest

from conftest import needs_embedded
from nlgauge.core.errors import MissingExtra, ModelError
from nlgauge.encode import model_files
from nlgauge.encode.model_files import chosen_model, find_model


def test_the_option_wins_over_the_variable_over_the_embedded(monkeypatch) -> None:
    assert chosen_model(None) == "embedded"
    monkeypatch.setenv("NLGAUGE_MODEL", "hashing")
    assert chosen_model(None) == "hashing"
    assert chosen_model("roberta-base") == "roberta-base"
    assert chosen_model("lang:zh") == "bert-base-chinese"
    assert chosen_model("lang:sw") == "bert-base-multilingual-cased"


@needs_embedded
def test_the_embedded_weights_are_checked(monkeypatch) -> None:
    assert find_model("embedded").digest == "53aa51172d14"
    monkeypatch.setattr(model_files, "_EMBEDDED_SHA256", "0" * 64)
    with pytest.raises(ModelError, match=r"sha256 53aa51172d14\.\.\., not 0000.*reinstall"):
        find_model("embedded")


def test_without_the_package_the_extra_is_named(monkeypatch) -> None:
    monkeypatch.setattr(model_files, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install 'nlgauge\[embedded\]'"):
        find_model("embedded")


def test_an_absent_model_names_the_ways_out_without_touching_the_network(monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was attempted")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    with pytest.raises(ModelError, match=r"not on this machine; name a folder.*NLGAUGE_DOWNLOAD=1"):
        find_model("nobody/has-this-model")


@pytest.mark.parametrize("name", ["./nowhere", "a/b/c", "~nobody/model"])
def test_an_absent_folder_is_called_one(name: str) -> None:
    with pytest.raises(ModelError, match="there is no model folder"):
        find_model(name)


def test_a_pickle_checkpoint_is_refused(tiny, tmp_path: Path) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(tiny("bert"), folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"only pytorch_model.bin, a pickle that could run code"):
        find_model(str(folder))


def test_a_folder_without_tokenizer_config_or_weights_is_refused(tiny, tmp_path: Path) -> None:
    for missing, message in (
        ("tokenizer.json", "has no tokenizer"),
        ("config.json", "has no config.json"),
        ("model.safetensors", "holds no \\*.safetensors"),
    ):
        folder = tmp_path / missing
        shutil.copytree(tiny("bert"), folder)
        (folder / missing).unlink()
        with pytest.raises(ModelError, match=message):
            find_model(str(folder))


def test_damaged_weights_are_an_error_not_a_traceback(tiny, tmp_path: Path) -> None:
    from nlgauge.encode import open_encoder

    folder = tmp_path / "damaged"
    shutil.copytree(tiny("bert"), folder)
    (folder / "model.safetensors").write_bytes(b"not safetensors at all")
    with pytest.raises(ModelError, match="cannot be loaded"):
        open_encoder(str(folder))
