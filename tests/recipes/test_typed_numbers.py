"""Every published number that recipes carry stands in the text of its paper, row by row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nlgauge.recipes import lazy_emd
from nlgauge.recipes.recipe import Publication

PAPERS = {
    "baryscore.txt": "bary",
    "infolm.txt": "infolm",
    "moverscore.txt": "mover",
    "lazy_emd.txt": "lazy_emd",
}
_MARKUP = re.compile(r"</?[bu]>|[*$}]|\\\w+\{")


@pytest.fixture(scope="module")
def papers(shared_data: Path) -> Path:
    folder = shared_data.parent / "papers"
    if not folder.is_dir():
        pytest.skip("the papers are not beside the project (../shared/papers)")
    return folder


def _numbers(line: str, *, to_english: bool) -> list[float]:
    plain = _MARKUP.sub("", line)
    if to_english:  # of "to English/from English" the left one
        return [float(found) for found in re.findall(r"(?<![\d/.])(\.\d{3})\s*/", plain)]
    words = (word.strip("()") for word in plain.split())
    return [float(word) for word in words if re.fullmatch(r"\d*\.\d+", word)]


@pytest.mark.parametrize("name", list(PAPERS))
def test_rows_are_as_printed(name: str, papers: Path) -> None:
    text = (papers / name).read_text("utf-8", errors="replace")
    lines = [_numbers(line, to_english=name == "lazy_emd.txt") for line in text.splitlines()]
    for table in Publication.load(PAPERS[name]).tables.values():
        for row, typed in table.items():
            wanted = [float(number) for number in typed.split() if number != "-"]
            size = len(wanted)
            found = any(
                line[start : start + size] == wanted
                for line in lines
                for start in range(len(line) - size + 1)
            )
            assert found, f"{name}: {row} {typed}"


def test_the_worked_examples_are_as_printed(papers: Path) -> None:
    text = (papers / "lazy_emd.txt").read_text("utf-8", errors="replace")
    for example in lazy_emd.EXAMPLES:
        line = next(
            line
            for line in text.splitlines()
            if example["candidate"] in line and f"{example['published'][3]:.4f}" in line
        )
        assert _numbers(line, to_english=False) == example["published"]
