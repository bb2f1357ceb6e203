"""Counts of n-grams and digests of frequency tables."""

import pytest

from nlgauge.core.errors import UsageError
from nlgauge.metrics.nist import Nist
from nlgauge.text.ngrams import NgramTable, ngrams, ngrams_up_to


def test_counts_of_one_order_and_of_all():
    found = ["a", "b", "a", "b"]
    assert ngrams(found, 2) == {("a", "b"): 2, ("b", "a"): 1}
    assert ngrams(found, 5) == {}
    assert ngrams_up_to(found, 2) == {("a",): 2, ("b",): 2, ("a", "b"): 2, ("b", "a"): 1}


def test_digests_of_tables_differ_but_ignore_order():
    table = NgramTable({("a",): 1, ("b",): 2}, 3)
    assert table.digest == NgramTable({("b",): 2, ("a",): 1}, 3).digest
    others = [
        NgramTable({("a",): 2, ("b",): 1}, 3),
        NgramTable({("a",): 1, ("b",): 2}, 4),
        NgramTable({("a", "b"): 1, ("b",): 2}, 3),
    ]
    assert len({table.digest, *(other.digest for other in others)}) == 4


def test_the_error_for_a_missing_table_has_a_solution():
    with pytest.raises(UsageError, match=r"nist .*fit\(references\)"):
        _ = Nist().fitted_table
