"""Tests in the response of /v1/correlate of which metric agrees better with people."""

from collections.abc import Sequence
from typing import Any, Literal

from nlgauge.core.errors import DataError, OptionError
from nlgauge.core.jsonable import to_jsonable
from nlgauge.study import PermutationMatrix, Study, WilliamsMatrix, permutation, williams

Method = Literal["williams", "permutation"]


def metric_tests(
    study: Study,
    method: Method,
    keys: Sequence[tuple[str, str, str]],
    *,
    count: int,
    seed: int,
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return Holm-corrected p-values for each criterion, level and coefficient, and notes."""
    if len(study.metrics) < 2:
        return [], []
    tests, notes = [], []
    for criterion, level, coefficient in keys:
        if method == "williams" and (coefficient != "pearson" or level in ("text", "by_system")):
            continue  # the test is about Pearson's r over independent points
        result: WilliamsMatrix | PermutationMatrix
        try:
            if method == "williams":
                result = williams(study, criterion, level=level)
            else:
                options: dict[str, Any] = {"count": count, "seed": seed}
                result = permutation(
                    study, criterion, level=level, coefficient=coefficient, **options
                )
        except (DataError, OptionError) as error:
            notes.append(f"there is no test between metrics for {criterion!r}, {level}: {error}")
            continue
        key = {"criterion": criterion, "level": level, "coefficient": coefficient}
        p = to_jsonable(result.p_holm)
        tests.append({**key, "method": method, "names": list(result.names), "p": p})
    return tests, notes
