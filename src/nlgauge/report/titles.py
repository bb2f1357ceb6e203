"""Titles of metrics for the headings of tables, unique within a table."""

from collections.abc import Collection, Mapping


def distinct_titles(titles: Mapping[str, str], names: Collection[str] = ()) -> dict[str, str]:
    """Return a unique title for each label that also differs from the other ``names``.

    Metrics with the same title are distinguished by the options that they do not share: BERTScore
    and BERTScore (layer=4).
    """
    groups: dict[str, dict[str, list[str]]] = {}
    for label, title in titles.items():
        options = [] if "|" in label else label.partition(":")[2].split(",")  # not a signature
        groups.setdefault(title, {})[label] = options
    unique: dict[str, str] = {}
    for title, group in groups.items():
        shared = set.intersection(*map(set, group.values()))
        for label, options in group.items():
            distinct = ", ".join(option for option in options if option not in shared)
            candidate = f"{title} ({distinct})" if distinct else title
            unique[label] = label if candidate in {*names, *unique.values()} else candidate
    return {label: unique[label] for label in titles}
