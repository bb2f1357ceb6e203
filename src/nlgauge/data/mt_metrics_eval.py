"""The folder layout of mt-metrics-eval (Google): one folder per test set, WMT19 and later.

    sources/en-de.txt                         one segment per line
    references/en-de.refA.txt                 the same lines, translated by people
    system-outputs/en-de/<system>.txt         the same lines, translated by a system
    human-scores/en-de.<criterion>.seg.score  "system<TAB>score" or "system<TAB>None"
    metric-scores/en-de/<metric>-refA.seg.score

A score file has a block of lines per system, one line per segment, in order. Segment ids are line
numbers, from 1. Scores of systems, documents or domains (.sys, .doc, .domain) are not read.

Texts may be JSON Lines (.jsonl, as those of WMT25), with the fields `source`, `target` (references)
and `hypothesis` (outputs). `documents/en-de.docs`, if there is one, names the domain and the
document of every segment. The output "[No translation supplied]" counts as missing.
"""

from collections.abc import Collection, Sequence
from math import isnan
from pathlib import Path

from nlgauge.core.errors import FileError
from nlgauge.data.files import check_parallel, parse_text, read_lines, read_table
from nlgauge.data.judged import JudgedCorpus, JudgedRow, choose_part, choose_references, parse_score

FOLDERS = ("sources", "system-outputs", "human-scores")
_ENDING = ".seg.score"
_TEXTS = (".txt", ".jsonl")
_NO_OUTPUT = "[No translation supplied]"


def read_mt_metrics_eval(
    path: str,
    *,
    part: str | None = None,
    references: str | None = None,
    metrics: Sequence[str] = (),
) -> JudgedCorpus:
    """Return the judged outputs of one language pair (`part`) of a test set.

    `references` names the references to use (None: all); they are not used as systems. `metrics`
    are the stored scores to read, named by file (`BLEU-refA`), or without the reference (`BLEU`).
    """
    folder = Path(path)
    for name in FOLDERS:
        if not (folder / name).is_dir():
            raise FileError(f"{path} is not a test set of mt-metrics-eval: no folder {name!r}")
    parts = sorted(_text_files(folder / "sources", ""))
    pair = choose_part(path, parts, part, "language pair")
    sources = _read_texts(_text_files(folder / "sources", "")[pair], "source")
    named = folder / "documents" / f"{pair}.docs"
    documents = read_documents(str(named), len(sources)) if named.is_file() else None
    files = _text_files(folder / "references", f"{pair}.")
    wanted = list(files)
    if references is not None:
        wanted = choose_references(references, files, f"for {pair!r}")
    used = _parallel_texts({name: files[name] for name in wanted}, len(sources), "target")
    files = _text_files(folder / "system-outputs" / pair, "")
    if not files:
        raise FileError(f"{folder / 'system-outputs' / pair} has no file <system>.txt or .jsonl")
    outputs = _parallel_texts(files, len(sources), "hypothesis")
    criteria = _files(folder / "human-scores", f"{pair}.", "<criterion>", _ENDING)
    human = {name: _scores(file, outputs, len(sources)) for name, file in criteria.items()}
    scored = folder / "metric-scores" / pair
    stored = {
        name: _scores(_score_file(scored, name, wanted), outputs, len(sources)) for name in metrics
    }
    copies = [name for name in outputs if name in used]
    rows = [
        JudgedRow(
            system,
            str(i + 1),
            texts[i],
            tuple(reference[i] for reference in used.values()),
            {name: scores[system][i] for name, scores in human.items() if system in scores},
            source,
            {name: scores[system][i] for name, scores in stored.items() if system in scores},
            document=documents[i][1] if documents else None,
        )
        for system, texts in outputs.items()
        if system not in used
        for i, source in enumerate(sources)
    ]
    supplied = [row for row in rows if row.candidate != _NO_OUTPUT]
    judged = [row for row in supplied if not all(isnan(score) for score in row.human.values())]
    of_copies = f"of references in use ({', '.join(copies)})"
    unused = {"nobody judged": len(supplied) - len(judged), of_copies: len(copies) * len(sources)}
    unused["without an output"] = len(rows) - len(supplied)
    return JudgedCorpus.from_rows(judged, dropped=unused)


