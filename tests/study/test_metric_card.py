"""Metric cards: each part with and without the data that it needs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from conftest import PROJECT
from nlgauge.cli import app
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import OptionError
from nlgauge.core.spans import Span
from nlgauge.data.detection import read_judged
from nlgauge.data.judged import JudgedCorpus
from nlgauge.study.metric_card import MetricCard, card

JUDGED = PROJECT / "examples" / "judged.jsonl"


@pytest.fixture(scope="module")
def chrf() -> MetricCard:
    return card(JUDGED, "chrf", beside=["bleu"], count=50)


def test_agreement_is_that_of_correlate_at_every_level(chrf: MetricCard) -> None:
    levels = {entry.correlation.level for entry in chrf.agreement.entries}
    assert levels == {"segment", "text", "by_system", "system"}
    assert chrf.agreement.value("chrf", "adequacy", "segment") == pytest.approx(0.830, abs=5e-4)
    assert {entry.metric for entry in chrf.agreement.entries} == {"chrf", "bleu"}
    assert all(entry.rank for entry in chrf.agreement.entries)
    assert not any("is not defined at" in note for note in chrf.notes)


def test_damaged_texts_get_worse_scores(chrf: MetricCard) -> None:
    found = {each.change: each for each in chrf.sensitivity}
    dropped = found["a fifth of the words dropped"]
    assert dropped.texts == 108
    assert dropped.worse > 0.9
    assert dropped.mean_change < -0.2
    assert found["numbers changed"].texts < 108


def test_distances_respond_with_the_same_sign() -> None:
    found = card(JUDGED, "ter", beside=["bleu"], count=20)
    assert found.direction == "lower"
    assert all(each.mean_change < 0 for each in found.sensitivity if each.texts > 50)


def test_scores_rise_with_human_quality(chrf: MetricCard) -> None:
    means = [band.scores.mean() for band in chrf.bands]
    assert means == sorted(means)


def test_a_metric_of_length_is_biased_towards_length() -> None:
    rng = np.random.default_rng(0)
    words = ["cat"] * 30
    texts = [" ".join(words[:n]) for n in rng.integers(1, 30, 60)]
    sources = ["cat" if n % 2 else "dog" for n in range(60)]
    corpus = Corpus.of(texts, ["cat " * 15] * 60, sources=sources)
    lengths = np.array([len(text) for text in texts], dtype=float)
    judged = JudgedCorpus(corpus, {"da": rng.normal(size=60)}, (), {"length": lengths})
    found = card(judged, "", stored="length", beside=["bleu"], count=100)
    length, copied = found.biases
    assert length.property == "longer than the reference"
    assert length.interval.value > 0.9
    assert length.interval.low > 0.8
    assert copied.property == "copied from the source"
    assert abs(copied.interval.value) < 0.4
    assert found.cost is None
    assert found.sensitivity == ()
    assert any("stored scores" in note for note in found.notes)


def test_power_and_cost(chrf: MetricCard) -> None:
    differences = [row["difference"] for row in chrf.detectable]
    assert differences == sorted(differences, reverse=True)
    assert chrf.cost is not None
    assert chrf.cost.seconds > 0


def test_spans_where_the_data_has_them() -> None:
    rng = np.random.default_rng(0)
    texts = [f"the cat {'sat' if n % 2 else 'flew'} on mat {n}" for n in range(12)]
    spans = tuple(() if n % 2 else (Span(8, 12),) for n in range(12))
    corpus = Corpus.of(texts, [f"the cat sat on mat {n}" for n in range(12)])
    judged = JudgedCorpus(corpus, {"da": rng.normal(size=12)}, (), spans=spans)
    found = card(judged, "bertscore:model=hashing", beside=["bleu"], count=20)
    assert found.spans is not None
    assert found.spans.entries[0].metric == "bertscore:model=hashing"
    lexical = card(judged, "chrf", beside=["bleu"], count=20)
    assert lexical.spans is None
    assert any(note.startswith("no error spans: ") for note in lexical.notes)


def test_one_system_has_no_power_and_two_levels() -> None:
    corpus = Corpus.of(["a b", "a c", "d", "a b d"], ["a b"] * 4)
    found = card(JudgedCorpus(corpus, {"da": [5, 2, 1, 4]}, ()), "chrf", count=20)
    assert {entry.correlation.level for entry in found.agreement.entries} == {"segment"}
    assert found.detectable == []
    assert any("1 system" in note for note in found.notes)
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_an_unknown_criterion_is_named() -> None:
    with pytest.raises(OptionError, match="nobody judged 'beauty'"):
        card(read_judged(JUDGED), "chrf", human="beauty")


@pytest.mark.parametrize("ending", ["html", "md", "json", "txt", "csv", "tex"])
def test_the_command_writes_every_format(ending: str, tmp_path: Path) -> None:
    target = tmp_path / f"card.{ending}"
    words = [
        "card",
        "chrf",
        str(JUDGED),
        "-m",
        "bleu",
        "--resamples",
        "20",
        "-o",
        str(target),
        "-q",
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    content = target.read_text("utf-8")
    assert "pearson" in content
    if ending == "html":
        assert content.startswith("<!doctype html>")
        assert "<svg" in content
        assert "<script" not in content
        assert "http" not in content.replace("http://www.w3.org", "").replace(
            "http://purl.org", ""
        ).replace("http://creativecommons.org", "").replace("https://matplotlib.org", "")
    if ending == "json":
        assert json.loads(content)["metric"] == "chrf"


def test_names_from_files_are_escaped(tmp_path: Path) -> None:
    row = {"candidate": "a b", "references": ["a b"], "system": "<b>", "human": {"<i>x": 1}}
    rows = [
        {**row, "segment": str(n), "candidate": "a b c d"[: n + 1], "human": {"<i>x": n}}
        for n in range(6)
    ]
    data = tmp_path / "judged.jsonl"
    data.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    target = tmp_path / "card.html"
    done = CliRunner().invoke(
        app, ["card", "chrf", str(data), "--resamples", "5", "-o", str(target)]
    )
    assert done.exit_code == 0, done.output
    assert "<i>x" not in target.read_text("utf-8")
