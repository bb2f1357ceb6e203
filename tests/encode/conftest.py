"""Tiny models with random weights, saved as a user would have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import example

torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")
transformers = pytest.importorskip("transformers")

SIZES = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2}


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
    if kind == "distilbert":
        return transformers.DistilBertConfig(
            vocab_size=vocabulary, dim=16, n_layers=3, n_heads=2, hidden_dim=32
        )
    if kind == "t5":
        return transformers.T5Config(
            vocab_size=vocabulary, d_model=16, num_layers=3, num_heads=2, d_ff=32, d_kv=8
        )
    classes = {
        "bert": transformers.BertConfig,
        "roberta": transformers.RobertaConfig,
        "roberta-short": transformers.RobertaConfig,
        "albert": transformers.AlbertConfig,
        "gpt2": transformers.GPT2Config,
        "mpnet": transformers.MPNetConfig,
    }
    extra = {"albert": {"embedding_size": 8}, "roberta-short": {"max_position_embeddings": 34}}
    if kind == "gpt2":
        return transformers.GPT2Config(vocab_size=vocabulary, n_embd=16, n_layer=3, n_head=2)
    return classes[kind](
        vocab_size=vocabulary,
        intermediate_size=32,
        pad_token_id=1,
        **SIZES,
        **extra.get(kind, {}),
    )


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory, tokenizer: object) -> object:
    """A function from an architecture's name to a folder with such a model."""

    def build(kind: str) -> Path:
        folder = tmp_path_factory.getbasetemp() / f"tiny-{kind}"
        if not folder.exists():
            torch.manual_seed(1)
            model = transformers.AutoModel.from_config(_config(kind, len(tokenizer)))
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
        return folder

    return build
