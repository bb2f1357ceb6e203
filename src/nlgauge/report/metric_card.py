"""The sections of a metric card, and the card as a self-contained web page or Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from nlgauge.core.printable import printable
from nlgauge.report.formats import html, markdown, markdown_code, markdown_text
from nlgauge.report.study_tables import (
    filled_table,
    interval_column,
    key_column,
    span_table,
)
from nlgauge.report.table import Column, Table

Content = Mapping[str, Any]

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { padding: .25rem .75rem; text-align: left; border-bottom: 1px solid #8886; }
code { overflow-wrap: anywhere; }
figure { margin: 1rem 0; background: #fff; padding: .5rem; }
figure svg { max-width: 100%; height: auto; }
"""


@dataclass(frozen=True)
class Section:
    """A heading, sentences and a table; if there is no table, the sentences state the reason."""

    title: str
    sentences: tuple[str, ...]
    table: Table | None = None


def sections(card: Content, *, digits: int = 3) -> list[Section]:
    """Return the sections of a card, from its plain values."""
    return [
        _agreement(card, digits),
        _quality(card),
        _biases(card, digits),
        _sensitivity(card),
        *_spans(card, digits),
        *_power(card),
        *_cost(card),
    ]


def page(card: Content, figures: Mapping[str, str] | None = None, *, digits: int = 3) -> str:
    """Return a web page without scripts or external files; ``figures`` are SVG by section title."""
    title = f"{_text(card['title'])}: metric card"
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body><main>",
        f"<h1>{title}</h1>",
        *(f"<p>{_text(line)}</p>" for line in _facts(card)),
        f"<p>Signature: <code>{_text(card['signature'])}</code></p>",
    ]
    for section in sections(card, digits=digits):
        parts.append(f"<h2>{_text(section.title)}</h2>")
        parts += [f"<p>{_text(line)}</p>" for line in section.sentences]
        parts += [html(section.table)] if section.table else []
        if drawing := (figures or {}).get(section.title):
            parts.append(f"<figure>{drawing}</figure>")
    if card["notes"]:
        items = "".join(f"<li>{_text(note)}</li>" for note in card["notes"])
        parts.append(f"<h2>Notes</h2><ul>{items}</ul>")
    return "\n".join([*parts, "</main></body></html>"])


def markdown_page(card: Content, *, digits: int = 3) -> str:
    """Return the card as Markdown."""
    parts = [f"# {_quote(card['title'])}: metric card"]
    parts += [_quote(line) for line in _facts(card)]
    parts.append(f"Signature: {markdown_code(printable(card['signature']))}")
    for section in sections(card, digits=digits):
        parts.append(f"## {_quote(section.title)}")
        parts += [_quote(line) for line in section.sentences]
        parts += [markdown(section.table)] if section.table else []
    if card["notes"]:
        parts.append("## Notes")
        parts.append("\n".join(f"- {_quote(note)}" for note in card["notes"]))
    return "\n\n".join(parts)


def _text(content: str) -> str:
    return escape(printable(content))


def _quote(content: str) -> str:
    return markdown_text(printable(content))


def _facts(card: Content) -> list[str]:
    low, high = ("unbounded" if end is None else f"{end:g}" for end in card["range"])
    better = f"{card['direction'].capitalize()} is better, range {low} to {high}."
    data = (
        f"Data: {card['data']}; human scores: {card['criterion']}; {card['outputs']:,} outputs of "
        f"{card['systems']:,} systems for {card['inputs']:,} inputs."
    )
    return [line for line in (card["about"], card["paper"], better, data) if line]


def _agreement(card: Content, digits: int) -> Section:
    description = (
        "Correlation with human scores at each level, with intervals. Metrics of the same rank do "
        "not differ significantly (permutation tests, p < .05)."
    )
    filled = [key_column(name) for name in ("metric", "level", "coefficient")]
    filled += [key_column("value", digits), interval_column("95%", digits)]
    filled += [key_column("chance", digits), (Column("rank"), lambda row: row.get("rank"))]
    return Section("Agreement with people", (description,), filled_table(card["agreement"], filled))


def _quality(card: Content) -> Section:
    means = card["mean_by_quality"]
    if not means:
        return Section("Scores by human quality", ("The judgements cannot be divided into bands.",))
    columns = Column("human score"), Column("mean score", 3)
    description = "Mean scores in bands of equal size of human quality."
    return Section("Scores by human quality", (description,), Table(columns, tuple(means.items())))


def _biases(card: Content, digits: int) -> Section:
    description = (
        "Partial correlation of the score with a property of the text, given the human score: "
        "above 0, the metric favours the property more than people do."
    )
    filled = [key_column("property"), key_column("partial r", digits, key="partial_r")]
    filled += [interval_column("95%", digits), key_column("texts")]
    table = filled_table(card["biases"], filled) if card["biases"] else None
    return Section("Bias", (description,), table)


def _sensitivity(card: Content) -> Section:
    changes = card["sensitivity"]
    if not changes:
        return Section("Changed texts", ("Stored scores cannot be computed for changed texts.",))
    description = (
        "Outputs are corrupted and scored again. The mean change is in standard deviations of the "
        "scores of all outputs."
    )
    filled = [key_column("change"), key_column("texts"), key_column("worse", 2)]
    filled.append(key_column("mean change", 2, key="mean_change"))
    return Section("Changed texts", (description,), filled_table(changes, filled))


def _spans(card: Content, digits: int) -> list[Section]:
    if not card["spans"]:
        return []
    description = f"Predicted errors against annotated ones, on {card['spans']['tested_on']}."
    table = span_table(card["spans"]["metrics"], digits=digits, footer=())
    return [Section("Error spans", (description,), table)]


def _power(card: Content) -> list[Section]:
    rows = card["detectable_differences"]
    if not rows:
        return []
    description = (
        "The smallest difference between two systems that a paired test detects with power .8 at "
        "p < .05, from the variance between the two systems that people rate highest."
    )
    filled = [key_column("segments"), key_column("difference")]
    return [Section("Power", (description,), filled_table(rows, filled))]


def _cost(card: Content) -> list[Section]:
    cost = card["cost"]
    if not cost:
        return []
    description = (
        f"1,000 outputs take {cost['seconds']:.2g} s ({cost['cpu_seconds']:.2g} s of processor "
        f"time) on this machine with {cost['cores']} cores, measured on {cost['texts']:,} outputs "
        "after the model was loaded."
    )
    return [Section("Cost", (description,))]


def tables(card: Content, *, digits: int = 3) -> Sequence[Table]:
    """Return the tables of all sections, titled by their first column."""
    section_tables = [section.table for section in sections(card, digits=digits)]
    return [table for table in section_tables if table is not None]
