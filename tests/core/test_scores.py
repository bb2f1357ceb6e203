"""Scores as text, HTML, JSON and data frames, and resampled."""

import copy
import json
import pickle

import numpy as np
import pytest

from nlgauge import metric, score, score_systems
from nlgauge.core.errors import OptionError, UsageError
from nlgauge.core.scores import Scores
from nlgauge.core.signature import Signature

CANDIDATES, REFERENCES = ["the cat sat", "", "a dog"], ["the cat sat", "x", ["the dog", "a dog"]]
SPEC = "bertscore:model=hashing"


def test_corpus_and_segments_and_components() -> None:
    (scores,) = score(CANDIDATES, REFERENCES, metrics=SPEC).values()
    assert list(scores.components) == ["f", "precision", "recall"]
    np.testing.assert_allclose(scores.segments, [1, 0, 1])
    assert scores.value == pytest.approx(2 / 3)
    assert scores.warnings == (
        "1 of 3 segments: nothing to compare (a text is empty or without weight), "
        "given the worst value",
    )


def test_one_line_of_text_quotes_the_signature() -> None:
    (scores,) = score(CANDIDATES, REFERENCES, metrics=SPEC).values()
    assert str(scores).startswith("bertscore|nrefs:var|")
    assert str(scores).endswith("= 0.6667 ↑ [0, 1]")


def test_the_repr_is_one_line_with_value_and_direction() -> None:
    scores = score(["a b c"] * 2, ["a b d", "x"], metrics=["ter", SPEC])
    short = scores["ter"].short_signature
    assert repr(scores["ter"]) == f"Scores(ter 100.00, lower is better, 2 segments, {short})"
    assert repr(scores["ter"].corpus_score).startswith("CorpusScore(ter 100.00, lower")
    assert scores["ter"].direction == scores["ter"].to_dict()["direction"] == "lower"
    assert "higher is better" in repr(scores[SPEC])
    systems = score_systems({"one": ["a"], "two": ["b"]}, ["a"], metrics="chrf")
    short = systems["one"]["chrf"].short_signature
    assert repr(systems) == (
        f"{{'one': {{'chrf': Scores(chrf 100.00, higher is better, 1 segment, {short})}}, "
        f"'two': {{'chrf': Scores(chrf 0.00, higher is better, 1 segment, {short})}}}}"
    )


def test_notebooks_get_an_escaped_table() -> None:
    (scores,) = score(["a b c"], ["a b d"], metrics="ter").values()
    page = scores._repr_html_()
    assert page.startswith("<table><tr><th>TER ↓</th><th>edits</th><th>reference length</th></tr>")
    assert "<td>33.33</td><td>1</td><td>3</td>" in page
    assert "lower is better; 1 segment; ter|nrefs:1" in page
    hostile = metric("external", command="<b>\x1b")
    signature = Signature("<b>", ())
    page = Scores(hostile, "x", "a", ("0",), np.ones((1, 1)), signature)._repr_html_()
    assert "&lt;b&gt;\\x1b" in page
    assert "<b>" not in page


def test_the_dictionary_is_json() -> None:
    (scores,) = score(CANDIDATES, REFERENCES, metrics=SPEC).values()
    content = json.loads(json.dumps(scores.to_dict(), allow_nan=False))
    assert content["segments"][2]["id"] == "2"
    assert content["range"] == [0.0, 1.0]
    assert "segments" not in scores.to_dict(segments=False)


def test_pickled_scores_keep_everything_except_alignments() -> None:
    (scores,) = score(CANDIDATES, REFERENCES, metrics=SPEC).values()
    stored = pickle.loads(pickle.dumps(scores))
    assert (str(stored), stored.to_dict()) == (str(scores), scores.to_dict())
    assert copy.deepcopy(scores).plan(0).value == copy.copy(scores).plan(0).value == 0
    with pytest.raises(UsageError, match="stored without texts"):
        stored.plan(0)


def test_one_threshold_alone_is_named_even_if_it_is_0() -> None:
    (scores,) = score(["a"], ["a"], metrics=SPEC).values()
    with pytest.raises(UsageError, match="only one threshold is given"):
        scores.spans(0, minor=0.0)


def test_no_resamples_are_refused() -> None:
    (scores,) = score(["a"], ["a"], metrics="chrf").values()
    with pytest.raises(OptionError, match="resamples must be at least 1, got 0"):
        scores.resample(0)


def test_the_frame_is_tidy() -> None:
    pytest.importorskip("pandas")
    (scores,) = score(CANDIDATES, REFERENCES, metrics=SPEC).values()
    frame = scores.to_frame()
    assert list(frame.columns) == ["system", "segment", "metric", "component", "value"]
    assert len(frame) == 9


def test_resampling_is_the_product_of_weights_and_rows() -> None:
    (scores,) = score(CANDIDATES, REFERENCES, metrics="chrf").values()
    weights = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    values = scores.metric.finish(weights @ scores.statistics, weights.sum(axis=1))
    np.testing.assert_allclose(values[:, 0], [scores.segments[0], scores.value])


def test_systems_share_references_and_tables() -> None:
    board = score_systems(
        {"A": ["the cat", "x"], "B": ["a cat", "y"]},
        ["the cat", "x y"],
        metrics=["bleu", f"{SPEC},weights=idf"],
    )
    signatures = {str(scores[f"{SPEC},weights=idf"].signature) for scores in board.values()}
    assert len(signatures) == 1
    alone = score(["a cat", "y"], ["the cat", "x y"], metrics=f"{SPEC},weights=idf")
    np.testing.assert_array_equal(
        board["B"][f"{SPEC},weights=idf"].segments, alone[f"{SPEC},weights=idf"].segments
    )
