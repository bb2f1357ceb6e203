"""Words that a model does not know: one warning, one note, and the same values from a cache."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import nlgauge
from conftest import needs_embedded
from nlgauge import Runtime, Scorer, UnknownTokensWarning, align, score
from nlgauge.cli import main
from nlgauge.core.cloud import unknown_id
from nlgauge.core.errors import DataError
from nlgauge.core.metric import VOID_NOTE
from nlgauge.corpus_run import UNKNOWN_NOTE
from nlgauge.encode import open_encoder
from nlgauge.encode.cache import records

CANDIDATES = ["the cat saw ฃขค and 😀", "สวัสดีชาวโลก", "a dog"]
REFERENCES = ["the cat saw ฃขฅ and 😀", "ทุกคน", "a dog"]


def _warned(*metrics: str) -> tuple[list[warnings.WarningMessage], dict[str, nlgauge.Scores]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = score(CANDIDATES, REFERENCES, metrics=list(metrics))
    return [each for each in caught if issubclass(each.category, UserWarning)], scores


@needs_embedded
def test_a_call_warns_once_with_counts_and_a_solution() -> None:
    (warning,), scores = _warned("bertscore", "wmd", "mover:ngram=2", "chrf", "infolm")
    assert warning.category is UnknownTokensWarning
    assert warning.filename == __file__  # the line of the user, not one of nlgauge
    message = str(warning.message)
    assert message.startswith("6 tokens in 4 of 5 texts are unknown to the model embedded: ")
    assert "model=" in message
    assert "lexical metrics such as chrf" in message
    for label in ("bertscore", "wmd", "mover:ngram=2", "infolm"):
        assert scores[label].notes[UNKNOWN_NOTE] == 2
        assert scores[label].notes[VOID_NOTE] == 1
        assert scores[label].segments[1] == scores[label].scale.void
        assert f"2 of 3 segments: {UNKNOWN_NOTE}" in scores[label].to_dict()["warnings"]
    assert not scores["chrf"].notes


@needs_embedded
def test_known_words_and_lexical_metrics_do_not_warn() -> None:
    assert not _warned("chrf", "rouge", "bertscore:model=hashing")[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score(["a naïve plan"], ["a plan"], metrics=["bertscore", "infolm"])


@needs_embedded
def test_members_of_an_ensemble_and_alignments_warn_too() -> None:
    with pytest.warns(UnknownTokensWarning, match="6 tokens in 4 of 5 texts"):
        score(CANDIDATES, REFERENCES, metrics="ensemble:metrics=chrf+bertscore+wmd")
    with pytest.warns(UnknownTokensWarning, match="4 tokens in 2 of 2 texts") as caught:
        plan = align(CANDIDATES[0], REFERENCES[0], metric="bertscore")
    assert len(caught) == 1
    assert plan.candidate_tokens == ("the", "cat", "saw", "ฃขค", "and", "😀")
    assert plan.reference_tokens == ("the", "cat", "saw", "ฃขฅ", "and", "😀")
    assert plan.cost[5, 5] == 0
    assert plan.cost[3].min() > 0.5  # no partner, not even the other unknown words
    with (
        pytest.warns(UnknownTokensWarning),
        pytest.raises(DataError, match="words that the model does not know"),
    ):
        score(["ฃขค"], ["ฃขค"], metrics="wmd")["wmd"].plan(0)


@needs_embedded
@pytest.mark.parametrize(
    ("spec", "best"),
    [
        ("bertscore:compat=bert_score", 1),
        ("mover:compat=mover-v1", 1),
        ("lazy_emd:compat=lazy_emd", None),
        ("bary:compat=nlg_eval", 0),
        ("depth:compat=nlg_eval", 0),
        ("smd:compat=mover-web", 0),
        ("infolm:compat=nlg_eval", 0),
    ],
)
def test_compat_compares_unknown_words_as_published_code_does_but_warns(
    spec: str, best: float | None
) -> None:
    """Texts of equally many unknown words are equal in published code."""
    with pytest.warns(UnknownTokensWarning, match="each other with compat="):
        (scores,) = score(["สวัสดี ชาวโลก"] * 2, ["ทุกคน ขอบคุณ", "ok"], metrics=spec).values()
    assert VOID_NOTE not in scores.notes
    assert scores.notes[UNKNOWN_NOTE] == 2
    if best is not None:
        assert scores.segments[0] == pytest.approx(best, abs=1e-3)
    assert scores.scale.sign * (scores.segments[0] - scores.segments[1]) > 0.01


@needs_embedded
def test_idf_counts_strings_and_published_code_one_token() -> None:
    texts = ["ฃขค a", "ฃขฅ a", "ฃขฅ b"]
    ours, published = (
        dict(Scorer(spec).fitted(texts)._bound[0].idf["reference"].__dict__)
        for spec in ("bertscore:weights=idf", "bertscore:weights=idf,compat=bert_score")
    )
    counted = dict(zip(ours["ids"].tolist(), ours["counts"].tolist(), strict=True))
    assert counted[unknown_id("ฃขค")] == 1
    assert counted[unknown_id("ฃขฅ")] == 2
    together = dict(zip(published["ids"].tolist(), published["counts"].tolist(), strict=True))
    assert together[-1] == 3


@needs_embedded
@pytest.mark.filterwarnings("ignore::nlgauge.UnknownTokensWarning")
@pytest.mark.parametrize("spec", ["bertscore:weights=idf", "mover", "depth", "infolm"])
def test_a_cache_gives_the_same_values_and_the_same_warning(spec: str, tmp_path: Path) -> None:
    plain = score(CANDIDATES, REFERENCES, metrics=spec)[spec]
    for _ in ("cold", "warm"):
        with pytest.warns(UnknownTokensWarning, match="6 tokens in 4 of 5 texts"):
            found = score(CANDIDATES, REFERENCES, metrics=spec, runtime=Runtime(cache=tmp_path))
        np.testing.assert_array_equal(found[spec].statistics, plain.statistics)
        assert found[spec].notes == plain.notes


@needs_embedded
def test_cache_records_of_earlier_versions_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = CANDIDATES[0]
    encoder = open_encoder(None, cache=tmp_path)
    with monkeypatch.context() as earlier:
        earlier.setattr(records, "VERSION", "1")
        (first,) = encoder.encode([text], [4])
        key = records.text_key(text)
        old = records.pack_tokens(first.tokens)
        encoder._cache.write(encoder._identity("tokens"), {key: {records.TOKENS: old[:-9]}})
    (tokens,) = encoder.tokenize([text])  # would fail on the bytes above
    assert tokens.strings[4] == "ฃขค"
    assert tokens.ids[4] == unknown_id("ฃขค")


@needs_embedded
@pytest.mark.filterwarnings("ignore::nlgauge.UnknownTokensWarning")
@pytest.mark.parametrize("spec", ["bertscore", "mover", "bary", "depth", "infolm"])
def test_scores_do_not_depend_on_batches_or_other_rows(spec: str) -> None:
    scores = score(CANDIDATES, REFERENCES, metrics=spec)[spec].segments
    small = score(CANDIDATES, REFERENCES, metrics=spec, runtime=Runtime(batch_tokens=8))[spec]
    np.testing.assert_allclose(small.segments, scores, atol=1e-5)
    alone = score(CANDIDATES[:1], REFERENCES[:1], metrics=spec)[spec]
    np.testing.assert_allclose(alone.segments, scores[:1], atol=1e-5)


@needs_embedded
def test_the_command_line_notes_them_and_quiet_keeps_the_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / "out.txt", tmp_path / "ref.txt"]
    for path, texts in zip(files, (CANDIDATES, REFERENCES), strict=True):
        path.write_text("\n".join(texts) + "\n", "utf-8")
    words = ["score", "-c", str(files[0]), "-r", str(files[1]), "-m", "bertscore", "-f", "json"]

    def run(*more: str) -> tuple[str, str]:
        with pytest.raises(SystemExit) as ended:
            main([*words, *more])
        assert not ended.value.code
        return capsys.readouterr()

    out, err = run()
    assert "note: 6 tokens in 4 of 5 texts are unknown to the model embedded: " in err
    quiet, silence = run("-q")
    assert silence == ""
    assert json.loads(quiet) == json.loads(out)
    assert f"2 of 3 segments: {UNKNOWN_NOTE}" in json.loads(quiet)["scores"][0]["warnings"]
    parts = run("--parts", str(tmp_path / "parts"), "--part-rows", "1", "-q")[0]
    of_parts, of_whole = (json.loads(each)["scores"][0]["warnings"] for each in (parts, out))
    assert sorted(of_parts) == sorted(of_whole)


def test_pieces_of_any_tokenizer_are_unknown_by_their_id(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    pieces = [("<unk>", 0.0), ("▁", -2.0), ("▁the", -1.0), ("cat", -1.5), ("<pad>", -9.0)]
    unigram = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, 0, False))
    unigram.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=unigram, unk_token="<unk>", pad_token="<pad>"
    ).save_pretrained(tmp_path)
    config = transformers.BertConfig(
        vocab_size=5, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8
    )
    transformers.BertModel(config).save_pretrained(tmp_path)
    encoder = open_encoder(str(tmp_path))
    mixed, only, partly = encoder.tokenize(["the cat กข", "กข", "the catก"])
    assert mixed.strings[-2:] == only.strings == ("▁", "กข")
    assert mixed.ids[-1] == only.ids[-1] == unknown_id("กข")
    assert mixed.unknown.tolist() == [False, False, False, True, True]
    assert only.unknown.all()  # the mark of the beginning of a word is not a word
    assert partly.unknown.tolist() == [False, False, False, True]
    with pytest.warns(UnknownTokensWarning):
        (scores,) = score(
            ["กข", "the กข"], ["กข", "the กข"], metrics=f"wmd:model={tmp_path}"
        ).values()
    assert scores.segments.tolist() == [2, 0]
