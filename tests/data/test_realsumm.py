"""REALSumm's pickles are read as data; a pickle that calls anything is refused."""

from __future__ import annotations

import os
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest

from nlgauge.core.errors import FileError
from nlgauge.data import read_judged
from nlgauge.data.realsumm import sentences
from nlgauge.data.safe_pickle import read_plain_pickle


def _documents() -> dict:
    def entry(text: str, recall: float, rouge: object) -> dict:
        return {"system_summary": text, "scores": {"litepyramid_recall": recall, "rouge": rouge}}

    return {
        10: {
            "doc_id": 10,
            "ref_summ": "<t> a ref . </t>  <t> two </t>",
            "system_summaries": {"b_out.txt": entry("<t> b10 </t>", 0.5, np.float32(0.25))},
        },
        2: {
            "doc_id": 2,
            "ref_summ": "<t> ref </t>",
            "system_summaries": {
                "b_out.txt": entry("<t> b2 </t>", 0.0, np.float64(1.5)),
                "a_out.txt": entry("<t> cut", 1, 0.125),
            },
        },
    }


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_data_survives_a_round_trip(tmp_path: Path, protocol: int) -> None:
    data = {"a": [1, -2.5, "é", None, True, (1, 2, 3, 4)], 5: {}, "n": 2**70}
    path = tmp_path / "a.pkl"
    path.write_bytes(pickle.dumps(data, protocol=protocol))
    assert read_plain_pickle(str(path)) == data


@pytest.mark.parametrize("protocol", range(3, pickle.HIGHEST_PROTOCOL + 1))
def test_numbers_of_numpy_become_plain_numbers(tmp_path: Path, protocol: int) -> None:
    kinds = ("float16", "float32", "float64", "int8", "int64", "uint16", "bool", ">f8")
    data = [np.dtype(kind).type(1) for kind in kinds]
    path = tmp_path / "a.pkl"
    path.write_bytes(pickle.dumps(data, protocol=protocol))
    got = read_plain_pickle(str(path))
    assert got == [1] * len(kinds)
    assert {type(value) for value in got} == {float, int, bool}


class _Run:
    """Pickles to a call of this function with these arguments."""

    def __init__(self, function, *arguments) -> None:
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("where", ["top", "inside"])
def test_nothing_in_a_pickle_is_run(tmp_path: Path, protocol: int, where: str) -> None:
    trace = tmp_path / "trace"
    code = f"open({str(trace)!r}, 'w').close()"
    calls = [
        _Run(os.system, f"touch {trace}"),
        _Run(eval, code),
        _Run(exec, code),
        _Run(open, str(trace), "w"),
        _Run(getattr, "text", "upper"),
        _Run(np.save, str(trace), 1),
        _Run(Path.touch, trace),
    ]
    path = tmp_path / "abs.pkl"
    for call in calls:
        document = {1: {"ref_summ": "r", "system_summaries": {"a": call}}}
        path.write_bytes(pickle.dumps(call if where == "top" else document, protocol=protocol))
        with pytest.raises(FileError, match=r"not a pickle of plain data.*It was not executed"):
            read_judged(path)
        assert not trace.exists()
        assert not trace.with_suffix(".npy").exists()
    pickle.loads(pickle.dumps(calls[1], protocol=protocol))
    assert trace.exists(), "the same pickle runs where nothing stands in its way"


def _call(module: str, name: str, *arguments: bytes) -> bytes:
    return b"c" + f"{module}\n{name}\n".encode() + b"(" + b"".join(arguments) + b"tR."


