"""Recipes on small data: found files, scores, published numbers beside them, written files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import PROJECT
from nlgauge.core.errors import DataError, FileError, UsageError
from nlgauge.data.detection import read_judged
from nlgauge.recipes import RECIPES, _summaries, bary, lazy_emd, reproduce
from nlgauge.recipes._scores import find, some_inputs, with_model
from nlgauge.recipes._tables import compare_numbers
from nlgauge.recipes.recipe import Paper, Part, Reproduction, Section, Settings, TableRow
from nlgauge.report.table import Table

HASHING = Settings(model="hashing")


@pytest.fixture(scope="module")
def rebuilt(data: Path) -> Reproduction:
    return reproduce("bary", data, HASHING)


def test_bary_has_published_numbers_beside_ours_and_lists_missing_files(
    rebuilt: Reproduction, tmp_path: Path
) -> None:
    assert [section.title for section in rebuilt.tables["wmt15"]] == ["WMT15 cs-en", "WMT15 fi-en"]
    (lost,) = rebuilt.missing
    assert "so left out: wmt15_da/de-en.jsonl, wmt15_da/ru-en.jsonl, wmt16_da/" in lost
    files, messages = rebuilt.write(tmp_path / "new" / "bary")
    names = {path.name for path in files}
    assert names >= {"wmt15.md", "wmt15.tex", "kendall.svg", "webnlg.tex", "summaries.png"}
    assert all(path.stat().st_size for path in files)
    assert messages == ()
    page = (tmp_path / "new" / "bary" / "wmt15.md").read_text("utf-8")
    assert "bert-base-uncased" in page
    assert "model: hashing" in page
    assert lost in page
    summary = json.loads((tmp_path / "new" / "bary" / "summary.json").read_text("utf-8"))
    assert summary["model_ours"].split(", ")[0] == "hashing"
    assert summary["bary_pace"]["pairs"] == 12
    assert summary["kendall"]["names"][:2] == ["human", "bary"]
    (entry,) = (
        each
        for each in summary["correlations"]
        if (each["data"], each["metric"], each["coefficient"])
        == ("WMT15 fi-en", "bary", "kendall_b")
    )
    assert entry["published"] == 56.3
    assert -100 <= entry["ours"] <= 100


def test_bary_has_a_webnlg_table_for_each_criterion_and_one_of_people(
    rebuilt: Reproduction,
) -> None:
    sections = rebuilt.tables["webnlg"]
    assert [section.title.split(", ", 1)[1] for section in sections] == [
        *("correctness", "data coverage", "fluency", "relevance", "text structure"),
        "the criteria with each other",
    ]
    correctness, _, fluency, *_, people = (section.table for section in sections)
    assert [column.name for column in correctness.columns][2:4] == ["r", "published"]
    assert correctness.rows[0][:2] == ("bary", "BaryS")
    assert correctness.rows[0][3] == 91.7
    assert "BaryS+" in {row[1] for row in correctness.rows}
    assert "BaryS+" not in {row[1] for row in fluency.rows}  # neither ours nor theirs
    assert [column.name for column in fluency.columns][2:] == ["r", "rho", "tau"]  # not printed
    assert "3 systems on 6 inputs" in correctness.footer[0]
    assert len(people.rows) == 10
    printed = {row[0]: row[2] for row in people.rows}
    assert printed["Correctness, DataCoverage"] == 97.6
    assert printed["Fluency, TextStructure"] is None


def test_summaries_come_by_kind_of_system_and_level_with_intervals(rebuilt: Reproduction) -> None:
    titles = [section.title for section in rebuilt.tables["summaries"]]
    assert titles == [
        f"REALSumm, {kind}, {level} level"
        for level in ("system", "text")
        for kind in ("abstractive", "extractive")
    ]
    rows = [e for e in rebuilt.results["correlations"] if e["data"] == "REALSumm"]
    assert len(rows) == 4 * 3 * (len(bary.PUBLICATION.rows["summaries"]) + 1)
    assert rows[-1]["metric"] == "stored:mover_score"
    assert any(
        "stored: scores stored with the data" in line
        for line in rebuilt.tables["summaries"][0].table.footer
    )
    for row in rows:
        if row["value"] is not None:
            assert row["low"] <= row["high"]
    assert {row["resampled"] for row in rows} == {"systems and documents"}


def test_stored_scores_are_correlated_by_means_of_systems(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_summaries, "_RESAMPLES", 5)
    folder = data / "realsumm"
    judged = _summaries.by_kind(folder / "realsumm.jsonl", folder / "stored_metric_scores.jsonl")
    part, _ = _summaries.summaries(judged, dict.fromkeys(judged, ()), Settings())
    found = [
        row["value"]
        for row in part.results["correlations"]
        if (row["level"], row["coefficient"]) == ("system", "pearson")
    ]
    # Means over the six documents of the formulas in conftest.py, for the three systems.
    human = [np.mean([i * 7 % 11 - 2.0 * at for i in range(6)]) for at in range(3)]
    stored = [np.mean([(i + at) % 4 for i in range(6)]) for at in range(3)]
    assert found == pytest.approx([np.corrcoef(human, stored)[0, 1]] * 2, abs=1e-12)


def test_stored_scores_of_realsumm_give_the_numbers_of_its_authors(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are stored with the data, so without any model."""
    monkeypatch.setattr(_summaries, "_RESAMPLES", 5)
    folder = shared_data / "realsumm"
    judged = _summaries.by_kind(
        folder / "realsumm.jsonl.gz", folder / "stored_metric_scores.jsonl.gz"
    )
    part, _ = _summaries.summaries(judged, dict.fromkeys(judged, ()), Settings())
    found = {
        (row["systems"], row["metric"], row["coefficient"]): row["value"]
        for row in part.results["correlations"]
        if row["level"] == "system"
    }
    recall, mover = "stored:rouge_2_recall", "stored:mover_score"
    assert found["abstractive", recall, "pearson"] == pytest.approx(0.983, abs=5e-4)
    assert found["abstractive", recall, "kendall_b"] == pytest.approx(0.868, abs=5e-4)
    assert found["extractive", mover, "pearson"] == pytest.approx(0.012, abs=5e-4)
    assert found["extractive", mover, "kendall_b"] == pytest.approx(-0.018, abs=5e-4)


