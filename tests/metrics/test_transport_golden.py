"""The compatibility modes against the numbers of the public implementations."""

from __future__ import annotations

import json

import numpy as np
import pytest

from conftest import PROJECT, needs_embedded
from nlgauge import metric, score
from nlgauge.core.errors import OptionError
from tolerances import COSINE

pytestmark = needs_embedded
GOLDEN = json.loads((PROJECT / "tests/golden/transport.json").read_text("utf-8"))
PAIRS = GOLDEN["pairs"]
# pyemd rounds masses and costs to millionths; that adds up over the tokens of a text.
PYEMD = 1e-5
# Pairs on which the first step of the published BaryScore, from the origin, is arbitrary.
TIED = {"lazy_ex1_c1", "lazy_ex1_c2", "lazy_ex2_c1", "punct_only"}


def _ours(spec: str, component: str | None = None) -> dict[str, float]:
    (scores,) = score(
        [pair["candidate"] for pair in PAIRS], [pair["reference"] for pair in PAIRS], metrics=spec
    ).values()
    values = scores.segments if component is None else scores.segment_components[component]
    return dict(zip((pair["id"] for pair in PAIRS), values, strict=True))


def _differences(ours: dict[str, float], golden: dict[str, float]) -> dict[str, float]:
    assert len(golden) >= 16
    return {name: abs(ours[name] - value) for name, value in golden.items()}


@pytest.mark.parametrize("weights", ["ones", "idf"])
@pytest.mark.parametrize("pieces", ["nosub", "keepsub"])
@pytest.mark.parametrize("n", [1, 2])
def test_mover_version_1(n: int, pieces: str, weights: str) -> None:
    spec = f"mover:compat=mover-v1,ngram={n}"
    spec += ",subwords=first" if pieces == "nosub" else ""
    spec += ",weights=idf" if weights == "idf" else ""
    found = _differences(_ours(spec), GOLDEN["mover"][f"v1_n{n}_{pieces}_{weights}"])
    assert max(found.values()) < COSINE + PYEMD, found


@pytest.mark.parametrize("weights", ["ones", "idf"])
def test_mover_version_2(weights: str) -> None:
    spec = "mover:compat=mover-v2" + (",weights=idf" if weights == "idf" else "")
    found = _differences(_ours(spec), GOLDEN["mover"][f"v2_n1_nosub_{weights}"])
    # Equal texts are float32 noise under a root there: about 2e-4 short of 1.
    assert max(found.pop("identical"), found.pop("empty_both")) < 2.5e-4
    assert max(found.values()) < COSINE, found


def test_mover_version_2_ignores_n_grams_with_a_note() -> None:
    with pytest.raises(OptionError, match="mover-v2 ignores n-grams; leave out ngram=2"):
        score(["a"], ["a"], metrics="mover:compat=mover-v2,ngram=2")


@pytest.mark.parametrize("lang", ["en", "zh", "other"])
def test_lazy_emd(lang: str) -> None:
    spec = f"lazy_emd:compat=lazy_emd,layer=5,lang={lang}"
    assert max(_differences(_ours(spec), GOLDEN["lazy_emd"][lang]).values()) < COSINE
    mass = _differences(_ours(spec, "mass"), GOLDEN["lazy_emd_mass"][lang])
    assert max(mass.values()) < COSINE / 0.54  # at most exp(-cost / prices)


def test_lazy_emd_with_infinite_penalties_is_their_wmd() -> None:
    spec = "lazy_emd:layer=5,penalty_candidate=inf,penalty_reference=inf"
    golden = {k: v for k, v in GOLDEN["wmd"].items() if not k.startswith("empty")}
    found = _differences(_ours(spec), golden)
    assert found.pop("unicode") > 0.01  # its emoji is unknown, which costs more than [UNK] does
    assert max(found.values()) < COSINE


def test_bary() -> None:
    found = _differences(_ours("bary:compat=nlg_eval"), GOLDEN["bary"])
    assert max(found[name] for name in TIED) < 0.05
    assert max(value for name, value in found.items() if name not in TIED) < COSINE


@pytest.mark.parametrize(("p", "key"), [(5, "depth_irw"), (2, "depth_irw_p2")])
def test_depth(p: int, key: str) -> None:
    found = _differences(_ours(f"depth:compat=nlg_eval,layer=5,p={p}"), GOLDEN[key])
    assert max(found.values()) < COSINE, found
    assert np.isfinite(list(found.values())).all()


@pytest.mark.parametrize(("compat", "worst"), [("mover-v1", (-3, 4)), ("mover-v2", (1 / 3, 2))])
def test_a_void_text_gets_the_worst_score_and_its_distance(
    compat: str, worst: tuple[float, float]
) -> None:
    built = metric(f"mover:compat={compat}")
    assert built.components == ("score", "distance")
    assert built.void_row == pytest.approx(worst)
