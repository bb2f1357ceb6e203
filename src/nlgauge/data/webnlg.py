"""WebNLG+ 2020 (Castro Ferreira et al. 2020), English RDF-to-text, from the challenge's folders.

    evaluation/human-evaluation/results/en/english_humeval_data_all_teams.json
    submissions/rdf2text/en/<team>/primary.en           line n answers input n of the test set
    rdf-to-text-generation-test-data-with-refs-en.xml   inputs and references

The XML is part of the data set, not of the challenge: it is searched for in the folder, then in a
folder `webnlg-dataset` next to it; `references` may name it. Human scores are means (0-100).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from nlgauge.core.errors import FileError
from nlgauge.data.files import check_parallel, read_json, read_lines
from nlgauge.data.judged import JudgedCorpus, JudgedRow, parse_scores

HUMAN_SYSTEM = "WebNLG-2020-reference"
CRITERIA = ("Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure")
_JSON = "*humeval*.json"
_XML = "*with-refs-en.xml"

Inputs = Mapping[str, tuple[str, tuple[str, ...]]]  # source and references by number


def read_webnlg2020(path: str, *, references: str | None = None) -> JudgedCorpus:
    """Return the judged texts of all teams; the segment is the number of the input."""
    folder = Path(path)
    files = sorted(folder.rglob(_JSON))
    if len(files) != 1:
        raise FileError(f"{folder} has {len(files)} files {_JSON} of human scores; 1 is needed")
    inputs = read_inputs(references or _find_references(folder))
    outputs = {}
    for file in sorted(folder.rglob("rdf2text/en/*/primary.en")):
        lines = check_parallel(file, read_lines(str(file)), "the test set has", len(inputs))
        outputs[file.parent.name] = lines
    if not outputs:
        raise FileError(f"{folder} has no submissions (rdf2text/en/<team>/primary.en)")
    entries = read_json(str(files[0]))
    if not isinstance(entries, list) or not entries:
        raise FileError(f"{files[0]} has no list of judgements")
    numbered = enumerate(entries, start=1)
    rows = [_row(f"{files[0]}, entry {i}", entry, inputs, outputs) for i, entry in numbered]
    notes = []
    if any(row.system == HUMAN_SYSTEM for row in rows):
        notes.append(
            f"the rated texts of {HUMAN_SYSTEM} are not recorded, so its first reference is used; "
            f"leave that system out of studies of metrics with without({HUMAN_SYSTEM!r})."
        )
    return JudgedCorpus.from_rows(rows, notes=notes)


def read_inputs(path: str) -> Inputs:
    """Return source (triples joined by ' ; ') and references of every input of a test set."""
    content = "\n".join(read_lines(path))
    for mark in ("<!DOCTYPE", "<!ENTITY"):  # entities can expand exponentially
        if mark in content.upper():
            raise FileError(f"{path} declares {mark}>, which WebNLG files never do; not parsed")
    try:
        tree = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError) as error:
        raise FileError(f"{path} is not XML: {error}") from None
    inputs = {}
    for entry in tree.iter("entry"):
        name = entry.get("eid", "").removeprefix("Id")
        triples = [triple.text or "" for triple in entry.iterfind("modifiedtripleset/mtriple")]
        texts = tuple(lex.text or "" for lex in entry.iterfind("lex"))
        if not (name and texts):
            raise FileError(f"{path}: entry {entry.get('eid')!r} has no id or no reference (lex)")
        inputs[name] = (" ; ".join(triples), texts)
    if not inputs:
        raise FileError(f"{path} has no <entry>, so it is not a WebNLG test set")
    return inputs


def _find_references(folder: Path) -> str:
    places = (folder, folder.parent / "webnlg-dataset")
    files = [file for place in places for file in sorted(place.rglob(_XML))]
    if not files:
        raise FileError(
            f"no references ({_XML}) in {folder} or in webnlg-dataset next to it; name the file of "
            "the WebNLG 3.0 test set with references="
        )
    return str(files[0])


def _row(where: str, entry: Any, inputs: Inputs, outputs: Mapping[str, list[str]]) -> JudgedRow:
    if not isinstance(entry, dict) or "submission_id" not in entry or "sample_id" not in entry:
        raise FileError(f"{where} has no submission_id or sample_id: {entry!r:.80}")
    team, sample = str(entry["submission_id"]), str(entry["sample_id"])
    if sample not in inputs or not sample.isdecimal() or not 1 <= int(sample) <= len(inputs):
        raise FileError(f"{where}: sample {sample!r} is none of the {len(inputs)} inputs")
    source, references = inputs[sample]
    if team != HUMAN_SYSTEM and team not in outputs:
        raise FileError(f"{where}: there is no submission of {team!r} among {len(outputs)} teams")
    candidate = references[0] if team == HUMAN_SYSTEM else outputs[team][int(sample) - 1]
    human = parse_scores(entry, CRITERIA, where)
    return JudgedRow(team, sample, candidate, references, human, source)