def test_summaries_of_neither_kind_are_refused(data: Path) -> None:
    with pytest.raises(DataError, match=r"none of the 3 systems is called abs/"):
        _summaries.by_kind(data / "webnlg2020" / "en.jsonl")


def test_rows_that_need_another_model_have_no_number_of_ours(rebuilt: Reproduction) -> None:
    table = rebuilt.tables["wmt15"][0].table
    first = table.rows[0]
    assert first[:4] == ("", "BaryS+", None, 75.9)


def test_published_numbers_stand_where_the_paper_has_them() -> None:
    assert bary.published("WMT15", "de-en")["BaryS+", "pearson"] == 75.8
    assert bary.published("WMT15", "fi-en")["BertS-F", "kendall_b"] == 54.1
    assert bary.published("WMT15", "ru-en")["CHRF", "spearman"] == 32.9
    assert bary.published("WMT16", "tr-en")["MET", "kendall_b"] == 42.4
    assert bary.published("WMT16", "ro-en")["BaryS", "pearson"] == 72.5
    assert lazy_emd.PUBLISHED["WMT18"]["Lazy-EMD", "WMT18 tr-en"] == 0.281
    assert lazy_emd.PUBLISHED["WMT18"]["SENTBLEU", "WMT18 zh-en"] == 0.178
    assert lazy_emd.PUBLISHED["WMT19"]["EMD", "WMT19 lt-en"] == 0.377
    assert lazy_emd.PUBLISHED_PRICES["(0.009, 0.95)", "WMT19 gu-en"] == 0.292


@pytest.mark.parametrize(("recipe", "stem"), [("bary", "wmt15"), ("benchmark", "human")])
def test_other_models_have_columns_beside_ours(data: Path, recipe: str, stem: str) -> None:
    other = "glove"
    settings = Settings("hashing", inputs=4, other_models=(other,))
    rebuilt = reproduce(recipe, data, settings)
    table = rebuilt.tables[stem][0].table
    heads = [column.name for column in table.columns]
    at = next(i for i, name in enumerate(heads) if name.endswith(f" {other}"))
    assert heads[at] == f"{heads[at - 1]} {other}"
    assert heads[at + 1].startswith("published")
    rows = {row[0]: row for row in table.rows}
    assert isinstance(rows["bary"][at], float)
    assert rows["bary"][at] != rows["bary"][at - 1]
    assert rows["ter"][at] is None  # has no model
    assert other in rebuilt.model
    names = (rebuilt.results.get("kendall") or rebuilt.results["matrices"][0])["names"]
    assert not any(other in name for name in names)


