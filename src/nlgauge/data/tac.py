"""TAC summarization (2008-2011) in the unpacked evaluation folder of NIST.

    ROUGE/models/D0801-A.M.100.A.B     a person's summary (last field: a letter) = a reference
    ROUGE/peers/D0801-A.M.100.A.12     a system's summary (last field: its number)
    manual/manual.peer                 NIST's table of the peers (2009-2011: manual.peer.A, .B)

`models` and `peers` may also be directly in the folder. The first field of a file name is the
segment (topic and set, D0801-A), the last one is the system.

NIST's tables have 9 columns (2008) or 10, separated by blanks and without a heading: topic, peer,
`pyramid`, other counts, `linguistic_quality` and `responsiveness`. manual.tsv or manual.csv with
columns `topic` (or `segment`), `system` (or `peer`) and one per criterion may replace them. Scores
of the models are not read. Summaries that are not UTF-8 are read as Latin-1 and counted.
"""

from collections.abc import Iterator
from pathlib import Path

from nlgauge.core.errors import FileError
from nlgauge.data.columns import require_column
from nlgauge.data.files import open_bytes, read_lines, read_table
from nlgauge.data.judged import JudgedCorpus, JudgedRow, parse_scores

_TOPIC = ("topic", "segment", "topic_id", "doc_id")
_NIST = ("pyramid", "linguistic_quality", "responsiveness")
_SYSTEM = ("system", "peer", "peer_id", "summarizer")

Cell = tuple[str, str]  # topic and author of a summary; the case of topics does not matter


def read_tac(path: str) -> JudgedCorpus:
    """Return the judged peers of a TAC folder, with the models of their topic as references."""
    folder = Path(path)
    root = folder / "ROUGE" if (folder / "ROUGE" / "peers").is_dir() else folder
    models, latin_models = _summaries(root / "models")
    peers, latin_peers = _summaries(root / "peers")
    references: dict[str, list[str]] = {}
    for (topic, _), text in sorted(models.items()):
        references.setdefault(topic.upper(), []).append(text)
    scores = dict(_manual(folder))
    judged = [
        JudgedRow(system, topic, text, tuple(references.get(topic.upper(), ())), human)
        for (topic, system), text in sorted(peers.items(), key=_by_system)
        if (human := scores.get((topic.upper(), system))) is not None
    ]
    rows = [row for row in judged if row.references]
    notes = []
    if absent := len(scores) - len(judged):
        notes.append(f"{absent:,} judgements are of summaries that are not in peers.")
    if latin := latin_models + latin_peers:
        notes.append(f"{latin:,} summaries not UTF-8, read as Latin-1.")
    unjudged, no_model = len(peers) - len(judged), len(judged) - len(rows)
    dropped = {"nobody judged": unjudged, "without a model": no_model}
    return JudgedCorpus.from_rows(rows, dropped=dropped, notes=notes)


def _by_system(item: tuple[Cell, str]) -> tuple[bool, int, str, str]:
    """Sort key: systems with numbers first, then those with names, each by topic."""
    topic, system = item[0]
    return (not system.isdecimal(), int(system) if system.isdecimal() else 0, system, topic)


def _summaries(folder: Path) -> tuple[dict[Cell, str], int]:
    """Return the summaries of a folder by topic and author, and how many are not UTF-8."""
    if not folder.is_dir():
        raise FileError(f"there is no folder {folder}; TAC needs models/ and peers/ (or ROUGE/...)")
    texts: dict[Cell, str] = {}
    not_utf8 = 0
    for file in sorted(folder.iterdir()):
        if not file.is_file() or file.name.startswith("."):
            continue
        fields = file.name.split(".")
        if len(fields) < 2:
            raise FileError(f"{file} is not called <topic>...<author>, as D0801-A.M.100.A.12 is")
        topic, author = fields[0], fields[-1]
        if (topic, author) in texts:
            raise FileError(f"{folder} has two summaries of {topic} by {author}: {file.name}")
        with open_bytes(str(file)) as opened:
            content = opened.read()
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
            not_utf8 += 1
        texts[topic, author] = "\n".join(filter(None, map(str.strip, text.split("\n"))))
    if not texts:
        raise FileError(f"folder {folder} has no summaries")
    return texts, not_utf8


def _manual(folder: Path) -> Iterator[tuple[Cell, dict[str, float]]]:
    places = (folder, folder / "manual")
    for table in (place / name for place in places for name in ("manual.tsv", "manual.csv")):
        if table.is_file():
            for where, row in read_table(str(table)):
                keys = [require_column(str(table), row, names) for names in (_TOPIC, _SYSTEM)]
                topic, system = (str(row.pop(key)) for key in keys)
                yield (topic.upper(), system), parse_scores(row, row, where)
            return
    files = [file for place in places for file in sorted(place.glob("manual.peer*"))]
    if not files:
        raise FileError(f"{folder} has no scores: manual/manual.peer*, manual.tsv or manual.csv")
    for file in files:
        for line, text in enumerate(read_lines(str(file)), start=1):
            cells, where = text.split(), f"{file}, line {line}"
            if len(cells) not in (0, 9, 10):
                raise FileError(f"{where}: {len(cells)} columns, but NIST writes 9 or 10")
            if cells:
                scores = dict(zip(_NIST, (cells[2], *cells[-2:]), strict=True))
                human = parse_scores(scores, _NIST, where)
                yield (cells[0].split(".")[0].upper(), cells[1]), human
