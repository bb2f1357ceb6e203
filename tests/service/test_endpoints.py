"""Every endpoint answers with the numbers of the library, in the documented schema."""

from __future__ import annotations

from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import pytest
from pydantic import BaseModel
from starlette.testclient import TestClient

import nlgauge
from nlgauge.data import RaterLabels
from nlgauge.service import examples, responses
from nlgauge.service.card_response import CardAnswer
from nlgauge.service.judge_response import JudgeAnswer
from nlgauge.study import judge

NOT_OFFERED = {"external", "ensemble"}
ENDPOINTS: list[tuple[str, dict[str, Any], type[BaseModel]]] = [
    ("/v1/score", examples.SCORE, responses.ScoreAnswer),
    ("/v1/score", examples.SCORE_LISTS, responses.ScoreAnswer),
    ("/v1/score", examples.SCORE_SYSTEMS, responses.ScoreAnswer),
    ("/v1/align", examples.ALIGN, responses.AlignAnswer),
    ("/v1/compare", examples.COMPARE, responses.CompareAnswer),
    ("/v1/correlate", examples.CORRELATE, responses.CorrelateAnswer),
    ("/v1/judge", examples.JUDGE, JudgeAnswer),
    ("/v1/card", examples.CARD, CardAnswer),
]


@pytest.mark.parametrize(("path", "body", "model"), ENDPOINTS)
def test_every_example_is_answered_as_documented(
    api: TestClient, path: str, body: dict[str, Any], model: type[BaseModel]
) -> None:
    answer = api.post(path, json=body)
    assert answer.status_code == 200, answer.text
    model.model_validate(answer.json(), strict=True)


def test_the_document_shows_the_examples_and_declares_refusals(api: TestClient) -> None:
    document = api.get("/openapi.json").json()
    for path, body, _ in ENDPOINTS:
        post = document["paths"][path]["post"]
        shown = post["requestBody"]["content"]["application/json"]["examples"]
        assert body in [each["value"] for each in shown.values()]
        assert {"400", "401", "403", "408", "413", "415", "422", "429"} <= set(post["responses"])
    names = document["components"]["schemas"]["NamedMetric"]["properties"]["name"]["enum"]
    assert set(names) == set(nlgauge.metric_names()) - NOT_OFFERED


def test_a_judge_is_checked_as_by_the_library(api: TestClient) -> None:
    body = examples.JUDGE
    table = RaterLabels.of(body["labels"], length=body["length"])
    expected = judge(table, "model", count=200).to_dict()
    assert api.post("/v1/judge", json=body).json() == expected
    large = {name: cells * 30 for name, cells in body["labels"].items()}  # in another process
    assert api.post("/v1/judge", json={"labels": large, "judge": "model"}).status_code == 200


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"judge": "gpt"}, 422, "no rater 'gpt'"),
        ({"labels": {"model": [1]}, "length": None}, 422, "the only rater is the judge"),
        ({"length": [1]}, 422, "1 values of 'length', but 6 items"),
        ({"labels": {"a": [], "model": []}, "length": None}, 422, "no item was labelled by both"),
        ({"labels": {"a": [1] * 3000, "model": [1] * 3000}}, 413, "3,000 rows"),
        ({"labels": {str(k): [1] for k in range(60)}}, 413, "resamples of pairs"),
        ({"own": ["x"]}, 422, "no column 'system'"),
    ],
)
def test_labels_that_cannot_be_used(api: TestClient, change, status: int, message: str) -> None:
    answer = api.post("/v1/judge", json={**examples.JUDGE, **change})
    assert answer.status_code == status
    assert message in answer.json()["error"]["message"]


def test_scores_are_the_librarys(api: TestClient) -> None:
    candidates, references = ["A cat sat.", "It rains."], [["The cat sat."], ["Rain.", "It rains"]]
    specs = ["bleu", "ter", "cider", "bertscore:model=hashing", "mover:model=hashing,weights=idf"]
    pairs = [{"candidate": c, "references": r} for c, r in zip(candidates, references, strict=True)]
    answer = api.post("/v1/score", json={"pairs": pairs, "metrics": specs}).json()
    expected = nlgauge.score(candidates, references, metrics=specs)
    assert [entry["metric"] for entry in answer["scores"]] == specs
    for entry in answer["scores"]:
        assert entry == expected[entry["metric"]].to_dict()


