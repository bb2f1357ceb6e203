"""WebNLG+ 2020 (Castro Ferreira et al. 2020), English RDF-to-text, from the challenge's folders.

    evaluation/human-evaluation/results/en/english_humeval_data_all_teams.json
    submissions/rdf2text/en/<team>/primary.en           line n answers input n of the test set
    rdf-to-text-generation-test-data-with-refs-en.xml   inputs and references

The XML belongs to the data set, not to the challenge: it is looked for in the folder, then in a
folder `webnlg-dataset` beside it, or named by `references`. Human scores are means over annotators
of Correctness, DataCoverage, Fluency, Relevance and TextStructure (0-100).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from nlgauge.core.errors import FileError
from nlgauge.data.files import read_lines, read_text
from nlgauge.data.judged import Judged, Row, number

HUMAN_SYSTEM = "WebNLG-2020-reference"
CRITERIA = ("Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure")
_JSON = "*humeval*.json"
_XML = "*with-refs-en.xml"

Inputs = Mapping[str, tuple[str, tuple[str, ...]]]
"""Source and references by the number of the input."""


def read_webnlg2020(path: str, *, references: str | None = None) -> Judged:
    """The judged texts of all teams; rows of one input share its number in the test set."""
    folder = Path(path)
    human = _only(folder, _JSON, "human scores")
    inputs = read_inputs(str(references or _find_references(folder)))
    outputs = _outputs(folder, len(inputs))
    entries = _entries(human)
    rows = [_row(human, i, entry, inputs, outputs) for i, entry in enumerate(entries)]
    notes = []
    if any(row.system == HUMAN_SYSTEM for row in rows):
        notes.append(
            f"the rated texts of {HUMAN_SYSTEM} are not recorded, so its first reference stands "
            f"in; leave that system out of studies of metrics with without({HUMAN_SYSTEM!r})."
        )
    return Judged.from_rows(rows, notes=notes)


def read_inputs(path: str) -> Inputs:
    """Source (triples joined by ' ; ') and references of every input of a WebNLG test set."""
    inputs = {}
    for entry in _parse(path).iter("entry"):
        name = entry.get("eid", "").removeprefix("Id")
        triples = [triple.text or "" for triple in entry.iterfind("modifiedtripleset/mtriple")]
        texts = tuple(lex.text or "" for lex in entry.iterfind("lex"))
        if not (name and texts):
            raise FileError(f"{path}: entry {entry.get('eid')!r} has no id or no reference (lex)")
        inputs[name] = (" ; ".join(triples), texts)
    if not inputs:
        raise FileError(f"{path} holds no <entry>, so it is not a WebNLG test set")
    return inputs


def _parse(path: str) -> ElementTree.Element:
    """The XML tree; declarations are refused, for an entity may stand for a billion others."""
    content = read_text(path)
    raised = content.upper()
    for mark in ("<!DOCTYPE", "<!ENTITY"):
        if mark in raised:
            raise FileError(f"{path} declares {mark}>, which WebNLG files never do; not parsed")
    try:
        return ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError) as error:
        raise FileError(f"{path} is not XML: {error}") from None


def _find_references(folder: Path) -> Path:
    for place in (folder, folder.parent / "webnlg-dataset"):
        found = sorted(place.rglob(_XML)) if place.is_dir() else []
        if found:
            return found[0]
    raise FileError(
        f"no references ({_XML}) in {folder} or in webnlg-dataset beside it; name the file of the "
        "WebNLG 3.0 test set with references="
    )


def _only(folder: Path, pattern: str, what: str) -> Path:
    found = sorted(folder.rglob(pattern)) if folder.is_dir() else []
    if len(found) != 1:
        raise FileError(f"{folder} holds {len(found)} files {pattern} of {what}; 1 is needed")
    return found[0]


def _outputs(folder: Path, count: int) -> dict[str, list[str]]:
    outputs = {file.parent.name: file for file in sorted(folder.rglob("rdf2text/en/*/primary.en"))}
    if not outputs:
        raise FileError(f"{folder} holds no submissions (rdf2text/en/<team>/primary.en)")
    texts = {team: read_lines(str(file)) for team, file in outputs.items()}
    for team, lines in texts.items():
        if len(lines) != count:
            raise FileError(
                f"{outputs[team]} has {len(lines)} lines, but the test set has {count} inputs"
            )
    return texts


def _entries(human: Path) -> list[Any]:
    try:
        entries = json.loads(read_text(str(human)))
    except (json.JSONDecodeError, RecursionError) as error:
        raise FileError(f"{human} is not JSON: {error}") from None
    if not isinstance(entries, list) or not entries:
        raise FileError(f"{human} holds no list of judgements")
    return entries


def _row(human: Path, i: int, entry: Any, inputs: Inputs, outputs: Mapping[str, list[str]]) -> Row:
    where = f"{human}, entry {i + 1}"
    if not isinstance(entry, dict) or "submission_id" not in entry or "sample_id" not in entry:
        raise FileError(f"{where} has no submission_id or sample_id: {entry!r:.80}")
    team, sample = str(entry["submission_id"]), str(entry["sample_id"])
    if sample not in inputs or not sample.isdecimal() or not 1 <= int(sample) <= len(inputs):
        raise FileError(f"{where}: sample {sample!r} is none of the {len(inputs)} inputs")
    source, references = inputs[sample]
    if team == HUMAN_SYSTEM:
        candidate = references[0]
    elif team in outputs:
        candidate = outputs[team][int(sample) - 1]
    else:
        raise FileError(f"{where}: there is no submission of {team!r} among {len(outputs)} teams")
    scores = {name: number(entry[name], f"{where}: {name!r}") for name in CRITERIA if name in entry}
    return Row(team, sample, candidate, references, scores, source)
