"""Calibrations of score differences: fitted, stored, refused and applied."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from conftest import PROJECT, example
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.data import JudgedCorpus
from nlgauge.stats.calibration import calibrate, score_pairs
from nlgauge.study import (
    Calibration,
    compare,
    fit_preferences,
    interpret,
    interpret_comparison,
    measure,
    read_calibrations,
    select_calibrations,
)

DATA = PROJECT / "examples" / "judged.jsonl"


@pytest.fixture(scope="module")
def study():
    return measure(DATA, ["chrf", "ter", "bleu"])


@pytest.fixture(scope="module")
def fitted(study):
    return fit_preferences(study, "judged.jsonl", count=50)


@pytest.fixture(scope="module")
def compared():
    systems = {name: example(name) for name in ("fluent", "literal", "hasty")}
    references = list(zip(example("reference.a"), example("reference.b"), strict=True))
    return compare(systems, references, metrics=["chrf", "ter"], count=20).to_dict()


def test_every_metric_has_a_curve_of_each_level(study, fitted):
    kinds = [(each.metric, each.level) for each in fitted]
    names = ("chrf", "ter", "bleu")
    assert kinds == [(name, level) for name in names for level in ("text", "system")]
    grid = study.grid("adequacy")
    expected = calibrate(score_pairs(grid.metric("chrf"), grid.human), count=50)
    assert fitted[0].curve.probabilities == pytest.approx(expected.probabilities)
    assert fitted[0].curve.low == pytest.approx(expected.low)
    assert fitted[0].signature == study.signatures["chrf"]
    assert (fitted[0].data, fitted[0].criterion) == ("judged.jsonl", "adequacy")


def test_systems_are_compared_by_corpus_scores(study, fitted):
    bleu = next(each for each in fitted if (each.metric, each.level) == ("bleu", "system"))
    values = [study.scores[name]["bleu"].value for name in study.judgements.systems]
    gaps = sorted(abs(a - b) for i, a in enumerate(values) for b in values[:i])
    assert bleu.curve.differences == pytest.approx([0, *gaps])


def test_a_distance_improves_by_a_negative_difference(fitted):
    ter = next(each for each in fitted if (each.metric, each.level) == ("ter", "text"))
    assert ter.direction == "lower"
    better, worse = ter.interpret(-20), ter.interpret(20)
    assert better.probability > 0.5 > worse.probability
    assert worse.probability == pytest.approx(1 - better.probability)
    assert (worse.low, worse.high) == pytest.approx((1 - better.high, 1 - better.low))
    assert all(entry.difference < 0 for entry in interpret([ter]).entries)


def test_a_stored_calibration_gives_the_same_answers(fitted, tmp_path):
    path = tmp_path / "calibrations.json"
    path.write_text(json.dumps(to_jsonable(interpret(fitted).to_dict())), "utf-8")
    stored = read_calibrations(str(path))
    for one, other in zip(fitted, stored, strict=True):
        assert one.to_dict() == other.to_dict()
        assert one.interpret(3.3).to_dict() == other.interpret(3.3).to_dict()


def test_files_that_are_no_calibrations_are_refused(tmp_path):
    assert read_calibrations(str(DATA)) is None
    assert read_calibrations(str(tmp_path)) is None
    path = tmp_path / "rows.json"
    path.write_text('[{"candidate": "a"}]', "utf-8")
    assert read_calibrations(str(path)) is None
    for content in ("[]", "3"):
        path.write_text(f'{{"calibrations": {content}}}', "utf-8")
        with pytest.raises(DataError, match="no list of calibrations"):
            read_calibrations(str(path))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("signature", None),
        ("differences", [0, 2, 1]),
        ("probabilities", [0.5]),
        ("probabilities", "x"),
        ("low", None),
    ],
)
def test_a_damaged_calibration_is_refused(fitted, name, value):
    content = {**fitted[0].to_dict(), name: value}
    if value is None:
        del content[name]
    with pytest.raises(DataError, match="this is not a calibration"):
        Calibration.from_dict(content)


def test_impossible_probabilities_are_refused(fitted):
    content = fitted[0].to_dict()
    content["probabilities"][-1] = 1.5
    with pytest.raises(DataError, match="not between 0 and 1"):
        Calibration.from_dict(content)


def test_another_signature_is_refused(fitted):
    chrf = fitted[0]
    chrf.check(chrf.signature)
    newer = chrf.signature.replace("version:", "version:9")
    assert newer != chrf.signature
    chrf.check(newer)  # another version of a library is no other metric
    with pytest.raises(OptionError, match=r"another signature.*nrefs: 2 and 1"):
        chrf.check(chrf.signature.replace("nrefs:2", "nrefs:1"))
    with pytest.raises(OptionError, match="metric: chrf and ter"):
        chrf.check(fitted[2].signature)
    with pytest.raises(OptionError, match=r"another signature .* and chrf"):
        chrf.check("chrf")


def test_the_differences_of_a_comparison_are_interpreted(fitted, compared):
    found, systems = interpret_comparison(fitted, compared)
    assert systems == ("literal", "hasty") * 2
    for entry, row in zip(
        found.entries, (compared["systems"][i] for i in (1, 2, 4, 5)), strict=True
    ):
        assert entry.difference == row["difference"]
        assert entry.calibration.level == "system"
        assert entry.probability < 0.5
    assert [each.metric for each in found.calibrations] == ["chrf", "ter"]


def test_comparisons_that_do_not_fit_are_refused(fitted, compared):
    text = [each for each in fitted if each.level == "text"]
    with pytest.raises(OptionError, match="of the level text; fit one with --level system"):
        interpret_comparison(text, compared)
    bleu = [each for each in fitted if each.metric == "bleu"]
    with pytest.raises(OptionError, match="scores of chrf, ter, the calibrations are of bleu"):
        interpret_comparison(bleu, compared)
    with pytest.raises(DataError, match="not a result of nlgauge compare"):
        interpret_comparison(fitted, {"systems": []})
    one_reference = {**compared["signatures"]}
    one_reference["chrf"] = one_reference["chrf"].replace("nrefs:2", "nrefs:1")
    with pytest.raises(OptionError, match="nrefs: 2 and 1"):
        interpret_comparison(fitted, {**compared, "signatures": one_reference})
    found, _ = interpret_comparison([each for each in fitted if each.metric == "ter"], compared)
    assert "no calibration of chrf, so its differences are left out." in found.notes


def test_differences_beyond_the_data_are_noted(fitted):
    found = interpret(fitted[:1], [1, 90])
    assert [entry.covered for entry in found.entries] == [True, False]
    assert any("1 of 2 differences are larger" in note for note in found.notes)


def test_calibrations_are_selected(fitted):
    assert [each.level for each in select_calibrations(fitted, ["chrf"])] == ["text", "system"]
    systems = select_calibrations(fitted, (), ["system"])
    assert [each.metric for each in systems] == ["chrf", "ter", "bleu"]
    with pytest.raises(OptionError, match=r"no such calibration; there are: chrf \(text level\)"):
        select_calibrations(fitted, ["rouge"])


def judged(human, texts=("a b c", "a b", "a")):
    rows = [
        (text, f"system {k}", str(i)) for i in range(len(human[0])) for k, text in enumerate(texts)
    ]
    corpus = Corpus.of(
        [row[0] for row in rows],
        ["a b c"] * len(rows),
        systems=[row[1] for row in rows],
        ids=[row[2] for row in rows],
    )
    return JudgedCorpus(corpus, {"da": np.array(human).T.ravel()}, ())


def test_ties_of_people_count_half_or_are_left_out():
    human = [[3, 3, 2, 3], [3, 2, 2, 1], [3, 1, 1, 1]]
    study = measure(judged(human), "chrf")
    half, drop = (
        fit_preferences(study, "x", levels="text", ties=ties, count=20)[0]
        for ties in ("half", "drop")
    )
    assert half.human_ties == drop.human_ties == 5
    assert (half.pairs, drop.pairs) == (12, 7)
    assert half.agreement == pytest.approx((7 + 5 / 2) / 12)
    assert drop.agreement == 1
    assert "5 of 12 pairs are ties of people and are left out." in interpret([drop]).notes[0]
    assert "count half" in interpret([half]).notes[0]
    with pytest.raises(OptionError, match="'half' or 'drop'"):
        fit_preferences(study, "x", ties="none")


def test_a_metric_that_contradicts_people_is_noted():
    study = measure(judged([[1, 1], [2, 2], [3, 3]]), "chrf")
    found = interpret(fit_preferences(study, "x", levels="text", count=10))
    assert found.entries[0].probability == 0.5
    assert "worse score in 100% of pairs" in found.notes[0]


def test_the_levels_depend_on_the_number_of_systems(study):
    one = study.corpus.rows_of("fluent")
    data = JudgedCorpus(
        Corpus.of(
            [study.corpus.candidates[i] for i in one], [study.corpus.references[i] for i in one]
        ),
        {"da": np.arange(36.0)},
        (),
    )
    found = fit_preferences(measure(data, "chrf"), "x", count=10)
    assert [each.level for each in found] == ["segment"]
    with pytest.raises(DataError, match="no pair at the text level"):
        fit_preferences(measure(data, "chrf"), "x", levels="text")
    two = measure(judged([[3, 3], [2, 2]], texts=("a b c", "a b")), "chrf")
    assert [each.level for each in fit_preferences(two, "x", count=10)] == ["text"]


def test_constant_scores_are_an_error():
    study = measure(judged([[3], [2], [1]], texts=("a", "a", "a")), "chrf")
    with pytest.raises(DataError, match="all 3 pairs at the text level have equal scores"):
        fit_preferences(study, "x")


def test_stored_scores_have_a_calibration(study):
    (chrf,) = study.only(["chrf"]).metrics
    stored = replace(study, metrics=(replace(chrf, name="stored:chrf"),))
    found = fit_preferences(stored, "x", levels=["text", "system"], count=10)
    assert found[0].signature == "chrf|scores:stored|better:higher"
    assert [each.level for each in found] == ["text", "system"]
    found[0].check("chrf|scores:stored|better:higher")
    with pytest.raises(OptionError, match="metric: chrf and bleu"):
        found[0].check("bleu|scores:stored|better:higher")


@pytest.fixture(scope="module")
def stored_scores(study):
    """The scores of the judged texts as a table of stored ones: a row for each system and item."""
    columns = {"system": [], "item": [], "chrf": [], "ter": []}
    for system, found in study.scores.items():
        columns["system"] += [system] * len(found["chrf"].ids)
        columns["item"] += found["chrf"].ids
        for name in ("chrf", "ter"):
            columns[name] += found[name].segments.tolist()
    return columns


@pytest.fixture(scope="module")
def stored_calibrations(study):
    """Calibrations of the same scores, which came with the judged texts."""
    metrics = [replace(each, name=f"stored:{each.name}") for each in study.metrics]
    stored = replace(study, metrics=(*study.metrics[:1], *metrics))
    return fit_preferences(stored, "x", levels="system", count=10)


def test_a_comparison_of_stored_scores_has_their_calibrations(stored_scores, stored_calibrations):
    compared = compare(stored_scores, scores="chrf", distances="ter", count=20).to_dict()
    found, systems = interpret_comparison(stored_calibrations, compared)
    assert [each.metric for each in found.calibrations] == ["stored:chrf", "stored:ter"]
    assert systems == ("literal", "hasty") * 2
    rows = [row for row in compared["systems"] if row["difference"] is not None]
    assert [entry.difference for entry in found.entries] == [row["difference"] for row in rows]
    assert all(entry.probability < 0.5 for entry in found.entries)


def test_stored_scores_of_another_direction_or_origin_are_refused(
    fitted, stored_scores, stored_calibrations
):
    reverse = compare(stored_scores, distances="chrf", count=20).to_dict()
    with pytest.raises(OptionError, match="better: higher and lower"):
        interpret_comparison(stored_calibrations, reverse)
    with pytest.raises(OptionError, match="scores of stored:chrf, the calibrations are of chrf"):
        interpret_comparison(fitted, reverse)
