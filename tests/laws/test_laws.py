"""Laws that every metric obeys; metrics are discovered, so a new file is tested too."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from conftest import NEED_OPTIONS, example, needs_embedded
from nlgauge import Scorer, metric, metric_names
from nlgauge.core.errors import OptionError
from nlgauge.core.metric import VOID_NOTE
from nlgauge.core.options import options_of
from nlgauge.core.scores import Scores
from nlgauge.corpus_run import UNKNOWN_NOTE
from nlgauge.metrics import metric_class
from nlgauge.runtime import Runtime
from tolerances import COSINE

pytestmark = pytest.mark.filterwarnings("ignore::nlgauge.UnknownTokensWarning")

# Options that change how a metric works, beside its defaults.
VARIANTS = {
    "bertscore": (
        "bertscore:weights=idf",
        "bertscore:compat=bert_score",
        "bertscore:alpha=0.9",
        "bertscore:baseline=0.3",
        "bertscore:layer=all,ngram=2,temperature=0.1",
    ),
    "bary": ("bary:weights=idf", "bary:epsilon=0.1", "bary:special=drop", "bary:ngram=2"),
    "bleu": (
        "bleu:tokenize=char",
        "bleu:effective_order=yes",
        "bleu:lang=zh",
        "bleu:weights=0.4+0.3+0.2+0.1",
    ),
    "chrf": ("chrf:word_order=2",),
    "depth": ("depth:measure=ai_irw", "depth:measure=sliced", "depth:measure=wasserstein"),
    "ensemble": ("ensemble:metrics=bertscore:model=hashing;weights=idf+wmd:model=hashing",),
    "gauge": ("gauge:ngram=1,special=drop", "gauge:weights=idf"),
    "infolm": ("infolm:measure=kl,weights=idf", "infolm:measure=ab,preset=data2text"),
    "lazy_emd": ("lazy_emd:headline=objective", "lazy_emd:lang=zh", "lazy_emd:ngram=2"),
    "mover": (
        "mover:ngram=2",
        "mover:weights=idf",
        "mover:aggregate=pmeans,word_order=0.2",
        "mover:aggregate=mean,punctuation=drop,special=drop",
        "mover:cost=squared_euclid,subwords=first",
    ),
    "cider": ("cider:tokenize=ptb",),
    "meteor": ("meteor:lang=de", "meteor:tokenize=ptb"),
    "nist": ("nist:tokenize=ptb",),
    "rouge": ("rouge:variant=1", "rouge:variant=2", "rouge:variant=lsum"),
    "rouge_we": ("rouge_we:order=2", "rouge_we:temperature=0.2"),
    "smd": ("smd:compat=mover-web", "smd:aggregate=pmeans"),
    "sms": ("sms:nodes=both",),
    "ter": ("ter:lang=ja",),
    "wer": ("wer:variant=mer", "wer:variant=wil", "wer:unit=characters", "wer:punctuation=no"),
    "wmd": ("wmd:layer=all,ngram=3",),
    "wmdo": ("wmdo:weights=idf",),
    "yisi": ("yisi:weights=uniform", "yisi:ngram=2,temperature=0.1"),
}
# sacrebleu calls an empty candidate for an empty reference perfect: no edits are needed.
EMPTY_FOR_EMPTY_IS_PERFECT = {"ter"}

ODD = ["ok", "שלום עולם טוב", "东京是日本的首都", "fine 😀 👍 day", "สวัสดีชาวโลก ทุกคน", "naïve café"]
CANDIDATES = [*example("literal")[:9], *ODD]
REFERENCES = [*example("reference.a")[:9], *ODD[1:], ODD[0]]
SECOND = [*example("reference.b")[:9], "ok then", *ODD[:2], "so fine 😀 👍 today", *ODD[:2]]
LONG = " ".join(example("reference.a")[:20] + example("reference.b")[:16])  # over 600 tokens
SHORTER = " ".join(example("reference.a")[:2])
SENTENCE = example("reference.a")[0]
# Two words that the embedded model does not know: Thai, Amharic, emoji, and too long for it.
UNKNOWN = [("สวัสดี", "ชาวโลก"), ("ሰላም", "ለዓለም"), ("😀", "👩‍👩‍👧"), ("a" * 120, "b" * 120)]


@dataclass(frozen=True)
class Case:
    """A metric with options, and an encoder if it needs one."""

    spec: str
    tolerance: float
    long: str = LONG
    brief: bool = False

    @property
    def candidates(self) -> list[str]:
        return self.cut(CANDIDATES)

    @property
    def references(self) -> list[str]:
        return self.cut(REFERENCES)

    @property
    def second(self) -> list[str]:
        return self.cut(SECOND)

    def cut(self, texts: list[str]) -> list[str]:
        """Every other text and few words of each where a metric is slow."""
        return [" ".join(text.split()[:6]) for text in texts[::2]] if self.brief else texts

    def scorer(self, **keywords: Runtime) -> Scorer:
        return Scorer(self.spec, **keywords).fitted([*self.references, *self.second])

    def score(self, candidates: list[str], references: list, **keywords: Runtime) -> Scores:
        (scores,) = self.scorer(**keywords).score(candidates, references).values()
        return scores


def _cases() -> Iterator[object]:
    for name in metric_names():
        for spec in (NEED_OPTIONS.get(name, name), *VARIANTS.get(name, ())):
            kind = metric(spec).needs.kind
            if kind == "text":
                # sacrebleu searches for seconds for the shifts between texts of 600 words.
                case = Case(spec, 1e-12, SHORTER if name == "ter" else LONG)
                yield pytest.param(case, id=name if name in NEED_OPTIONS else spec)
                continue
            joint = "," if ":" in spec else ":"
            hashing = f"{spec}{joint}model=hashing"
            # Barycenters of hundreds of weighted tokens take half a minute each.
            long = SHORTER if spec == "bary:weights=idf" else LONG
            yield pytest.param(Case(hashing, 1e-6, long), id=hashing)
            if spec == name:  # variants differ in mathematics, not in how they are encoded
                # One metric is enough for a text in windows; all share its encoding.
                long = LONG if spec == "bertscore" else SHORTER
                if kind == "histograms":  # masks each token in turn, which is slow
                    case = Case(spec, COSINE, SENTENCE, brief=True)
                else:
                    case = Case(spec, COSINE, long)
                yield pytest.param(case, id=spec, marks=needs_embedded)


def _known_words(folder: Path) -> str:
    words = ["the", "cat", "saw", "on", "mat", ",", "."]
    drawn = np.random.default_rng(5).standard_normal((len(words), 20))
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in zip(words, drawn, strict=True)]
    path = folder / "words.txt"
    path.write_text("\n".join(lines), "utf-8")
    return str(path)


def _model_cases() -> Iterator[object]:
    """Metrics with a model; compat= reproduces how published code treats unknown tokens."""
    yield pytest.param("ensemble:metrics=bertscore+wmd", "embedded", marks=needs_embedded)
    for name in metric_names():
        for spec in (NEED_OPTIONS.get(name, name), *VARIANTS.get(name, ())):
            built = metric(spec)
            if built.needs.kind != "text" and not getattr(built, "compat", None):
                yield pytest.param(spec, "embedded", id=spec, marks=needs_embedded)
            if built.needs.kind == "clouds" and not getattr(built, "compat", None):
                yield pytest.param(spec, "words", id=f"{spec} of word vectors")


every_model_metric = pytest.mark.parametrize(("spec", "model"), list(_model_cases()))
every_metric = pytest.mark.parametrize("case", list(_cases()))


@every_metric
def test_order_permuting_rows_permutes_scores(case: Case) -> None:
    order = np.random.default_rng(7).permutation(len(case.candidates))
    straight = case.score(case.candidates, case.references).segments
    permuted = case.score(
        [case.candidates[i] for i in order], [case.references[i] for i in order]
    ).segments
    np.testing.assert_allclose(permuted, straight[order], atol=case.tolerance)
    assert len(set(straight.round(6))) > 3, "the corpus should tell rows apart"


@every_metric
def test_independence_a_row_scores_the_same_alone(case: Case) -> None:
    scorer = case.scorer()
    candidates, references = [*case.candidates, case.long], [*case.references, case.candidates[0]]
    (together,) = scorer.score(candidates, references).values()
    for i in (0, 3, len(candidates) // 2, len(candidates) - 1):
        (alone,) = scorer.score([candidates[i]], [references[i]]).values()
        assert alone.segments[0] == pytest.approx(together.segments[i], abs=case.tolerance)


@every_metric
def test_batch_size_changes_nothing(case: Case) -> None:
    backwards = " ".join(reversed(case.long.split()))
    candidates, references = (
        [*case.candidates, case.long, "ok"],
        [*case.references, backwards, "ok then"],
    )
    small = case.score(candidates, references, runtime=Runtime(batch_tokens=40)).segments
    large = case.score(candidates, references, runtime=Runtime(batch_tokens=8192)).segments
    np.testing.assert_allclose(small, large, atol=COSINE)


@every_metric
def test_repetition_equal_rows_are_bit_equal(case: Case) -> None:
    repeated = case.score(
        [case.candidates[0], *case.candidates] * 20, [case.references[0], *case.references] * 20
    )
    table = repeated.segments.reshape(20, -1)
    assert (table == table[0]).all()
    assert (table[:, 0] == table[:, 1]).all()


@every_metric
def test_self_identical_text_is_best(case: Case) -> None:
    texts = [*case.cut(example("reference.a")[:9]), case.long, "東京 は 日本 の 首都 です 。"]
    scores = case.score(texts, texts)
    if not np.isfinite(scores.scale.best):  # an open range has no best, only a better
        others = case.score(texts[1:] + texts[:1], texts).segments
        assert (scores.scale.sign * (scores.segments - others) > 0).all()
        return
    rounding = 1e-9 if scores.metric.name == "bleu" else 0  # sacrebleu gives 100.00000000000004
    np.testing.assert_allclose(scores.segments, scores.scale.best, rtol=0, atol=rounding)
    assert scores.value == pytest.approx(scores.scale.best, abs=1e-9)


@pytest.mark.parametrize("name", metric_names())
def test_the_limits_of_options_give_scores_in_the_range(name: str) -> None:
    if name in NEED_OPTIONS:
        pytest.skip("has no limits")
    candidates, references = ["a dog ran off. Then", "the cat sat"], ["the dog runs off.", "a cat"]
    for known in options_of(metric_class(name)).values():
        for value in {known.low, known.high} - {None} if float in known.types else ():
            others = {"model": "hashing"} if metric(name).needs.kind != "text" else {}
            if known.name == "smooth_value":
                others["smooth_method"] = "add-k"
            try:
                built = metric(name, **{known.name: float(value)}, **others)
            except OptionError:
                continue  # such as both penalties 0
            (scores,) = Scorer(built).score(candidates, references).values()
            table = np.stack(list(scores.segment_components.values()))
            assert np.isfinite(table).all(), (known.name, value)
            assert (scores.segments >= scores.scale.low - 1e-9).all(), (known.name, value)
            assert (scores.segments <= scores.scale.high + 1e-9).all(), (known.name, value)


@every_metric
def test_direction_damaged_texts_score_no_better(case: Case) -> None:
    texts = case.cut(example("reference.a")[:12])
    rng = random.Random(3)
    dropped = [" ".join(word for i, word in enumerate(t.split()) if i % 3) for t in texts]
    shuffled = [" ".join(rng.sample(t.split(), len(t.split()))) for t in texts]
    sign = metric(case.spec).scale.sign
    whole = sign * case.score(texts, texts).segments.mean()
    assert sign * case.score(dropped, texts).segments.mean() < whole
    assert sign * case.score(shuffled, texts).segments.mean() <= whole + 1e-9


@every_metric
def test_references_a_list_of_one_is_the_text_itself(case: Case) -> None:
    bare = case.score(case.candidates, case.references).segments
    listed = case.score(case.candidates, [[text] for text in case.references]).segments
    np.testing.assert_array_equal(bare, listed)


@every_metric
def test_references_more_never_hurt_where_declared(case: Case) -> None:
    if not metric(case.spec).more_references_never_hurt:
        pytest.skip("defined on all references jointly, where another one may hurt")
    scores = case.score(case.candidates, case.references)
    more = case.score(
        case.candidates, [list(pair) for pair in zip(case.references, case.second, strict=True)]
    )
    gain = scores.scale.sign * (more.segments - scores.segments)
    assert (gain >= -case.tolerance).all()
    assert (gain > case.tolerance).any()


@every_metric
def test_void_empty_text_gets_the_documented_worst(case: Case) -> None:
    text = example("reference.a")[0]
    scores = case.score(["", text, "   ", text], [text, "", text, text])
    assert np.isfinite(scores.segments).all()
    np.testing.assert_allclose(scores.segments[:3], scores.scale.void)
    assert scores.scale.sign * (scores.segments[3] - scores.scale.void) > 0
    assert sum(scores.notes.values()) == 3, scores.notes


@every_metric
def test_void_both_empty_is_not_perfect(case: Case) -> None:
    scores = case.score([""], [""])
    expected = scores.scale.void
    if metric(case.spec).name in EMPTY_FOR_EMPTY_IS_PERFECT:
        expected = scores.scale.best
    assert scores.segments[0] == expected
    assert sum(scores.notes.values()) == 1


@every_metric
def test_range_is_kept(case: Case) -> None:
    scores = case.score([*case.candidates, case.long, "a"], [*case.references, "a", case.long])
    rounding = 1e-9 if scores.metric.name == "bleu" else 0
    assert (scores.segments >= scores.scale.low).all()
    assert (scores.segments <= scores.scale.high + rounding).all()


@every_metric
def test_round_trip_the_signature_rebuilds_the_metric(case: Case) -> None:
    scores = case.score(case.candidates, case.references)
    rebuilt = metric(str(scores.signature), allow_external=scores.metric.programs)
    assert rebuilt == scores.metric
    assert rebuilt.describe() == scores.metric.describe()
    short = str(scores.short_signature)
    assert metric(short, allow_external=scores.metric.programs) == scores.metric


@every_metric
def test_seed_same_bits_and_no_global_random_state(case: Case) -> None:
    before = (random.getstate(), np.random.get_state()[1].tolist())
    first = case.score(case.candidates, case.references).statistics
    second = case.score(case.candidates, case.references).statistics
    np.testing.assert_array_equal(first, second)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


@every_metric
def test_shards_concatenated_equal_one_run(case: Case) -> None:
    scorer = case.scorer()
    (whole,) = scorer.score(case.candidates, case.references).values()
    parts = [
        next(iter(scorer.score(case.candidates[k::4], case.references[k::4]).values())).statistics
        for k in range(4)
    ]
    for k, part in enumerate(parts):
        np.testing.assert_allclose(part, whole.statistics[k::4], atol=case.tolerance * 100)
    total = np.concatenate(parts).sum(axis=0, keepdims=True)
    value = whole.metric.finish(total, np.array([float(len(case.candidates))]))[0, 0]
    assert value == pytest.approx(whole.value, abs=case.tolerance * 100)


@every_metric
def test_symmetry_where_declared(case: Case) -> None:
    if not metric(case.spec).symmetric:
        pytest.skip("not declared symmetric")
    scorer = case.scorer()
    (forth,) = scorer.score(case.candidates, case.references).values()
    (back,) = scorer.score(case.references, case.candidates).values()
    np.testing.assert_allclose(forth.segments, back.segments, atol=case.tolerance)


@every_model_metric
def test_unknown_words_are_equal_only_if_their_strings_are(
    spec: str, model: str, tmp_path: Path
) -> None:
    if model == "words":
        spec += f"{',' if ':' in spec else ':'}model={_known_words(tmp_path)}"
    texts = [[f"the cat saw {word} on the mat." for word in pair] for pair in UNKNOWN]
    left, right = ([pair[k] for pair in texts] for k in range(2))
    scorer = Scorer(spec).fitted([*left, *right, "the cat.", "on the mat"])
    (scores,) = scorer.score([*left, *left], [*right, *left]).values()
    other, own = np.split(scores.segments, 2)
    np.testing.assert_allclose(own, scores.scale.best, atol=1e-9)
    assert (scores.scale.sign * (own - other) > 1e-3).all(), other
    assert scores.notes[UNKNOWN_NOTE] == len(scores)
    for k in range(len(left)):
        (alone,) = scorer.score([left[k]], [right[k]]).values()
        assert alone.segments[0] == pytest.approx(other[k], abs=COSINE)


@every_model_metric
def test_unknown_words_only_are_void(spec: str, model: str, tmp_path: Path) -> None:
    if model == "words":
        spec += f"{',' if ':' in spec else ':'}model={_known_words(tmp_path)}"
    known, (first, second) = "the cat saw the mat.", map(" ".join, zip(*UNKNOWN, strict=True))
    scorer = Scorer(spec).fitted([known, first, second])
    (scores,) = scorer.score([first, known, first, first], [known, first, second, first]).values()
    np.testing.assert_allclose(scores.segments, scores.scale.void)
    assert scores.notes[VOID_NOTE] == scores.notes[UNKNOWN_NOTE] == 4
