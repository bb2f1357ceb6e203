"""A judge against people: means over pairs, scales, biases, verdicts and limits."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from nlgauge.core.errors import DataError, OptionError
from nlgauge.data.rater_labels import RaterLabels
from nlgauge.stats import rater_agreement
from nlgauge.study import judge
from nlgauge.study.judge import JudgeResult
from nlgauge.study.label_matrix import label_matrix

FEW = {"count": 40}


def _people(n: int = 60, people: int = 3, noise: float = 0.3, seed: int = 0) -> dict[str, list]:
    """Labels 1 to 5 of people, and of a judge that is as noisy as they are."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, size=n)
    names = [*"abcdefgh"[:people], "judge"]
    return {
        name: np.where(rng.random(n) < noise, rng.integers(1, 6, size=n), truth).tolist()
        for name in names
    }


def _agreement(found: JudgeResult) -> dict[str, tuple[float, float]]:
    return {
        each.coefficient: (each.judge.value, each.people.value if each.people else np.nan)
        for each in found.agreement
    }


def test_coefficients_are_means_over_pairs() -> None:
    labels = _people()
    labels["b"][:10] = [None] * 10
    found = judge(labels, "judge", **FEW)
    matrix = {name: np.array(cells, dtype=float) for name, cells in labels.items()}
    for name, (with_people, each_other) in _agreement(found).items():
        first = [_value(matrix, "judge", person, name) for person in "abc"]
        second = [_value(matrix, *pair, name) for pair in combinations("abc", 2)]
        assert with_people == pytest.approx(np.mean(first), abs=1e-12), name
        assert each_other == pytest.approx(np.mean(second), abs=1e-12), name
    assert list(_agreement(found))[-1] == "alpha_interval"
    for each in found.agreement:
        assert each.difference is not None
        assert each.people is not None
        assert each.difference.value == pytest.approx(each.judge.value - each.people.value)
        assert each.difference.low <= each.difference.value <= each.difference.high
    people = np.stack([matrix[name] for name in "abc"], axis=1)
    together = {each.coefficient: each.people.value for each in found.group}
    for name, value in together.items():
        assert value == pytest.approx(rater_agreement(people, name), abs=1e-12)
    assert list(together) == ["fleiss", "ac1", "alpha_interval"]


def _value(matrix: dict[str, np.ndarray], first: str, second: str, name: str) -> float:
    pair = np.stack([matrix[first], matrix[second]], axis=1)
    return rater_agreement(pair, name, categories=[1, 2, 3, 4, 5])


def test_the_majority_of_people() -> None:
    labels = {"a": [1, 1, 1, 2], "b": [1, 2, 1, 2], "c": [2, 3, 1, None], "judge": [1, 1, 2, 2]}
    found = judge(labels, "judge", **FEW)
    majority = {
        each.coefficient: (each.n, each.interval.value)
        for each in found.persons
        if each.person == "majority of people"
    }
    assert majority["agreement"] == (3, pytest.approx(2 / 3))  # the second item has three labels
    assert found.confusion is not None
    assert found.confusion.tolist() == [[3, 3, 0], [2, 2, 0], [1, 0, 0]]  # rows: people


def test_scales() -> None:
    texts = {"a": ["lo", "hi", "mid", "hi"], "judge": ["lo", "mid", "mid", "hi"]}
    nominal = judge(texts, "judge", **FEW)
    assert (nominal.scale, nominal.labels) == ("nominal", ("hi", "lo", "mid"))
    assert list(_agreement(nominal)) == ["agreement", "kappa", "ac1", "alpha_nominal"]
    ordinal = judge(texts, "judge", order=["lo", "mid", "hi", "top"], **FEW)
    assert (ordinal.scale, ordinal.labels) == ("ordinal", ("lo", "mid", "hi", "top"))
    assert "kappa_quadratic" in _agreement(ordinal)
    codes = [[0, 0], [2, 1], [1, 1], [2, 2]]
    for name, (value, _) in _agreement(ordinal).items():
        expected = rater_agreement(codes, name, categories=[0, 1, 2, 3])
        assert value == pytest.approx(expected), name
    numbers = judge({"a": ["1", "2.0", "5"], "judge": [1, 2, "5.0"]}, "judge", **FEW)
    assert (numbers.scale, numbers.labels) == ("interval", ("1", "2", "5"))
    ratio = judge({"a": [1, 2, 5], "judge": [1, 2, 4]}, "judge", scale="ratio", **FEW)
    assert list(_agreement(ratio))[-1] == "alpha_ratio"
    ranked = judge({"a": [1, 2, 5], "judge": [1, 2, 5]}, "judge", order=["1", "2", "5"], **FEW)
    assert ranked.scale == "ordinal"
    mixed = judge({"a": ["1", "unclear"], "judge": ["1.0", "unclear"]}, "judge", **FEW)
    assert mixed.labels == ("1", "unclear")


