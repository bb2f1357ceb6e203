"""Task sets in TOML files, and the ranks of metrics over their tasks."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from nlgauge.core.errors import DataError, FileError, OptionError
from nlgauge.data import read_judged
from nlgauge.stats import correlate, permutation_test, rank_metrics
from nlgauge.study import correlate as correlate_study
from nlgauge.study import rank_by_tasks, read_tasks, task_set_names

NAMES = ("good", "fair", "poor")


def _write(path: Path, systems: int, seed: int, segments: int = 12) -> np.ndarray:
    """A judged table with stored scores of three metrics; return them and people's scores."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(systems, segments)) + np.arange(systems)[:, None]
    noise = np.array([0.3, 1.0, 3.0])[:, None, None] * rng.normal(size=(3, systems, segments))
    values = np.round(np.concatenate([human[None], human + noise]), 3)
    rows = [
        {
            **{"system": f"S{i}", "segment": str(j), "candidate": "c", "references": ["r"]},
            "document": f"d{j // 4}",
            "human": {"q": values[0, i, j]},
            "scores": dict(zip(NAMES, values[1:, i, j], strict=True)),
        }
        for i in range(systems)
        for j in range(segments)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return values


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    _write(tmp_path / "a.jsonl", 5, 1)
    _write(tmp_path / "b.jsonl", 4, 2)
    return tmp_path


def _toml(folder: Path, text: str) -> str:
    (folder / "tasks.toml").write_text(text)
    return str(folder / "tasks.toml")


BOTH = """
title = "Two"
[[tasks]]
data = "a.jsonl"
measures = ["system pearson", "text acc_eq"]
weight = 3
[[tasks]]
data = "b.jsonl"
human = "q"
measures = ["document spearman"]
"""


def test_values_averages_and_ranks_by_hand(folder: Path) -> None:
    found = rank_by_tasks(_toml(folder, BOTH), folder, [], scores=NAMES, count=300, seed=5)
    assert [task.weight for task in found.tasks] == pytest.approx([3 / 7, 3 / 7, 1 / 7])
    one, other = _write(folder / "a.jsonl", 5, 1), _write(folder / "b.jsonl", 4, 2)
    documents = other.reshape(4, 4, 3, 4).mean(axis=3)
    tables = [
        (one.mean(axis=2)[:, :, None], "system", "pearson", "cells"),
        (one, "text", "acc_eq", "pairs"),
        (documents, "document", "spearman", "cells"),
    ]
    values, ranks = [], []
    for number, (stack, level, name, over) in enumerate(tables):
        human, *metrics = stack
        values.append([correlate(each, human, level, name).value for each in metrics])
        p = np.ones((3, 3))
        for i, j in combinations(range(3), 2):
            options = {"over": over, "count": 300, "seed": 5 + 1000 * number}
            test = permutation_test(metrics[i], metrics[j], human, level, name, **options)
            p[i, j], p[j, i] = test.p, test.p_reverse
        ranks.append(rank_metrics(values[-1], p))
    scaled = [(np.array(values[0]) + 1) / 2, np.array(values[1]), (np.array(values[2]) + 1) / 2]
    weights = np.array([3, 3, 1]) / 7
    average, mean_rank = weights @ np.array(scaled), weights @ np.array(ranks)
    by_name = {entry.metric: entry for entry in found.entries}
    for k, name in enumerate(NAMES):
        entry = by_name[f"stored:{name}"]
        assert entry.average == pytest.approx(average[k], abs=1e-9)
        assert entry.mean_rank == pytest.approx(mean_rank[k], abs=1e-9)
        assert [each.value for each in entry.values] == pytest.approx(
            [row[k] for row in values], abs=1e-9
        )
        assert [each.rank for each in entry.values] == [row[k] for row in ranks]
    order = [entry.metric for entry in found.entries]
    assert order == [f"stored:{NAMES[k]}" for k in np.argsort(-average)]
    assert found.entries[0].rank == 1
    assert found.entries[-1].rank > 1, "the poor metric is significantly worse over all tasks"


def test_pooled_accuracy_counts_all_pairs(folder: Path) -> None:
    text = """
    [[tasks]]
    data = "x"
    part = ["en-de", "de-en"]
    measures = ["system accuracy"]
    pool = true
    """
    for part, systems, seed in (("en-de", 5, 1), ("de-en", 4, 2)):
        _test_set(folder / "x", part, systems, seed)
    found = rank_by_tasks(_toml(folder, text), folder, [], scores="good", count=10)
    right = total = 0
    for part in ("en-de", "de-en"):
        judged = read_judged(folder / "x", part=part, stored=["good"])
        means = {}
        for system, human, metric in zip(
            judged.corpus.systems, judged.human["q"], judged.stored["good"], strict=True
        ):
            means.setdefault(system, []).append((human, metric))
        columns = [np.mean(cells, axis=0) for cells in means.values()]
        for a, b in combinations(columns, 2):
            right += np.sign(a[0] - b[0]) == np.sign(a[1] - b[1])
            total += 1
    assert total == 16
    assert found.entries[0].values[0].value == pytest.approx(right / total, abs=1e-12)
    assert found.tasks[0].place == "x en-de+de-en"


def _test_set(folder: Path, part: str, systems: int, seed: int) -> None:
    """An mt-metrics-eval folder with one stored metric."""
    values = _write(folder.parent / "unused.jsonl", systems, seed)
    lines = "\n".join("text" for _ in range(12))
    files = {f"sources/{part}.txt": lines, f"references/{part}.refA.txt": lines}
    files |= {f"system-outputs/{part}/S{i}.txt": lines for i in range(systems)}
    for name, stack in (
        (f"human-scores/{part}.q", values[0]),
        (f"metric-scores/{part}/good-refA", values[2]),
    ):
        rows = [f"S{i}\t{score}" for i, row in enumerate(stack) for score in row]
        files[f"{name}.seg.score"] = "\n".join(rows)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content + "\n")