def test_systems_and_pairs_say_the_same(api: TestClient) -> None:
    body = examples.SCORE_SYSTEMS
    pairs = [
        {"candidate": text, "references": body["references"][i], "system": name, "id": str(i)}
        for name, texts in body["systems"].items()
        for i, text in enumerate(texts)
    ]
    rows = {"pairs": pairs, "metrics": body["metrics"], "segments": False}
    assert api.post("/v1/score", json=rows).json() == api.post("/v1/score", json=body).json()


def test_a_pair_is_aligned_with_the_reference_that_counts(api: TestClient) -> None:
    body = {
        "candidate": "a man in a boat",
        "references": ["the price of tea", "a man in a canoe"],
        "metric": "wmd:model=hashing,weights=idf",
    }
    answer = api.post("/v1/align", json=body).json()
    scores = nlgauge.score(["a man in a boat"], [body["references"]], metrics=body["metric"])
    assert answer["reference"] == 1
    assert answer["plan"] == next(iter(scores.values())).plan(0).to_dict()
    assert answer["value"] == next(iter(scores.values())).value
    assert answer["layers"] is None


def test_an_infinite_penalty_is_spelled_as_on_the_command_line(api: TestClient) -> None:
    options = {"model": "hashing", "penalty_candidate": "inf", "penalty_reference": "inf"}
    body = {"candidate": "a b c", "references": "c d", "metric": {"name": "lazy_emd"}}
    body["metric"]["options"] = options  # type: ignore[index]
    plan = api.post("/v1/align", json=body).json()["plan"]
    np.testing.assert_allclose(np.sum(plan["coupling"], axis=0), plan["b"], atol=1e-12)
    np.testing.assert_allclose(np.sum(plan["coupling"], axis=1), plan["a"], atol=1e-12)


def test_every_layer_of_bary_has_a_plan_of_its_own(api: TestClient) -> None:
    spec = "bary:model=hashing,layers=2+4"
    body = {"candidate": "a b c", "references": ["c d"], "metric": spec, "layers": True}
    layers = api.post("/v1/align", json=body).json()["layers"]
    assert [entry["layer"] for entry in layers] == [2, 4]
    for entry in layers:
        alone = nlgauge.align("a b c", "c d", metric=f"bary:model=hashing,layers={entry['layer']}")
        assert entry["plan"] == alone.to_dict()


def test_what_cannot_be_aligned_is_refused(api: TestClient) -> None:
    pair = {"candidate": "a", "references": "b"}
    for body, kind in [
        ({**pair, "metric": "bleu"}, "bad_call"),
        ({**pair, "metric": "wmd", "layers": True}, "bad_option"),
        ({**pair, "candidate": "", "metric": "wmd:special=drop"}, "bad_data"),
    ]:
        answer = api.post("/v1/align", json=body)
        assert (answer.status_code, answer.json()["error"]["kind"]) == (422, kind), answer.text


