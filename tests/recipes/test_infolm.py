"""The recipe of InfoLM on small hand-made data, with the hashing masked language model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nlgauge.core.errors import ModelError
from nlgauge.recipes import _scores, _summaries, infolm, reproduce
from nlgauge.recipes.recipe import Reproduction, Settings


@pytest.fixture(scope="module")
def rebuilt(data: Path) -> Reproduction:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_summaries, "_RESAMPLES", 20)
        return reproduce("infolm", data, Settings(model="hashing", inputs=4))


def test_webnlg_has_five_criteria_with_all_measures_and_the_sample(rebuilt: Reproduction) -> None:
    sections = rebuilt.tables["webnlg"]
    assert len(sections) == 6
    for section in sections[:5]:
        assert "3 systems on 4 inputs" in section.table.footer[0]
        assert [row[1] for row in section.table.rows][:8] == list(
            infolm.PUBLICATION.others["measures"].values()
        )
        assert all(row[2] is not None for row in section.table.rows)
    structure = sections[4].table
    assert {row[1]: row[3] for row in structure.rows}["R"] == 92.4
    people = {row[0]: row[2] for row in sections[5].table.rows}
    assert people["Fluency, TextStructure"] == 99.5
    assert any("4 of 6 inputs, 12 of 18 rows" in note for note in rebuilt.notes)


def test_temperature_and_surface_are_tuned_on_some_documents_and_tested_on_others(
    rebuilt: Reproduction,
) -> None:
    sweeps = rebuilt.results["sweeps"]
    assert len(sweeps) == 3 * 2 + 2
    for each in sweeps:
        assert (each["tuned_on"], each["tested_on"]) == ("2 inputs (tune)", "2 inputs (test)")
        tested = [row for row in each["tried"] if row["test"] is not None]
        assert [row["tune"] for row in tested] == [each["tune"]]
        assert each["tune"] == max(row["tune"] for row in each["tried"] if row["tune"] is not None)
    assert len(sweeps[0]["tried"]) == len(infolm.TEMPERATURES)
    assert len(sweeps[-1]["tried"]) == len(infolm.ALPHAS) * len(infolm.BETAS)


def test_lines_carry_the_parameters_of_the_paper() -> None:
    specs = {line.published: line.spec for line in infolm._rows("data2text")}
    assert specs["R"] == "infolm:measure=fisher_rao"
    assert specs["JS"] == "infolm:measure=kl,symmetrised=yes"
    assert specs["D_AB"] == "infolm:measure=ab,preset=data2text"


def test_figures_are_written(rebuilt: Reproduction, tmp_path: Path) -> None:
    assert set(rebuilt.figures) == {
        *("summaries", "alpha_beta"),
        *(f"temperature_{name}" for name in ("pearson", "spearman", "kendall_b")),
        *(f"{name}_{kind}" for name in ("metrics", "distributions") for kind in ("abs", "ext")),
    }
    some = {name: rebuilt.figures[name] for name in ("temperature_pearson", "alpha_beta")}
    files, messages = replace(rebuilt, figures=some).write(tmp_path)
    assert messages == ()
    names = {path.name for path in files}
    assert names >= {"temperature_pearson.png", "alpha_beta.svg", "temperature.md", "webnlg.tex"}


def test_without_a_masked_model_the_other_metrics_are_still_compared(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example an embedded model without a masked-language head."""
    real = _scores.Scorer

    def no_head(metrics: object, **ways: object) -> object:
        if "infolm" in str(getattr(metrics, "name", "")):
            raise ModelError("the model has no masked-language head")
        return real(metrics, **ways)

    monkeypatch.setattr(_scores, "Scorer", no_head)
    monkeypatch.setenv("NLGAUGE_MODEL", "hashing")
    rebuilt = reproduce("infolm", data, Settings(inputs=3))
    assert "The rows of InfoLM have no computed numbers" in rebuilt.missing[0]
    rows = {row[1]: row for row in rebuilt.tables["webnlg"][0].table.rows}
    assert rows["R"][:4] == ("", "R", None, 89.7)
    assert rows["BertS"][0] == "bertscore"
    assert "sweeps" not in rebuilt.results
    assert any("left out: infolm ab, infolm alpha" in note for note in rebuilt.notes)
    with pytest.raises(ModelError, match="no masked-language head"):
        reproduce("infolm", data, Settings(model="hashing", inputs=3))
