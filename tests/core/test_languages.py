"""Language codes, options per language, and the script of texts."""

import pytest

from nlgauge.core.errors import OptionError
from nlgauge.core.languages import in_latin_letters, language_code
from nlgauge.metrics import metric_class


@pytest.mark.parametrize(
    ("named", "code"),
    [("ja", "ja"), ("JA", "ja"), ("jpn", "ja"), ("zh_TW", "zh"), ("pt-BR", "pt"), (" en-US", "en")],
)
def test_a_language_has_one_code(named: str, code: str) -> None:
    assert language_code(named) == code


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("japanese", "write a language code, as en, zh"),
        ("", "write a language code"),
        ("jp", "the code of a country; did you mean 'ja'"),
        ("cn", "did you mean 'zh'"),
    ],
)
def test_invalid_codes_are_refused(named: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        language_code(named)


def options_for(metric: str, language: str) -> dict[str, str | bool]:
    return metric_class(metric).options_for(language)


def test_the_table_changes_what_is_english_and_nothing_else() -> None:
    assert options_for("bleu", "en") == options_for("bleu", "de") == options_for("chrf", "ja") == {}
    assert options_for("bleu", "ko-KR") == {"tokenize": "ko-mecab"}
    assert options_for("bleu", "th") == {"tokenize": "char"}
    assert options_for("meteor", "de") == {"stem": False, "synonyms": "none"}
    assert [options_for("lazy_emd", code)["lang"] for code in ("zh", "ja", "de")] == [
        *("zh", "other", "other")
    ]


@pytest.mark.parametrize(
    ("text", "latin"),
    [
        ("a naïve café", True),
        ("Nguyễn Tấn Dũng", True),
        ("", True),
        ("😀 123", True),
        ("东京是首都", False),
        ("Привет, world", False),
        ("a day in 東京", True),
        ("สวัสดี", False),
    ],
)
def test_letters_are_latin_or_not(text: str, latin: bool) -> None:
    assert in_latin_letters(text) == latin
