"""schemathesis against the OpenAPI document: no server error, nothing undocumented.

NLGAUGE_FUZZ_CASES sets how many cases go to the operations that have a body; a release takes 2000.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)


def rejects_what_is_wrong(context: Any, response: Any, case: Any) -> bool | None:
    """Check that invalid bodies are refused; one that is also too large may get either status."""
    too_large = response.status_code == 413
    return None if too_large else negative_data_rejection(context, response, case)


CASES = int(os.environ.get("NLGAUGE_FUZZ_CASES", "60"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    rejects_what_is_wrong,
]
LARGE = (
    "/v1/score",
    "/v1/align",
    "/v1/compare",
    "/v1/correlate",
    "/v1/judge",
    "/v1/card",
    "/v1/jobs",
)
SMALL = ("/v1/read", "/v1/jobs/{job}", "/v1/metrics", "/health", "/metrics")


@pytest.fixture(scope="module")
def document(small_address: str) -> Any:
    return schemathesis.openapi.from_url(f"{small_address}/openapi.json")


def test_every_documented_path_is_tried(document: Any) -> None:
    assert set(document.raw_schema["paths"]) == {*LARGE, *SMALL}


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("path", [*LARGE, *SMALL])
def test_no_case_breaks_the_service(document: Any, path: str, mode: Any) -> None:
    count = CASES // (2 * len(LARGE)) if path in LARGE else CASES // 100
    for operation in document[path].values():
        if mode is GenerationMode.NEGATIVE and not (path in LARGE or "{" in path):
            continue  # without a body or a parameter nothing can be wrong

        @settings(
            max_examples=max(count, 3),
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        @given(case=operation.as_strategy(mode))
        def check(case: Any) -> None:
            case.call_and_validate(checks=CHECKS, timeout=120)

        check()
