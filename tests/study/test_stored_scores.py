"""Comparison of systems by stored scores, without texts."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import nlgauge
from nlgauge.core.errors import DataError, OptionError, ShapeError, UsageError

RNG = np.random.default_rng(4)
PAIR = {"a": RNG.random(40), "b": RNG.random(40) + 0.3}
DOCUMENTS = [f"d{i // 4}" for i in range(40)]
METHODS = ["bootstrap", "randomisation", "permutation"]


@pytest.mark.parametrize("method", METHODS)
def test_means_are_compared(method: str) -> None:
    found = nlgauge.compare(PAIR, scores=["a", "b"], method=method)
    first, second = found.entries
    assert (first.value, second.value) == (
        pytest.approx(PAIR["a"].mean()),
        pytest.approx(PAIR["b"].mean()),
    )
    assert second.test.difference == pytest.approx((PAIR["b"] - PAIR["a"]).mean())
    assert (found.corpus, found.segments, found.units) == (None, 40, 40)
    assert found.signatures == {"score": "score|scores:stored|better:higher"}


@pytest.mark.parametrize("method", METHODS)
def test_scores_of_a_metric_give_the_result_of_the_metric(method: str) -> None:
    rng = np.random.default_rng(0)
    words = [" ".join(rng.choice(["a", "b", "c", "d"], 6)) for _ in range(60)]
    texts, references = {"x": words[:20], "y": words[20:40]}, words[40:]
    computed = nlgauge.compare(texts, references, metrics="rouge", method=method, count=200)
    scores = {name: by["rouge"].segments for name, by in computed.scores.items()}
    stored = nlgauge.compare(scores, scores=["x", "y"], method=method, count=200)
    assert stored.entries[1].test.p == computed.entries[1].test.p
    assert stored.entries[1].value == pytest.approx(computed.entries[1].value)


def test_lower_distances_are_better() -> None:
    higher = nlgauge.compare(PAIR, scores=["a", "b"]).entries
    lower = nlgauge.compare(PAIR, distances=["a", "b"]).entries
    assert [entry.cluster for entry in higher] == [2, 1]
    assert [entry.cluster for entry in lower] == [1, 2]
    assert higher[1].test == lower[1].test


def test_clusters_are_resampled_and_exchanged_as_wholes() -> None:
    table = {**PAIR, "document": DOCUMENTS}
    sums = (PAIR["b"] - PAIR["a"]).reshape(10, 4).sum(axis=1)
    signs = np.array(list(itertools.product((-1, 1), repeat=10)))
    p = (np.abs(signs @ sums) >= abs(sums.sum()) - 1e-12).mean()
    options = {"scores": ["a", "b"], "method": "permutation"}
    found = nlgauge.compare(table, cluster="document", **options)
    assert found.entries[1].test.p == pytest.approx(p)
    assert (found.segments, found.units) == (40, 10)
    note = "p against a: exact paired permutation of 10 clusters of 40 segments; two-sided"
    assert found.test_note == note
    same = nlgauge.compare(PAIR, cluster=DOCUMENTS, **options)
    assert same.entries == found.entries
    alone = nlgauge.compare(PAIR, cluster=range(40), scores=["a", "b"], seed=3)
    assert alone.entries == nlgauge.compare(PAIR, scores=["a", "b"], seed=3).entries


def test_texts_may_have_clusters() -> None:
    texts = {"x": ["a b", "c", "d e", "f"], "y": ["a", "b c", "d", "f g"]}
    references = ["a b c", "b c", "d e f", "f g"]
    options = {"metrics": "chrf", "method": "permutation"}
    found = nlgauge.compare(texts, references, cluster=[1, 1, 2, 2], **options)
    assert (found.units, found.entries[1].test.p in (0.5, 1.0)) == (2, True)
    with pytest.raises(ShapeError, match="4 segments but 2 clusters"):
        nlgauge.compare(texts, references, cluster=[1, 2], **options)
    with pytest.raises(UsageError, match="the name of a column, but these are texts"):
        nlgauge.compare(texts, references, cluster="document", **options)
    one = nlgauge.compare(texts, references, cluster=[1] * 4, **options)
    assert one.entries[1].test.p == 1.0
    with pytest.raises(DataError, match=r"bootstrap of 1 segment \(or group\)"):
        nlgauge.compare(texts, references, cluster=[1] * 4, metrics="chrf")


def test_rows_of_systems_may_be_in_any_order() -> None:
    ids = np.arange(12)
    values = RNG.random((2, 12))
    order = RNG.permutation(12)
    rows = {
        "system": ["x"] * 12 + ["y"] * 12,
        "item": [*ids, *ids[order]],
        "score": [*values[0], *values[1][order]],
        "doc": [*(ids // 3), *(ids[order] // 3)],
    }
    for cluster in (None, "doc"):
        found = nlgauge.compare(rows, scores="score", cluster=cluster, seed=1)
        columns = {"x": values[0], "y": values[1], "doc": ids // 3}
        wide = nlgauge.compare(columns, scores=["x", "y"], cluster=cluster, seed=1)
        assert found.entries == wide.entries


def test_several_metrics_and_systems_with_holm() -> None:
    rng = np.random.default_rng(2)
    rows: dict = {"system": [], "id": [], "acc": [], "wer": []}
    for k, system in enumerate("xyz"):
        for item in range(30):
            rows["system"].append(system)
            rows["id"].append(item)
            rows["acc"].append(int(rng.random() < 0.3 + 0.3 * k))
            rows["wer"].append(float(rng.random() + 0.1 * k))
    found = nlgauge.compare(rows, scores="acc", distances="wer", method="permutation")
    assert list(found.signatures) == ["acc", "wer"]
    for label in ("acc", "wer"):
        p = [entry.test.p for entry in found.of(label)[1:]]
        holm = [entry.p_holm for entry in found.of(label)[1:]]
        low = min(p) * 2
        assert min(holm) == pytest.approx(min(low, 1))
        assert max(holm) == pytest.approx(max(low, *p))
    assert len(found.pairs) == 6
    assert {pair.method for pair in found.pairs} >= {"paired approximate randomisation"}


def test_mcnemar_names_its_p_value() -> None:
    table = {"a": [1] * 8 + [0] * 8, "b": [1] * 2 + [0] * 5 + [1] + [0] * 8}
    exact = nlgauge.compare(table, scores=["a", "b"], method="mcnemar")
    mid = nlgauge.compare(table, scores=["a", "b"], method="mcnemar-midp")
    assert exact.entries[1].test.p == pytest.approx(2 / 2**5)
    assert mid.entries[1].test.p == pytest.approx(1 / 2**5)
    assert exact.test_note == "p against a: McNemar's exact test of 16 segments; two-sided"
    assert "McNemar's mid-p test" in mid.test_note
    assert exact.entries[1].to_dict()["low"] < -5 / 16 < exact.entries[1].to_dict()["high"]
    with pytest.raises(OptionError, match="assumes independent items"):
        nlgauge.compare(table, scores=["a", "b"], method="mcnemar", cluster=[1, 2] * 8)


@pytest.mark.parametrize("method", [*METHODS, "mcnemar", "mcnemar-midp"])
def test_equal_and_constant_systems_have_p_1(method: str) -> None:
    for column in ([1, 0, 1, 1], [1, 1, 1, 1]):
        found = nlgauge.compare({"a": column, "b": column}, scores=["a", "b"], method=method)
        assert (found.entries[1].test.p, found.entries[1].p_holm) == (1.0, 1.0)
        assert {entry.cluster for entry in found.entries} == {1}


def test_items_without_a_score_are_an_error_or_left_out() -> None:
    nan = float("nan")
    table = {"a": [1, nan, 0, 1, 1], "b": [0, 1, None, 1, 0]}
    message = r"2 of 5 items lack a score in at least one system \(a 1, b 1\)"
    with pytest.raises(DataError, match=message):
        nlgauge.compare(table, scores=["a", "b"])
    found = nlgauge.compare(table, scores=["a", "b"], missing="drop", method="mcnemar")
    assert (found.segments, found.entries[1].test.difference) == (3, pytest.approx(-2 / 3))
    assert found.notes == (
        "2 of 5 items lack a score in at least one system (a 1, b 1); they are left out.",
    )
    with pytest.raises(DataError, match="no item is left to compare"):
        nlgauge.compare({"a": [nan], "b": [1]}, scores=["a", "b"], missing="drop")


BINARY = {"scores": ["a", "b"], "method": "mcnemar"}
LONG = {"system": ["x", "x", "y", "y"], "id": [1, 2, 1, 3], "acc": [1, 0, 1, 1]}


@pytest.mark.parametrize(
    ("table", "options", "error", "message"),
    [
        (LONG, {"scores": "acc"}, DataError, "'y' and 'x' do not have the same segments: 1 are"),
        ({**LONG, "id": [1, 1, 1, 2]}, {"scores": "acc"}, DataError, "id '1' occurs 2 times"),
        ({"a": [1], "b": [0]}, {"scores": ["a", "b"]}, DataError, "bootstrap of 1 segment"),
        ({"a": [1, 0.5], "b": [0, 1]}, BINARY, DataError, "1 of 2 scores of 'a'"),
        ({"a": [1, 0]}, {"scores": "a"}, UsageError, r"but there is 1 .*; name 2 tables"),
        ({"a": [1, 0], "b": [1]}, {"scores": ["a", "b"]}, ShapeError, "lengths: 'a' 2, 'b' 1"),
        ({"a": [1], "b": [1]}, {"scores": "a", "distances": "b"}, OptionError, "are systems"),
        ({"a": [1], "b": [1]}, {"scores": "a", "distances": "a"}, OptionError, "'a' is named as"),
        ({"a": [1], "b": [1]}, {"scores": "a", "metrics": "bleu"}, UsageError, "without texts"),
        ({"a": [1], "b": [1]}, {"scores": ["a", "b"], "missing": "keep"}, OptionError, "'drop'"),
        (7, {"scores": "a"}, UsageError, "not int"),
        (7, {}, UsageError, "systems is a int, not texts by system; name the columns"),
        ({"a": ["x"], "b": ["y"]}, {"columns": "id=a"}, UsageError, "are for stored scores"),
        ({"a": [], "b": []}, {"scores": ["a", "b"]}, DataError, "has no rows"),
        ({"a": ["x"], "b": ["y"]}, {"method": "t"}, OptionError, "'mcnemar' or 'mcnemar-midp'"),
    ],
)  # fmt: skip
def test_invalid_calls_are_refused(table: object, options: dict, error: type, message: str) -> None:
    references = [] if {"scores", "distances"} & options.keys() else ["x"]
    with pytest.raises(error, match=message) as raised:
        nlgauge.compare(table, references, **options)
    assert "\n" not in str(raised.value)


def test_an_item_has_one_cluster() -> None:
    rows = {**LONG, "id": [1, 2, 1, 2], "doc": ["p", "q", "p", "p"]}
    with pytest.raises(DataError, match="segment '2' is in cluster 'q' for one system and in 'p'"):
        nlgauge.compare(rows, scores="acc", cluster="doc")


def test_data_frames_and_files_are_tables(tmp_path: Path) -> None:
    expected = nlgauge.compare(PAIR, scores=["a", "b"]).entries
    frames = [
        pytest.importorskip(name, reason=f"{name} is not installed").DataFrame(PAIR)
        for name in ("pandas",)
    ]
    for frame in frames:
        assert nlgauge.compare(frame, scores=["a", "b"]).entries == expected
    path = tmp_path / "table.txt"
    rows = [f"{a!r},{b!r}" for a, b in zip(PAIR["a"].tolist(), PAIR["b"].tolist(), strict=True)]
    path.write_text("\n".join(["a,b", *rows]))
    found = nlgauge.compare(path, scores=["a", "b"], format="csv")
    assert found.entries == expected
    assert "pandas" not in str(found.to_dict())


def test_segments_on_which_systems_differ_have_no_texts() -> None:
    found = nlgauge.compare(LONG | {"id": [1, 2, 1, 2]}, scores="acc", method="permutation")
    (only,) = found.differing(5)
    assert (only.segment, only.difference, only.candidate) == ("2", 1.0, None)
    assert only.to_dict()["references"] == []
