"""Model families that are tested: their types and the sizes of tiny models."""

from __future__ import annotations

_BERT = {
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "pad_token_id": 1,
}
_T5 = {"d_model": 16, "num_layers": 3, "num_heads": 2, "d_ff": 32, "d_kv": 8}
_BART = {"d_model": 16, "encoder_layers": 3, "decoder_layers": 2, "pad_token_id": 1} | {
    f"{side}_{size}": number
    for side in ("encoder", "decoder")
    for size, number in (("attention_heads", 2), ("ffn_dim", 32))
}
_DEBERTA = {**_BERT, "pos_att_type": ["c2p", "p2c"], "relative_attention": True}
_XLM = {"emb_dim": 16, "n_layers": 3, "n_heads": 2, "pad_index": 1}
_LATIN = {"bos_token_id": 0, "eos_token_id": 2}
FAMILIES: dict[str, tuple[str, dict[str, object]]] = {
    "albert": ("albert", {**_BERT, "embedding_size": 8}),
    "bart": ("bart", _BART),
    "bert": ("bert", _BERT),
    "bigbird": ("big_bird", _BERT),
    "camembert": ("camembert", _BERT),
    "convbert": ("convbert", {**_BERT, "embedding_size": 16}),
    "deberta": ("deberta", _DEBERTA),
    "deberta-v2": ("deberta-v2", _DEBERTA),
    "distilbert": ("distilbert", {"dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 32}),
    "electra": ("electra", {**_BERT, "embedding_size": 8}),
    "fnet": ("fnet", {key: _BERT[key] for key in _BERT if key != "num_attention_heads"}),
    "gpt-2": ("gpt2", {"n_embd": 16, "n_layer": 3, "n_head": 2, **_LATIN}),
    "llama": ("llama", {**_BERT, **_LATIN}),
    "longformer": ("longformer", {**_BERT, "attention_window": [8] * 3}),
    "mbart": ("mbart", _BART),
    "modernbert": ("modernbert", {**_BERT, **_LATIN, "cls_token_id": 0, "sep_token_id": 2}),
    "mpnet": ("mpnet", _BERT),
    "mt5": ("mt5", _T5),
    "rembert": ("rembert", {**_BERT, "input_embedding_size": 8, "output_embedding_size": 8}),
    "roberta": ("roberta", _BERT),
    "squeezebert": ("squeezebert", {**_BERT, "embedding_size": 16}),
    "t5": ("t5", _T5),
    "umt5": ("umt5", _T5),
    "xlm": ("xlm", _XLM),
    "xlm-roberta": ("xlm-roberta", _BERT),
    "xlnet": ("xlnet", {"d_model": 16, "n_layer": 3, "n_head": 2, "d_inner": 32}),
}
"""Families of models by their names in the documentation: type and sizes of a tiny one."""

OTHERS: dict[str, tuple[str, dict[str, object]]] = {
    "canine": ("canine", {**_BERT, "num_hash_buckets": 64}),
    "longformer-short": ("longformer", {**_BERT, "max_position_embeddings": 34}),
    "roberta-short": ("roberta", {**_BERT, "max_position_embeddings": 34}),
    "without-positions": ("roberta", {**_BERT, "max_position_embeddings": 3}),
}
"""Models with a limit, or that are refused."""