def test_the_sets_of_the_package() -> None:
    assert task_set_names() == ("wmt22", "wmt23", "wmt24", "wmt25")
    sizes = {name: len(read_tasks(name).tasks) for name in task_set_names()}
    assert sizes == {"wmt22": 41, "wmt23": 10, "wmt24": 6, "wmt25": 32}
    for name in task_set_names():
        tasks = read_tasks(name).tasks
        assert sum(task.weight for task in tasks) == pytest.approx(1)
    accuracy = read_tasks("wmt23").tasks[0]
    assert (accuracy.weight, len(accuracy.sources)) == (pytest.approx(0.25), 3)
    assert [source.references for source in accuracy.sources] == ["refA", "refB", "refA"]
    in_russian = [t for t in read_tasks("wmt22").tasks if t.place == "wmt22 en-ru"]
    assert sum(task.weight for task in in_russian) == pytest.approx(0.25)


def test_missing_data_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        rank_by_tasks("wmt24", tmp_path, "bleu")
    messages = str(caught.value)
    assert "'WMT 2024 metrics task'" in messages
    assert (
        "wmt24 (en-de, en-es, ja-zh). Not found: wmt24; they are in the data of mt-met" in messages
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tasks = 3", r"has no \[\[tasks\]\]"),
        ("tasks = [3]", r"has no \[\[tasks\]\]"),
        ("title = 'a", "is not TOML"),
        ("titel = 'a'", "has an unknown key 'titel'; the keys are title, about"),
        ("[[tasks]]\ndata = 'a'\nlevel = 'text'", "task 1 has an unknown key 'level'"),
        ("[[tasks]]\ndata = 'a'", "task 1 has no 'measures'"),
        ("[[tasks]]\nmeasures = ['system spa']", "task 1 has no 'data'"),
        ("[[tasks]]\ndata = 'a'\nmeasures = ['spa']", "'spa' is not a level and a coefficient"),
        ("[[tasks]]\ndata = 'a'\nmeasures = ['text spa']", "spa is defined at the system level"),
        ("[[tasks]]\ndata = 'a'\nmeasures = ['text tauu']", "there is no coefficient 'tauu'"),
        ("[[tasks]]\ndata = 'a'\nmeasures = 'text tau'", "measures is 'text tau', which is not"),
        ("[[tasks]]\ndata = 'a'\nmeasures = [1]", r"measures is \[1\], which does not hold texts"),
        ("[[tasks]]\ndata = 'a'\nweight = 0\nmeasures = ['text tau']", "weight is 0; it must be"),
        (
            "[[tasks]]\ndata = 'a'\npool = true\nmeasures = ['text tau']",
            "pool is for the measure 'system accuracy', not 'text tau'",
        ),
        (
            "[[tasks]]\ndata = 'a'\npart = ['x']\nreferences = {y = 'r'}\nmeasures = ['text tau']",
            "references are named for other parts than x",
        ),
    ],
)
def test_invalid_task_sets_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_tasks(_toml(tmp_path, text))


