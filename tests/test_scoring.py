"""Scorer encodes every text once for all metrics, systems and layers."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from nlgauge import Runtime, Scorer, corpus_run, inputs, metric, score, score_systems
from nlgauge.core.errors import OptionError, UsageError
from nlgauge.encode.hashing import HashingEncoder, HashingMaskedLm


class CountingEncoder(HashingEncoder):
    """A hashing encoder that records its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[list[str], tuple[int, ...]]] = []

    def encode(self, texts, layers):
        self.asked.append((list(texts), tuple(layers)))
        return super().encode(texts, layers)


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> CountingEncoder:
    counting = CountingEncoder()
    monkeypatch.setattr(inputs, "open_encoder", lambda *_, **__: counting)
    return counting


def test_metrics_of_one_model_share_one_pass_with_all_their_layers(
    encoder: CountingEncoder,
) -> None:
    score(["c", "a b"], ["c", "a"], metrics=["bertscore:layer=1", "bertscore:layer=4", "yisi"])
    assert encoder.asked == [(["c", "a b", "a"], (1, 3, 4))]


def test_rows_of_similar_length_are_encoded_together(
    encoder: CountingEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_run, "_CHUNK_ROWS", 2)
    candidates = ["nine", "a", "eleven", "an"]
    found = score(candidates, ["r1", "r2", "r3", "r4"], metrics="bertscore")["bertscore"]
    asked = [text for texts, _ in encoder.asked for text in texts if text in candidates]
    assert asked == ["a", "an", "nine", "eleven"]
    alone = [score([c], [f"r{k}"], metrics="bertscore") for k, c in enumerate(candidates, 1)]
    np.testing.assert_allclose(found.segments, [each["bertscore"].value for each in alone])


def test_references_of_several_systems_are_encoded_once(encoder: CountingEncoder) -> None:
    systems = {name: [f"{name}{i}" for i in range(600)] for name in "ABC"}
    score_systems(systems, [f"r{i}" for i in range(600)], metrics="bertscore")
    texts = [text for asked, _ in encoder.asked for text in asked]
    assert len(encoder.asked) > 1
    assert len(texts) == len(set(texts)) == 4 * 600


def test_long_chunks_are_cut_by_characters(encoder: CountingEncoder, monkeypatch) -> None:
    monkeypatch.setattr(corpus_run, "_CHUNK_CHARACTERS", 50)
    score(["x" * 30 + str(i) for i in range(4)], ["y"] * 4, metrics="bertscore")
    assert len(encoder.asked) == 4


def test_idf_makes_rare_words_weigh_more() -> None:
    references = ["the cat sat"] * 30 + ["the dog sat"]
    spec = "bertscore:model=hashing,weights=idf"
    scorer = Scorer(spec).fitted(references)
    (scores,) = scorer.score(["the bird sat", "a dog sat"], ["the dog sat"] * 2).values()
    assert scores.segments[1] > scores.segments[0]
    assert "idf_sha_reference" in dict(scores.signature.keys)


def test_a_fitted_scorer_keeps_its_table_and_an_unfitted_one_makes_its_own() -> None:
    spec = "bertscore:model=hashing,weights=idf"
    fitted = Scorer(spec).fitted(["a b c", "a d"] * 6)
    (one,) = fitted.score(["a b"], ["a b c"]).values()
    (two,) = Scorer(spec).score(["a b"], ["a b c"]).values()
    assert one.segments[0] > 0
    assert two.segments[0] == 0, "one reference alone weighs every word nothing"
    assert any("only 1 texts" in warning for warning in two.warnings)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copied_or_pickled_scorer_gives_the_same_scores(duplicate) -> None:
    candidates, references = ["the cat sat", "a dog"], ["a cat sat", "the dog ran"]
    plain = Scorer(["cider", "wmd:model=hashing,weights=idf"])
    for scorer in (plain, plain.fitted(references[:1])):
        expected = scorer.score(candidates, references)
        for name, scores in duplicate(scorer).score(candidates, references).items():
            assert str(scores.signature) == str(expected[name].signature)
            np.testing.assert_array_equal(scores.statistics, expected[name].statistics)


def test_progress_is_reported() -> None:
    reports: list[tuple[int, int]] = []
    score(["a", "b", "a"], ["a", "b", "a"], metrics="bleu", progress=lambda *n: reports.append(n))
    assert (reports[0], reports[-1]) == ((0, 2), (2, 2))
    assert reports == sorted(reports)
    assert reports.count((2, 2)) == 1, "all rows are done only once"


@pytest.mark.parametrize("spec", ["chrf", "wmd:model=hashing", "bary:model=hashing"])
def test_progress_moves_within_a_chunk(spec: str) -> None:
    reports: list[int] = []
    texts = [f"text {number} of many" for number in range(200)]
    one_thread = Scorer(spec, runtime=Runtime(threads=1))  # several report only while one waits
    one_thread.score(texts, texts[::-1], progress=lambda done, _: reports.append(done))
    assert reports == sorted(reports)
    assert len({done for done in reports if 8 < done < 200}) > 3, "between the chunks of 8 and 192"


def test_metrics_named_twice_or_not_at_all_are_refused() -> None:
    with pytest.raises(UsageError, match="'bleu' is named 2 times"):
        Scorer(["bleu", "bleu"])
    with pytest.raises(UsageError, match="no metric was named"):
        Scorer([])


def test_notes_count_repeated_rows_each() -> None:
    (scores,) = score(["", "", "a"], ["a", "a", "a"], metrics="bertscore:model=hashing").values()
    assert list(scores.notes.values()) == [2]
    np.testing.assert_allclose(scores.segments, [0, 0, 1])


def test_texts_may_be_named_as_other_libraries_name_them() -> None:
    expected = score(["a b"], ["a c"], metrics="chrf")["chrf"].value
    for names in (("predictions", "references"), ("hypotheses", "refs"), ("preds", "target")):
        texts = dict(zip(names, (["a b"], ["a c"]), strict=True))
        assert score(**texts, metrics="chrf")["chrf"].value == expected
    with pytest.raises(UsageError, match="candidates are given twice, once as preds"):
        score(candidates=["a"], preds=["a"], references=["a"])


def test_options_may_be_named_as_other_libraries_name_them() -> None:
    theirs = metric("bertscore", model_type="hashing", num_layers=2, idf=True)
    assert theirs == metric("bertscore:model=hashing,layer=2,weights=idf")
    assert metric("bertscore:lang=zh").model == "lang:zh"
    assert metric("lazy_emd:lang=zh").lang == "zh"  # an option of its own
    with pytest.raises(OptionError, match="no option 'num_layer'; did you mean"):
        metric("bertscore:num_layer=2")


def test_temperatures_share_the_passes_of_a_masked_model(monkeypatch) -> None:
    asked = []
    plain = HashingMaskedLm.histograms

    def counted(self, texts, weigh, **manner):
        asked.append((len(texts), manner["temperatures"]))
        return plain(self, texts, weigh, **manner)

    monkeypatch.setattr(HashingMaskedLm, "histograms", counted)
    specs = [f"infolm:model=hashing,temperature={t}" for t in (0.5, 1, 2)]
    texts = ["the cat sat", "a dog ran off"], ["the cat sat down", "a dog ran away"]
    together = score(*texts, metrics=[*specs, "infolm:model=hashing,measure=kl"])
    assert asked == [(4, [0.5, 1.0, 2.0])]
    for spec in specs:
        (alone,) = score(*texts, metrics=spec).values()
        np.testing.assert_array_equal(alone.segments, together[spec].segments)