def test_intervals_draw_items_with_all_their_rows() -> None:
    labels = _people(30)
    repeated = {name: [cell for cell in cells for _ in range(6)] for name, cells in labels.items()}
    items = [f"{i:02}" for i in range(30) for _ in range(6)]
    single = judge(labels, "judge", count=300)
    table = RaterLabels.of(repeated, items=items, system=list("uvwxyz") * 30)
    clustered = judge(table, "judge", count=300)
    named = judge(RaterLabels.of(repeated, cluster=items), "judge", count=300)
    independent = judge(repeated, "judge", count=300)
    width = [
        each.agreement[0].judge.high - each.agreement[0].judge.low
        for each in (single, clustered, named, independent)
    ]
    assert width[0] == pytest.approx(width[1]) == pytest.approx(width[2])
    assert width[3] < 0.6 * width[0]
    assert (clustered.items, clustered.row_count) == (30, 180)
    resampled = [each.agreement[0].judge.over for each in (single, clustered, named)]
    assert resampled == ["items", "items", "clusters"]


def test_the_alternative_annotator_test_needs_three_people() -> None:
    three = judge(_people(noise=0.1), "judge", epsilon=0.2, **FEW)
    assert three.alternative_test is not None
    assert three.alternative_test.scoring == "rmse"
    assert three.alternative_test.epsilon == 0.2
    assert [person.person for person in three.alternative_test.people] == ["a", "b", "c"]
    assert "at epsilon .2 (omega 1.00" in three.verdict
    two = judge(_people(people=2), "judge", **FEW)
    assert two.alternative_test is None
    assert "needs at least 3 people; there are 2" in two.verdict
    words = {name: [f"label {cell}" for cell in cells] for name, cells in _people().items()}
    nominal = judge(words, "judge", **FEW).alternative_test
    assert nominal is not None
    assert nominal.scoring == "accuracy"


@pytest.mark.parametrize(
    ("people", "noise", "n", "sentence"),
    [
        (0.1, 0.1, 400, "The judge agrees with people about as well as people agree with each"),
        (0.1, 0.9, 100, "The judge agrees with people less well than people agree with each"),
        (0.5, 0.0, 200, "The judge agrees with people better than people agree with each other"),
        (0.5, 0.5, 12, "It is uncertain whether the judge agrees with people as well as people"),
    ],
)
def test_verdicts(people: float, noise: float, n: int, sentence: str) -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 6, size=n)

    def label(wrong: float) -> list[int]:
        return np.where(rng.random(n) < wrong, rng.integers(1, 6, size=n), truth).tolist()

    labels = {name: label(people) for name in "abc"} | {"judge": label(noise)}
    found = judge(labels, "judge", count=200)
    assert found.verdict.startswith(sentence), found.verdict
    assert ("People agree little with each other" in found.verdict) == (people == 0.5)


def test_one_person() -> None:
    found = judge(_people(people=1), "judge", **FEW)
    assert found.agreement[0].people is None
    assert found.agreement[0].difference is None
    assert found.group == ()
    assert "agrees with a at alpha" in found.verdict
    assert "With one person it is unknown how well people agree with each other" in found.verdict
    assert "needs at least 3 people; there is 1" in found.verdict


def test_constant_labels() -> None:
    found = judge({"a": [1, 1, 1], "b": [1, 1, 1], "judge": [1, 1, 1]}, "judge", **FEW)
    values = _agreement(found)
    assert values["agreement"] == (1, 1)
    assert np.isnan(values["kappa"]).all()
    assert "Alpha is undefined, because only the label '1' was used" in found.verdict
    assert "(100 % of labels agree)" in found.verdict
    known = judge({"a": [1, 1], "judge": [1, 1]}, "judge", order=["1", "2"], **FEW)
    assert _agreement(known)["ac1"][0] == 1
    assert "Alpha is undefined on the items that judge and people share" in known.verdict


def test_labels_never_used_by_one_side() -> None:
    found = judge({"a": [1, 2, 1], "judge": [1, 3, 1]}, "judge", **FEW)
    assert "labels never used by judge: 2." in found.notes
    assert "labels never used by people: 3." in found.notes
    disjoint = judge({"a": [1, 2], "judge": [3, 4]}, "judge", **FEW)
    assert _agreement(disjoint)["agreement"][0] == 0


