"""Hostile values for every option of every metric, in both forms of a spec, are answered.

The specs are made from the option tables, so a new metric or option is tried without a change here.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra 'service' is not installed")

from starlette.testclient import TestClient

from nlgauge import score
from nlgauge.core.errors import OptionError
from nlgauge.core.options import Option, options_of
from nlgauge.metrics import metric_class, metric_names
from nlgauge.service.app import create_app
from nlgauge.service.settings import Settings

NUMBERS = ("1000000000", "-1", "nan", "inf", "1" + "0" * 40, "-1e308", "1e-308", "0")
PATHS = ("/etc/passwd", "../../secret", "a" * 100_000, "http://127.0.0.1:1/x", "\x00", "%00%2C")
RANGES = ("1-999999999", "999999999", "last999999999", "0+" * 5000 + "0", "-5", "3-1", "1-2-3")
ANSWERED = {200, 400, 403, 413, 422}


def _specs() -> Iterator[tuple[str, str, str]]:
    for name in metric_names():
        for key, known in options_of(metric_class(name)).items():
            for text in _values(known):
                yield name, key, text


def _values(known: Option) -> tuple[str, ...]:
    if known.name in ("layer", "layers"):
        return NUMBERS + RANGES
    is_number = int in known.types or float in known.types
    return NUMBERS if is_number else PATHS if str in known.types else ("maybe", "2", "")


SPECS = list(_specs())


@pytest.fixture(scope="module")
def server() -> Iterator[TestClient]:
    with TestClient(create_app(Settings(models=("hashing",), hosts=frozenset()))) as client:
        yield client


def test_at_least_200_specs_are_generated() -> None:
    assert len(SPECS) >= 200


@pytest.mark.parametrize("name", metric_names())
def test_hostile_options_are_answered_in_time_and_in_little_memory(
    name: str, server: TestClient
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _, key, text in (spec for spec in SPECS if spec[0] == name):
        number: Any = text
        if text.lstrip("-").isdigit():
            number = int(text)
        for spec in (f"{name}:{key}={text}", {"name": name, "options": {key: number}}):
            body = {
                "metrics": [spec],
                "pairs": [{"candidate": "a b c", "references": ["a b d"]}] * 2,
            }
            answer = server.post("/v1/score", json=body)
            assert answer.status_code in ANSWERED, (spec, answer.text)
            if answer.status_code != 200:
                error = answer.json()["error"]
                assert len(error["message"]) < 1000, spec
                assert error["kind"] != "took_too_long", spec
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 300_000, "kilobytes"


@pytest.mark.parametrize(
    "spec", ["chrf:word_order", "chrf:char_order", "bleu:max_ngram_order", "cider:order"]
)
def test_orders_of_ngrams_are_bounded_everywhere(spec: str) -> None:
    for order in (10**9, 10**40):
        with pytest.raises(OptionError, match=r"must lie within \[\d, 100\]"):
            score(["a b c"], ["a b d"], metrics=f"{spec}={order}")
