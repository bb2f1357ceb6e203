"""Judged texts are scored and correlated in one call; systems are compared."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nlgauge
from conftest import example
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, OptionError, UsageError
from nlgauge.data import JudgedCorpus, read_judged
from nlgauge.report.study_tables import comparison_table
from nlgauge.stats import calibrate_ties, fisher_interval, soft_pairwise_accuracy
from nlgauge.study import (
    Study,
    compare,
    correlate,
    matrix,
    measure,
    permutation,
    quality_bands,
    williams,
)

SYSTEMS = ("fluent", "literal", "hasty")
HASHED = "bertscore:model=hashing"


@pytest.fixture(scope="module")
def judged() -> JudgedCorpus:
    """The shipped example with judgements made up from its quality and some noise."""
    references = list(zip(example("reference.a"), example("reference.b"), strict=True))
    corpora = [
        Corpus.of(example(name), references, systems=[name] * len(references)) for name in SYSTEMS
    ]
    corpus = Corpus.join(corpora)
    rng = np.random.default_rng(3)
    quality = np.array([3.0 - SYSTEMS.index(name) for name in corpus.systems])
    adequacy = quality + rng.normal(0, 0.7, len(corpus))
    fluency = quality + rng.normal(0, 1.5, len(corpus))
    fluency[5] = np.nan
    return JudgedCorpus(corpus, {"adequacy": adequacy, "fluency": fluency}, ("made up.",))


@pytest.fixture(scope="module")
def study(judged: JudgedCorpus) -> Study:
    return measure(judged, ["bleu", "chrf", "eed"])


def test_defaults_are_all_criteria_and_the_levels_that_make_sense(study: Study) -> None:
    found = correlate(study)
    keys = {(e.criterion, e.correlation.level, e.correlation.coefficient) for e in found.entries}
    assert keys == {
        (criterion, level, "pearson")
        for criterion in ("adequacy", "fluency")
        for level in ("segment", "system")
    }
    assert len(found.entries) == 3 * 4
    assert "negated, because lower is better: eed." in found.notes
    assert any("bleu" in line and "not the corpus score" in line for line in found.notes)
    assert found.value("eed", "adequacy", "segment") > 0.4


def test_the_public_call_scores_by_itself(judged: JudgedCorpus) -> None:
    found = nlgauge.correlate(judged, "chrf", human="fluency", levels="segment")
    (entry,) = found.entries
    assert entry.correlation.n == 3 * 36 - 1
    assert json.dumps(found.to_dict(), allow_nan=False)
    with pytest.raises(OptionError, match="not among the 1 correlations"):
        found.value("bleu", "fluency", "segment")


def test_segment_level_is_the_plain_correlation(study: Study, judged: JudgedCorpus) -> None:
    scores = np.concatenate([study.scores[name]["chrf"].segments for name in SYSTEMS])
    expected = np.corrcoef(scores, judged.human["adequacy"])[0, 1]
    assert correlate(study).value("chrf", "adequacy", "segment") == pytest.approx(expected)


def test_corpus_scores_at_the_system_level(study: Study, judged: JudgedCorpus) -> None:
    values = [study.scores[name]["bleu"].value for name in SYSTEMS]
    means = judged.human["adequacy"].reshape(3, 36).mean(axis=1)
    expected = np.corrcoef(values, means)[0, 1]
    options = {"human": "adequacy", "levels": "system", "confidence": 0.9, "count": 50}
    found = correlate(study, system_score="corpus", **options)
    assert found.value("bleu", "adequacy", "system") == pytest.approx(expected)
    for entry in found.entries:
        assert entry.interval is not None
        assert entry.interval.low <= entry.correlation.value <= entry.interval.high
    # A corpus BLEU is no mean of sentence BLEUs, so the two ways differ.
    mean = correlate(study, **options)
    assert mean.value("bleu", "adequacy", "system") != found.value("bleu", "adequacy", "system")


@pytest.mark.parametrize("over", ["inputs", "systems", "both"])
def test_the_two_bootstraps_agree_for_a_metric_that_is_a_mean(judged: JudgedCorpus, over) -> None:
    made = measure(judged, HASHED)
    options = {"human": "adequacy", "levels": "system", "confidence": 0.95, "over": over}
    mean, corpus = (
        correlate(made, system_score=how, count=400, **options).entries[0]
        for how in ("mean", "corpus")
    )
    assert mean.correlation.value == pytest.approx(corpus.correlation.value)
    assert mean.interval.low == pytest.approx(corpus.interval.low, abs=0.05)
    assert mean.interval.high == pytest.approx(corpus.interval.high, abs=0.05)


def test_undefined_coefficients_have_a_reason(judged: JudgedCorpus) -> None:
    alone = judged.without("literal", "hasty")
    with pytest.raises(DataError, match="1 judged system; the system level compares at least 2"):
        correlate(alone, "bleu", levels="system")
    found = correlate(alone, "bleu", levels=["segment", "system"], human="adequacy")
    assert any("system level, pearson is undefined: 1 judged" in line for line in found.notes)
    assert found.to_dict()["correlations"][1]["value"] is None
    with pytest.raises(OptionError, match="adequacy, fluency"):
        correlate(alone, "bleu", human="style")
    with pytest.raises(OptionError, match="system_score is 'sum'"):
        correlate(alone, "bleu", system_score="sum")


def test_matrix_has_a_row_for_every_criterion_and_clusters_the_metrics(study: Study) -> None:
    found = matrix(study)
    assert found.names == ("human:adequacy", "human:fluency", "bleu", "chrf", "eed")
    assert found.values == pytest.approx(found.values.T)
    assert found.cells == 3 * 36 - 1
    one = matrix(study, human="adequacy", cluster=True)
    assert one.names[0] == "human"
    assert set(one.names[1:]) == {"bleu", "chrf", "eed"}
    between = np.triu(one.values[1:, 1:], 1)
    first, second = np.unravel_index(between.argmax(), between.shape)
    assert second - first == 1  # the two that agree most stand side by side
    where = [one.names.index(name) for name in ("human", "bleu", "chrf", "eed")]
    unordered = matrix(study, human="adequacy")
    assert one.values[np.ix_(where, where)] == pytest.approx(unordered.values)


def test_williams_needs_two_metrics(study: Study, judged: JudgedCorpus) -> None:
    found = williams(study, "adequacy")
    assert found.p[0, 1] + found.p[1, 0] == pytest.approx(1)
    with pytest.raises(OptionError, match="2 metrics or more"):
        williams(measure(judged, "bleu"), "adequacy")


def test_bands_hold_every_judged_row_once_and_have_densities(study: Study) -> None:
    found = quality_bands(study, "fluency", 4)
    assert list(found) == ["bleu", "chrf", "eed"]
    for curves in found.values():
        assert sum(band.scores.size for band in curves) == 3 * 36 - 1
        for band in curves:
            area = np.trapezoid(band.density, band.places)
            assert 0.85 < area <= 1.001
    better = found["bleu"][-1].scores.mean() - found["bleu"][0].scores.mean()
    assert better > 0
    assert found["eed"][0].scores.mean() > found["eed"][-1].scores.mean()  # not negated
    with pytest.raises(DataError, match="107 judgements of 'fluency' do not fall into 60 bands"):
        quality_bands(study, "fluency", 60)


def test_pairwise_coefficients_have_their_own_levels(study) -> None:
    names = ["pearson", "acc_eq", "spa", "pdp"]
    found = correlate(study, human="fluency", coefficients=names)
    kinds = {(entry.correlation.level, entry.correlation.coefficient) for entry in found.entries}
    assert kinds == {
        *(("segment", "pearson"), ("system", "pearson"), ("text", "acc_eq"), ("system", "acc_eq")),
        *(("system", "spa"), ("text", "pairwise_pearson")),
    }
    grid = study.grid("fluency")
    expected = calibrate_ties(grid.metric("bleu"), grid.human)
    assert found.value("bleu", "fluency", "text", "acc_eq") == pytest.approx(expected.value)
    expected = soft_pairwise_accuracy(grid.metric("bleu"), grid.human)
    assert found.value("bleu", "fluency", "system", "spa") == pytest.approx(expected.value)
    rows = found.to_dict()["correlations"]
    for row in rows:
        assert (row["chance"] is not None) == (row["coefficient"] == "acc_eq")
    assert any("text level: chance level of acc_eq" in note for note in found.notes)
    some = correlate(study, human="fluency", coefficients="acc_eq", levels=["segment", "text"])
    assert {entry.correlation.level for entry in some.entries} == {"text"}
    assert "acc_eq is not defined at the segment level." in some.notes


def test_a_coefficient_without_a_wanted_level_is_an_error(study) -> None:
    with pytest.raises(OptionError, match="spa is defined at the system level, not at the text"):
        correlate(study, coefficients="spa", levels="text")


def test_corpus_scores_have_acc_eq_but_no_spa(study) -> None:
    options = {"coefficients": ["acc_eq", "spa"], "levels": "system", "human": "fluency"}
    corpus = correlate(study, **options, system_score="corpus", confidence=0.9, count=20)
    mean = correlate(study, **options)
    assert corpus.value("bleu", "fluency", "system", "spa") == mean.value(
        "bleu", "fluency", "system", "spa"
    )
    assert all(entry.interval.low <= entry.interval.high for entry in corpus.entries)
    assert any("it has no corpus score" in note for note in corpus.notes)


def test_fisher_intervals_need_pearson(study) -> None:
    options = {"confidence": 0.95, "interval": "fisher", "human": "fluency"}
    found = correlate(study, **options)
    grid = study.grid("fluency")
    expected = fisher_interval(grid.metric("bleu"), grid.human)
    assert found.entries[0].interval == expected
    assert any("needs at least 4 points, but there are 3" in note for note in found.notes)
    with pytest.raises(OptionError, match="not of pearson at the text level"):
        correlate(study, levels="text", **options)
    with pytest.raises(OptionError, match="not of kendall_b at the segment level"):
        correlate(study, coefficients="kendall", **options)
    with pytest.raises(OptionError, match="it is 'bootstrap' or 'fisher'"):
        correlate(study, **options | {"interval": "normal"})


REFERENCES = list(zip(example("reference.a"), example("reference.b"), strict=True))
TEXTS = {name: example(name) for name in SYSTEMS}


@pytest.mark.parametrize("method", ["bootstrap", "randomisation"])
def test_compare_tests_every_system_against_the_first(method) -> None:
    found = nlgauge.compare(TEXTS, REFERENCES, metrics=["bleu", "ter"], method=method, count=200)
    for label in ("bleu", "ter"):
        base, *others = found.of(label)
        assert (base.system, base.test, base.p_holm, base.cluster) == ("fluent", None, None, 1)
        for entry in others:
            assert entry.test.difference == pytest.approx(entry.value - base.value)
            assert entry.test.p <= entry.p_holm <= 2 * entry.test.p
            assert (entry.test.interval is None) == (method == "randomisation")
        (last,) = (
            each
            for each in found.pairs
            if each.metric == label and "fluent" not in (each.first, each.second)
        )
        assert [entry.cluster for entry in others] == [2, 2 + (last.p_uncorrected < 0.05)]
    again = compare(TEXTS, REFERENCES, metrics=["bleu", "ter"], method=method, count=200)
    assert again.to_dict() == found.to_dict()


def test_equal_systems_are_one_cluster_with_p_one() -> None:
    twins = {"A": TEXTS["fluent"], "B": TEXTS["fluent"], "C": TEXTS["hasty"]}
    found = compare(twins, REFERENCES, metrics="chrf", count=100)
    assert [entry.cluster for entry in found.entries] == [1, 1, 2]
    assert found.entries[1].p_holm == 1
    assert {each.system for each in found.differing(3)} == {"C"}


def test_printed_clusters_never_contradict_the_printed_p() -> None:
    rng = np.random.default_rng(0)
    references = [" ".join(rng.choice(list("abcdef"), 8)) for _ in range(12)]
    apart = together = 0
    for trial in range(40):
        noise = rng.choice([0.2, 0.25, 0.3, 0.4], size=int(rng.integers(2, 6)))
        texts = {
            f"s{i}": [
                "".join("x" if rng.random() < share else letter for letter in text)
                for text in references
            ]
            for i, share in enumerate(noise)
        }
        metric, method = ("chrf", "bootstrap") if trial % 2 else ("ter", "randomisation")
        found = compare(texts, references, metrics=metric, method=method, count=99, seed=trial)
        sign = 1 if metric == "chrf" else -1
        rows = comparison_table(metric, "higher", [e.to_dict() for e in found.entries]).rows
        base, others = rows[0], rows[1:]
        cluster = {row[0]: row[-1] for row in rows}
        value = {row[0]: sign * row[1] for row in rows}
        different = [float(row[-3].replace("<", "0")) < 0.05 for row in others]
        for row, separate in zip(others, different, strict=True):
            assert separate or row[-1] == base[-1]
            apart, together = apart + separate, together + (not separate)
        above = {value[row[0]] > value[base[0]] for row in others}
        if all(different) and len(above) == 1:
            assert all(row[-1] != base[-1] for row in others)
        for pair in found.pairs:
            if cluster[pair.first] != cluster[pair.second]:
                assert pair.p_uncorrected < 0.05
                better = value[pair.first] > value[pair.second]
                assert better == (cluster[pair.first] < cluster[pair.second])
    assert min(apart, together) > 20


def test_segments_that_differ_most_come_with_their_texts() -> None:
    found = compare(TEXTS, REFERENCES, metrics=["bleu", "chrf"], count=10)
    apart = found.differing(4, "chrf")
    assert len(apart) == 2 * 4
    gaps = [abs(each.difference) for each in apart[:4]]
    assert gaps == sorted(gaps, reverse=True)
    ours, theirs = (found.scores[name]["chrf"].segments for name in ("literal", "fluent"))
    assert gaps[0] == pytest.approx(np.abs(ours - theirs).max())
    row = int(apart[0].segment)
    assert apart[0].candidate == TEXTS["literal"][row]
    assert apart[0].baseline_candidate == TEXTS["fluent"][row]
    with pytest.raises(OptionError, match="there are bleu, chrf"):
        found.differing(1, "ter")


def test_compare_pairs_segments_by_id_whatever_their_order() -> None:
    ids = [str(i) for i in range(36)]
    parts = [Corpus.of(TEXTS["fluent"], REFERENCES, systems=["A"] * 36, ids=ids)]
    back = Corpus.of(TEXTS["hasty"][::-1], REFERENCES[::-1], systems=["B"] * 36, ids=ids[::-1])
    turned = compare(Corpus.join([*parts, back]), metrics="bleu", count=50)
    straight = compare(
        {k: TEXTS[v] for k, v in (("A", "fluent"), ("B", "hasty"))}, REFERENCES, count=50
    )
    assert turned.entries[1].p_holm == straight.entries[1].p_holm
    ends = [each.entries[1].test.interval.low for each in (turned, straight)]
    assert ends[0] == pytest.approx(ends[1])


def test_invalid_comparisons_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 2 systems, but there is 1"):
        compare({"A": TEXTS["fluent"]}, REFERENCES)
    with pytest.raises(OptionError, match="method is 'sign'"):
        compare(TEXTS, REFERENCES, method="sign")
    parts = [
        Corpus.of(["a"], ["a"], systems=["A"], ids=["1"]),
        Corpus.of(["a"], ["a"], systems=["B"], ids=["2"]),
    ]
    with pytest.raises(DataError, match="1 are only in 'B', 1 only in 'A', 0 in both"):
        compare(Corpus.join(parts))


@pytest.fixture(scope="module")
def with_stored(judged: JudgedCorpus) -> JudgedCorpus:
    lengths = np.array([float(len(text)) for text in judged.corpus.candidates])
    gaps = lengths.copy()
    gaps[:36] = np.nan
    return judged.with_stored({"length": lengths, "gaps": gaps}, "lengths.")


def test_stored_scores_are_studied_like_metrics(with_stored: JudgedCorpus) -> None:
    made = measure(with_stored, "chrf", scores="length", distances="human:fluency", missing="keep")
    assert made.labels == ("chrf", "stored:length", "human:fluency")
    assert made.stored == ("stored:length", "human:fluency")
    assert made.negated == ("human:fluency",)
    assert made.signatures["stored:length"] == "length|scores:stored|better:higher"
    found = correlate(made, human="adequacy", levels="segment")
    lengths = [len(text) for text in with_stored.corpus.candidates]
    expected = np.corrcoef(lengths, with_stored.human["adequacy"])[0, 1]
    assert found.value("stored:length", "adequacy", "segment") == pytest.approx(expected)
    alone = nlgauge.correlate(with_stored, (), scores="length", human="adequacy")
    assert {entry.metric for entry in alone.entries} == {"stored:length"}


def test_gaps_of_stored_scores_are_refused_unless_kept(with_stored: JudgedCorpus) -> None:
    with pytest.raises(DataError, match=r"lacks 36 of 108 judged cells: 1 systems \('fluent'\)"):
        correlate(with_stored, (), scores="gaps", human="adequacy")
    made = measure(with_stored, (), scores=["gaps", "length"], missing="keep")
    (first, second) = correlate(made, human="adequacy", levels="segment").entries
    assert (first.correlation.n, second.correlation.n) == (72, 108)
    assert first.correlation.cells_without_metric == 36
    assert "stored:gaps: 72 of 108 rows have a score." in made.notes
    assert matrix(made, human="adequacy").cells == 72
    empty = with_stored.with_stored({"none": np.full(108, np.nan)}, "nothing.")
    with pytest.raises(DataError, match="names 'none' but has no score of it in 108 rows"):
        measure(empty, (), scores="none")
    with pytest.raises(UsageError, match="no metric was named"):
        measure(with_stored, ())


def test_permutation_tests_every_pair(study: Study) -> None:
    found = permutation(study, "adequacy", level="text", coefficient="kendall", count=60)
    assert found.names == ("bleu", "chrf", "eed")
    assert (found.over, found.level, found.coefficient) == ("both", "text", "kendall_b")
    assert np.isfinite(found.p[~np.eye(3, dtype=bool)]).all()
    assert (found.p_holm[~np.eye(3, dtype=bool)] >= found.p[~np.eye(3, dtype=bool)]).all()
    with pytest.raises(OptionError, match="compares 2 metrics or more"):
        permutation(measure(JudgedCorpus(study.corpus, {"a": np.arange(108.0)}, ()), "bleu"), "a")


def test_wmt15_german(shared_data: Path) -> None:
    made = measure(shared_data / "wmt15_da" / "de-en.jsonl", ["bleu", "chrf"])
    found = correlate(made)
    assert found.value("bleu", "da_z", "segment") == pytest.approx(0.529, abs=0.0006)
    assert found.value("chrf", "da_z", "segment") == pytest.approx(0.604, abs=0.0006)
    p = williams(made, "da_z").p
    assert p[1, 0] == pytest.approx(3.75e-4, rel=0.01)
    assert p[0, 1] == pytest.approx(1 - p[1, 0])


def test_webnlg_systems(shared_data: Path) -> None:
    judged = read_judged(shared_data / "webnlg2020" / "en.jsonl.gz")
    made = measure(judged.without("WebNLG-2020-reference"), ["bleu", "chrf"])
    options = {"human": "Correctness", "levels": "system"}
    mean = correlate(made, **options)
    corpus = correlate(made, system_score="corpus", **options)
    assert mean.entries[0].correlation.n == 16
    values = [x.value(m, "Correctness", "system") for x in (mean, corpus) for m in ("bleu", "chrf")]
    assert values == pytest.approx([0.609, 0.780, 0.601, 0.790], abs=0.0006)


def test_bands_of_quality_do_not_overlap() -> None:
    from nlgauge.core.corpus import Corpus
    from nlgauge.data import JudgedCorpus
    from nlgauge.study import measure, quality_bands

    texts = ["a b", "a c", "d", "a", "b", "c"]
    judged = JudgedCorpus(Corpus.of(texts, ["a b"] * 6), {"da": [1, 1, 2, 2, 3, 3]}, ())
    bands = quality_bands(measure(judged, ["chrf"]), "da", 2)["chrf"]
    assert [(band.name, len(band.scores)) for band in bands] == [("1 to <2", 2), ("2 to 3", 4)]
