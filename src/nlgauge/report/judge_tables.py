"""Tables of the reliability of a judge, from the plain values of a study's result."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nlgauge.report.study_tables import (
    FilledColumn,
    filled_table,
    interval,
    interval_column,
    key_column,
    p_column,
)
from nlgauge.report.table import Column, Table

Content = Mapping[str, Any]
_TITLES = {
    "agreement": "agreement",
    "kappa": "Cohen's kappa",
    "kappa_linear": "kappa, linear weights",
    "kappa_quadratic": "kappa, quadratic weights",
    "fleiss": "Fleiss's kappa",
    "ac1": "Gwet's AC1",
    "ac2": "Gwet's AC2",
    **{
        f"alpha_{scale}": f"alpha, {scale}" for scale in ("nominal", "ordinal", "interval", "ratio")
    },
}
_BIASES = {
    "position": "position: first output preferred",
    "consistency": "position: same label when swapped",
    "length": "length: correlation with judge - people",
    "self-preference": "own outputs: judge - people, own - others",
}


def judge_tables(content: Content, *, digits: int = 3) -> list[Table]:
    """Return the tables of a judge: agreement, persons, raters together, test, biases."""
    tables = [_agreement(content, digits), _persons(content, digits)]
    if content["group"]:
        tables.append(_group(content, digits))
    if content["alternative_test"]:
        tables.append(_test(content, digits))
    if content["biases"]:
        tables.append(_biases(content, digits))
    tables[-1] = replace(tables[-1], footer=(*tables[-1].footer, content["verdict"]))
    return tables


def _percent(content: Content) -> str:
    return f"{100 * content['agreement'][0]['judge']['confidence']:g}%"


def _with_interval(
    name: str, key: str, digits: int, percent: str
) -> tuple[FilledColumn, FilledColumn]:
    """Return columns of a value and its interval, both in one cell of the rows or missing."""

    def limits(row: Content) -> str | None:
        return row[key] and interval(row[key]["low"], row[key]["high"], digits)

    value = Column(name, digits), lambda row: row[key] and row[key]["value"]
    return value, (Column(percent), limits)


def _named(heading: str) -> FilledColumn:
    return Column(heading), lambda row: _TITLES[row["coefficient"]]


def _agreement(content: Content, digits: int) -> Table:
    kinds = {"judge": "judge and people", "people": "people", "difference": "difference"}
    titles = {kind: name for kind, name in kinds.items() if content["agreement"][0][kind]}
    filled = [_named("coefficient")]
    for kind, name in titles.items():
        filled += _with_interval(name, kind, digits, _percent(content))
    people, resampled = len(content["people"]), content["agreement"][0]["judge"]["resampled"]
    means = "mean over people, and over pairs of people" if people > 1 else "one person"
    rows_of = f"{content['rows']:,} rows of " * (content["rows"] > content["items"])
    footer = (
        f"{content['judge']} and {people} {'person' if people == 1 else 'people'}; {rows_of}"
        f"{content['items']:,} items; {content['scale']} scale; {means}; intervals: bootstrap over "
        f"{resampled}"
    )
    return filled_table(content["agreement"], filled, [footer])


def _persons(content: Content, digits: int) -> Table:
    percent, alpha = _percent(content), f"alpha_{content['scale']}"
    known = [row["coefficient"] for row in content["agreement"]]
    columns_shown = [name for name in ("agreement", "kappa", "ac1", alpha) if name in known]
    limited = ("agreement", alpha)  # intervals of all coefficients would not fit a line
    filled = [key_column("judge with", key="person"), key_column("n")]
    for name in columns_shown:
        filled += _with_interval(_TITLES[name], name, digits, percent)[: 1 + (name in limited)]
    rows: dict[str, dict[str, Any]] = {}
    for row in content["persons"]:
        person = rows.setdefault(row["person"], {"person": row["person"]})
        person[row["coefficient"]] = row["interval"]
        if row["coefficient"] == "agreement":
            person["n"] = row["n"]
    return filled_table(rows.values(), filled)


def _group(content: Content, digits: int) -> Table:
    percent, filled = _percent(content), [_named("all raters at once")]
    filled += _with_interval("people", "people", digits, percent)
    filled += _with_interval("people and judge", "with_judge", digits, percent)
    return filled_table(content["group"], filled)


def _test(content: Content, digits: int) -> Table:
    test = content["alternative_test"]
    filled = [key_column("left out", key="person"), key_column("n")]
    filled.append(key_column("judge as good", digits, key="judge_advantage"))
    filled.append(key_column("person as good", digits, key="person_advantage"))
    filled += [p_column("p", "p"), key_column("test")]
    filled.append((Column("judge wins"), lambda row: "yes" if row["wins"] else "no"))
    rates = f"omega {test['winning_rate']:.{digits}f}, rho {test['advantage']:.{digits}f}"
    footer = (
        f"alternative annotator test, epsilon {test['epsilon']:g}, labels compared by "
        f"{test['scoring']}: {rates}; as good: share of items at least as close to the other people"
    )
    return filled_table(test["people"], filled, [footer])


def _biases(content: Content, digits: int) -> Table:
    filled = [(Column("bias"), lambda row: _BIASES[row["bias"]]), key_column("rater")]
    filled += [key_column("n"), key_column("value", digits)]
    filled.append(interval_column(_percent(content), digits))
    return filled_table(content["biases"], filled)