def test_benchmark_gives_three_matrices_with_people_first(data: Path, tmp_path: Path) -> None:
    rebuilt = reproduce("benchmark", data, HASHING)
    made = rebuilt.to_dict()["matrices"]
    assert [each["coefficient"] for each in made] == ["spearman", "pearson", "kendall_b"]
    assert made[0]["names"] == ["human", "bleu", "bary", "depth", "ter", "meteor"]
    assert rebuilt.missing == ()
    rebuilt.write(tmp_path)
    assert (tmp_path / "spearman.png").stat().st_size > 1000
    assert r"\begin{tabular}" in (tmp_path / "matrices.tex").read_text("utf-8")


@pytest.fixture(scope="module")
def lazy(data: Path) -> Reproduction:
    return reproduce("lazy_emd", data, HASHING)


def test_lazy_emd_counts_pairs_and_scores_only_what_they_compare(lazy: Reproduction) -> None:
    (section,) = lazy.tables["darr"]
    assert section.table.columns[2].name == "tr-en (4 pairs)"
    assert {row[0] for row in section.table.rows} >= {"bertscore F_.48", "emd", "lazy_emd"}
    content = lazy.to_dict()
    for counts in content["counts"]:
        assert counts["concordant"] + counts["discordant"] == 4
    assert any("7 of 15 outputs are in a pair" in note for note in content["notes"])
    bleu = content["correlations"][0]
    assert (bleu["data"], bleu["metric"], bleu["published"]) == ("WMT18 tr-en", "bleu", 0.145)
    (corpus_score,) = (each for each in content["counts"] if each["metric"] == "bleu")
    assert bleu["ours"] == (corpus_score["concordant"] - corpus_score["discordant"]) / 4
    outputs, pairs = lazy.missing
    assert "wmt18_darr/cs-en.jsonl" in outputs
    assert "wmt19_darr/pairs/zh-en.darr.tsv" in pairs


def test_a_sample_of_segments_takes_their_pairs_only(data: Path) -> None:
    rebuilt = reproduce("lazy_emd", data, Settings(model="hashing", inputs=2))
    (section,) = rebuilt.tables["darr"]
    assert section.table.columns[2].name == "tr-en (2 pairs)"  # on the first two of 3 segments
    assert "at most 2 segments" in section.table.footer[-1]
    assert all(each["pairs_missing"] == 0 for each in rebuilt.results["counts"])


def test_penalties_of_another_year_are_not_compared_with_published_ones(lazy: Reproduction) -> None:
    (section,) = lazy.tables["penalties"]
    assert [column.name for column in section.table.columns][2:] == ["tr-en (4 pairs)"]
    assert any("for WMT19 only" in line for line in section.table.footer)
    assert [row[1] for row in section.table.rows][:2] == ["(0.23, 0.31)", "(0.009, 0.95)"]


def test_worked_examples_have_matchings_whose_margins_are_kept(
    lazy: Reproduction, tmp_path: Path
) -> None:
    (table,) = (section.table for section in lazy.tables["examples"])
    assert table.rows[0][1:3] == ("The boy in a coat.", "The young man in a slicker.")
    assert table.rows[0][4::2] == (0.9560, 0.9419, 0.9489, 0.0533)
    plans = lazy.results["matchings"]
    for name, tokens in (("precision", "candidate_tokens"), ("recall", "reference_tokens")):
        axis = 1 if name == "precision" else 0
        moved = [sum(row) for row in _oriented(plans[name]["coupling"], axis)]
        assert moved == pytest.approx([1 / len(plans[name][tokens])] * len(moved))
    assert plans["lazy_emd"]["mass"] < plans["emd"]["mass"] == pytest.approx(1)
    precision = 1 - plans["precision"]["value"]
    assert table.rows[0][3] == pytest.approx(precision)
    lazy.write(tmp_path)
    assert (tmp_path / "matching_lazy_emd.png").stat().st_size > 1000


