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
    found: dict[str, str] = {}
    for title, group in groups.items():
        shared = set.intersection(*map(set, group.values()))
        for label, options in group.items():
            own = ", ".join(each for each in options if each not in shared)
            shown = f"{title} ({own})" if own else title
            found[label] = label if shown in {*names, *found.values()} else shown
    return {label: found[label] for label in titles}
