"""daRR from texts: pairs from assessments or files, and what is refused."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from nlgauge.core.errors import DataError, OptionError
from nlgauge.data import JudgedCorpus, Pairs
from nlgauge.study import darr, measure
from nlgauge.study.darr import outputs_in_pairs, rank_pairs
from study.conftest import example_corpus


@pytest.fixture(scope="module")
def judged() -> JudgedCorpus:
    corpus = example_corpus()
    rng = np.random.default_rng(1)
    raw = np.concatenate([rng.uniform(0, 100, 36) - 15 * k for k in range(3)]).round()
    raw[4] = np.nan
    stored = np.arange(108.0)
    stored[40:44] = np.nan
    return JudgedCorpus(corpus, {"raw": raw}, ("made up.",), {"line": stored})


def test_tau_is_the_brute_force_count(judged: JudgedCorpus) -> None:
    found = darr(judged, ["chrf", "eed"], confidence=0.9, count=200)
    study = measure(judged, ["chrf", "eed"])
    human = study.judgements.matrix("raw")
    for entry, each in zip(found.entries, study.metrics, strict=True):
        sign = -1 if each.direction == "lower" else 1
        verdicts = [
            sign * each.values[i, s] > sign * each.values[j, s]
            for s in range(36)
            for i, j in permutations(range(3), 2)
            if human[i, s] - human[j, s] >= 25
        ]
        assert entry.tau.concordant == sum(verdicts)
        assert entry.tau.discordant == len(verdicts) - sum(verdicts)
        assert entry.tau.value == pytest.approx(2 * np.mean(verdicts) - 1)
        assert entry.interval is not None
        assert entry.interval.low < entry.tau.value < entry.interval.high
    assert found.value("chrf") == found.entries[0].tau.value
    with pytest.raises(OptionError, match="no metric 'bleu' here; there are chrf, eed"):
        found.value("bleu")


def test_a_file_of_the_same_pairs_gives_the_same(judged: JudgedCorpus, tmp_path: Path) -> None:
    made = rank_pairs(judged)
    path = tmp_path / "pairs.tsv"
    path.write_text("segment\tbetter\tworse\n" + "".join("\t".join(t) + "\n" for t in made))
    from_file = darr(judged, "chrf", pairs=path)
    assert from_file.entries[0].tau == darr(judged, "chrf").entries[0].tau
    assert len(outputs_in_pairs(judged, made)) < len(judged)


def test_a_missing_system_is_named(judged: JudgedCorpus) -> None:
    pairs = rank_pairs(judged)
    with pytest.raises(DataError, match="all of hasty among them, for example of 'hasty' on"):
        darr(judged.without("hasty"), "chrf", pairs=pairs)
    left = pairs.without("hasty")
    assert darr(judged.without("hasty"), "chrf", pairs=left).pairs is left


def test_gaps_of_stored_scores_are_refused_or_counted(judged: JudgedCorpus) -> None:
    with pytest.raises(DataError, match=r"stored:line lacks a score for \d+ of \d+ pairs"):
        darr(judged, (), scores="line")
    (entry,) = darr(judged, (), scores="line", missing="keep").entries
    assert entry.tau.pairs_missing > 0
    tau = entry.tau
    assert tau.concordant + tau.discordant + tau.pairs_missing == len(rank_pairs(judged))
    (other,) = darr(judged, (), distances="line", missing="keep").entries
    assert other.tau.value == pytest.approx(-tau.value)


def test_data_without_pairs_is_refused(judged: JudgedCorpus) -> None:
    both = JudgedCorpus(judged.corpus, {**judged.human, "z": judged.human["raw"] / 30}, ())
    with pytest.raises(OptionError, match=r"2 criteria \(raw, z\)"):
        rank_pairs(both)
    with pytest.raises(DataError, match="differ by 25 or more in 'z', whose values range from"):
        rank_pairs(both, "z")
    with pytest.raises(DataError, match=r"no segment has two judged systems \(1 systems"):
        rank_pairs(judged.without("literal", "hasty"))
    with pytest.raises(OptionError, match="nobody judged 'style'"):
        rank_pairs(judged, "style")
    assert isinstance(rank_pairs(both, "z", 0.5), Pairs)
