"""Readers and parsers return values or raise NlgaugeError for any input."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faults.fuzz import REGRESSION_INPUTS, SEEDS, TARGETS, mutate, run_target
from nlgauge.core.errors import NlgaugeError, UsageError
from nlgauge.core.signature import Signature
from nlgauge.metrics import metric

_settings = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
_JSON, _TSV, _CSV, _GZIP, _ZSTANDARD, _TEXT, _SIGNATURE, _SPEC = range(len(TARGETS))


@pytest.mark.parametrize("path", sorted(REGRESSION_INPUTS.iterdir()), ids=lambda path: path.name)
def test_inputs_that_once_failed(path: Path) -> None:
    run_target(path.read_bytes())


@pytest.mark.parametrize("seed", SEEDS, ids=range(len(SEEDS)))
def test_valid_inputs_and_random_changes_of_them(seed: bytes) -> None:
    draw = random.Random(0)
    for given_ in (seed, *(mutate(seed, draw) for _ in range(15))):
        run_target(given_)


@_settings
@given(st.sampled_from([_JSON, _TSV, _CSV, _GZIP, _ZSTANDARD, _TEXT]), st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(target: int, content: bytes) -> None:
    run_target(bytes([target]) + content)


@_settings
@given(st.binary(max_size=300), st.integers(0, 400))
def test_truncated_gzip_is_read_or_refused(content: bytes, length: int) -> None:
    run_target(bytes([_GZIP]) + gzip.compress(content)[:length])


_cells = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
_names = st.sampled_from(["candidate", "references", "reference", "id", "system", "Hyp", "x"])


@_settings
@given(st.lists(st.dictionaries(_names, _cells, max_size=5), max_size=5))
def test_any_json_is_read_or_refused(rows: list[dict]) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    run_target(bytes([_JSON]) + lines.encode())


@_settings
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_is_parsed_as_a_signature_or_refused(text: str) -> None:
    run_target(bytes([_SIGNATURE]) + text.encode())
    try:
        parsed = Signature.parse(text)
    except NlgaugeError:
        return
    assert Signature.parse(str(parsed)) == parsed


@_settings
@given(
    st.sampled_from(["bleu", "chrf", "bertscore", "rouge", "bary", "nist", "x"]),
    st.lists(
        st.tuples(
            st.sampled_from(["layer", "weights", "tokenize", "alpha", "model", "beta", "order"]),
            st.text(max_size=6) | st.integers().map(str) | st.floats().map(str),
        ),
        max_size=3,
    ),
)
def test_any_spec_is_built_or_refused(name: str, options: list[tuple[str, str]]) -> None:
    spec = f"{name}:{','.join(f'{key}={value}' for key, value in options)}"
    run_target(bytes([_SPEC]) + spec.encode("utf-8", "surrogatepass"))


def test_an_incomplete_signature_is_refused_with_the_missing_key() -> None:
    with pytest.raises(UsageError, match="lacks the key 'smooth'"):
        metric("bleu|nrefs:1|case:mixed")
    with pytest.raises(UsageError, match="cannot be read: invalid literal"):
        metric("chrf|nrefs:1|case:mixed|eff:yes|nc:six|nw:0|space:no")