TEXT = b"Vtext\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "pickle exhausted"),
        (b"no pickle", "not a pickle"),
        (pickle.dumps({"a": 1})[:-3], "not a pickle"),
        (_call("os", "system", TEXT), "it names os.system"),
        (_call("builtins", "eval", TEXT), "it names builtins.eval"),
        (_call("numpy", "load", TEXT), "it names numpy.load"),
        (b"(Vid\nios\nsystem\n.", "operation INST"),
        (b"Vx\n.", None),
        (b"Pid\n.", "operation PERSID"),
        (b"\x82\x01.", "operation EXT1"),
        (b"\x80\x05\x96" + struct.pack("<Q", 2**40) + b".", "not a pickle"),
        (b"}(N)Nu.", "not a pickle"),
        (b"])K\x01s.", "not a pickle"),
        (b"})K\x01s.", "a key is a tuple"),
        (b"Vx\n)R.", "it calls a value"),
        (b"cnumpy\ndtype\n.", "it contains a function"),
        (b"\x8b" + struct.pack("<I", 2000) + b"\x7f" * 2000 + b".", "a number of 15,999 bits"),
        (b"\x80\x02cnumpy\ndtype\n)\x81.", "operation NEWOBJ"),
        (_call("numpy", "dtype", b"VO8\n", b"I0\n", b"I1\n"), "kind 'O8' are not read"),
        (_call("numpy.core.multiarray", "scalar", TEXT, TEXT), "not made of a kind and bytes"),
        # Giving the stand-ins a state must not change what later files are read with.
        (b"\x80\x02cnumpy\ndtype\n}b.", "a value is given a state"),
        (b"\x80\x02cnumpy.core.multiarray\nscalar\nN}\x86b.", "a value is given a state"),
        (_call("numpy", "dtype", b"Vf8\n")[:-1] + b"Nb.", "the state of a number has no"),
    ],
)
def test_broken_and_malicious_pickles_are_refused(tmp_path, content, message) -> None:
    path = tmp_path / "a.pkl"
    path.write_bytes(content)
    if message is None:
        assert read_plain_pickle(str(path)) == "x"
        return
    with pytest.raises(FileError, match=message):
        read_plain_pickle(str(path))


def test_each_sentence_is_a_line() -> None:
    assert sentences("<t> one . </t>  <t> two </t>") == "one .\ntwo"
    assert sentences("<t> one . </t> <t> cut") == "one .\ncut"
    assert sentences("plain") == "plain"


def test_realsumm(tmp_path: Path) -> None:
    for stem in ("abs", "ext"):
        (tmp_path / f"{stem}.pkl").write_bytes(pickle.dumps(_documents()))
    judged = read_judged(tmp_path / "abs.pkl")
    assert judged.corpus.systems == ("abs/a_out", "abs/b_out", "abs/b_out")
    assert judged.corpus.ids == ("2", "2", "10")
    assert judged.corpus.candidates == ("cut", "b2", "b10")
    assert judged.corpus.references[2] == ("a ref .\ntwo",)
    assert judged.human["litepyramid_recall"].tolist() == [1.0, 0.0, 0.5]
    assert judged.stored["rouge"].tolist() == [0.125, 1.5, 0.25]
    both = read_judged(tmp_path)
    assert len(both) == 6
    assert both.corpus.system_names == ("abs/a_out", "abs/b_out", "ext/a_out", "ext/b_out")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([1], "has no dictionary of documents"),
        ({1: 2}, "document 1: expected a dictionary, found int"),
        ({1: {"system_summaries": {}}}, "ref_summ is None, not a text"),
        (
            {
                1: {
                    "ref_summ": "r",
                    "system_summaries": {"a": {"system_summary": "s", "scores": {}}},
                }
            },
            "document 1, system 'a' has no litepyramid_recall",
        ),
    ],
)
def test_other_pickles_are_not_realsumm(tmp_path: Path, data: object, message: str) -> None:
    (tmp_path / "x.pkl").write_bytes(pickle.dumps(data))
    with pytest.raises(FileError, match=message):
        read_judged(tmp_path / "x.pkl")


def test_realsumm_agrees_with_the_rows(shared_data) -> None:
    original = read_judged(shared_data / "original" / "REALSumm")
    rows = read_judged(shared_data / "realsumm" / "realsumm.jsonl.gz")
    rows = rows.without(*(name for name in rows.corpus.system_names if name.startswith("ext/")))
    assert len(original) == len(rows) == 1400
    assert _by_cell(original) == _by_cell(rows)


def _by_cell(judged) -> dict:
    corpus = judged.corpus
    cells = zip(corpus.systems, corpus.ids, strict=True)
    texts = zip(
        corpus.candidates, corpus.references, judged.human["litepyramid_recall"], strict=True
    )
    return dict(zip(cells, texts, strict=True))


def test_realsumm_stored_scores_agree(shared_data) -> None:
    import gzip
    import json

    original = read_judged(shared_data / "original" / "REALSumm" / "scores_dicts" / "abs.pkl")
    with gzip.open(shared_data / "realsumm" / "stored_metric_scores.jsonl.gz", "rt") as lines:
        stored = {row["id"]: row["scores"] for row in map(json.loads, lines)}
    assert len(original.stored) == 14
    for name in original.stored:
        for system, segment, score in original.stored_rows(name):
            assert score == pytest.approx(stored[f"realsumm-{segment}-{system}"][name], rel=1e-5)
