"""Every published number that recipes carry stands in the text of its paper, row by row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nlgauge.recipes import bary, infolm, lazy_emd, mover

TABLES = {
    "baryscore.txt": [*bary._TABLES.values(), bary._FIGURE_7, bary._PEOPLE],
    "infolm.txt": [infolm._TABLE_3, infolm._PEOPLE],
    "moverscore.txt": [
        *(mover._TABLE_1, mover._TABLE_2, mover._TABLE_3, mover._TABLE_5, mover._TABLE_6)
    ],
    "lazy_emd.txt": [*lazy_emd._DARR.values(), lazy_emd._PRICES],
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


@pytest.mark.parametrize("name", list(TABLES))
def test_rows_are_as_printed(name: str, papers: Path) -> None:
    text = (papers / name).read_text("utf-8", errors="replace")
    lines = [_numbers(line, to_english=name == "lazy_emd.txt") for line in text.splitlines()]
    for table in TABLES[name]:
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
            if example.candidate in line and f"{example.published[3]:.4f}" in line
        )
        assert tuple(_numbers(line, to_english=False)) == example.published
