"""Sample sizes from pilots of systems and of metrics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conftest import PROJECT, example
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, OptionError, UsageError
from nlgauge.stats.power import pilot_of, power_of_difference
from nlgauge.stats.significance import williams_test
from nlgauge.stats.williams_power import power_of_williams
from nlgauge.study import compare, measure, plan_metrics
from nlgauge.study import plan_systems as plan_pilot


def plan_systems(systems, references=(), *, metrics="bleu", cluster=None, **options):
    """The plan of a pilot that is compared first."""
    pilot = compare(
        systems, references, metrics=metrics, cluster=cluster, method="randomisation", count=1
    )
    return plan_pilot(pilot, **options)


@pytest.fixture(scope="module")
def systems():
    return {name: example(name) for name in ("fluent", "literal", "hasty")}


@pytest.fixture(scope="module")
def references():
    return example("reference.a")


def test_a_metric_of_segments_is_planned_by_their_differences(systems, references):
    found = plan_systems(systems, references, metrics="rouge", difference=0.05, sizes=[80, 200])
    scores = compare(systems, references, metrics="rouge").scores
    for pilot in found.pilots:
        gaps = scores[pilot.system]["rouge"].segments - scores["fluent"]["rouge"].segments
        expected = pilot_of(gaps)
        assert pilot.pilot.deviation == pytest.approx(expected.deviation, rel=1e-9)
        assert pilot.pilot.difference == pytest.approx(gaps.mean())
        assert pilot.difference == -0.05  # the sign of the pilot's
        for row, size in zip(found.of(pilot), (80, 200), strict=True):
            assert row["size"] == size
            power = power_of_difference(expected, -0.05, size)
            assert row["power"] == pytest.approx(power, abs=1e-9)
    assert [pilot.system for pilot in found.pilots] == ["literal", "hasty"]


def test_bleu_is_planned_by_the_variance_that_its_bootstrap_has(systems, references):
    corpus = {name: systems[name] for name in ("fluent", "literal")}
    (pilot,) = plan_systems(corpus, references, metrics="bleu").pilots
    test = compare(corpus, references, metrics="bleu", count=4000).entries[1].test
    assert pilot.pilot.difference == pytest.approx(test.difference)
    width = (test.interval.high - test.interval.low) / (2 * 1.96)
    assert pilot.pilot.standard_error(36) == pytest.approx(width, rel=0.1)


def test_clusters_change_the_standard_error(systems, references):
    labels = [str(i // 4) for i in range(36)]
    plain, clustered = (
        plan_systems(systems, references, metrics="chrf", cluster=cluster).pilots[0]
        for cluster in (None, labels)
    )
    assert clustered.pilot.clusters == 9
    assert clustered.pilot.deviation == plain.pilot.deviation
    assert clustered.pilot.design_effect != 1
    assert clustered.to_dict()["clusters"] == 9


def test_the_default_difference_is_the_pilots_and_a_note_says_so(systems, references):
    found = plan_systems(systems, references, metrics=["chrf", "ter"])
    pilot = found.pilots[0]
    assert pilot.difference == pilot.pilot.difference
    low, high = pilot.interval
    assert low < pilot.difference < high
    assert any("name one that matters" in note for note in found.notes)
    sizes = [row["size"] for row in found.of(pilot)]
    assert sizes == sorted(sizes)
    assert {36, pilot.needed} <= set(sizes)


def test_a_small_pilot_is_noted(systems, references):
    short = {name: texts[:10] for name, texts in systems.items()}
    found = plan_systems(short, references[:10], metrics="chrf", difference=1)
    assert any("10 independent segments or clusters" in note for note in found.notes)
    whole = plan_systems(systems, references, metrics="chrf", difference=[1.0])
    assert whole.notes == ()


def test_segments_may_be_in_another_order(systems, references):
    names = ["fluent", "literal"]
    texts = [text for name in names for text in systems[name]]
    owners = np.repeat(names, 36).tolist()
    straight = Corpus.of(texts, references * 2, systems=owners, ids=[*map(str, range(36))] * 2)
    rows = [*range(36), *range(71, 35, -1)]
    mixed = Corpus.of(
        [texts[i] for i in rows],
        [references[i % 36] for i in rows],
        systems=[owners[i] for i in rows],
        ids=[str(i % 36) for i in rows],
    )
    one, other = (plan_systems(each, metrics="chrf").pilots[0] for each in (straight, mixed))
    assert one.pilot.deviation == pytest.approx(other.pilot.deviation)
    assert one.needed == other.needed


def test_stored_scores_are_planned_by_their_differences():
    rng = np.random.default_rng(0)
    table = {"a": rng.random(40), "b": rng.random(40), "prompt": [f"p{i // 4}" for i in range(40)]}
    pilot = compare(table, scores=["a", "b"], cluster="prompt", count=10)
    (found,) = plan_pilot(pilot, difference=0.1).pilots
    expected = pilot_of(table["b"] - table["a"], table["prompt"])
    assert found.pilot.design_effect == pytest.approx(expected.design_effect)
    assert found.pilot.deviation == pytest.approx(expected.deviation)
    assert found.pilot.clusters == 10
    table["a"][3] = np.nan
    with pytest.raises(DataError, match="1 of 40 items lack a score"):
        compare(table, scores=["a", "b"], count=10)


def test_invalid_pilots_are_refused(systems, references):
    with pytest.raises(UsageError, match=r"at least 2 systems, but there is 1 \('fluent'\)"):
        plan_systems({"fluent": systems["fluent"]}, references)
    with pytest.raises(DataError, match="1 segment has no variance"):
        plan_systems({"a": ["x"], "b": ["y"]}, ["x"])
    with pytest.raises(DataError, match="no variance from which power"):
        plan_systems({"a": systems["hasty"], "b": systems["hasty"]}, references)
    rows = Corpus.of(["x", "y", "z"], ["x"] * 3, systems=["a", "a", "b"], ids=["1", "2", "3"])
    with pytest.raises(DataError, match="do not have the same segments"):
        plan_systems(rows)
    with pytest.raises(DataError, match="in 1 cluster"):
        plan_systems(systems, references, cluster=["a"] * 36)
    for wrong in (0.0, float("nan")):
        with pytest.raises(OptionError, match="difference to detect is"):
            plan_systems(systems, references, difference=wrong)
    with pytest.raises(OptionError, match="3 differences for 2 metrics"):
        plan_systems(systems, references, metrics=["chrf", "ter"], difference=[1, 2, 3])
    with pytest.raises(OptionError, match="alpha is 1"):
        plan_systems(systems, references, alpha=1)
    with pytest.raises(OptionError, match="a size is 1"):
        plan_systems(systems, references, sizes=[1])


def test_equal_means_need_a_difference_to_detect():
    pilot = {"a": ["x y", "u"], "b": ["x", "u v"]}
    texts = ["x y", "u v"]
    with pytest.raises(DataError, match="do not differ in the pilot"):
        plan_systems(pilot, texts, metrics="rouge")
    assert plan_systems(pilot, texts, metrics="rouge", difference=0.1).pilots[0].needed > 10


@pytest.fixture(scope="module")
def study():
    pytest.importorskip("scipy")
    return measure(PROJECT / "examples" / "judged.jsonl", ["bleu", "chrf", "ter"])


def test_metrics_are_planned_by_williams_test(study):
    found = plan_metrics(study, "adequacy", power=0.9, alpha=0.01)
    assert len(found.pilots) == 3
    grid = study.grid("adequacy")
    for pilot in found.pilots:
        test = williams_test(grid.metric(pilot.first), grid.metric(pilot.second), grid.human)
        assert test.r12 >= test.r13
        assert pilot.test == test
        r = test.r12, test.r13, test.r23
        assert power_of_williams(*r, pilot.needed - 1, 0.01) < 0.9
        assert pilot.power_at(pilot.needed) >= 0.9
        assert np.isnan(pilot.power_at(3))
        assert np.isnan(pilot.detectable_at(3))
        assert pilot.detectable_at(pilot.needed) == pytest.approx(pilot.difference, rel=0.02)
    sizes, curves = found.curves()
    assert all(len(curve) == len(sizes) for curve in curves)
    assert (np.diff(curves[0]) > -1e-9).all()
    content = found.to_dict()
    assert content["power"] == 0.9
    assert content["pilots"][0]["n"] == 108


def test_invalid_pilots_of_metrics_are_refused(study):
    with pytest.raises(UsageError, match="at least 2 metrics, but there is 1"):
        plan_metrics(study.only(["bleu"]), "adequacy")
    with pytest.raises(OptionError, match="power is 2"):
        plan_metrics(study, "adequacy", power=2)
    with pytest.raises(OptionError, match="text level has no single set of points"):
        plan_metrics(study, "adequacy", level="text")


def test_equal_metrics_need_no_number_of_outputs(study):
    (chrf,) = study.only(["chrf"]).metrics
    found = plan_metrics(replace(study, metrics=(chrf, replace(chrf, name="copy"))), "adequacy")
    (pilot,) = found.pilots
    assert pilot.needed is None
    assert [row["power"] for row in found.of(pilot)] == pytest.approx([0.05] * len(found.entries))
