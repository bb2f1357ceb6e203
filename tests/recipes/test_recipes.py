"""Recipes on small hand-made data: what is found, scored, set beside the paper, and written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from conftest import PROJECT, example
from nlgauge.core.errors import DataError, FileError, UsageError
from nlgauge.recipes import RECIPES, bary, lazy_emd, reproduce
from nlgauge.recipes.recipe import Line, Rebuilt, Setting, beside, find, with_model

HASHING = Setting(model="hashing")


def _row(segment: int, system: str, human: dict[str, float]) -> str:
    row = {"segment": segment, "system": system, "candidate": example(system)[segment]}
    return json.dumps({**row, "references": [example("reference.a")[segment]], "human": human})


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two of the four WMT15 files (one gzipped) and one WMT18 language pair with 4 pairs."""
    root = tmp_path_factory.mktemp("data")
    (root / "wmt15_da").mkdir()
    (root / "wmt18_darr" / "pairs").mkdir(parents=True)
    judged = [_row(i, "literal", {"da_z": (i * 7) % 11 / 10}) for i in range(12)]
    (root / "wmt15_da" / "fi-en.jsonl").write_text("\n".join(judged), "utf-8")
    with gzip.open(root / "wmt15_da" / "cs-en.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(judged))
    systems = ("fluent", "literal", "hasty")
    outputs = [_row(i, name, {"da_raw": 50.0}) for i in range(5) for name in systems]
    (root / "wmt18_darr" / "tr-en.jsonl").write_text("\n".join(outputs), "utf-8")
    pairs = ["segment\tbetter\tworse"]
    pairs += ["0\tfluent\thasty", "1\tfluent\tliteral", "2\tliteral\thasty", "2\thasty\tfluent"]
    (root / "wmt18_darr" / "pairs" / "tr-en.darr.tsv").write_text("\n".join(pairs), "utf-8")
    return root


@pytest.fixture(scope="module")
def rebuilt(data: Path) -> Rebuilt:
    return reproduce("bary", data, HASHING)


def test_bary_sets_ours_beside_table_1_and_says_what_is_missing(
    rebuilt: Rebuilt, tmp_path: Path
) -> None:
    assert [section.title for section in rebuilt.tables["table1"]] == ["WMT15 cs-en", "WMT15 fi-en"]
    (lost,) = rebuilt.missing
    assert lost.endswith("left out here: wmt15_da/de-en.jsonl, wmt15_da/ru-en.jsonl.")
    files, said = rebuilt.write(tmp_path / "new" / "bary")
    assert {path.name for path in files} >= {"table1.md", "table1.tex", "kendall.svg"}
    assert said == ()
    page = (tmp_path / "new" / "bary" / "table1.md").read_text("utf-8")
    assert "bert-base-uncased" in page
    assert "model: hashing" in page
    assert lost in page
    summary = json.loads((tmp_path / "new" / "bary" / "summary.json").read_text("utf-8"))
    assert summary["model_ours"] == "hashing"
    assert summary["bary_pace"]["pairs"] == 12
    assert summary["kendall"]["names"][:2] == ["human", "bary"]
    (entry,) = (
        each
        for each in summary["correlations"]
        if (each["data"], each["metric"], each["coefficient"]) == ("fi-en", "bary", "kendall_b")
    )
    assert entry["published"] == 56.3
    assert -100 <= entry["ours"] <= 100


def test_rows_that_need_another_model_have_no_number_of_ours(rebuilt: Rebuilt) -> None:
    table = rebuilt.tables["table1"][0].table
    first = table.rows[0]
    assert first[:4] == ("", "BaryS+", None, 75.9)


def test_published_numbers_stand_where_the_paper_has_them() -> None:
    assert bary.published("de-en")["BaryS+", "pearson"] == 75.8
    assert bary.published("fi-en")["BertS-F", "kendall_b"] == 54.1
    assert bary.published("ru-en")["CHRF", "spearman"] == 32.9
    assert lazy_emd.PUBLISHED["Lazy-EMD", "tr-en"] == 0.281
    assert lazy_emd.PUBLISHED["SENTBLEU", "zh-en"] == 0.178
    assert all(len(line.split()) == 12 for line in bary._TABLE_1.values())


def test_benchmark_gives_three_matrices_with_people_first(data: Path, tmp_path: Path) -> None:
    rebuilt = reproduce("benchmark", data, HASHING)
    made = rebuilt.to_dict()["matrices"]
    assert [each["coefficient"] for each in made] == ["spearman", "pearson", "kendall_b"]
    assert made[0]["names"] == ["human", "bleu", "bary", "depth", "ter", "meteor"]
    assert rebuilt.missing == ()
    rebuilt.write(tmp_path)
    assert (tmp_path / "spearman.png").stat().st_size > 1000
    assert r"\begin{tabular}" in (tmp_path / "matrices.tex").read_text("utf-8")


def test_lazy_emd_counts_pairs_and_scores_only_what_they_compare(data: Path) -> None:
    rebuilt = reproduce("lazy_emd", data, HASHING)
    (section,) = rebuilt.tables["table2"]
    assert section.table.columns[2].name == "tr-en (4 pairs)"
    content = rebuilt.to_dict()
    for counts in content["counts"]:
        assert counts["concordant"] + counts["discordant"] == 4
    assert any("scored 7 of 15 outputs" in said for said in content["notes"])
    bleu = content["correlations"][0]
    assert (bleu["data"], bleu["metric"], bleu["published"]) == ("tr-en", "bleu", 0.145)
    tally = content["counts"][0]
    assert bleu["ours"] == (tally["concordant"] - tally["discordant"]) / 4
    outputs, pairs = rebuilt.missing
    assert "wmt18_darr/cs-en.jsonl" in outputs
    assert "wmt18_darr/pairs/zh-en.darr.tsv" in pairs


def test_pairs_of_outputs_that_are_not_there_are_refused(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "wmt18_darr"
    (folder / "pairs").mkdir(parents=True)
    source = (data / "wmt18_darr" / "tr-en.jsonl").read_text("utf-8")
    (folder / "tr-en.jsonl").write_text(source, "utf-8")
    pairs = "segment\tbetter\tworse\n0\tfluent\tnobody\n"
    (folder / "pairs" / "tr-en.darr.tsv").write_text(pairs, "utf-8")
    with pytest.raises(DataError, match=r"1 of the 2 outputs .* 'nobody' on segment '0'"):
        reproduce("lazy_emd", tmp_path, HASHING)


def test_outputs_without_their_pairs_are_refused(data: Path, tmp_path: Path) -> None:
    (tmp_path / "wmt18_darr" / "pairs").mkdir(parents=True)
    source = (data / "wmt18_darr" / "tr-en.jsonl").read_text("utf-8")
    (tmp_path / "wmt18_darr" / "tr-en.jsonl").write_text(source, "utf-8")
    pairs = "segment\tbetter\tworse\n0\tfluent\thasty\n"
    (tmp_path / "wmt18_darr" / "pairs" / "cs-en.darr.tsv").write_text(pairs, "utf-8")
    with pytest.raises(FileError, match="no language pair with both outputs and ranked pairs"):
        reproduce("lazy_emd", tmp_path, HASHING)


def test_nothing_found_is_an_error_that_names_the_files(tmp_path: Path) -> None:
    for name in RECIPES:
        with pytest.raises(FileError, match=r"none of the files looked for.*en.jsonl"):
            reproduce(name, tmp_path)
    with pytest.raises(FileError, match="there is no folder"):
        find(tmp_path / "nowhere", {"a": "a.jsonl"})
    with pytest.raises(UsageError, match="no recipe 'barry'; the recipes are: bary"):
        reproduce("barry", tmp_path)


def test_every_recipe_file_is_listed() -> None:
    files = {path.stem for path in (PROJECT / "src/nlgauge/recipes").glob("[!_]*.py")}
    assert files - {"recipe"} == set(RECIPES)


def test_the_model_goes_to_the_metrics_that_take_one() -> None:
    assert with_model("bary", "hashing").label() == "bary:model=hashing"
    assert with_model("bleu", "hashing").label() == "bleu"
    assert with_model("bary", None).label() == "bary"


def test_numbers_absent_on_either_side_stay_empty() -> None:
    lines = (Line("a", "bleu", "A"), Line("b", "chrf"), Line("C", None, "C"))
    table = beside(
        lines, {"r": "r"}, {("a", "r"): 1.0, ("b", "r"): 2.0}, {("C", "r"): 3.0}, digits=1
    )
    assert table.texts() == [["a", "A", "1.0", ""], ["b", "", "2.0", ""], ["", "C", "", "3.0"]]
