"""Other packages give the same scores, and docs/peers.md says how many were compared."""

from __future__ import annotations

import re

import pytest

from conftest import needs_embedded
from peers.comparisons import COMPARISONS, PAGE, Comparison

ROWS = re.findall(r"^\| [\w-]+ [\w.]+ \| (`.*)$", PAGE.read_text("utf-8"), re.MULTILINE)


@needs_embedded
@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda entry: f"{entry.peer}-{entry.spec}")
def test_scores_agree_as_often_as_the_table_says(comparison: Comparison) -> None:
    pytest.importorskip(comparison.module, reason=f"{comparison.distribution} is not installed")
    cases, agreeing = comparison.run()
    assert agreeing == cases
    assert comparison.row(cases, agreeing) in ROWS


def test_the_table_has_no_other_rows() -> None:
    assert len(ROWS) == len(COMPARISONS)
