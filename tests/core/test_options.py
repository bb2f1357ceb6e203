"""Options are read, checked and written in one way everywhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge import metric
from nlgauge.core.errors import OptionError, UnknownMetric, UsageError
from nlgauge.core.options import escape, format_value, options_of, unescape
from nlgauge.core.signature import Signature
from nlgauge.metrics import metric_class


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("bertscor", UnknownMetric, "no metric 'bertscor'; did you mean 'bertscore'"),
        ("bertscore:layr=4", OptionError, "no option 'layr'; did you mean 'layer'.*it has: "),
        ("bertscore:alpha=2", OptionError, r"alpha=2.0: must lie within \[0, 1\]"),
        ("bertscore:alpha=x", OptionError, r"alpha='x': expected number \[0, 1\]"),
        ("bertscore:alpha=nan", OptionError, r"must lie within \[0, 1\]"),
        ("bertscore:weights=idfs", OptionError, "choose uniform | idf; did you mean 'idf'"),
        ("bertscore:layer", OptionError, "'layer' is not of the form option=value"),
        ("bertscore:layer=1,layer=2", OptionError, "option 'layer' is given twice"),
        ("bertscore|layer", UsageError, "'layer' is not of the form key:value"),
        ("bertscore|layer:4|layer:5", UsageError, "has the key 'layer' twice"),
    ],
)
def test_invalid_specs_are_explained(spec, error, message) -> None:
    with pytest.raises(error, match=message):
        metric(spec)


def test_keyword_options_override_the_spec_and_are_checked() -> None:
    assert metric("bertscore:layer=4", weights="idf").weights == "idf"
    assert metric("bertscore", alpha=1) == metric("bertscore:alpha=1")
    with pytest.raises(OptionError, match="has no option 'wieghts'; did you mean 'weights'"):
        metric("bertscore", wieghts="idf")
    with pytest.raises(OptionError, match="expected text or none, not int"):
        metric("bertscore", model=3)
    with pytest.raises(OptionError, match="cannot be added to a built metric"):
        metric(metric("bertscore"), layer=3)


def test_labels_name_what_was_changed() -> None:
    assert metric("bertscore").label() == "bertscore"
    assert metric("bertscore:layer=4,weights=idf").label() == "bertscore:weights=idf,layer=4"


def test_numbers_of_numpy_are_written_as_plain_ones() -> None:
    built = metric("bertscore", alpha=np.float64(0.3), layer=np.int64(4))
    assert built.label() == "bertscore:layer=4,alpha=0.3"
    assert metric(built.label()) == built
    assert type(built)(alpha=np.float64(0.3)).label() == "bertscore:alpha=0.3"
    assert metric("chrf", lowercase=np.bool_(True)).lowercase is True


@given(st.text())
def test_escaped_text_holds_no_separators_and_comes_back(text: str) -> None:
    written = escape(text)
    assert not set("|,\n") & set(written)
    assert unescape(written) == text


@given(
    st.one_of(
        st.floats(allow_nan=False), st.booleans(), st.none(), st.integers(), st.text(min_size=1)
    )
)
def test_values_survive_a_round_trip(value: object) -> None:
    kind = type(value)
    known = next(iter(options_of(metric_class("bertscore")).values()))
    typed = type(known)("x", "", None, (kind,), None, None, None)
    assert typed.parse(format_value(value)) == value


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.text()), unique_by=lambda pair: pair[0]))
def test_signatures_are_read_back(pairs: list[tuple[str, str]]) -> None:
    signature = Signature.of("m", [(key, escape(value)) for key, value in pairs])
    assert Signature.parse(str(signature)) == signature
