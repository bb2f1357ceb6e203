"""Requests may have sources, and may be lists as the library takes them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

import nlgauge
from nlgauge.core.errors import DataError
from nlgauge.service import schemas
from nlgauge.service.errors import ServiceError
from nlgauge.service.handlers import _baseline_first, _judged, corpus_of
from nlgauge.service.limits import check_request
from nlgauge.service.scheduler import _join
from nlgauge.service.settings import Limits

LISTS: dict[str, Any] = {
    "candidates": ["A cat sat.", "It rains."],
    "references": [["The cat sat."], ["Rain.", "It rains"]],
    "metrics": ["chrf", "bertscore:model=hashing"],
}


def test_lists_are_scored_as_the_library_scores_them(api: TestClient) -> None:
    answer = api.post("/v1/score", json=LISTS)
    assert answer.status_code == 200, answer.text
    expected = nlgauge.score(**LISTS)
    for entry in answer.json()["scores"]:
        assert entry == expected[entry["metric"]].to_dict()


def test_lists_take_plain_references_sources_ids_and_options(api: TestClient) -> None:
    body = {**LISTS, "references": ["The cat sat.", "It rains"], "sources": ["a", ""]}
    body |= {"ids": ["x", "y"], "segments": True}
    (first, _) = api.post("/v1/score", json=body).json()["scores"]
    assert [row["id"] for row in first["segments"]] == ["x", "y"]
    job = {"kind": "score", "body": body}
    assert api.post("/v1/jobs", json=job).status_code == 202


@pytest.mark.parametrize(
    ("changed", "status", "words"),
    [
        ({"references": ["one"]}, 422, "2 candidates but 1 references"),
        ({"sources": ["one"]}, 422, "2 candidates but 1 sources"),
        ({"ids": ["one"]}, 422, "2 candidates but 1 ids"),
        ({"candidates": []}, 422, "at least 1 item"),
        ({"candidates": "A cat"}, 422, "valid list"),
        ({"candidates": ["a", 5]}, 422, "valid string"),
        ({"sources": ["a", None]}, 422, "valid string"),
        ({"source": ["a", "b"]}, 422, "Extra inputs are not permitted"),
        ({"candidates": ["a"] * 3_000, "references": ["a"] * 3_000}, 413, "rows"),
        ({"sources": ["a" * 200_000, "b"]}, 413, "characters in one text"),
    ],
)
def test_lists_have_the_limits_of_rows(
    api: TestClient, changed: dict[str, Any], status: int, words: str
) -> None:
    answer = api.post("/v1/score", json={**LISTS, **changed})
    assert answer.status_code == status
    assert words in answer.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/v1/score", "/v1/compare"])
def test_a_body_without_texts_gets_an_example(api: TestClient, path: str) -> None:
    answer = api.post(path, json={"predictions": ["a"], "metrics": ["bleu"]})
    assert answer.status_code == 422
    message = answer.json()["error"]["message"]
    start = message.index('{"pairs"' if path == "/v1/score" else '{"systems"')
    example, _ = json.JSONDecoder().raw_decode(message, start)
    assert api.post(path, json=example).status_code == 200


def _body(kind: str, **texts: Any) -> Any:
    return getattr(schemas, kind)(**texts, metrics=["bleu"])


def test_sources_of_every_form_reach_the_corpus() -> None:
    rows = [{"candidate": c, "references": "r", "source": s} for c, s in ("ax", "by")]
    two = {"A": ["a", "b"], "B": ["c", "d"]}
    references, sources = ["r", "r"], ["x", "y"]
    assert corpus_of(_body("ScorePairs", pairs=rows)).sources == ("x", "y")
    lists = _body("ScoreLists", candidates=["a", "b"], references=references, sources=sources)
    assert corpus_of(lists).sources == ("x", "y")
    systems = _body("ScoreSystems", systems=two, references=references, sources=sources)
    assert corpus_of(systems).sources == ("x", "y", "x", "y")
    judged = [{**row, "human": {"q": 1.0}} for row in rows]
    assert _judged(_body("CorrelateRequest", rows=judged)).corpus.sources == ("x", "y")
    del rows[1]["source"], judged[1]["source"]
    for read, body in ((corpus_of, _body("ScorePairs", pairs=rows)), (_judged, None)):
        with pytest.raises(DataError, match="1 of 2 rows have a source; give it for all rows"):
            read(body or _body("CorrelateRequest", rows=judged))


def test_sources_stay_with_their_rows_in_batches_and_behind_a_baseline() -> None:
    two = {"A": ["a", "b"], "B": ["c", "d"]}
    body = _body("ScoreSystems", systems=two, references=["r", "s"], sources=["x", "y"])
    corpus = corpus_of(body)
    moved = _baseline_first(corpus, "B")
    assert moved.candidates == ("c", "d", "a", "b")
    assert moved.sources == ("x", "y", "x", "y")
    joined = _join([corpus, corpus_of(_body("ScoreLists", candidates=["e"], references=["t"]))])
    assert joined.candidates == ("a", "b", "c", "d", "e")
    assert joined.sources == ("x", "y", "x", "y", None)


def test_sources_count_as_texts() -> None:
    limits = Limits()
    long = "x" * (limits.text_characters + 1)
    for body in (
        _body("ScoreLists", candidates=["a"], references=["a"], sources=[long]),
        _body("ScoreSystems", systems={"A": ["a"]}, references=["a"], sources=[long]),
        _body("ScorePairs", pairs=[{"candidate": "a", "references": "a", "source": long}]),
    ):
        with pytest.raises(ServiceError, match="characters in one text"):
            check_request(body, limits)


def test_the_client_sends_sources(start: Any) -> None:
    from nlgauge.service.client import Client

    client = Client(start())
    texts = (["a cat"], ["a cat"])
    assert client.score(*texts, sources=["x"], metrics="chrf")["chrf"].value == 100.0


def test_uploaded_tables_keep_their_sources_and_may_be_json(api: TestClient) -> None:
    rows = [{"mt": "a", "ref": "b", "src": "c"}, {"mt": "d", "ref": "e", "src": ""}]
    header = {"Content-Type": "application/octet-stream"}
    sent = {"content": json.dumps(rows), "headers": header}
    answer = api.post("/v1/read?name=t.json", **sent)
    assert answer.status_code == 200, answer.text
    found = answer.json()["rows"]
    assert [(row["candidate"], row["source"]) for row in found] == [("a", "c"), ("d", "")]
    pairs = {"pairs": found, "metrics": ["chrf"]}
    assert api.post("/v1/score", json=pairs).status_code == 200
    judged = json.dumps([{**row, "human": 1} for row in rows])
    path = "/v1/read?name=t.json&content=judgements"
    read = api.post(path, content=judged, headers=header).json()["rows"]
    assert [row["source"] for row in read] == ["c", ""]


def test_columns_of_uploaded_tables_can_be_named(api: TestClient) -> None:
    header = {"Content-Type": "application/octet-stream"}
    sent = {"content": "mt,output,gold,score\na,b,c,1\n", "headers": header}
    refused = api.post("/v1/read?name=t.csv", **sent).json()["error"]["message"]
    assert "choose with the query parameter columns=candidate=mt" in refused
    named = "columns=candidate%3Dmt,reference%3Dgold"
    (row,) = api.post(f"/v1/read?name=t.csv&{named}", **sent).json()["rows"]
    assert (row["candidate"], row["references"]) == ("a", ["c"])
    path = f"/v1/read?name=t.csv&{named},human%3Dscore&content=judgements"
    assert api.post(path, **sent).json()["criteria"] == ["score"]
    assert api.post("/v1/read?name=t.csv&columns=x", **sent).status_code == 400
