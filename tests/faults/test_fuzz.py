"""Rubbish at the doors: readers and parsers answer with values or with errors made on purpose."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faults.fuzz import DOORS, FOUND, SEEDS, mutated, try_door
from nlgauge.core.errors import NlgaugeError, UsageError
from nlgauge.core.signature import Signature
from nlgauge.metrics import metric

_some = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
_JSON, _TSV, _CSV, _GZIP, _ZSTANDARD, _TEXT, _SIGNATURE, _SPEC = range(len(DOORS))


@pytest.mark.parametrize("path", sorted(FOUND.iterdir()), ids=lambda path: path.name)
def test_what_once_broke_a_door(path: Path) -> None:
    try_door(path.read_bytes())


@pytest.mark.parametrize("seed", SEEDS, ids=range(len(SEEDS)))
def test_good_inputs_and_their_neighbours(seed: bytes) -> None:
    draw = random.Random(0)
    for given_ in (seed, *(mutated(seed, draw) for _ in range(15))):
        try_door(given_)


@_some
@given(st.sampled_from([_JSON, _TSV, _CSV, _GZIP, _ZSTANDARD, _TEXT]), st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(door: int, content: bytes) -> None:
    try_door(bytes([door]) + content)


@_some
@given(st.binary(max_size=300), st.integers(0, 400))
def test_any_packed_bytes_wherever_they_are_cut(content: bytes, length: int) -> None:
    try_door(bytes([_GZIP]) + gzip.compress(content)[:length])


_cells = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
_names = st.sampled_from(["candidate", "references", "reference", "id", "system", "Hyp", "x"])


@_some
@given(st.lists(st.dictionaries(_names, _cells, max_size=5), max_size=5))
def test_any_json_is_read_or_refused(rows: list[dict]) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    try_door(bytes([_JSON]) + lines.encode())


@_some
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_is_a_signature_or_refused(text: str) -> None:
    try_door(bytes([_SIGNATURE]) + text.encode())
    try:
        parsed = Signature.parse(text)
    except NlgaugeError:
        return
    assert Signature.parse(str(parsed)) == parsed


@_some
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
    try_door(bytes([_SPEC]) + spec.encode("utf-8", "surrogatepass"))


def test_a_signature_without_all_of_its_keys_is_refused_with_the_key() -> None:
    with pytest.raises(UsageError, match="lacks the key 'smooth'"):
        metric("bleu|nrefs:1|case:mixed")
    with pytest.raises(UsageError, match="cannot be read: invalid literal"):
        metric("chrf|nrefs:1|case:mixed|eff:yes|nc:six|nw:0|space:no")
