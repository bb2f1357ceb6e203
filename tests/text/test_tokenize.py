"""Words of texts in several scripts."""

import pytest

from nlgauge.text.tokenize import ascii_words, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, Wörld! don't 3.5", ["hello", "wörld", "don", "t", "3", "5"]),
        ("你好，世界 GPT4", ["你", "好", "世", "界", "gpt4"]),
        ("カード日本", ["カ", "ー", "ド", "日", "本"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("안녕하세요 세계", ["안녕하세요", "세계"]),
        ("می‌خواهم", ["می‌خواهم"]),
        ("ok 👩‍👩‍👧👍🏽 🇩🇪🇫🇷", ["ok", "👩‍👩‍👧", "👍🏽", "🇩🇪", "🇫🇷"]),
        ("", []),
        (" \n\t", []),
        ("?! ...", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


def test_thai_goes_by_character_with_its_marks():
    assert words("ที่นี่") == ["ที่", "นี่"]


def test_case_and_marks_are_options():
    assert words("A b.", lowercase=False) == ["A", "b"]
    assert words("A b. €5", marks=True) == ["a", "b", ".", "€", "5"]


def test_composed_and_decomposed_letters_are_equal():
    assert words("cafe\u0301") == words("caf\u00e9") == ["caf\u00e9"]


def test_ascii_words_drop_what_rouge_score_drops():
    assert ascii_words("Naïve U.S. caf_é 3") == ["na", "ve", "u", "s", "caf", "3"]
