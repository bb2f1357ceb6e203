"""Signatures are explained, and stored results are verified by scoring again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nlgauge import explain, metric, score
from nlgauge.cli import app
from nlgauge.core.corpus import Corpus
from nlgauge.core.errors import DataError, FileError, UsageError
from nlgauge.reproducibility import Results

BLEU = "bleu|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"


def _write(folder: Path, *metrics: str) -> Path:
    (folder / "out.txt").write_text("a b c d\nthe cat sat\n")
    (folder / "ref.txt").write_text("a b c e\nthe cat sat down\n")
    results = folder / "results.json"
    words = ["score", "-c", str(folder / "out.txt"), "-r", str(folder / "ref.txt")]
    flags = [word for metric in metrics for word in ("-m", metric)]
    result = CliRunner().invoke(app, [*words, *flags, "-o", str(results)])
    assert result.exit_code == 0
    return results


def test_differences_are_explained_changes_of_definition_first() -> None:
    found = explain(BLEU, BLEU.replace("nrefs:1", "nrefs:4").replace("13a", "intl"))
    assert [(each.key, each.kind) for each in found] == [("tok", "option"), ("nrefs", "data")]
    assert str(found[0]) == "tok: 13a and intl (tokenizer)"
    (library,) = explain(BLEU, BLEU.replace("2.6.0", "2.4.0"))
    assert library.kind == "library"


def test_options_are_explained_by_their_descriptions() -> None:
    one = "bertscore|nrefs:1|model:a|layer:4|model_sha:1"
    found = explain(one, "bertscore|nrefs:1|model:b|layer:5|model_sha:2")
    assert {each.key: each.kind for each in found} == {
        "layer": "option",
        "model": "model",
        "model_sha": "model",
    }
    assert "Hidden layer" in found[0].meaning or "layer" in found[0].meaning.lower()


def test_other_metrics_do_not_compare() -> None:
    (only,) = explain(BLEU, "chrf|nrefs:1")
    assert only.kind == "metric"
    assert "not comparable" in str(only)
    with pytest.raises(UsageError, match="not of the form key:value"):
        explain(BLEU, "bleu|oops")
    with pytest.raises(UsageError, match=r"'results.json' is not a signature"):
        explain("results.json", "others.json")


def test_equal_signatures_leave_only_the_texts() -> None:
    result = CliRunner().invoke(app, ["explain", BLEU, BLEU])
    assert "the texts must differ" in result.stdout
    assert json.loads(CliRunner().invoke(app, ["explain", BLEU, BLEU, "-f", "json"]).stdout) == []


def test_unchanged_results_are_verified_and_changed_numbers_fail(tmp_path: Path) -> None:
    results = _write(tmp_path, "bleu", "ter", "bertscore:model=hashing,weights=idf", "nist")
    assert CliRunner().invoke(app, ["verify", str(results)]).exit_code == 0
    content = json.loads(results.read_text())
    content["scores"][1]["value"] += 0.01
    results.write_text(json.dumps(content))
    result = CliRunner().invoke(app, ["verify", str(results), "-f", "json"])
    assert result.exit_code == 1
    assert [row["holds"] for row in json.loads(result.stdout)] == [True, False, True, True]


def test_changed_texts_and_changed_tables_are_noticed(tmp_path: Path) -> None:
    results = _write(tmp_path, "bertscore:model=hashing,weights=idf")
    (tmp_path / "ref.txt").write_text("a b c e\nthe dog sat down\n")
    result = CliRunner().invoke(app, ["verify", str(results)])
    assert result.exit_code == 1
    assert "idf_sha_reference" in result.stderr
    assert "differs" in result.stdout


def test_unusable_results_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no file"):
        Results.read(tmp_path / "none.json")
    broken = tmp_path / "broken.json"
    entry = {"signature": BLEU, "system": "mine", "value": 1}
    wrong = [{"scores": [{**entry, **each}]} for each in ({"system": []}, {"value": 10**400})]
    inputs = [[1], {"candidates": [5]}, {"sources": 5}, {"columns": 7}, {"columns": {"id": [7]}}]
    wrong += [{"scores": [entry], "inputs": each} for each in inputs]
    texts = ["[", '{"scores": [{"value": 1}]}', "[]", '{"scores": 3}', *map(json.dumps, wrong)]
    for text in texts:
        broken.write_text(text)
        with pytest.raises(FileError, match=r"is not (a result of|JSON)"):
            Results.read(broken)
    corpus = Corpus.of(["a"], ["a"], systems=["other"])
    with pytest.raises(DataError, match="of system 'mine', but the texts are of 'other'"):
        Results((entry,), {}).replay(corpus)
    with pytest.raises(DataError, match="no scores"):
        Results((), {}).replay(corpus)
    unknown = {"signature": "magic|nrefs:1", "system": "other", "value": 1}
    with pytest.raises(UsageError, match="'magic', which is not installed"):
        Results((unknown,), {}).replay(corpus)
    broken.write_text('{"scores": []}')
    result = CliRunner().invoke(app, ["verify", str(broken)])
    assert "give the texts with -c FILE" in str(result.exception)


SACREBLEU = [
    ("bleu", {}),
    ("bleu", {"lowercase": True, "tokenize": "intl", "smooth_method": "floor"}),
    ("bleu", {"smooth_method": "add-k", "smooth_value": 0.5, "effective_order": True}),
    ("bleu", {"tokenize": "zh", "smooth_method": "none"}),
    ("chrf", {}),
    ("chrf", {"word_order": 2}),
    ("chrf", {"beta": 3, "lowercase": True, "whitespace": True, "eps_smoothing": True}),
    ("chrf", {"beta": 1, "word_order": 1, "char_order": 4}),
    ("ter", {}),
    ("ter", {"normalized": True, "asian_support": True, "case_sensitive": True}),
    ("ter", {"no_punct": True}),
]


@pytest.mark.parametrize(("name", "arguments"), SACREBLEU)
@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("paired", [False, True])
def test_signatures_of_sacrebleu_are_read(name, arguments, short: bool, paired: bool) -> None:
    import sacrebleu

    tool = getattr(sacrebleu.metrics, {"bleu": "BLEU", "chrf": "CHRF", "ter": "TER"}[name])(
        **arguments
    )
    score = tool.corpus_score(["a b c d"], [["a b c e"]], n_bootstrap=2 if paired else 1)
    written = tool.get_signature()
    for key, value in {"test": "wmt14", "lang": "en-de", "subset": "A"}.items() if paired else ():
        written.update(key, value)
    line = score.format(signature=written.format(short), width=2)
    signature = f"{score.name}|{written.format(short)}"
    assert line.startswith(signature)
    for text in (signature, line):
        built = metric(text)
        assert built.name == name
        ours = {**arguments}
        if "effective_order" in ours:
            ours["effective_order"] = "yes"
        assert built == metric(name, **ours)
    kinds = {each.kind for each in explain(signature, f"{score.name}|{written.format()}")}
    assert not kinds, "a short signature says the same as the long one"
    if paired:
        tool.n_bootstrap = tool.seed = None
        found = explain(signature, f"{score.name}|{tool.get_signature()}")
        assert {each.key for each in found} >= {"bs", "seed", "test", "lang", "subset"}
        assert {each.kind for each in found} == {"data"}, "none is a version"


def test_a_signature_of_sacrebleu_equals_the_one_of_nlgauge() -> None:
    assert explain(BLEU, BLEU.replace("bleu", "BLEU")) == ()
    chrf = "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.5.1"
    (only,) = explain(f"chrF3|{chrf}", f"chrf|{chrf}")
    assert (only.key, only.first, only.second) == ("beta", "3", None)
    assert metric(f"chrF3|{chrf}").beta == 3


def test_a_signature_of_sacrebleu_without_its_name_is_named() -> None:
    for keys, name in (("nrefs:1|nc:6", "chrF2"), ("#:1|c:lc|nr:no", "TER"), ("#:1|e:no", "BLEU")):
        with pytest.raises(UsageError, match=f"put it in front, such as {name}\\|"):
            metric(keys)
    with pytest.raises(UsageError, match=r"has word n-grams up to 2, nw 0"):
        metric("chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.5.1")


@pytest.mark.parametrize(
    "spec",
    ["bleu:lowercase=yes", "chrf3", "ter", "rouge2", "wer", "bertscore:model=hashing,weights=idf"],
)
def test_short_signatures_build_the_same_metric(spec: str) -> None:
    (scores,) = score(["a cat sat", "b"], [["a cat", "cat"], ["b", "c"]], metrics=spec).values()
    short, long = str(scores.short_signature), str(scores.signature)
    assert len(short) < len(long)
    assert not explain(short, long)
    assert not explain(long, short)
    assert short in repr(scores)
    other = short.replace("#:2", "#:1").replace("v:", "v:9.")
    first, *others = (each.key for each in explain(other, long))
    assert (first, len(others)) == ("nrefs", 1)


def test_short_signatures_have_the_changed_options() -> None:
    spec = "bertscore:model=hashing,weights=idf,alpha=0.9,layer=2"
    (scores,) = score(["a"], ["a"], metrics=spec).values()
    keys = "#:1|model:hashing|weights:idf|layer:2|alpha:0.9"
    assert str(scores.short_signature) == f"bertscore|{keys}|v:{scores.signature['nlgauge']}"
    (other,) = score(["a"], ["a"], metrics=spec.replace("idf", "uniform")).values()
    (found,) = explain(str(scores.short_signature), str(other.short_signature))
    assert (found.key, found.first, found.second) == ("weights", "idf", "uniform")


@pytest.mark.parametrize("name", ["BLEU", "CHRF", "TER"])
def test_short_signatures_of_sacrebleus_metrics_are_its_own(name: str) -> None:
    import sacrebleu

    theirs = getattr(sacrebleu, name)()
    theirs.corpus_score(["a cat"], [["a cat"]])
    (scores,) = score(["a cat"], ["a cat"], metrics=name.lower()).values()
    written = theirs.get_signature().format(short=True)
    assert str(scores.short_signature) == f"{name.lower()}|{written}"
