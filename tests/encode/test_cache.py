"""The embedding cache returns equal values, computes what is missing, and is opened by options."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from cached_encoders import TEXTS, CountingEncoder, assert_same, cached_encoder
from conftest import example
from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Tokens
from nlgauge.core.errors import OptionError, UsageError
from nlgauge.encode import open_encoder, open_masked_lm
from nlgauge.encode.cache.cached_models import CachedEncoder, CachedMaskedLm, model_identity
from nlgauge.encode.cache.database import CacheWarning, EmbeddingCache
from nlgauge.encode.cache.records import text_key
from nlgauge.encode.cache.settings import cache_folder, parse_size, size_limit
from nlgauge.encode.hashing import HashingEncoder, HashingMaskedLm
from nlgauge.encode.run_options import RunOptions
from nlgauge.runtime import Runtime
from nlgauge.scoring import Scorer, score


@pytest.fixture(autouse=True)
def _unexpected_warnings_are_errors() -> object:
    """A warning that a test does not expect is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", CacheWarning)
        yield


# Stored values.


@pytest.mark.parametrize("layers", [(2,), (4, 1), (0, 1, 2, 3, 4), (3, 3)])
def test_stored_clouds_are_bit_equal(tmp_path: Path, layers: tuple[int, ...]) -> None:
    wanted = CountingEncoder().encode(TEXTS, layers)
    first, behind = cached_encoder(tmp_path)
    assert_same(first.encode(TEXTS, layers), wanted)
    assert len(behind.encoded) == len(set(TEXTS))
    again, behind = cached_encoder(tmp_path)
    assert_same(again.encode(TEXTS[::-1], layers), wanted[::-1])
    assert behind.encoded == []


def test_fewer_layers_are_served_from_more(tmp_path: Path) -> None:
    cached_encoder(tmp_path)[0].encode(TEXTS, (1, 2, 3))
    encoder, behind = cached_encoder(tmp_path)
    assert_same(encoder.encode(TEXTS, (3, 1)), CountingEncoder().encode(TEXTS, (3, 1)))
    assert behind.encoded == []


def test_only_missing_layers_are_computed(tmp_path: Path) -> None:
    cached_encoder(tmp_path)[0].encode(TEXTS[:4], (2,))
    encoder, behind = cached_encoder(tmp_path)
    assert_same(
        encoder.encode(TEXTS[:6], (1, 2, 3)), CountingEncoder().encode(TEXTS[:6], (1, 2, 3))
    )
    assert dict(behind.encoded) == {
        text: (1, 3) if n < 4 else (1, 2, 3) for n, text in enumerate(TEXTS[:6])
    }
    encoder, behind = cached_encoder(tmp_path)
    assert_same(encoder.encode(TEXTS[:6], (3, 2)), CountingEncoder().encode(TEXTS[:6], (3, 2)))
    assert behind.encoded == []


def test_equal_texts_in_one_call_are_computed_once(tmp_path: Path) -> None:
    encoder, behind = cached_encoder(tmp_path)
    clouds = encoder.encode(["a b", "c", "a b"], (1,))
    assert [text for text, _ in behind.encoded] == ["a b", "c"]
    assert clouds[0] is clouds[2]


def test_tokens_are_stored_separately_from_clouds(tmp_path: Path) -> None:
    cached_encoder(tmp_path)[0].tokenize(TEXTS)
    encoder, behind = cached_encoder(tmp_path)
    for kept, fresh in zip(encoder.tokenize(TEXTS), HashingEncoder().tokenize(TEXTS), strict=True):
        assert kept.strings == fresh.strings
        assert kept.ids.tobytes() == fresh.ids.tobytes()
    assert behind.tokenized == []


def test_the_card_is_known_without_the_model(tmp_path: Path) -> None:
    assert cached_encoder(tmp_path)[0].card == HashingEncoder().card

    def fail() -> HashingEncoder:
        raise AssertionError("the model was opened")

    known = model_identity("hashing", RunOptions())
    assert (
        CachedEncoder("hashing", fail, known, EmbeddingCache(tmp_path)).card
        == HashingEncoder().card
    )


def test_stored_values_are_read_only(tmp_path: Path) -> None:
    cached_encoder(tmp_path)[0].encode(["a b"], (1,))
    (cloud,) = cached_encoder(tmp_path)[0].encode(["a b"], (1,))
    with pytest.raises(ValueError, match="read-only"):
        cloud.points[0, 0, 0] = 1


def test_different_texts_have_different_keys() -> None:
    texts = ["", "\0", "?", "\ud800", "\udc00", "\ud800\udc00", "\U00010000", "é", "e\u0301"]
    assert len({text_key(text) for text in texts}) == len(texts)
    assert text_key("a", np.array([1.0])) != text_key("a", np.array([1.0, 0.0])) != text_key("a")


@pytest.mark.parametrize("option", [{"precision": "int8"}, {"long_text": "truncate"}])
def test_options_that_change_values_have_their_own_records(
    tmp_path: Path, option: dict[str, str]
) -> None:
    cached_encoder(tmp_path)[0].encode(TEXTS, (1,))
    encoder, behind = cached_encoder(tmp_path, **option)
    encoder.encode(TEXTS, (1,))
    assert len(behind.encoded) == len(TEXTS)


def test_batch_size_changes_no_key(tmp_path: Path) -> None:
    assert model_identity("hashing", RunOptions(batch_tokens=1)) == model_identity(
        "hashing", RunOptions(batch_tokens=9)
    )
    a, b = (open_encoder("hashing", RunOptions(batch_tokens=n), cache=tmp_path) for n in (1, 9))
    assert a is not b
    a.encode(TEXTS, (1,))
    b.encode(TEXTS, (1,))
    (held,) = EmbeddingCache(tmp_path).contents()
    assert held.entries == len(TEXTS)


