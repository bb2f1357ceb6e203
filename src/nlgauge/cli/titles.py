"""Titles of metrics in tables and figures; JSON, CSV and TSV keep the names as typed."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nlgauge.study import Comparison


def metric_titles(labels: Iterable[str], names: Collection[str] = ()) -> dict[str, str]:
    """Return a title for each label; titles are unique and differ from ``names``."""
    from nlgauge.metrics import metric
    from nlgauge.report.titles import distinct_titles

    return distinct_titles({label: metric(label).title for label in labels}, names)


def comparison_titles(result: "Comparison") -> dict[str, str]:
    """Return the titles of a comparison's metrics; stored scores keep their names."""
    labels = result.signatures
    return {label: label for label in labels} if result.corpus is None else metric_titles(labels)


def with_titles(
    rows: Iterable[Mapping[str, Any]], titles: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the rows with the title of each metric that has one."""
    return [{**row, "metric": titles.get(row["metric"], row["metric"])} for row in rows]
