"""A small folder of data in the layout of the recipes, made from the shipped example."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import example
from nlgauge.encode import word_vectors

SYSTEMS = ("fluent", "literal", "hasty")
WEBNLG = ("Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure")


def _row(segment: int, text: str, **about: Any) -> str:
    texts = {"candidate": example(text)[segment], "references": [example("reference.a")[segment]]}
    return json.dumps({"segment": segment, **texts, **about})


def _human(segment: int, at: int, *criteria: str) -> dict[str, float]:
    """Judgements that vary from row to row, better for the first systems."""
    return {c: (segment * 7 + k * 3) % 11 - 2.0 * at for k, c in enumerate(criteria)}


@pytest.fixture(scope="module", autouse=True)
def small_word_vectors() -> Iterator[None]:
    """Random vectors of the example's words in place of GloVe, which is slow to read."""
    texts = [line for name in (*SYSTEMS, "reference.a") for line in example(name)]
    words = sorted({word for line in texts for word in re.findall(r"\w+", line.lower())})
    vectors = np.random.default_rng(0).standard_normal((len(words), 8))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            word_vectors, "_glove", lambda: word_vectors.Vectors.of(words, vectors, "example")
        )
        word_vectors.open_static.cache_clear()
        yield
    word_vectors.open_static.cache_clear()


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two WMT15 files, one WMT18 language pair with 4 pairs, WebNLG, REALSumm, BAGEL and TAC."""
    root = tmp_path_factory.mktemp("data")
    for name in ("wmt15_da", "wmt18_darr/pairs", "webnlg2020", "realsumm", "novikova2017"):
        (root / name).mkdir(parents=True)
    judged = [
        _row(i, "literal", system="literal", human={"da_z": (i * 7) % 11 / 10}) for i in range(12)
    ]
    (root / "wmt15_da" / "fi-en.jsonl").write_text("\n".join(judged), "utf-8")
    with gzip.open(root / "wmt15_da" / "cs-en.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(judged))
    outputs = [
        _row(i, name, system=name, human={"da_raw": 50.0}) for i in range(5) for name in SYSTEMS
    ]
    (root / "wmt18_darr" / "tr-en.jsonl").write_text("\n".join(outputs), "utf-8")
    pairs = ["segment\tbetter\tworse"]
    pairs += ["0\tfluent\thasty", "1\tfluent\tliteral", "2\tliteral\thasty", "2\thasty\tfluent"]
    (root / "wmt18_darr" / "pairs" / "tr-en.darr.tsv").write_text("\n".join(pairs), "utf-8")
    cells = [(i, at, name) for i in range(6) for at, name in enumerate(SYSTEMS)]
    webnlg = [_row(i, name, system=name, human=_human(i, at, *WEBNLG)) for i, at, name in cells]
    (root / "webnlg2020" / "en.jsonl").write_text("\n".join(webnlg), "utf-8")
    summaries, stored = [], []
    for kind in ("abs", "ext"):
        for i, at, name in cells:
            about = {"id": f"realsumm-{i}-{kind}/{name}", "system": f"{kind}/{name}"}
            human = _human(i, at, "litepyramid_recall")
            summaries.append(_row(i, name, **about, human=human))
            stored.append(json.dumps({"id": about["id"], "scores": {"mover_score": (i + at) % 4}}))
    (root / "realsumm" / "realsumm.jsonl").write_text("\n".join(summaries), "utf-8")
    (root / "realsumm" / "stored_metric_scores.jsonl").write_text("\n".join(stored), "utf-8")
    criteria = ("informativeness", "naturalness", "quality")
    dialogue = [_row(i, name, system=name, human=_human(i, at, *criteria)) for i, at, name in cells]
    (root / "novikova2017" / "bagel.jsonl").write_text("\n".join(dialogue), "utf-8")
    _write_tac(root / "tac2008")
    return root


def _write_tac(folder: Path) -> None:
    for side in ("models", "peers"):
        (folder / side).mkdir(parents=True)
    table = ["topic\tsystem\tresponsiveness\tpyramid"]
    for i in range(3):
        model = folder / "models" / f"D080{i}-A.M.100.A.A"
        model.write_text(example("reference.a")[i], "utf-8")
        for at, name in enumerate(SYSTEMS):
            peer = folder / "peers" / f"D080{i}-A.M.100.A.{at + 1}"
            peer.write_text(example(name)[i], "utf-8")
            table.append(f"D080{i}-A\t{at + 1}\t{5 - at}\t{(i + 2 * at) % 5}")
    (folder / "manual.tsv").write_text("\n".join(table), "utf-8")