# Histograms.


class CountingMaskedLm(HashingMaskedLm):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def histograms(self, texts: Sequence[str], weigh: Callable, **manner: object) -> dict:
        self.asked += texts
        return super().histograms(texts, weigh, **manner)


def uniform(tokens: Tokens) -> Floats:
    return (~tokens.special).astype(float)


def first_only(tokens: Tokens) -> Floats:
    return (np.arange(len(tokens)) == 1) & ~tokens.special


def test_histograms_depend_on_masses_and_temperature(tmp_path: Path) -> None:
    def lm() -> tuple[CachedMaskedLm, CountingMaskedLm]:
        behind = CountingMaskedLm()
        known = model_identity("hashing", RunOptions())
        return CachedMaskedLm("hashing", lambda: behind, known, EmbeddingCache(tmp_path)), behind

    texts = [text for text in TEXTS if text not in {"\ud83d\ude00 alone"}]
    wanted = HashingMaskedLm().histograms(texts, uniform, temperatures=[0.5])[0.5]
    lm()[0].histograms(texts, uniform, temperatures=[0.5])
    again, behind = lm()
    found = again.histograms(texts, uniform, temperatures=[0.5])[0.5]
    assert behind.asked == []
    for left, right in zip(found, wanted, strict=True):
        assert left.log_probabilities.tobytes() == right.log_probabilities.tobytes()
        assert left.ids.tobytes() == right.ids.tobytes()
        assert left.void == right.void
    again.histograms(texts[:1], uniform, temperatures=[0.5, 1.0])
    again.histograms(texts[:1], uniform, temperatures=[0.5], whole_words=True)
    again.histograms(texts[:1], first_only, temperatures=[0.5])
    assert behind.asked == texts[:1] * 3


# Scoring with a cache.


def test_scores_are_the_same_with_and_without(tmp_path: Path) -> None:
    candidates, references = example("literal"), example("reference.a")
    metrics = [
        "bertscore:model=hashing",
        "mover:model=hashing,weights=idf",
        "bary:model=hashing",
        "infolm:model=hashing",
    ]
    plain = score(candidates, references, metrics=metrics)
    for _ in range(2):
        kept = score(candidates, references, metrics=metrics, runtime=Runtime(cache=tmp_path))
        for label, scores in plain.items():
            assert kept[label].statistics.tobytes() == scores.statistics.tobytes()
            assert kept[label].signature == scores.signature


def test_references_are_not_encoded_again_for_a_second_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind = CountingEncoder()
    monkeypatch.setattr("nlgauge.encode._open_model", lambda *_: behind)
    references = example("reference.a")
    scorer = Scorer("mover:model=hashing,weights=idf", runtime=Runtime(cache=tmp_path))
    scorer.score(example("literal"), references)
    behind.encoded.clear()
    behind.tokenized.clear()
    scorer.score(example("hasty"), references)
    computed = {text for text, _ in behind.encoded}
    assert computed
    assert not computed & set(references)
    assert not set(behind.tokenized) & set(references)


def test_the_environment_variable_names_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not isinstance(open_encoder("hashing"), CachedEncoder)
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path))
    assert isinstance(open_encoder("hashing"), CachedEncoder)
    assert isinstance(open_masked_lm("hashing"), CachedMaskedLm)
    assert open_encoder("hashing") is open_encoder("hashing", cache=str(tmp_path))
    assert not isinstance(open_encoder("hashing", cache=""), CachedEncoder)
    monkeypatch.setenv("NLGAUGE_CACHE_SIZE", "plenty")
    with pytest.raises(OptionError, match="plenty"):
        open_encoder("hashing")


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="is a file"):
        cache_folder(tmp_path / "file")


@pytest.mark.parametrize(
    ("text", "size"),
    [("10GB", 10**10), ("1.5 GiB", 3 * 2**29), ("500m", 5 * 10**8), ("12", 12), ("7B", 7)],
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert parse_size(text) == size


def test_the_size_has_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NLGAUGE_CACHE_SIZE", raising=False)
    assert size_limit() == 10**10


# A real model.


def test_a_warm_run_loads_neither_weights_nor_torch(
    tiny: Callable[[str], Path], tmp_path: Path
) -> None:
    texts = ["a cat sat", "x " * 60], ["the cat sat down", "x " * 30]
    model = tiny("roberta-short")
    metrics = [
        f"{name},model={model}" for name in ("bertscore:weights=idf", "yisi:long_text=truncate")
    ]
    cold = score(*texts, metrics=metrics, runtime=Runtime(cache=tmp_path))
    script = (
        "import json, sys, nlgauge\n"
        "texts, metrics = json.loads(sys.argv[1])\n"
        "cached = nlgauge.Runtime(cache=sys.argv[2])\n"
        "found = nlgauge.score(*texts, metrics=metrics, runtime=cached)\n"
        "print(json.dumps([[s.statistics.tolist(), s.notes] for s in found.values()]))\n"
        "print('torch' in sys.modules)"
    )
    words = [sys.executable, "-c", script, json.dumps([texts, metrics]), str(tmp_path)]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert json.loads(shown[0]) == [[s.statistics.tolist(), s.notes] for s in cold.values()]
    assert shown[1] == "False"


def test_a_model_whose_tokenizer_changed_is_another(tiny: Callable[[str], Path]) -> None:
    folder = tiny("bert")
    before = model_identity(str(folder), RunOptions())
    assert before == model_identity(str(folder) + "/", RunOptions())
    settings = folder / "tokenizer_config.json"
    content = settings.read_text("utf-8")
    try:
        settings.write_text(content + " ", "utf-8")
        assert model_identity(str(folder), RunOptions()) != before
    finally:
        settings.write_text(content, "utf-8")
