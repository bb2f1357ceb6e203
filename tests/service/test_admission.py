"""Forbidden options, tokens and hosts, and what error messages must not reveal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from nlgauge.core.errors import UsageError
from nlgauge.service import examples, handlers
from nlgauge.service.middleware import HEADERS
from nlgauge.service.settings import Limits, Settings

THIRD_PARTY = '''
"""A third-party metric that opens the named file."""
from dataclasses import dataclass
from pathlib import Path
import numpy as np
from nlgauge.core.metric import PairMetric, similarity
from nlgauge.core.options import option

@dataclass(frozen=True)
class Curious(PairMetric):
    """Reads a file as soon as it is made."""
    scale = similarity()
    words: str | None = option(None, "A file.")

    def __post_init__(self):
        super().__post_init__()
        if self.words:
            Path(self.words).read_text()

    def compare(self, candidates, references):
        return np.ones((len(candidates), 1))
'''


def ask(api: TestClient, *metrics: object, **options: Any) -> tuple[int, str, str]:
    pairs = [{"candidate": "a cat", "references": ["the cat"]}]
    answer = api.post("/v1/score", json={"pairs": pairs, "metrics": list(metrics), **options})
    messages = answer.json().get("error", {"kind": "none", "message": ""})
    return answer.status_code, messages["kind"], messages["message"]


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("bertscore:model=embedded", "model_not_allowed"),
        ("bertscore:model=/etc/passwd", "model_not_allowed"),
        ("bertscore:model_type=/etc/passwd", "model_not_allowed"),
        ("bertscore:model=https://example.org/model", "model_not_allowed"),
        ("infolm:model=bert-base-uncased", "model_not_allowed"),
        ({"name": "wmd", "options": {"model": "glove"}}, "model_not_allowed"),
        ("bertscore|model:glove|layer:4", "model_not_allowed"),
        ("bertscore:baseline=/etc/passwd", "option_not_allowed"),
        ({"name": "mover", "options": {"stopwords": "/etc/passwd"}}, "option_not_allowed"),
        ("mover|stopwords:/etc/passwd", "option_not_allowed"),
        ("meteor:synonyms=/usr/share/wordnet", "option_not_allowed"),
        ("bleu:tokenize=flores200", "option_not_allowed"),
        ("bleu|nrefs:1|case:mixed|eff:no|tok:spm|smooth:exp", "option_not_allowed"),
        ("bertscore:precision=bfloat16", "option_not_allowed"),
        ("bertscore:long_text=truncate", "option_not_allowed"),
        ("chrf:char_order=60", "option_not_allowed"),
        ("depth:directions=1000000", "option_not_allowed"),
        ("meteor:beta=1e300", "option_not_allowed"),
        (f"mover:layers={'1+' * 40}1", "option_not_allowed"),
    ],
)
def test_options_that_open_files_download_or_exhaust_memory_are_forbidden(
    api: TestClient, spec: object, kind: str
) -> None:
    status, messages, message = ask(api, spec)
    assert (status, messages) == (403, kind), message


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("scoar", "unknown_metric"),
        ("bleu:toknize=13a", "bad_option"),
        ("bleu:tokenize=nope", "bad_option"),
        ("lazy_emd:penalty_candidate=0,penalty_reference=0", "bad_option"),
        ("eed:jump=1e300", "bad_option"),
        ({"name": "chrf", "options": {"char_order": "many"}}, "bad_option"),
        ({"name": "chrf", "options": {"char_order": 2.5}}, "bad_option"),
        ("bertscore|model", "bad_call"),
    ],
)
def test_invalid_specs_are_explained(api: TestClient, spec: object, kind: str) -> None:
    status, messages, message = ask(api, spec)
    assert (status, messages) == (422, kind), message


@pytest.mark.parametrize("spec", ["external:command=touch /srv/x", "ensemble:metrics=bleu"])
def test_metrics_that_run_others_are_absent(api: TestClient, spec: str) -> None:
    assert ask(api, spec)[:2] == (422, "not_available")


def test_harmless_options_are_allowed(api: TestClient) -> None:
    metrics = ["meteor:synonyms=none", "mover:ngram=1000", "bertscore:layer=2"]
    assert ask(api, *metrics, "lazy_emd:penalty_candidate=inf")[0] == 200


def test_a_metric_named_twice_is_refused(api: TestClient) -> None:
    assert ask(api, "bleu", "bleu")[:2] == (422, "bad_call")


def test_file_options_of_third_party_metrics_are_forbidden_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Any
) -> None:
    (tmp_path / "curious.py").write_text(THIRD_PARTY, "utf-8")
    (tmp_path / "broken.py").write_text("import nothing_of_that_name", "utf-8")
    monkeypatch.setenv("NLGAUGE_METRICS", str(tmp_path))
    api = opened()
    assert ask(api, "curious") == (200, "none", "")
    secret = tmp_path / "broken.py"
    assert ask(api, f"curious:words={secret}")[:2] == (403, "option_not_allowed")
    assert ask(api, f"curious|words:{secret}")[:2] == (403, "option_not_allowed")
    assert ask(api, {"name": "curious", "options": {"words": str(secret)}})[0] == 403
    status, kind, message = ask(api, "broken")
    assert (status, kind) == (422, "not_available")
    assert str(tmp_path) not in message


def test_a_configured_token_is_required(opened: Any) -> None:
    api = opened(token="s3cret")
    for path in ("/v1/metrics", "/metrics", "/v1/jobs/x"):
        assert api.get(path).status_code == 401
        for wrong in ("Bearer s3cre", "Bearer s3cret ", "s3cret", "Basic s3cret", "Bearer s3crét"):
            refused = api.get(path, headers={"Authorization": wrong.encode()})
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
            assert "s3cret" not in refused.text
    assert api.get("/v1/metrics", headers={"Authorization": "Bearer s3cret"}).status_code == 200
    assert api.get("/health").json()["token"] is True
    assert api.get("/").status_code == 200
    assert "s3cret" not in repr(Settings(models=("hashing",), token="s3cret"))


def test_only_known_hosts_are_answered(opened: Any) -> None:
    api = opened(hosts=frozenset({"localhost", "::1"}))
    for good in ("localhost", "localhost:8000", "LOCALHOST", "[::1]:80"):
        assert api.get("/health", headers={"Host": good}).status_code == 200
    for bad in ("evil.example", "localhost.evil.example", ""):
        refused = api.get("/health", headers={"Host": bad})
        assert (refused.status_code, refused.json()["error"]["kind"]) == (421, "wrong_host")


@pytest.mark.parametrize("path", ["/", "/health", "/nothing", "/v1/metrics", "/page/index.html"])
def test_every_answer_carries_the_security_headers(api: TestClient, path: str) -> None:
    answer = api.get(path)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert "server" not in answer.headers


def test_errors_leak_neither_traces_nor_paths(
    api: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret of /srv/models/private")

    monkeypatch.setattr(handlers, "align", broken)
    answer = api.post("/v1/align", json=examples.ALIGN)
    error = answer.json()["error"]
    assert (answer.status_code, error["kind"]) == (500, "internal")
    assert "secret" not in answer.text and "Traceback" not in answer.text
    assert error["id"] in caplog.text and "secret of /srv" in caplog.text
    assert api.get("/health").status_code == 200


def test_settings_are_checked() -> None:
    for wrong in (
        {"models": ()},
        {"models": tuple("abcde")},
        {"token": ""},
        {"token": "from-a-file\n"},
        {"token": "naïve"},
        {"queue": 0},
        {"window": -1.0},
    ):
        with pytest.raises(UsageError):
            Settings(**wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="the limit rows is 0"):
        Limits(rows=0)
