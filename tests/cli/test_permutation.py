"""The command `nlgauge permutation`, and Holm's correction."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

WORDS = ("-m", "bleu", "chrf", "--human", "adequacy", "--resamples", "60")


@pytest.mark.parametrize("level", ["segment", "text", "system"])
def test_any_level_and_coefficient_is_tested(run, judged: Path, level: str) -> None:
    words = ("permutation", judged, *WORDS, "--level", level, "--coefficient", "kendall")
    code, out, err = run(*words)
    assert code == 0, err
    assert out.splitlines()[0].split() == [
        *("metric", "kendall_b", "↑", "BLEU", "chrF", "beats", "rank")
    ]
    assert f"{level} level; kendall_b; 108 outputs; 60 permutations of inputs and systems" in out
    assert "p Holm-corrected" in out
    first, second = json.loads(run(*words, "-f", "json")[1])["tests"]
    assert (first["better"], second["better"]) == ("bleu", "chrf")
    assert first["p"] + second["p"] >= 1
    smaller, larger = sorted([first, second], key=lambda test: test["p"])
    assert smaller["p_holm"] == pytest.approx(min(1, 2 * smaller["p"]))
    assert larger["p_holm"] >= smaller["p_holm"]


def test_too_few_permutations_are_reported(run, judged: Path) -> None:
    err = run("permutation", judged, *WORDS[:-1], "20")[2]
    assert "with 20 permutations no corrected p can be below 0.095; raise --resamples" in err
    words = ("permutation", judged, *WORDS[:-1], "20", "--correction", "none")
    code, out, err = run(*words)
    assert code == 0
    assert "p not corrected" in out
    assert "raise --resamples" not in err


def test_one_system_exchanges_inputs(run, judged: Path) -> None:
    alone = ("--without", "literal", "--without", "hasty")
    assert "60 permutations of inputs;" in run("permutation", judged, *WORDS, *alone)[1]
    code, _, err = run("permutation", judged, *WORDS, *alone, "--over", "both")
    assert code == 2
    assert "needs at least 2 systems, but there is 1" in err


def test_the_heat_map_of_p_values_is_drawn(run, judged: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert run("permutation", judged, *WORDS, "-o", tmp_path / "p.svg")[:2] == (0, "")
    assert "p, adequacy" in (tmp_path / "p.svg").read_text("utf-8")


def test_williams_may_be_corrected_too(run, judged: Path) -> None:
    words = ("williams", judged, "-m", "bleu", "chrf", "--human", "adequacy")
    assert "p not corrected" in run(*words)[1]
    assert "p Holm-corrected" in run(*words, "--correction", "holm")[1]
    tests = json.loads(run(*words, "-f", "json")[1])["tests"]
    small = min(tests, key=lambda test: test["p"])
    assert small["p_holm"] == pytest.approx(min(1, 2 * small["p"]))


def test_one_metric_is_not_compared(run, judged: Path) -> None:
    code, _, err = run("permutation", judged, "-m", "bleu")
    assert code == 2
    assert "compares at least 2 metrics, but 1 was named" in err
    assert (
        run("permutation", judged, "-m", "chrf", "--scores", "length", "--resamples", "9")[0] == 0
    )


def test_cells_and_pairs_are_exchanged(run, judged: Path) -> None:
    words = ("permutation", judged, *WORDS, "--level", "text", "--coefficient", "acc_eq")
    assert "60 permutations of pairs;" in run(*words, "--over", "pairs")[1]
    assert "60 permutations of cells;" in run(*words, "--over", "cells")[1]
    code, _, err = run("permutation", judged, *WORDS, "--over", "pairs")
    assert code == 2
    assert "which only acc_eq has; use over='cells' for pearson" in err
    tests = json.loads(run(*words, "--over", "pairs", "-f", "json")[1])["tests"]
    assert {test["rank_better"] for test in tests} >= {1}