def test_one_item() -> None:
    same = judge({"a": [1], "b": [1], "c": [1], "judge": [1]}, "judge", **FEW)
    assert "only the label '1' was used" in same.verdict
    other = judge({"a": [1], "b": [2], "c": [1], "judge": [1]}, "judge", **FEW)
    assert _agreement(other)["agreement"][0] == pytest.approx(2 / 3)
    assert other.rows()


def test_people_that_share_no_items() -> None:
    labels = {"a": [1, 2, 3, None, None], "b": [None, None, None, 1, 2], "judge": [1, 2, 3, 1, 2]}
    found = judge(labels, "judge", **FEW)
    assert np.isnan(_agreement(found)["alpha_interval"][1])
    assert "that of people with each other is undefined on the items they share" in found.verdict


def test_coverage_is_noted() -> None:
    labels = {"a": [1, 2, None, None], "judge": [1, None, 2, None]}
    found = judge(labels, "judge", **FEW)
    assert "1 of 4 items have no label and are left out." in found.notes
    assert "1 of 3 items have no label of the judge." in found.notes
    assert "1 of 3 items have no label of people." in found.notes


def test_measurements_with_many_values() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=150)
    labels = {name: (truth + 0.2 * rng.normal(size=150)).tolist() for name in ("a", "b", "judge")}
    found = judge(labels, "judge", **FEW)
    assert found.confusion is None
    assert list(_agreement(found)) == ["agreement", *(f"alpha_{s}" for s in found_scales())]
    assert _agreement(found)["alpha_interval"][0] > 0.9
    assert any("450 different labels, so that kappa" in note for note in found.notes)


def found_scales() -> tuple[str, ...]:
    return ("nominal", "ordinal", "interval")


def test_many_people_are_pooled() -> None:
    """40 people labelled 3 of 80 items each; every item has 1 or 2 labels of people."""
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 4, size=80)
    labels: dict[str, list] = {"judge": truth.tolist()}
    for k in range(40):
        cells: list = [None] * 80
        for i in (2 * k, 2 * k + 1, (2 * k + 7) % 80):
            cells[i] = int(truth[i])
        labels[f"worker {k}"] = cells
    with pytest.raises(OptionError, match=r"40 people, more than 30, .* pool=True"):
        judge(labels, "judge", **FEW)
    found = judge(labels, "judge", pool=True, **FEW)
    assert found.people == ("person 1", "person 2")
    assert _agreement(found)["agreement"] == (1, 1)
    assert "People are pooled" in found.verdict