def _oriented(coupling: list[list[float]], axis: int) -> list[list[float]]:
    return coupling if axis == 1 else [list(column) for column in zip(*coupling, strict=True)]


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
        with pytest.raises(FileError, match=r"none of the files looked for.*en\.jsonl"):
            reproduce(name, tmp_path)
    with pytest.raises(FileError, match="there is no folder"):
        find(tmp_path / "nowhere", {"a": "a.jsonl"})
    with pytest.raises(UsageError, match="no recipe 'barry'; the recipes are: bary"):
        reproduce("barry", tmp_path)


def test_every_recipe_file_is_listed() -> None:
    files = {path.stem for path in (PROJECT / "src/nlgauge/recipes").glob("[!_]*.py")}
    assert files - {"recipe"} == set(RECIPES)


def test_a_sample_is_evenly_spaced_keeps_whole_inputs_and_notes_its_size(data: Path) -> None:
    judged = read_judged(data / "webnlg2020" / "en.jsonl")
    some = some_inputs(judged, 3)
    assert list(dict.fromkeys(some.corpus.ids)) == ["0", "2", "4"]
    assert len(some) == 9
    assert "3 of 6 inputs, 9 of 18 rows" in some.notes[-1]
    assert some_inputs(judged, 6) is some_inputs(judged, None) is judged


def test_parts_are_joined_in_order_without_repeated_notes() -> None:
    section = Section("a", Table((), ()))
    one = Part({"t": [section]}, {}, {"list": [1], "map": {"a": 1}}, ["x", "y"], ["m"])
    two = Part({"t": [section]}, {}, {"list": [2], "map": {"b": 2}}, ["y"], ["m", "n"])
    whole = Reproduction.of("r", Paper("", "", ""), [one, two], ["gone"])
    assert len(whole.tables["t"]) == 2
    assert whole.results == {"list": [1, 2], "map": {"a": 1, "b": 2}}
    assert whole.notes == ("x", "y")
    assert whole.model == "m, n"


def test_the_model_goes_to_the_metrics_that_take_one() -> None:
    assert with_model("bary", "hashing").label() == "bary:model=hashing"
    assert with_model("bleu", "hashing").label() == "bleu"
    assert with_model("bary", None).label() == "bary"
    assert with_model("smd:model=glove", "hashing").label() == "smd:model=glove"


def test_numbers_missing_on_either_side_are_empty_cells() -> None:
    lines = (TableRow("a", "bleu", "A"), TableRow("b", "chrf"), TableRow("C", None, "C"))
    table, _ = compare_numbers(
        lines,
        {"r": "r"},
        {("a", "r"): 1.0, ("b", "r"): 2.0},
        {("C", "r"): 3.0},
        Settings(),
        digits=1,
    )
    assert table.texts() == [["a", "A", "1.0", ""], ["b", "", "2.0", ""], ["", "C", "", "3.0"]]


def test_columns_that_the_paper_does_not_print_are_left_out() -> None:
    lines = (TableRow("a", "bleu", "A"), TableRow("b", "chrf"))
    ours = {("a", "r"): 1.0, ("b", "r"): 2.0, ("a", "tau"): 3.0}
    columns, published = {"r": "r", "tau": "tau"}, {("A", "tau"): 4.0}
    table, _ = compare_numbers(lines, columns, ours, published, Settings(), digits=0)
    assert [column.name for column in table.columns[2:]] == ["r", "tau", "published"]
    assert table.texts() == [["a", "A", "1", "3", "4"], ["b", "", "2", "", ""]]


@pytest.mark.parametrize(
    "statement",
    [
        "import nlgauge, nlgauge.study; nlgauge.score(['a'], ['a'], metrics='bleu')",
        "from nlgauge.cli import main; main(['score', '--help'])",
        "from nlgauge.cli import main; main(['metrics'])",
    ],
)
def test_only_reproduce_imports_the_recipes(statement: str) -> None:
    check = (
        f"import sys\ntry:\n    {statement}\nexcept SystemExit:\n    pass\n"
        "assert not [name for name in sys.modules if name.startswith('nlgauge.recipes')]"
    )
    command = [sys.executable, "-c", check]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
