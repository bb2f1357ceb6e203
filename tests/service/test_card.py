"""/v1/card answers with the library's card, its tables and files, or an error."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from nlgauge.core.corpus import Corpus
from nlgauge.data.judged import JudgedCorpus
from nlgauge.report.metric_card import markdown_page, page
from nlgauge.service import examples
from nlgauge.service.card_response import CardAnswer
from nlgauge.study.metric_card import card

PATH = "/v1/card"
TEXTS = ["the old bridge", "a bridge", "the river", "rain fell", "old rain", "the rain"]


def rows(**columns: list[Any]) -> list[dict[str, Any]]:
    """Outputs of three systems for two inputs, with more columns if they are given."""
    return [
        {
            "system": "ABC"[k % 3],
            "segment": str(k // 3),
            "candidate": text,
            "references": ["the old bridge"],
            "human": {"da": float(k % 4)},
            **{name: cells[k] for name, cells in columns.items()},
        }
        for k, text in enumerate(TEXTS)
    ]


def judged(scores: list[float]) -> JudgedCorpus:
    corpus = Corpus.of(TEXTS, ["the old bridge"] * 6, systems=[*"ABCABC"], ids=[*"000111"])
    return JudgedCorpus(corpus, {"da": [float(k % 4) for k in range(6)]}, (), {"m": scores})


def test_the_card_is_the_librarys(api: TestClient) -> None:
    body = {"rows": rows(), "metric": "chrf", "beside": ["bleu"], "count": 20, "data": "mine.csv"}
    answer = api.post(PATH, json=body)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    CardAnswer.model_validate(found, strict=True)
    expected = card(judged([0.0] * 6), "chrf", beside=["bleu"], count=20).to_dict()
    for part in ("signature", "agreement", "biases", "sensitivity", "mean_by_quality"):
        assert found[part] == expected[part], part
    assert found["data"] == "mine.csv"
    assert found["html"] == page(found)
    assert found["markdown"] == markdown_page(found)
    assert "<script" not in found["html"]
    agreement, *_ = found["sections"]
    assert [row[3] for row in agreement["rows"]] == [each["value"] for each in found["agreement"]]
    assert len(agreement["texts"]) == len(agreement["rows"])


def test_stored_scores_documents_and_spans_are_used(api: TestClient) -> None:
    scores = [3.0, 1.0, 2.0, 6.0, 5.0, 4.0]
    given = rows(
        scores=[{"m": value, "other": None} for value in scores],
        document=["d1"] * 3 + ["d2"] * 3,
    )
    body = {"rows": given, "stored": "m", "lower_is_better": True, "beside": ["chrf"], "count": 20}
    found = api.post(PATH, json=body).json()
    CardAnswer.model_validate(found, strict=True)
    assert (found["metric"], found["direction"], found["cost"]) == ("stored:m", "lower", None)
    assert "document" in {each["level"] for each in found["agreement"]}
    own = card(judged(scores), "", stored="m", lower_is_better=True, beside=["chrf"], count=20)
    assert [e for e in found["agreement"] if e["level"] != "document"] == own.to_dict()["agreement"]
    spans = [[{"start": 0, "end": 3, "severity": "minor"}], [], [], [], [], []]
    body = {"rows": rows(spans=spans), "metric": "bertscore:model=hashing", "count": 20}
    assert api.post(PATH, json=body).json()["spans"]["metrics"]


def test_a_card_can_be_a_job(api: TestClient) -> None:
    body = {"kind": "card", "body": {**examples.CARD, "beside": ["bleu", "chrf"]}}
    job = api.post("/v1/jobs", json=body)
    assert job.status_code == 202, job.text
    path = job.headers["Location"]
    state = job.json()
    while state["state"] in ("queued", "running"):
        state = api.get(path).json()
    assert state["state"] == "done", state
    assert state["result"]["title"] == "chrF"


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"metric": None}, 422, "body: name either a metric or stored scores"),
        ({"stored": "m"}, 422, "body: name either a metric or stored scores"),
        ({"lower_is_better": True}, 422, "the direction of a metric is known"),
        ({"metric": None, "stored": "m"}, 422, "no scores of 'm' came with the data"),
        ({"human": "style"}, 422, "style"),
        ({"metric": "nonsense"}, 422, "nonsense"),
        ({"metric": "external:command=id"}, 422, "not available on this server"),
        ({"beside": []}, 422, "beside"),
        ({"beside": ["bleu"] * 16}, 413, "17 metrics"),
        ({"beside": ["bleu"] * 9, "count": 10_000}, 413, "resamples"),
        ({"count": 10**9}, 422, "count"),
        ({"rows": []}, 422, "rows"),
        ({"rows": rows()[:1]}, 422, "at least 2 inputs"),
        ({"rows": rows()[:3]}, 422, "at least 2 inputs"),
        ({"rows": rows(document=["d", None] * 3)}, 422, "3 of 6 rows have a document"),
        ({"rows": rows(spans=[[{"start": 5, "end": 2}]] * 6)}, 422, "the span from 5 to 2"),
        ({"rows": rows(spans=[[{"start": 0, "end": 10**40}]] * 6)}, 422, "end"),
        ({"rows": rows(scores=[{"m": "high"}] * 6)}, 422, "scores"),
        ({"rows": rows() * 400}, 413, "2,400 rows"),
    ],
)
def test_unusable_input_is_refused(
    api: TestClient, change: dict[str, Any], status: int, message: str
) -> None:
    body = {"rows": rows(), "metric": "chrf", "beside": ["bleu"], "count": 20, **change}
    answer = api.post(PATH, json=body)
    assert answer.status_code == status, answer.text
    assert message in answer.json()["error"]["message"]
