"""The recipe of MoverScore on small data: replaced data sets, dialogue, TAC, layers, figures."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nlgauge.recipes import mover, reproduce
from nlgauge.recipes.recipe import Reproduction, Settings

HASHING = Settings(model="hashing")


@pytest.fixture(scope="module")
def rebuilt(data: Path) -> Reproduction:
    return reproduce("mover", data, HASHING)


def test_wmt15_replaces_missing_wmt17_and_every_table_has_a_note(rebuilt: Reproduction) -> None:
    assert any(note.startswith("WMT15 stands in for WMT17") for note in rebuilt.missing)
    for stem in ("table1", "alignments", "layers"):
        (section,) = rebuilt.tables[stem]
        assert section.title.startswith("WMT15, ")
        assert section.table.columns[2].name == "cs-en (WMT15)"
        assert any("WMT15 stands in" in line for line in section.table.footer)
        assert section.table.footer[-1] == "segments: cs-en 12, fi-en 12; distances negated"
    (table,) = (section.table for section in rebuilt.tables["table1"])
    rows = {row[1]: row for row in table.rows}
    assert rows["WMD-1 + BERT + PMEANS"][3] == 0.662
    assert rows["RUSE"][0] == ""
    assert rows["RUSE"][2] is None


def test_wmt17_is_used_if_present(data: Path, tmp_path: Path) -> None:
    (tmp_path / "wmt17_da").mkdir()
    shutil.copy(data / "wmt15_da" / "fi-en.jsonl", tmp_path / "wmt17_da" / "lv-en.jsonl")
    rebuilt = reproduce("mover", tmp_path, HASHING)
    (section,) = rebuilt.tables["alignments"]
    assert section.title.startswith("WMT17, ")
    assert [column.name for column in section.table.columns][2:] == ["lv-en (WMT17)", "published"]
    assert section.table.rows[0][3] == 0.712
    assert not any("stands in" in note for note in rebuilt.missing)


def test_hard_and_soft_alignments_share_the_layer_and_agree_in_special_cases(
    rebuilt: Reproduction,
) -> None:
    (section,) = rebuilt.tables["alignments"]
    assert section.table.footer[0] == "ours: layer 3; the paper's: layer 9 of 12"
    content = rebuilt.to_dict()["correlations"]
    found = {
        (entry["table"], entry["metric"]): entry["ours"]
        for entry in content
        if entry.get("data") == "WMT15 fi-en"
    }
    # One layer alone is the same metric in both tables, asked for once.
    assert found["alignments", "mover-1 (one layer)"] == found["layers", "layer 3"]
    assert found["table1", "mover-1"] == found["layers", "p-means"]


def test_layers_of_another_depth_are_not_set_beside_the_papers(rebuilt: Reproduction) -> None:
    (section,) = rebuilt.tables["layers"]
    names = [(row[0], row[1]) for row in section.table.rows]
    assert names[:5] == [(f"layer {n}", "") for n in range(5)]
    assert names[5:10] == [("", f"LAYER {n}") for n in range(8, 13)]
    assert names[10:] == [("routing", "ROUTING"), ("p-means", "PMEANS"), ("side by side", "")]


def test_dialogue_and_tac_have_their_criteria(rebuilt: Reproduction) -> None:
    (bagel,) = rebuilt.tables["dialogue"]
    assert [column.name for column in bagel.table.columns][2::2] == ["Inf", "Nat", "Qual"]
    assert {row[1]: row[3] for row in bagel.table.rows}["NIST"] == 0.207
    (tac,) = rebuilt.tables["tac"]
    assert [column.name for column in tac.table.columns][2::2] == [
        *("responsiveness r", "responsiveness rho"),
        *("pyramid r", "pyramid rho"),
    ]
    assert {row[1]: row[5] for row in tac.table.rows}["ROUGE-2"] == 0.572
    (lost, _) = rebuilt.missing
    assert "novikova2017/sfhotel.jsonl" in lost
    assert "tac2009" in lost


def test_the_folder_holds_tables_and_figures(rebuilt: Reproduction, tmp_path: Path) -> None:
    files, messages = rebuilt.write(tmp_path)
    assert messages == ()
    names = {path.name for path in files}
    assert names >= {"distributions.png", "metrics.svg", "dialogue.md", "tac.tex", "layers.tex"}
    summary = json.loads((tmp_path / "summary.json").read_text("utf-8"))
    assert summary["metrics"]["names"] == ["human", "bleu", "chrf++", "smd", "mover-1"]


def test_published_numbers_stand_where_the_paper_has_them() -> None:
    assert mover.PUBLISHED["table1"]["SMD + BERT + PMEANS", "lv-en"] == 0.639
    assert mover.PUBLISHED["dialogue"]["METEOR", "SFHOTEL naturalness spearman"] == 0.148
    assert mover.PUBLISHED["tac"]["S3best", "TAC-2009 pyramid spearman"] == 0.731
    assert mover.PUBLISHED["layers"]["ROUTING", "zh-en"] == 0.7182
    assert ("HMD-F1 + BERT", "ru-en") not in mover.PUBLISHED["alignments"]