def test_a_missing_task_set_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no task set of that name: wmt22, wmt23, wmt24, wmt25"):
        read_tasks("wmt99")
    text = "[[tasks]]\ndata = 'a.jsonl'\nsystem_score = 'sum'\nmeasures = ['system r']"
    with pytest.raises(OptionError, match="system_score is 'sum'"):
        read_tasks(_toml(tmp_path, text))


def test_one_metric_has_rank_one(folder: Path) -> None:
    found = rank_by_tasks(_toml(folder, BOTH), folder, [], scores="fair", count=10)
    (entry,) = found.entries
    assert (entry.rank, entry.mean_rank) == (1, pytest.approx(1))


def test_one_system_has_no_value(folder: Path) -> None:
    _write(folder / "b.jsonl", 1, 2)
    text = "[[tasks]]\ndata = 'b.jsonl'\nmeasures = ['by_system pearson', 'text pearson']"
    found = rank_by_tasks(_toml(folder, text), folder, [], scores=NAMES, count=20)
    assert all(np.isnan(entry.average) for entry in found.entries)
    assert found.entries[0].to_dict()["average"] is None
    assert {entry.values[0].rank for entry in found.entries} >= {1}


def test_a_criterion_must_be_clear(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "a.jsonl").read_text().splitlines()]
    for row in rows:
        row["human"]["other"] = 1.0
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    text = "[[tasks]]\ndata = 'a.jsonl'\nmeasures = ['segment pearson']"
    with pytest.raises(OptionError, match=r"several criteria \(q, other\); name one as 'human'"):
        rank_by_tasks(_toml(folder, text), folder, [], scores="good", count=10)
    with pytest.raises((OptionError, DataError), match="no scores of 'comet'"):
        rank_by_tasks(_toml(folder, BOTH), folder, [], scores="comet", count=10)


def test_metrics_are_tested_on_the_outputs_that_both_scored(folder: Path) -> None:
    """One metric has errors in outputs that the other did not score; on the rest they are equal."""
    rng = np.random.default_rng(3)
    rows = []
    for i, j in np.ndindex(5, 12):
        human = rng.normal()
        scores = {"all": human + 0.1 * rng.normal() if j < 8 else rng.normal()}
        if j < 8:
            scores["some"] = human + 0.1 * rng.normal()
        texts = {"system": f"S{i}", "segment": str(j), "candidate": "c", "references": ["r"]}
        rows.append({**texts, "human": {"q": human}, "scores": scores})
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    task = _toml(folder, "[[tasks]]\ndata = 'a.jsonl'\nmeasures = ['segment pearson']")
    options = {"scores": ["all", "some"], "missing": "keep", "count": 200}
    best, other = rank_by_tasks(task, folder, [], **options).entries
    assert (best.metric, other.metric) == ("stored:some", "stored:all")
    assert other.average < best.average - 0.1
    assert (best.rank, other.rank) == (1, 1)
    assert (best.values[0].rank, other.values[0].rank) == (1, 1)
    ranked = correlate_study(folder / "a.jsonl", [], levels="segment", ranks=True, **options)
    assert [entry.rank for entry in ranked.entries] == [1, 1]
