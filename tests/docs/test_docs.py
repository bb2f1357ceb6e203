"""The code blocks of the documentation run and print the output shown."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from conftest import PROJECT, needs_embedded

sys.path.insert(0, str(PROJECT / "tools" / "docs"))
import agreement_and_cost
import gallery
import notebooks
import snippets

DOCS = PROJECT / "docs"
PAGES = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
NOTEBOOK = PROJECT / "examples" / "first_steps.ipynb"
MIGRATION_GUIDE = DOCS / "migration.md"
_CODE = re.compile(r"`([^`]+)`")
_FILE = re.compile(r"^[\w./-]+\.(txt|jsonl|json|tsv|csv|py)$")


def _named(path: Path) -> str:
    return str(path.relative_to(PROJECT))


@pytest.fixture(autouse=True)
def _copied_examples() -> Iterator[None]:
    with snippets.workplace(PROJECT):
        yield


def _missing_files(words: list[str]) -> list[str]:
    """Return the missing files of a command: neither shipped nor written by the page."""
    outputs = {after for word, after in pairwise(words) if word == "-o"}
    named = [word for word in words if _FILE.match(word) and word not in outputs]
    return [name for name in named if not Path(name).exists()]


@needs_embedded
@pytest.mark.parametrize("path", PAGES, ids=_named)
def test_blocks_print_what_is_shown(path: Path) -> None:
    left_out: list[str] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    with snippets.served(path.read_text("utf-8")) as (page, _):
        found = list(snippets.blocks(page))
        outputs = {id(block): shown for block, shown in snippets.pairs(found)}
        for block in found:
            if block.language == "console":
                left_out += _check_commands(block)
            elif block.language == "python":
                left_out += _check_python(block, outputs[id(block)], names)
    if left_out:
        pytest.skip(f"the other blocks pass; skipped: {'; '.join(left_out)}")


def _check_commands(block: Any) -> Iterator[str]:
    for command in snippets.commands(block):
        if not command.runnable:
            continue
        absent = _missing_files(command.words)
        if absent:
            yield f"{' '.join(command.words[:2])} needs {absent[0]}"
            continue
        outcome = snippets.run_command(command.words)
        refused = command.shown.startswith("nlgauge:")
        assert bool(outcome.code) == refused, f"{command.typed}\n{outcome.stderr}"
        printed = outcome.stderr if refused else outcome.stdout
        if command.shown:
            assert snippets.excerpt(printed, command.shown) == command.shown, command.typed


def _check_python(block: Any, shown: Any, names: dict[str, Any]) -> Iterator[str]:
    library = snippets.missing(block.content)
    if library is not None:
        yield f"{library} is not installed"
        return
    printed = snippets.run_python(block.content, names)
    if shown is not None:
        assert printed == shown.content.rstrip(), block.content


def _calls() -> list[str]:
    """Return the nlgauge calls in the tables of the migration guide."""
    page = MIGRATION_GUIDE.read_text("utf-8")
    cells = [row.split(" | ")[-1] for row in page.splitlines() if row.startswith("| ")]
    return [code for cell in cells for code in _CODE.findall(cell) if not code.startswith("-")]


@needs_embedded
def test_every_call_in_the_migration_tables_runs() -> None:
    calls = [call for call in _calls() if call.startswith(("nlgauge", "TextMetric", "metric"))]
    assert len(calls) > 40
    names: dict[str, Any] = {}
    blocks = list(snippets.blocks(MIGRATION_GUIDE.read_text("utf-8")))
    for block, _ in snippets.pairs(blocks):
        if snippets.missing(block.content) is None:
            snippets.run_python(block.content, names)
    for call in calls:
        if call.startswith("nlgauge "):
            outcome = snippets.run_command(snippets.Command(call, "").words)
            assert outcome.code == 0, f"{call}\n{outcome.stderr}"
        elif "TextMetric" in names or "TextMetric" not in call:
            snippets.run_python(call, names)


@needs_embedded
def test_the_notebook_prints_what_it_shows() -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plots' is not installed")
    kept = notebooks.read(NOTEBOOK)
    made = notebooks.executed(kept)
    for old, new in zip(_printed(kept), _printed(made), strict=True):
        assert old == new
    assert not re.search(r"/(home|work|tmp|root)/", NOTEBOOK.read_text("utf-8"))


def _printed(notebook: dict[str, Any]) -> list[list[str]]:
    """Return the output of every cell; pixels of figures depend on the fonts."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [
        ["".join(output.get("text") or output["data"]["text/plain"]) for output in cell["outputs"]]
        for cell in cells
    ]


def test_the_gallery_shows_what_its_commands_draw() -> None:
    page = gallery.PAGE.read_text("utf-8")
    found = [command for block in snippets.blocks(page) for command in snippets.commands(block)]
    drawn = {word for each in found for word in each.words if word.endswith((".svg", ".png"))}
    assert drawn == gallery.shown(page)
    for name in drawn:
        assert 1000 < (gallery.IMAGES / name).stat().st_size <= gallery.MOST_BYTES, name


def test_all_pages_have_the_numbers_of_the_benchmark() -> None:
    table = agreement_and_cost.rows()
    assert all(float(row["cpu_ms"]) > 0 for row in table)
    r = {row["metric"]: row["r"] for row in table}
    readme = (PROJECT / "README.md").read_text("utf-8").partition("to English:")[2]
    listed = re.findall(r"`(\w+)`\s(\.\d{3})", readme.partition("\n\n")[0])
    assert len(listed) == 10
    choosing = (DOCS / "choosing.md").read_text("utf-8")
    means = re.findall(r"^\| `(\w+)` \|(?: \.\d+ \|){4} (\.\d{3}) \|$", choosing, re.MULTILINE)
    assert len(means) == 6
    for name, value in [*listed, *means]:
        assert value == r[name], name
    page = agreement_and_cost.PAGE.read_text("utf-8")
    assert agreement_and_cost.markdown(table) in page


def test_the_quick_start_lists_every_extra() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    table = (DOCS / "start.md").read_text("utf-8").partition("| extra | adds |")[2]
    names = [
        name
        for row in table.partition("\n\n")[0].strip().splitlines()
        for name in _CODE.findall(row.split("|")[1])
    ]
    assert sorted(names) == sorted(extras.keys() - {"bench", "docs", "dev"})
    included = set(re.split(r"[\[\],]", extras["all"][0])[1:-1]) | {"torch"}  # of embedded
    assert set(names[: names.index("all")]) == included


def test_a_block_with_other_output_fails() -> None:
    page = "```console\n$ nlgauge metrics chrf\nother output\n```\n"
    (block,) = snippets.blocks(page)
    with pytest.raises(AssertionError, match="nlgauge metrics chrf"):
        list(_check_commands(block))
