"""Tiny models with random weights, saved in folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import example
from model_families import FAMILIES, OTHERS

torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")
transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="session")
def tokenizer() -> object:
    """A byte-level tokenizer trained on the example, with RoBERTa's special tokens."""
    from tokenizers import ByteLevelBPETokenizer
    from tokenizers.processors import RobertaProcessing

    trained = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator(example("reference.a"), vocab_size=500, special_tokens=special)
    trained._tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = dict(zip(["bos_token", "pad_token", "eos_token", "unk_token"], special, strict=False))
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer, cls_token="<s>", sep_token="</s>", **names
    )


def _config(kind: str, vocabulary: int) -> object:
    name, sizes = {**FAMILIES, **OTHERS}[kind]
    return transformers.AutoConfig.for_model(name, vocab_size=vocabulary, **sizes)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory, tokenizer: object) -> object:
    """A function that returns the folder of a tiny model of the named architecture."""

    def build(kind: str) -> Path:
        folder = tmp_path_factory.getbasetemp() / f"tiny-{kind}"
        if not folder.exists():
            torch.manual_seed(1)
            model = transformers.AutoModel.from_config(_config(kind, len(tokenizer)))
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
        return folder

    return build
