"""Tiny models with random weights and the byte-level tokenizers of RoBERTa, BART and GPT-2."""

from __future__ import annotations

from pathlib import Path

from conftest import example
from model_families import FAMILIES

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
TOKENIZERS = {"roberta": "RobertaTokenizer", "bart": "RobertaTokenizer", "gpt-2": "GPT2Tokenizer"}


def save_model(kind: str, folder: Path) -> Path:
    """Save a model of 512 tokens at most, with three layers, and return its folder."""
    import torch
    import transformers
    from tokenizers import ByteLevelBPETokenizer

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(example("reference.a"), vocab_size=500, special_tokens=SPECIAL)
    folder.mkdir(exist_ok=True)
    trained.save_model(str(folder))
    names = dict(zip(["bos_token", "pad_token", "eos_token", "unk_token"], SPECIAL, strict=False))
    tokenizer = getattr(transformers, TOKENIZERS[kind]).from_pretrained(
        str(folder), model_max_length=512, **names
    )
    tokenizer.save_pretrained(folder)
    name, sizes = FAMILIES[kind]
    longest = {"roberta": "max_position_embeddings", "gpt-2": "n_positions"}
    positions = {longest.get(kind, "max_position_embeddings"): 514}
    config = transformers.AutoConfig.for_model(
        name, vocab_size=len(tokenizer), **{**sizes, **positions}
    )
    with torch.random.fork_rng():
        torch.manual_seed(1)
        transformers.AutoModel.from_config(config).save_pretrained(folder)
    return folder