def _pairs(first: list[str], labels: list[str], **columns: list) -> RaterLabels:
    items = [i // 2 for i in range(len(first))]
    table = {"a": ["A"] * len(first), "judge": labels}
    return RaterLabels.of(table, items=items, position=first, **columns)


def test_position_bias_and_consistency() -> None:
    first = ["A", "B"] * 10
    always_first = judge(_pairs(first, first), "judge", **FEW)
    biases = {(each.bias, each.rater): each for each in always_first.biases}
    assert biases["position", "judge"].interval.value == 1
    assert biases["position", "judge"].present
    assert biases["consistency", "judge"].interval.value == 0
    assert biases["consistency", "judge"].n == 10
    assert biases["position", "a"].interval.value == 0.5
    assert not biases["position", "a"].present
    assert biases["consistency", "a"].interval.value == 1
    assert "It prefers the output shown first (first: 1.00 [.84, 1.00])" in always_first.verdict
    second = judge(_pairs(first, ["B", "A"] * 10), "judge", **FEW)
    assert "It prefers the output shown second (first: .00" in second.verdict
    ties = judge(_pairs(first, ["tie"] * 10 + ["A"] * 10), "judge", **FEW)
    decided = {(each.bias, each.rater): each.n for each in ties.biases}
    assert decided["position", "judge"] == 10  # ties prefer no position
    assert "No bias was found in: position." in ties.verdict


def test_length_bias_and_self_preference() -> None:
    labels = _people(80)
    rng = np.random.default_rng(0)
    lengths = rng.integers(10, 300, size=80)
    labels["judge"] = [
        cell + 2 * (size > 150) for cell, size in zip(labels["a"], lengths, strict=True)
    ]
    table = RaterLabels.of(labels, length=lengths.tolist(), system=["own", "other"] * 40)
    found = judge(table, "judge", own="own", **FEW)
    bias = {each.bias: each for each in found.biases}
    assert bias["length"].interval.low > 0.2
    assert "It favours longer texts more than people do" in found.verdict
    assert not bias["self-preference"].present
    assert "No bias was found in: self-preference." in found.verdict
    matrix = label_matrix(table, "judge", [])
    own = np.array([True, False] * 40)
    expected = matrix.gaps()[own].mean() - matrix.gaps()[~own].mean()
    assert bias["self-preference"].interval.value == pytest.approx(expected)
    labels["judge"] = [cell + 2 * (k % 2 == 0) for k, cell in enumerate(labels["a"])]
    again = judge(RaterLabels.of(labels, system=["own", "other"] * 40), "judge", own="own", **FEW)
    assert "It rates its own outputs higher than people do" in again.verdict


def test_equal_labels_have_a_gap_of_exactly_zero() -> None:
    people = {"a": [0.1, 1], "b": [0.2, 2], "c": [0.3, 3]}
    matrix = label_matrix(RaterLabels.of({**people, "judge": [0.2, 2]}), "judge", [])
    assert matrix.gaps().tolist() == [0, 0]


def test_lengths_of_texts_and_unordered_labels() -> None:
    labels = {"a": [1, 1, 1, 1], "judge": [1, 2, 3, 4]}
    texts = ["x", "xx", "xxx", "xxxx"]
    found = judge(RaterLabels.of(labels, length=texts), "judge", **FEW)
    assert found.biases[0].interval.value == 1
    words = {"a": ["no", "yes"], "judge": ["yes", "yes"]}
    unordered = judge(RaterLabels.of(words, length=[1, 2]), "judge", **FEW)
    assert unordered.biases == ()
    assert any("length bias is not measured" in note for note in unordered.notes)


@pytest.mark.parametrize(
    ("labels", "options", "error", "message"),
    [
        ({"a": [1]}, {"judge": "x"}, OptionError, "no rater 'x'; the 1 raters are: a"),
        ({"judge": [1]}, {}, OptionError, "the only rater is the judge 'judge'"),
        ({"a": [1], "judge": [1]}, {"human": "judge"}, OptionError, "named as judge and as human"),
        ({"a": [1, None], "judge": [None, 1]}, {}, DataError, "no item was labelled by both"),
        ({"a": [None], "judge": [1]}, {}, DataError, "people 0 "),
        ({"a": ["x"], "judge": ["y"]}, {"scale": "ordinal"}, OptionError, "whose order is unknown"),
        ({"a": [1], "judge": [1]}, {"scale": "best"}, OptionError, "unknown scale 'best'"),
        ({"a": ["x"], "judge": ["z"]}, {"order": ["x", "y"]}, DataError, "'z' occurs 1 times"),
        ({"a": ["x"], "judge": ["x"]}, {"order": ["x", "x"]}, OptionError, "each once"),
        (
            {"a": ["x"], "judge": ["y"]},
            {"order": ["x", "y"], "scale": "interval"},
            OptionError,
            "the interval scale is for numbers",
        ),
        ({"a": [-1], "judge": [1]}, {"scale": "ratio"}, DataError, "no negative labels"),
        ({"a": [1], "judge": [1]}, {"own": "s"}, OptionError, "no column 'system'"),
    ],
)
def test_invalid_labels_are_refused(labels, options: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        judge(labels, **{"judge": "judge", **FEW, **options})


def test_invalid_columns_are_refused() -> None:
    table = _pairs(["C", "D"], ["A", "A"])
    with pytest.raises(DataError, match="'C', which is not a label; it should name the label"):
        judge(table, "judge", **FEW)
    named = RaterLabels.of({"a": [1, 2], "judge": [1, 2]}, system=["s", "t"])
    with pytest.raises(OptionError, match="no output is of system 'u'; the systems are: s, t"):
        judge(named, "judge", own=["u"], **FEW)


def test_one_cluster_decides_nothing() -> None:
    labels = {"a": [1, 2, 3, 1], "b": [1, 2, 3, 2], "c": [1, 2, 3, 3], "judge": [1, 2, 3, 2]}
    found = judge(RaterLabels.of(labels, cluster=["one"] * 4), "judge", **FEW)
    assert found.agreement[-1].difference.value != 0
    assert "It is uncertain whether the judge agrees with people" in found.verdict


def test_repetitions_of_one_order_are_no_swapped_pair() -> None:
    labels = {"a": list("ABBA"), "judge": list("ABBB")}
    table = RaterLabels.of(labels, items=list("1122"), position=list("AAAB"))
    found = judge(table, "judge", **FEW)
    (consistency,) = (
        each for each in found.biases if each.bias == "consistency" and each.rater == "judge"
    )
    assert (consistency.n, consistency.interval.value) == (1, 1)
