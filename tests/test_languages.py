"""The option lang sets tokenizers, penalties and models, and signatures contain them."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from conftest import needs_embedded
from nlgauge import Scorer, metric, metric_names, score, score_systems
from nlgauge.core.errors import ModelError, NlgaugeError, OptionError
from nlgauge.corpus_run import UNKNOWN_NOTE
from nlgauge.metrics import metric_in
from nlgauge.runtime import Runtime

CANDIDATES = ["东京是日本的首都。", "猫坐在垫子上"]
REFERENCES = ["东京是日本的首都，很大。", "一只猫坐在垫子上"]
CHINESE, JAPANESE = Runtime(lang="zh"), Runtime(lang="ja")


def test_chinese_is_split_into_characters_for_bleu_and_ter() -> None:
    texts = CANDIDATES, REFERENCES
    spelled = ["bleu:tokenize=zh", "ter:normalized=yes,asian_support=yes"]
    named = score(*texts, metrics=["bleu", "ter"], runtime=CHINESE)
    for short, long in zip(named.values(), score(*texts, metrics=spelled).values(), strict=True):
        assert short.value == long.value
        assert str(short.signature) == str(long.signature)
    plain = score(*texts, metrics=["bleu", "ter"])
    assert named["bleu"].value > plain["bleu"].value + 20
    assert named["ter"].value < plain["ter"].value
    assert "|tok:zh|" in str(named["bleu"].signature)


def test_options_of_the_spec_take_precedence() -> None:
    assert metric_in("zh", "bleu:tokenize=13a").tokenize == "13a"
    assert metric_in("zh", "bleu:lowercase=yes") == metric("bleu:lowercase=yes,tokenize=zh")
    assert metric_in("ja", "lazy_emd:lang=zh").lang == "zh"
    assert metric_in("de", "lazy_emd").lang == "other"
    assert metric_in("de", "lazy_emd:penalty_candidate=.5").penalties == (0.5, 0.95)


def test_english_changes_nothing() -> None:
    for name in set(metric_names()) - {"external", "ensemble"}:
        assert metric_in("en", name) == metric(name), name


def test_the_language_may_be_an_option_of_a_metric() -> None:
    assert metric("bleu:lang=ja") == metric("bleu", lang="jpn") == metric("bleu:tokenize=ja-mecab")
    assert metric("bleu:lang=zh,tokenize=char") == metric("bleu:tokenize=char,lang=zh")
    assert metric("meteor:lang=de") == metric("meteor:stem=no,synonyms=none")
    assert metric("bertscore:lang=ja").model == "lang:ja"
    with pytest.raises(OptionError, match="no option 'lang'"):
        metric("chrf:lang=ja")
    with pytest.raises(OptionError, match="did you mean 'ja'"):
        metric("bleu:lang=jp")


def test_members_of_an_ensemble_get_the_language() -> None:
    (scores,) = score(
        CANDIDATES, REFERENCES, metrics="ensemble:metrics=bleu+chrf", runtime=CHINESE
    ).values()
    (spelled,) = score(
        CANDIDATES, REFERENCES, metrics="ensemble:metrics=bleu:tokenize=zh+chrf"
    ).values()
    assert scores.value == spelled.value
    again = metric(str(scores.signature))
    assert again.members == spelled.metric.members


@pytest.mark.skipif(find_spec("MeCab") is not None, reason="MeCab is installed")
def test_a_missing_tokenizer_is_named_with_its_package() -> None:
    with pytest.raises(NlgaugeError, match=r"pip install 'sacrebleu\[ja,ko\]', or compare char"):
        score(["東京"], ["東京"], metrics="bleu", runtime=JAPANESE)


def test_a_model_of_the_language_is_required_and_an_english_one_is_refused() -> None:
    with pytest.raises(ModelError) as refused:
        score(CANDIDATES, REFERENCES, metrics="bertscore", runtime=JAPANESE)
    messages = str(refused.value)
    assert messages.startswith("texts in 'ja': model 'bert-base-multilingual-cased' is not on this")
    for way_out in ("--download", "NLGAUGE_MODEL", "model=embedded"):
        assert way_out in messages
    with pytest.raises(ModelError, match="'bert-base-chinese'"):
        score(CANDIDATES, REFERENCES, metrics="infolm", runtime=CHINESE)
    with pytest.raises(ModelError, match="'bert-base-multilingual-cased'"):
        Scorer("ensemble:metrics=chrf+bertscore", runtime=Runtime(lang="ko"))


def test_the_model_of_the_user_takes_precedence(monkeypatch: pytest.MonkeyPatch) -> None:
    (named,) = score(CANDIDATES, REFERENCES, metrics="wmd:model=hashing", runtime=JAPANESE).values()
    monkeypatch.setenv("NLGAUGE_MODEL", "hashing")
    (meant,) = score(CANDIDATES, REFERENCES, metrics="wmd", runtime=JAPANESE).values()
    assert meant.signature == named.signature
    assert not named.notes


@needs_embedded
@pytest.mark.filterwarnings("ignore::nlgauge.UnknownTokensWarning")
def test_an_english_model_warns_if_texts_are_not_in_latin_letters() -> None:
    spec = "bertscore:model=embedded"
    (reports,) = score(CANDIDATES, REFERENCES, metrics=spec, runtime=Runtime(lang="de")).values()
    assert reports.notes["the model embedded knows English only, not de"] == 2
    (seen,) = score([*CANDIDATES, "ok"], [*REFERENCES, "fine"], metrics="bertscore").values()
    assert seen.notes.pop(UNKNOWN_NOTE) == 2
    (note,) = seen.notes
    assert note.startswith("the model embedded knows English only, but a text is not in Latin")
    assert seen.notes[note] == 2
    (english,) = score(
        ["a naïve plan"], ["a plan"], metrics="bertscore", runtime=Runtime(lang="en")
    ).values()
    assert not english.notes


def test_systems_share_a_language_and_built_metrics_refuse_one() -> None:
    board = score_systems(
        {"a": CANDIDATES, "b": REFERENCES}, REFERENCES, metrics="bleu", runtime=CHINESE
    )
    assert board["b"]["bleu"].value == pytest.approx(100)
    for spec in (metric("bleu"), str(board["a"]["bleu"].signature)):
        with pytest.raises(OptionError, match="lang=zh cannot change a built metric"):
            score(CANDIDATES, REFERENCES, metrics=spec, runtime=CHINESE)
    with pytest.raises(OptionError, match="write a language code"):
        score(CANDIDATES, REFERENCES, metrics="chrf", runtime=Runtime(lang="Chinese"))