def _files(folder: Path, prefix: str, name: str, ending: str) -> dict[str, Path]:
    """Return the files of a folder by the part of the name between prefix and ending."""
    files = sorted(folder.glob(f"{prefix}*{ending}"))
    if not files:
        raise FileError(f"{folder} has no file {prefix}{name}{ending}")
    return {file.name.removeprefix(prefix).removesuffix(ending): file for file in files}


def _text_files(folder: Path, prefix: str) -> dict[str, Path]:
    """Return the text files of a folder by the part of the name between prefix and ending."""
    files = sorted(file for ending in _TEXTS for file in folder.glob(f"{prefix}*{ending}"))
    named: dict[str, Path] = {}
    for file in files:
        name = file.name.removeprefix(prefix).removesuffix(file.suffix)
        if other := named.get(name):
            raise FileError(f"{folder} has both {other.name} and {file.name}; remove one of them")
        named[name] = file
    return named


def _read_texts(file: Path, field: str) -> list[str]:
    """Return the lines of a text file, or one field of the objects of a .jsonl file."""
    if file.suffix == ".txt":
        return read_lines(str(file))
    rows = read_table(str(file), "jsonl", what="file of texts")
    return [parse_text(row.get(field), f"{where}: {field!r}") for where, row in rows]


def _parallel_texts(files: dict[str, Path], count: int, field: str) -> dict[str, list[str]]:
    texts = ((name, file, _read_texts(file, field)) for name, file in files.items())
    return {name: check_parallel(at, lines, "the sources have", count) for name, at, lines in texts}


def read_documents(path: str, count: int) -> list[tuple[str, str]]:
    """Return the domain and the document of every segment, from lines "domain document"."""
    lines = check_parallel(path, read_lines(path), "the sources have", count)
    for number, line in enumerate(lines, start=1):
        if len(line.split()) != 2:
            raise FileError(f"{path}, line {number} is {line[:40]!r}, not 'domain document'")
    return [(domain, document) for domain, document in map(str.split, lines)]


def _score_file(folder: Path, name: str, references: Sequence[str]) -> Path:
    """Return the file of a metric, with or without a reference in the name."""
    endings = ("", f"-{'.'.join(references)}", *(f"-{each}" for each in references), "-all", "-src")
    files = [folder / f"{name}{ending}{_ENDING}" for ending in endings]
    return next((file for file in files if file.is_file()), files[0])


def _scores(file: Path, systems: Collection[str], count: int) -> dict[str, list[float]]:
    """Return the scores of every system, one per segment in the order of the sources."""
    if not file.is_file():
        stored = sorted(other.name.removesuffix(_ENDING) for other in file.parent.glob("*.score"))
        raise FileError(f"there is no {file}; stored scores: {', '.join(stored) or 'none'}")
    blocks: dict[str, list[float]] = {}
    for line, text in enumerate(read_lines(str(file)), start=1):
        where, fields = f"{file}, line {line}", text.rsplit(None, 1)
        if not fields:
            continue
        if len(fields) != 2:
            raise FileError(f"{where} is {text[:40]!r}, not 'system<TAB>score'")
        system = fields[0].strip()
        if system not in systems:
            raise FileError(f"{where}: there are no outputs of a system {system!r}")
        blocks.setdefault(system, []).append(parse_score(fields[1], where))
    wrong = {system: len(block) for system, block in blocks.items() if len(block) != count}
    for system, length in wrong.items():
        raise FileError(
            f"{file}: {length} scores for system {system!r}, but there are {count} segments "
            f"(wrong for {len(wrong)} of {len(blocks)} systems); write None for a missing score"
        )
    return blocks
