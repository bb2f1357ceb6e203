"""Hidden states are the model's own, whatever the architecture, batch, order or length."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from conftest import example
from model_families import FAMILIES
from nlgauge import score
from nlgauge.core.errors import DataError, ModelError, OptionError
from nlgauge.encode import open_encoder
from nlgauge.encode.huggingface import choose_device
from nlgauge.encode.run_options import RunOptions
from nlgauge.encode.tokenizer import Piece
from nlgauge.encode.windows import Window
from nlgauge.runtime.progress import RunProgress
from tolerances import tolerance

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

TEXTS = [*example("reference.a")[:4], "one", "", "naïve 😀 東京"]
NEAR = tolerance(4)
"""Vectors of 16 numbers that a layer has normalised are 4 long."""


@pytest.mark.parametrize("kind", FAMILIES)
def test_layers_equal_the_models_hidden_states(kind, tiny) -> None:
    folder = str(tiny(kind))
    encoder = open_encoder(folder)
    model = transformers.AutoModel.from_pretrained(folder)
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    assert encoder.card.depth == 3
    _equal_hidden_states(encoder, model)


def _equal_hidden_states(encoder, model) -> None:
    for layers in ((0,), (2,), (3,), (1, 3), (0, 1, 2, 3)):
        for text, cloud in zip(TEXTS, encoder.encode(TEXTS, layers), strict=True):
            ids = torch.tensor([cloud.tokens.ids.tolist()])
            with torch.no_grad():
                states = model(input_ids=ids, output_hidden_states=True).hidden_states
            expected = np.stack([states[layer][0].numpy() for layer in layers])
            np.testing.assert_allclose(cloud.points, expected, atol=NEAR, err_msg=text)


def test_the_documentation_lists_the_tested_families() -> None:
    page = (Path(__file__).parents[2] / "docs" / "new-model.md").read_text("utf-8")
    _, _, section = page.partition("## Which models work")
    listed = re.findall(r"[\w-]+", section.partition("Other families")[0].lower())
    assert set(FAMILIES) <= set(listed)


@pytest.mark.parametrize("kind", ["T5EncoderModel", "MT5EncoderModel", "UMT5EncoderModel"])
def test_checkpoints_of_an_encoder_without_its_decoder(kind, tokenizer, tmp_path) -> None:
    whole = getattr(transformers, kind)
    sizes = FAMILIES["t5"][1]
    model = whole(whole.config_class(vocab_size=len(tokenizer), **sizes)).eval()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    _equal_hidden_states(open_encoder(str(tmp_path)), model)


def test_byt5_has_a_token_per_byte(tmp_path) -> None:
    config = transformers.T5Config(vocab_size=384, **FAMILIES["t5"][1])
    model = transformers.T5ForConditionalGeneration(config).eval()
    model.save_pretrained(tmp_path)
    transformers.ByT5Tokenizer().save_pretrained(tmp_path)
    encoder = open_encoder(str(tmp_path))
    _equal_hidden_states(encoder, model.get_encoder())
    text = "naïve, <pad> 東京"
    (tokens,) = encoder.tokenize([text])
    assert tokens.ids.tolist() == [*(byte + 3 for byte in text.encode()), 1]
    assert tokens.special.tolist() == [False] * len(text.encode()) + [True]
    assert tokens.words.tolist()[:7] == [0, 0, 0, 0, 0, 0, 1], "the bytes of a word are its pieces"


def test_models_without_a_vector_per_token_and_layer_are_refused(tiny, tmp_path) -> None:
    advice = r"one vector per token in each of its 3 layers; use a model of a family .* such as"
    with pytest.raises(ModelError, match=f"of type 'canine' does not give {advice}"):
        open_encoder(str(tiny("canine")))
    shutil.copytree(tiny("canine"), tmp_path / "canine")
    (tmp_path / "canine" / "tokenizer.json").unlink()
    transformers.CanineTokenizer().save_pretrained(tmp_path / "canine")
    with pytest.raises(ModelError, match=r"only a slow tokenizer \(CanineTokenizer\).*use a model"):
        open_encoder(str(tmp_path / "canine"))
    with pytest.raises(ModelError, match="takes 1 tokens, and its tokenizer adds 2"):
        open_encoder(str(tiny("without-positions")))


def test_texts_that_padding_would_change_are_not_padded(tiny) -> None:
    assert open_encoder(str(tiny("bert")))._padded
    encoder = open_encoder(str(tiny("fnet")), RunOptions(batch_tokens=60))
    pieces = [Piece(i, Window(0, n, 0, n), [0] * n) for i, n in enumerate((5, 7, 5, 9, 5))]
    found = sorted(map(sorted, encoder._batches(pieces)))
    assert found == [[0, 2, 4], [1], [3]]


def test_blocks_beyond_the_deepest_layer_do_not_run(tiny) -> None:
    encoder = open_encoder(str(tiny("bert")))
    ran = []
    hooks = [
        block.register_forward_pre_hook(lambda *_, n=n: ran.append(n))
        for n, block in enumerate(encoder._recorder._blocks, start=1)
    ]
    encoder.encode(["one text"], (1,))
    for hook in hooks:
        hook.remove()
    assert ran == [1]


def test_clouds_are_in_the_order_of_texts_and_equal_texts_are_encoded_once(tiny) -> None:
    encoder = open_encoder(str(tiny("bert")))
    texts = [TEXTS[3], "one", TEXTS[0], "one", TEXTS[1]]
    clouds = encoder.encode(texts, (2,))
    assert clouds[1] is clouds[3]
    for text, cloud in zip(texts, clouds, strict=True):
        (alone,) = encoder.encode([text], (2,))
        np.testing.assert_allclose(cloud.points, alone.points, atol=NEAR)


def test_batches_keep_to_their_token_budget_and_the_largest_is_first(tiny) -> None:
    encoder = open_encoder(str(tiny("bert")), RunOptions(batch_tokens=60))
    sizes = []
    run = encoder._model.register_forward_pre_hook(
        lambda _, __, named: sizes.append(tuple(named["input_ids"].shape)), with_kwargs=True
    )
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)  # so that batches start in their order
        encoder.encode(example("reference.a") + ["one"] * 3, (1,))
    finally:
        torch.set_num_threads(before)
        run.remove()
    assert len(sizes) > 3
    assert all(rows == 1 or rows * length <= 60 for rows, length in sizes)
    tokens = [rows * length for rows, length in sizes]
    assert tokens == sorted(tokens, reverse=True)


def test_literal_special_tokens_are_text(tiny) -> None:
    encoder = open_encoder(str(tiny("bert")))
    (tokens,) = encoder.tokenize(["a <s> </s> <pad> <mask> b"])
    assert tokens.special.tolist() == [True, *[False] * (len(tokens) - 2), True]
    inner = set(tokens.ids[1:-1].tolist())
    assert not inner & {0, 1, 2, 4}, tokens.strings


def test_truncation_and_padding_in_tokenizer_json_are_ignored(tiny, tmp_path) -> None:
    from tokenizers import Tokenizer

    folder = tmp_path / "limited"
    shutil.copytree(tiny("bert"), folder)
    inner = Tokenizer.from_file(str(folder / "tokenizer.json"))
    inner.enable_truncation(8)
    inner.enable_padding(length=12)
    inner.save(str(folder / "tokenizer.json"))
    (tokens,) = open_encoder(str(folder)).tokenize([example("reference.a")[0]])
    (free,) = open_encoder(str(tiny("bert"))).tokenize([example("reference.a")[0]])
    assert tokens.strings == free.strings
    assert len(tokens) > 12


LONG = " ".join(example("reference.a"))


@pytest.mark.parametrize("kind", ["roberta-short", "longformer-short"])
def test_long_text_is_read_in_windows(kind, tiny) -> None:
    # Of 34 positions RoBERTa skips two, which leaves 32 tokens, two of them special.
    encoder = open_encoder(str(tiny(kind)))
    (cloud,) = encoder.encode([LONG], (3,))
    (tokens,) = encoder.tokenize([LONG])
    assert cloud.tokens.strings == tokens.strings
    assert cloud.points.shape == (1, len(tokens), 16)
    assert np.isfinite(cloud.points).all()
    assert cloud.notes == ("longer than 30 tokens, encoded in overlapping windows",)
    ids = tokens.ids[1:31].tolist()  # the first window, whole
    (head,) = encoder.encode([encoder._tokenizer._whole.decode(ids)], (3,))
    np.testing.assert_allclose(cloud.points[:, :20], head.points[:, :20], atol=NEAR)


def test_long_text_may_be_truncated_or_refused(tiny) -> None:
    folder = str(tiny("roberta-short"))
    (cloud,) = open_encoder(folder, RunOptions(long_text="truncate")).encode([LONG], (3,))
    assert len(cloud) == 32
    assert cloud.tokens.special.tolist() == [True, *[False] * 30, True]
    assert cloud.notes == ("longer than 30 tokens, truncated",)
    with pytest.raises(DataError, match=r"has \d+ tokens, but .* takes 30; choose long_text"):
        open_encoder(folder, RunOptions(long_text="error")).encode([LONG], (3,))


def test_the_number_of_long_texts_is_reported(tiny) -> None:
    spec = f"bertscore:model={tiny('roberta-short')},long_text=truncate"
    (scores,) = score([LONG, "one"], ["one", "one"], metrics=spec).values()
    assert "1 of 2 segments: a text is longer than 30 tokens, truncated" in scores.warnings


def test_the_layer_of_an_unknown_model_is_guessed_with_a_notice(tiny) -> None:
    (scores,) = score(["one"], ["two"], metrics=f"bertscore:model={tiny('bert')}").values()
    assert scores.metric.layer == 2
    assert any("layer 2 of 3 is a guess" in warning for warning in scores.warnings)
    for given in ("bertscore:layer=2", "bertscore:layer=-1", "mover:layers=last2", "wmd:layer=2"):
        (scores,) = score(["one"], ["two"], metrics=f"{given},model={tiny('bert')}").values()
        assert not any("guess" in warning for warning in scores.warnings), given
    (again,) = score(["one"], ["two"], metrics=str(scores.signature)).values()
    assert not any("guess" in warning for warning in again.warnings)
    with pytest.raises(OptionError, match=r"has layers 0 \(embeddings\) to 3"):
        score(["one"], ["two"], metrics=f"bertscore:model={tiny('bert')},layer=7")


def test_bfloat16_is_close_or_refused_before_it_crashes_the_process(tiny) -> None:
    folder = str(tiny("bert"))
    try:
        encoder = open_encoder(folder, RunOptions(precision="bfloat16"))
    except ModelError as error:
        pytest.skip(str(error))
    (full,) = open_encoder(folder).encode([TEXTS[0]], (3,))
    (half,) = encoder.encode([TEXTS[0]], (3,))
    assert half.points.dtype == np.float32
    assert not np.array_equal(full.points, half.points)
    np.testing.assert_allclose(full.points, half.points, atol=0.1)


def test_lone_surrogates_and_nul_bytes_are_encoded(tiny) -> None:
    clouds = open_encoder(str(tiny("bert"))).encode(["a \ud800 b", "a \x00 b"], (1,))
    assert all(np.isfinite(cloud.points).all() for cloud in clouds)


def test_batches_in_several_threads_give_the_clouds_of_one(tiny) -> None:
    encoder = open_encoder(str(tiny("bert")), RunOptions(batch_tokens=16))
    texts = [" ".join(["one two three"] * n) for n in range(1, 9)]
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        single = encoder.encode(texts, (1, 2))
        torch.set_num_threads(2)
        several = encoder.encode(texts, (1, 2))
        assert torch.get_num_threads() == 2, "the setting is the caller's"
    finally:
        torch.set_num_threads(before)
    for left, right in zip(single, several, strict=True):
        np.testing.assert_allclose(left.points, right.points, atol=NEAR)


@pytest.mark.parametrize("device", ["gpu", "cuda:99", "banana", ""])
def test_a_missing_device_is_named(device: str) -> None:
    with pytest.raises(
        ModelError, match=r"device='.*' cannot be used here \(.*\); choose auto, cpu"
    ):
        choose_device(device)


def test_an_unknown_device_is_another_error_than_a_missing_one() -> None:
    with pytest.raises(ModelError, match="torch has no device of that name"):
        choose_device("gpu")


def test_progress_is_counted_by_batches(tiny) -> None:
    reports: list[int] = []
    run = RunProgress(lambda done, _: reports.append(done), 1000)
    encoder = open_encoder(str(tiny("bert")), RunOptions(batch_tokens=16))
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        with run.phase("encoding", 1000):
            encoder.encode(TEXTS, (1,))
    finally:
        torch.set_num_threads(before)
    run.report()
    assert reports[-1] == 999


def _changed(folder: Path, target: Path, file: str, **changes: object) -> str:
    """Copy the folder of a model and change keys of one of its JSON files."""
    shutil.copytree(folder, target)
    content = json.loads((target / file).read_text("utf-8"))
    (target / file).write_text(json.dumps(content | changes), "utf-8")
    return str(target)


@pytest.mark.parametrize("texts", [["", "a man in a boat"], [""]])
def test_an_empty_text_without_special_tokens_has_the_worst_value(tiny, tmp_path, texts) -> None:
    folder = _changed(tiny("gpt-2"), tmp_path / "m", "tokenizer.json", post_processor=None)
    encoder = open_encoder(folder)
    for text, cloud in zip(texts, encoder.encode(texts, (1, 2)), strict=True):
        assert cloud.points.shape == (2, len(cloud.tokens), 16)
        assert len(cloud.tokens) > 0 or not text
    references = ["a man in a boat"] * len(texts)
    (scores,) = score(texts, references, metrics=f"bertscore:model={folder}").values()
    np.testing.assert_allclose(scores.segments, [0, 1][: len(texts)], atol=1e-6)


def test_a_negative_padding_id_is_not_looked_up(tiny, tmp_path) -> None:
    folder = _changed(tiny("llama"), tmp_path / "m", "config.json", pad_token_id=-1)
    own, other = (open_encoder(str(name)).encode(TEXTS, (2,)) for name in (folder, tiny("llama")))
    for cloud, expected in zip(own, other, strict=True):
        np.testing.assert_allclose(cloud.points, expected.points, atol=NEAR)
