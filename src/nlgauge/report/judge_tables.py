"""Tables of the reliability of a judge, from the plain values of a study's result."""

from collections.abc import Mapping, Sequence
from typing import Any

from nlgauge.report.study_tables import interval, p_text
from nlgauge.report.table import Column, Table, Value

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
    last = tables[-1]
    tables[-1] = Table(last.columns, last.rows, (*last.footer, content["verdict"]))
    return tables


def _with_interval(cell: Content | None, digits: int) -> tuple[Value, Value]:
    """Return the value and its interval in brackets."""
    if cell is None:
        return None, None
    return cell["value"], interval(cell["low"], cell["high"], digits)


def _percent(content: Content) -> str:
    return f"{100 * content['agreement'][0]['judge']['confidence']:g}%"


def _values(name: str, digits: int, percent: str) -> tuple[Column, Column]:
    return Column(name, digits), Column(percent)


def _agreement(content: Content, digits: int) -> Table:
    kinds = {"judge": "judge and people", "people": "people", "difference": "difference"}
    titles = {kind: name for kind, name in kinds.items() if content["agreement"][0][kind]}
    percent = _percent(content)
    columns = [Column("coefficient")]
    for name in titles.values():
        columns += _values(name, digits, percent)
    rows = []
    for row in content["agreement"]:
        cells: list[Value] = [_TITLES[row["coefficient"]]]
        for kind in titles:
            cells += _with_interval(row[kind], digits)
        rows.append(tuple(cells))
    people, resampled = len(content["people"]), content["agreement"][0]["judge"]["resampled"]
    means = "mean over people, and over pairs of people" if people > 1 else "one person"
    rows_of = f"{content['rows']:,} rows of " * (content["rows"] > content["items"])
    footer = (
        f"{content['judge']} and {people} {'person' if people == 1 else 'people'}; {rows_of}"
        f"{content['items']:,} items; {content['scale']} scale; {means}; intervals: bootstrap over "
        f"{resampled}"
    )
    return Table(tuple(columns), tuple(rows), (footer,))


def _persons(content: Content, digits: int) -> Table:
    percent, alpha = _percent(content), f"alpha_{content['scale']}"
    known = [row["coefficient"] for row in content["agreement"]]
    columns_shown = [name for name in ("agreement", "kappa", "ac1", alpha) if name in known]
    limited = ("agreement", alpha)  # intervals of all coefficients would not fit a line
    columns = [Column("judge with"), Column("n")]
    for name in columns_shown:
        columns += _values(_TITLES[name], digits, percent)[: 1 + (name in limited)]
    by_person: dict[str, dict[str, Content]] = {}
    for row in content["persons"]:
        by_person.setdefault(row["person"], {})[row["coefficient"]] = row
    rows = []
    for person, coefficients in by_person.items():
        cells: list[Value] = [person, coefficients["agreement"]["n"]]
        for name in columns_shown:
            cells += _with_interval(coefficients[name]["interval"], digits)[: 1 + (name in limited)]
        rows.append(tuple(cells))
    return Table(tuple(columns), tuple(rows))


def _group(content: Content, digits: int) -> Table:
    percent = _percent(content)
    people, with_judge = (_values(name, digits, percent) for name in ("people", "people and judge"))
    rows = tuple(
        (
            _TITLES[row["coefficient"]],
            *_with_interval(row["people"], digits),
            *_with_interval(row["with_judge"], digits),
        )
        for row in content["group"]
    )
    return Table((Column("all raters at once"), *people, *with_judge), rows)


def _test(content: Content, digits: int) -> Table:
    test = content["alternative_test"]
    columns = [Column("left out"), Column("n"), Column("judge as good", digits)]
    columns += [Column("person as good", digits), Column("p"), Column("test"), Column("judge wins")]
    rows = tuple(
        (
            *(person["person"], person["n"], person["judge_advantage"]),
            *(person["person_advantage"], None if person["p"] is None else p_text(person["p"])),
            *(person["test"], "yes" if person["wins"] else "no"),
        )
        for person in test["people"]
    )
    rates = f"omega {test['winning_rate']:.{digits}f}, rho {test['advantage']:.{digits}f}"
    footer = (
        f"alternative annotator test, epsilon {test['epsilon']:g}, labels compared by "
        f"{test['scoring']}: {rates}; as good: share of items at least as close to the other people"
    )
    return Table(tuple(columns), rows, (footer,))


def _biases(content: Content, digits: int) -> Table:
    label_columns = (Column("bias"), Column("rater"), Column("n"))
    rows: Sequence[tuple[Value, ...]] = [
        (_BIASES[row["bias"]], row["rater"], row["n"], *_with_interval(row, digits))
        for row in content["biases"]
    ]
    return Table((*label_columns, *_values("value", digits, _percent(content))), tuple(rows))