@pytest.mark.parametrize(("words", "layers"), [(1600, False), (700, True)])
def test_plans_of_too_many_tokens_are_refused(api: TestClient, words: int, layers: bool) -> None:
    """Their response would be larger than the request by a factor of thousands."""
    candidate = " ".join(chr(0x4E00 + k) for k in range(words))
    body = {"candidate": candidate, "references": candidate, "metric": "bary", "layers": layers}
    answer = api.post("/v1/align", json=body)
    assert answer.status_code == 413 and answer.json()["error"]["kind"] == "too_large_plan"
    tokens = f"{words + 2:,}"  # with those that the model adds
    assert f"of {tokens} by {tokens} tokens" in answer.json()["error"]["message"]
    half = candidate[: words // 2]
    answer = api.post("/v1/align", json={**body, "candidate": half, "references": half})
    assert answer.status_code == 200


def test_a_comparison_is_the_librarys_and_the_baseline_can_be_chosen(api: TestClient) -> None:
    body = {**examples.COMPARE, "baseline": "new"}
    answer = api.post("/v1/compare", json=body).json()
    systems = {"new": body["systems"]["new"], "old": body["systems"]["old"]}
    expected = nlgauge.compare(systems, body["references"], metrics=["chrf"], count=200)
    assert answer["baseline"] == "new"
    for got, wanted in zip(answer["systems"], expected.to_dict()["systems"], strict=True):
        assert got["value_low"] <= got["value"] <= got["value_high"]
        assert {key: got[key] for key in wanted} == wanted
    assert answer["differ"] == [each.to_dict() for each in expected.differing(2)]
    unknown = api.post("/v1/compare", json={**body, "baseline": "none"})
    assert unknown.json()["error"]["kind"] == "bad_option"


def test_correlations_come_with_matrix_and_bands(api: TestClient) -> None:
    body = {**examples.CORRELATE, "confidence": 0.9, "count": 50}
    answer = api.post("/v1/correlate", json=body).json()
    assert {entry["metric"] for entry in answer["correlations"]} == {"bleu", "chrf"}
    assert all(entry["low"] <= entry["value"] <= entry["high"] for entry in answer["correlations"])
    assert answer["matrix"]["names"] == ["human", "bleu", "chrf"]
    first = answer["correlations"][0]
    assert answer["matrix"]["values"][0][1] == pytest.approx(first["value"])
    low, high = answer["distributions"]["adequacy"]["chrf"]
    assert max(low["scores"]) <= max(high["scores"])
    assert len(low["places"]) == len(low["density"])


def test_undefined_coefficients_are_left_out_with_a_note(api: TestClient) -> None:
    body = {**examples.CORRELATE, "bands": 8}
    answer = api.post("/v1/correlate", json=body).json()
    assert answer["distributions"] == {}
    assert any("no distributions by 'adequacy'" in note for note in answer["notes"])


def test_metrics_are_listed_with_a_schema_of_what_is_allowed(api: TestClient) -> None:
    answer = api.get("/v1/metrics").json()
    responses.MetricsAnswer.model_validate(answer, strict=True)
    cards = {card["name"]: card for card in answer["metrics"]}
    assert set(cards) == set(nlgauge.metric_names()) - NOT_OFFERED
    mover = cards["mover"]["options"]["properties"]
    assert mover["model"]["enum"] == ["hashing", None]
    assert mover["ngram"]["type"] == "integer"
    assert not {"stopwords", "precision", "long_text"} & set(mover)
    assert "flores200" not in cards["bleu"]["options"]["properties"]["tokenize"]["enum"]
    assert cards["mover"]["aligns"] and cards["bary"]["layered"] and not cards["bleu"]["aligns"]
    assert cards["bertscore"]["needs_model"] and not cards["chrf"]["needs_model"]


def test_no_allowed_option_names_a_file(api: TestClient) -> None:
    for card in api.get("/v1/metrics").json()["metrics"]:
        for name, schema in card["options"]["properties"].items():
            messages = schema["description"].lower()
            assert not {"file", "folder", "path"} & set(messages.replace(";", " ").split()), name


def test_health_and_prometheus(api: TestClient) -> None:
    health = api.get("/health").json()
    assert (health["status"], health["models"], health["token"]) == ("ok", ["hashing"], False)
    assert api.post("/v1/score", json=examples.SCORE).status_code == 200
    page = api.get("/metrics")
    assert page.headers["content-type"].startswith("text/plain")
    counted = [line for line in page.text.splitlines() if line.startswith("nlgauge_requests_total")]
    wanted = 'nlgauge_requests_total{method="POST",route="/v1/score",status="200"}'
    assert any(line.startswith(wanted) for line in counted)
    assert "nlgauge_batch_requests_count" in page.text


@pytest.mark.parametrize("path", ["/", "/health", "/metrics", "/v1/metrics", "/page/main.js"])
def test_every_path_that_can_be_read_has_a_head(address: str, path: str) -> None:
    with urlopen(Request(address + path, method="HEAD"), timeout=120) as answer:
        assert answer.status == 200 and answer.read() == b""
        assert int(answer.headers["Content-Length"]) > 0


def test_the_page_and_its_files_are_served_and_nothing_else(api: TestClient) -> None:
    assert "<title>" in api.get("/").text
    assert api.get("/page/index.html").text == api.get("/").text
    for path in ("/page/../app.py", "/page/%2e%2e/app.py", "/page//etc/passwd", "/app.py"):
        assert api.get(path).status_code == 404


def test_a_greedy_alignment_says_which_matches_give_precision_and_recall(api: TestClient) -> None:
    body = {"candidate": "a man in a boat", "references": "the man sat in a canoe"}
    answer = api.post("/v1/align", json={**body, "metric": "bertscore:model=hashing"}).json()
    responses.AlignAnswer.model_validate(answer, strict=True)
    plan, matches = answer["plan"], answer["matches"]
    for side, mass, name in (("candidate", "a", "precision"), ("reference", "b", "recall")):
        best = {match[side]: match["cosine"] for match in matches if match[name]}
        mean = sum(plan[mass][index] * cosine for index, cosine in best.items())
        assert mean == pytest.approx(answer["components"][name], abs=1e-6)
    other = api.post("/v1/align", json={**body, "metric": "wmd:model=hashing"}).json()
    assert other["matches"] is None
    assert api.post("/v1/align", json={**body, "words": True}).json()["plan"] is not None


def test_every_segment_of_a_comparison_has_its_scores(api: TestClient) -> None:
    body = {**examples.COMPARE, "segments": True}
    answer = api.post("/v1/compare", json=body).json()
    responses.CompareAnswer.model_validate(answer, strict=True)
    expected = nlgauge.compare(body["systems"], body["references"], metrics=["chrf"], count=200)
    table = answer["segment_scores"]["metrics"]["chrf"]
    for system, found in table.items():
        assert found["values"] == expected.scores[system]["chrf"].segments.tolist()
    first, second = table
    gaps = np.subtract(table[second]["values"], table[first]["values"])
    np.testing.assert_allclose(table[second]["differences"], gaps)
    assert table[first]["differences"] is None


@pytest.mark.parametrize("method", ["williams", "permutation"])
def test_metrics_are_tested_against_each_other(api: TestClient, method: str) -> None:
    body = {**examples.CORRELATE, "tests": method, "segments": True, "count": 50}
    answer = api.post("/v1/correlate", json=body).json()
    responses.CorrelateAnswer.model_validate(answer, strict=True)
    test = answer["tests"][0]
    assert test["names"] == ["bleu", "chrf"]
    assert test["p"][0][0] is None
    assert 0 <= test["p"][0][1] <= 1
    cells = answer["cells"]
    assert len(cells["scores"]["chrf"]) == len(cells["systems"]) == len(body["rows"])
    (criterion,) = cells["human"]
    r = np.corrcoef(cells["human"][criterion], cells["scores"]["chrf"])[0, 1]
    values = {e["metric"]: e["value"] for e in answer["correlations"] if e["level"] == "segment"}
    assert values["chrf"] == pytest.approx(r)


def test_pairwise_coefficients_have_a_chance_level(api: TestClient) -> None:
    body = {**examples.CORRELATE, "coefficients": ["acc_eq", "spa"], "levels": ["text", "system"]}
    answer = api.post("/v1/correlate", json=body).json()
    responses.CorrelateAnswer.model_validate(answer, strict=True)
    found = {(row["level"], row["coefficient"]): row for row in answer["correlations"]}
    assert set(found) == {("text", "acc_eq"), ("system", "acc_eq"), ("system", "spa")}
    assert 0 <= found["text", "acc_eq"]["chance"] <= 1
    assert found["system", "spa"]["chance"] is None


def test_predicted_errors_are_those_of_the_library(api: TestClient) -> None:
    metric = "wmd:model=hashing,special=drop,layer=0"
    body = {"candidate": "a 😀 cat sat", "references": "a 😀 dog sat", "metric": metric}
    assert api.post("/v1/align", json=body).json()["spans"] is None, "no thresholds are known"
    thresholds = {"minor": 0.2, "major": 0.9}
    found = api.post("/v1/align", json=body | thresholds).json()["spans"]
    (scores,) = nlgauge.score(["a 😀 cat sat"], ["a 😀 dog sat"], metrics=metric).values()
    (span,) = scores.spans(0, **thresholds)
    assert found == [{"start": 4, "end": 7, "severity": span.severity, "category": ""}]
    refused = api.post("/v1/align", json=body | {"minor": 0.2})
    assert refused.status_code == 422
    assert "give both, minor and major" in refused.text
