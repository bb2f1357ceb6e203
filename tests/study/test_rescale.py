"""Baselines: fitted on unrelated pairs, stored, and refused for other metrics and models."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from conftest import example, needs_embedded
from nlgauge import metric, score
from nlgauge.core.baseline import Baseline
from nlgauge.core.errors import DataError, FileError, OptionError
from nlgauge.stats.pair_sampling import draw_pairs, dyadic_error
from nlgauge.study import fit_baseline

SPEC = "bertscore:model=hashing"
TEXTS = example("reference.a")


@pytest.fixture(scope="module")
def fitted() -> Baseline:
    return fit_baseline(TEXTS, SPEC, pairs=200, seed=3)


@pytest.fixture
def path(fitted: Baseline, tmp_path: Path) -> Path:
    file = tmp_path / "baseline.json"
    file.write_text(fitted.to_json(), "utf-8")
    return file


def test_the_baseline_is_the_mean_over_pairs_of_different_texts(fitted: Baseline) -> None:
    pairs = draw_pairs(36, 200, 3)
    left, right = ([TEXTS[i] for i in side] for side in pairs.T)
    named = score(left, right, metrics=SPEC)[SPEC].segment_components
    assert list(fitted.mean) == list(named) == ["f", "precision", "recall"]
    for name, values in named.items():
        assert fitted.mean[name] == pytest.approx(values.mean())
        assert fitted.standard_error[name] == pytest.approx(dyadic_error(values, pairs))
    assert (fitted.model, fitted.model_sha, fitted.settings["layer"]) == ("hashing", "none", "3")
    assert (fitted.pairs, fitted.texts, fitted.seed, fitted.notes) == (200, 36, 3, ())


def test_the_fitted_pairs_have_mean_0_after_rescaling(path: Path) -> None:
    left, right = ([TEXTS[i] for i in side] for side in draw_pairs(36, 200, 3).T)
    (scores,) = score(left, right, metrics=f"{SPEC},baseline={path}").values()
    np.testing.assert_allclose(list(scores.components.values()), 0, atol=1e-12)
    (same,) = score(TEXTS, TEXTS, metrics=f"{SPEC},baseline={path}").values()
    assert same.value == pytest.approx(1)
    assert "baseline_sha:" in str(same.signature)


def test_an_empty_text_gets_less_than_unrelated_ones(path: Path, fitted: Baseline) -> None:
    (scores,) = score(["", "a b"], ["a", "a b"], metrics=f"{SPEC},baseline={path}").values()
    worst = -fitted.mean["f"] / (1 - fitted.mean["f"])
    assert scores.segments[0] == pytest.approx(worst)
    assert (scores.scale.low, scores.scale.void) == (pytest.approx(worst), pytest.approx(worst))


def test_a_number_rescales_all_components() -> None:
    plain, scaled = score(["a b c"], ["a c d"], metrics=[SPEC, f"{SPEC},baseline=0.25"]).values()
    for name, value in plain.components.items():
        assert scaled.components[name] == pytest.approx((value - 0.25) / 0.75)
    for number in ("1", "-1.5"):
        with pytest.raises(OptionError, match="must be at least -1 and below 1"):
            score(["a"], ["a"], metrics=f"{SPEC},baseline={number}")


def test_equal_and_empty_texts_never_make_a_pair() -> None:
    few = fit_baseline(["a cat", "a cat", " a cat ", "", "two dogs", "the sun"], SPEC)
    assert (few.texts, few.pairs) == (3, 3)
    assert max(few.mean.values()) < 0.99
    assert few.notes == ("3 different texts make 3 pairs, fewer than the 10,000 requested",)


def test_another_seed_draws_other_pairs_and_the_same_seed_the_same(fitted: Baseline) -> None:
    assert fit_baseline(TEXTS, SPEC, pairs=200, seed=3) == fitted
    other = fit_baseline(TEXTS, SPEC, pairs=200, seed=4)
    assert other.mean != fitted.mean
    gap = abs(other.mean["f"] - fitted.mean["f"])
    assert gap < 4 * (fitted.standard_error["f"] + other.standard_error["f"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("layer=2", "fitted with layer=3, but the metric has layer=2; fit one for it: nlgauge"),
        ("alpha=0.9,weights=idf", "fitted with weights=uniform, alpha=0.5, but the metric has"),
        ("compat=bert_score", "fitted with compat=none, but the metric has compat=bert_score"),
    ],
)
def test_a_baseline_of_other_options_is_refused(path: Path, options: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        score(["a"], ["a"], metrics=f"{SPEC},{options},baseline={path}")


@needs_embedded
def test_a_baseline_of_another_model_is_refused(path: Path, fitted: Baseline) -> None:
    with pytest.raises(
        OptionError, match=r"with model=hashing \(none\), .*has model=embedded \(53aa51172d14\)"
    ):
        score(["a"], ["a"], metrics=f"bertscore:layer=3,baseline={path}")
    renamed = replace(fitted, model="a copy of it")  # the same weights by another name
    path.write_text(renamed.to_json(), "utf-8")
    assert score(["a"], ["a"], metrics=f"{SPEC},baseline={path}")


def test_files_that_hold_something_else_are_refused(path: Path, fitted: Baseline) -> None:
    content = json.loads(fitted.to_json())
    for broken in ('{"metric": ', "{}", json.dumps({**content, "mean": 3})):
        path.write_text(broken, "utf-8")
        with pytest.raises(FileError, match="is not a file of `nlgauge rescale fit`"):
            score(["a"], ["a"], metrics=f"{SPEC},baseline={path}")
    for changed, message in (
        ({"metric": "yisi"}, "is for yisi, not bertscore"),
        ({"mean": {"f": 0.5}}, "has no mean of precision, recall"),
        ({"mean": dict.fromkeys(("f", "precision", "recall"), 1.5)}, "at least -1 and below 1"),
    ):
        path.write_text(json.dumps({**content, **changed}), "utf-8")
        with pytest.raises((FileError, OptionError), match=message):
            score(["a"], ["a"], metrics=f"{SPEC},baseline={path}")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="is not UTF-8"):
        score(["a"], ["a"], metrics=f"{SPEC},baseline={path}")


def test_invalid_data_and_metrics_are_refused() -> None:
    with pytest.raises(OptionError, match="chrf has no option 'baseline' to fit; these have: bert"):
        fit_baseline(TEXTS, "chrf")
    with pytest.raises(OptionError, match="is rescaled already"):
        fit_baseline(TEXTS, f"{SPEC},baseline=0.1")
    with pytest.raises(DataError, match="4 texts of which 2 differ"):
        fit_baseline(["a", "b", "a", ""], SPEC)


STORED = json.loads(files("nlgauge.metrics").joinpath("baselines.json").read_bytes())


@needs_embedded
@pytest.mark.parametrize("each", STORED["baselines"], ids=lambda each: str(each["settings"]))
def test_shipped_baselines_rescale_every_layer_of_the_embedded_model(each: dict) -> None:
    options = ",".join(f"{name}={value}" for name, value in each["settings"].items())
    spec = f"bertscore:model=embedded,{options}"
    rescaled = f"{spec},rescale_with_baseline=yes"
    pair = ["A cat sat on the mat.", "Shares fell."], ["A cat sat on the mat.", "She bakes bread."]
    scores = score(*pair, metrics=[spec, rescaled])
    for name, base in each["mean"].items():
        plain, scaled = (scores[label].segment_components[name] for label in (spec, rescaled))
        np.testing.assert_allclose(scaled, (plain - base) / (1 - base), atol=1e-9)
        assert scaled[0] == pytest.approx(1, abs=1e-5)
        assert abs(scaled[1]) < 0.5
    assert scores[rescaled].metric == metric(str(scores[rescaled].signature))


@needs_embedded
def test_shipped_baselines_are_near_the_mean_of_other_unrelated_sentences() -> None:
    found = fit_baseline(TEXTS, "bertscore:model=embedded,layer=4", pairs=300)
    shipped = next(
        each
        for each in STORED["baselines"]
        if (each["settings"]["layer"], each["settings"]["compat"]) == ("4", "none")
    )
    assert {str(layer) for layer in range(7)} == {
        each["settings"]["layer"] for each in STORED["baselines"]
    }
    for name, mean in shipped["mean"].items():
        assert found.mean[name] == pytest.approx(mean, abs=0.1)
        assert shipped["standard_error"][name] < 0.005


def test_a_missing_shipped_baseline_is_an_error_with_a_solution() -> None:
    message = r"no baseline is shipped for bertscore with the model hashing .* rescale fit TEXTS -m"
    with pytest.raises(OptionError, match=message):
        score(["a"], ["a"], metrics=metric("bertscore:model=hashing", rescale_with_baseline=True))
    assert metric("bertscore", rescale_with_baseline=False) == metric("bertscore")
