"""The transport family: exact optima, special cases, batches and errors."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, linprog, minimize

from nlgauge.core.errors import DataError, NotConverged, OptionError, ShapeError
from nlgauge.measure import cost as costs
from nlgauge.measure import unbalanced
from nlgauge.measure.transport import match, match_many

INF = math.inf


def problem(rng, n, m, *, zeros=False):
    x, y = rng.normal(size=(n, 6)), rng.normal(size=(m, 6))
    y[: min(n, m)] += x[: min(n, m)]
    a, b = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))
    if zeros:
        a[rng.permutation(n)[: n // 3]] = 0
        b[rng.permutation(m)[: m // 3]] = 0
    return costs.cosine(x, y), a / a.sum(), b / b.sum()


def by_linear_programming(cost, a, b):
    n, m = cost.shape
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    found = linprog(
        cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.r_[a, b], method="highs-ds"
    )
    return found.fun


def by_constrained_dual(cost, a, b, pa, pb):
    """Return (value, objective) from SLSQP on the dual: no transport code involved."""
    n, m = cost.shape
    grid = np.hstack([np.repeat(np.eye(n), m, axis=0), np.tile(np.eye(m), (n, 1))])
    weights, penalties = np.r_[a, b], np.r_[np.full(n, pa), np.full(m, pb)]

    def loss(z):
        return float((penalties * weights * np.expm1(-z / penalties)).sum())

    def slope(z):
        return -weights * np.exp(-z / penalties)

    share = pa / (pa + pb)
    start = np.r_[share * cost.min(axis=1), (1 - share) * cost.min(axis=0)] - 1e-3
    best = minimize(
        loss,
        start,
        jac=slope,
        method="SLSQP",
        constraints=[LinearConstraint(grid, -np.inf, cost.ravel())],
        options={"maxiter": 2000, "ftol": 1e-15},
    )
    masses = weights * np.exp(-best.x / penalties)
    return float(best.x @ masses), -best.fun


class TestBalanced:
    def test_equals_linear_programming_on_two_hundred_problems(self):
        rng = np.random.default_rng(1)
        shapes = [(1, 7), (7, 1), (1, 1)] + [tuple(rng.integers(1, 12, 2)) for _ in range(197)]
        for at, (n, m) in enumerate(shapes):
            given_problem = problem(rng, n, m, zeros=at % 2 == 0)
            plan = match(*given_problem)
            assert plan.value == pytest.approx(by_linear_programming(*given_problem), abs=1e-9)
            np.testing.assert_allclose(plan.marginal_a, given_problem[1], atol=1e-12)
            np.testing.assert_allclose(plan.marginal_b, given_problem[2], atol=1e-12)

    def test_different_sums_are_refused_and_equal_ones_scaled(self):
        cost = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0]])
        a, b = np.array([3.0, 1.0]), np.array([1.0, 2.0, 1.0])
        assert match(cost, a, b).value == pytest.approx(match(cost, a / 4, b / 4).value)
        for wrong, sums in ((2 * b, "sum to 4 and weights b to 8"), (b + 1e-4, "to 4.0003")):
            with pytest.raises(DataError, match=f"{sums} in problem 1, but balanced.*finite pen"):
                match_many([cost, cost], [a, a], [b, wrong])
        rounded = (b / 3).astype(np.float32) * 3
        assert match(cost, a, rounded).value == pytest.approx(match(cost, a, b).value, abs=1e-6)

    @pytest.mark.parametrize("penalties", [(0.3, 0.2), (INF, 0.2), (0, INF), (INF, 0)])
    def test_with_a_finite_penalty_each_side_is_scaled_by_itself(self, penalties):
        cost, a, b = problem(np.random.default_rng(2), 4, 5)
        options = dict(zip(("penalty_a", "penalty_b"), penalties, strict=True))
        expected = match(cost, a, b, **options)
        scaled = match(cost, 7 * a, 0.2 * b, **options)
        assert scaled.objective == pytest.approx(expected.objective, abs=1e-12)

    def test_equal_numbers_of_equal_weights_are_an_assignment(self):
        cost, _, _ = problem(np.random.default_rng(2), 9, 9)
        plan = match(cost, np.ones(9), np.ones(9))
        assert plan.value == pytest.approx(
            by_linear_programming(cost, np.full(9, 1 / 9), np.full(9, 1 / 9)), abs=1e-12
        )
        assert np.count_nonzero(plan.coupling) == 9

    def test_tokens_without_weight_neither_give_nor_take(self):
        cost, a, b = problem(np.random.default_rng(3), 6, 5)
        a[2], b[0] = 0, 0
        a, b = a / a.sum(), b / b.sum()
        for penalties in [(INF, INF), (0.3, 0.2), (INF, 0), (0, 0.4)]:
            plan = match(cost, a, b, penalty_a=penalties[0], penalty_b=penalties[1])
            assert plan.coupling[2].sum() == 0
            assert plan.coupling[:, 0].sum() == 0
            small = match(
                np.delete(np.delete(cost, 2, 0), 0, 1),
                np.delete(a, 2),
                np.delete(b, 0),
                penalty_a=penalties[0],
                penalty_b=penalties[1],
            )
            assert plan.value == pytest.approx(small.value, abs=1e-12)

    def test_equal_texts_cost_exactly_nothing(self):
        rng = np.random.default_rng(4)
        x = rng.normal(size=(11, 7)).astype(np.float32)
        w = rng.gamma(2, size=11)
        for measure in (costs.cosine, costs.euclid, costs.squared_euclid):
            for pa, pb in [(INF, INF), (INF, 0), (0.23, 0.31), (0.009, 0.95), (INF, 0.4)]:
                plan = match(measure(x, x), w, w, penalty_a=pa, penalty_b=pb)
                assert plan.value == 0.0, (measure, pa, pb)


class TestUnbalanced:
    @pytest.mark.parametrize("pa", [0.009, 0.23, 1.0, 50.0])
    @pytest.mark.parametrize("pb", [0.009, 0.31, 0.95, 50.0])
    def test_equals_an_independent_convex_solver(self, pa, pb):
        rng = np.random.default_rng(5)
        for n, m in [(1, 1), (1, 5), (4, 5), (6, 3)]:
            cost, a, b = problem(rng, n, m)
            plan = match(cost, a, b, penalty_a=pa, penalty_b=pb)
            value, objective = by_constrained_dual(cost, a, b, pa, pb)
            assert plan.value == pytest.approx(value, abs=1e-6)
            assert plan.objective == pytest.approx(objective, abs=1e-7)

    @pytest.mark.parametrize("penalties", [(0.31, 0.23), (0.95, 0.009), (50.0, 50.0), (2.0, INF)])
    def test_the_gap_is_a_proof(self, penalties):
        """Any f + g <= C bounds the optimum from below: rebuild one from the plan's marginals."""
        rng = np.random.default_rng(6)
        for _ in range(20):
            cost, a, b = problem(rng, 17, 22)
            plan = match(cost, a, b, penalty_a=penalties[0], penalty_b=penalties[1])
            assert plan.converged
            assert 0 <= plan.residual <= 1e-10 * cost.max()
            f = -penalties[0] * np.log(plan.marginal_a / plan.a)
            g = (cost - f[:, None]).min(axis=0)
            bound = -penalties[0] * (plan.a @ np.expm1(-f / penalties[0]))
            if math.isinf(penalties[1]):
                bound += plan.b @ g
            else:
                bound -= penalties[1] * (plan.b @ np.expm1(-g / penalties[1]))
            assert -1e-12 <= plan.objective - bound <= 1e-7

    def test_first_order_condition_links_value_mass_and_objective(self):
        """At the optimum P -> tP is stationary: objective = pa + pb - (pa + pb) mass."""
        cost, a, b = problem(np.random.default_rng(7), 12, 9)
        for pa, pb in [(0.23, 0.31), (0.009, 0.95), (3.0, 0.1)]:
            plan = match(cost, a, b, penalty_a=pa, penalty_b=pb)
            assert plan.objective == pytest.approx((pa + pb) * (1 - plan.mass), abs=1e-10)

    @given(cost=st.floats(0, 4), pa=st.floats(0.009, 100), pb=st.floats(0.009, 100))
    @settings(max_examples=60, deadline=None)
    def test_one_token_against_one(self, cost, pa, pb):
        """Theorem 2: P = exp(-c/(pa + pb))."""
        plan = match([[cost]], [1.0], [1.0], penalty_a=pa, penalty_b=pb)
        kept = math.exp(-cost / (pa + pb))
        assert plan.mass == pytest.approx(kept, abs=1e-9)
        assert plan.value == pytest.approx(cost * kept, abs=1e-9)

    def test_large_penalties_tend_to_the_balanced_plan(self):
        cost, a, b = problem(np.random.default_rng(8), 10, 13)
        exact = match(cost, a, b).value
        errors = [
            abs(match(cost, a, b, penalty_a=p, penalty_b=p).value - exact)
            for p in (1e1, 1e2, 1e3, 1e4, 1e6)
        ]
        assert errors == sorted(errors, reverse=True)
        assert errors[-1] < 1e-5

    def test_the_transposed_problem_has_the_transposed_plan(self):
        rng = np.random.default_rng(9)
        for n, m in [(8, 8), (5, 14), (20, 3)]:
            cost, a, b = problem(rng, n, m)
            for pa, pb in [(0.23, 0.31), (INF, 0.2), (0.05, 0), (INF, INF)]:
                plan = match(cost, a, b, penalty_a=pa, penalty_b=pb)
                turned = match(cost.T, b, a, penalty_a=pb, penalty_b=pa)
                assert turned.value == pytest.approx(plan.value, abs=1e-10)
                assert turned.mass == pytest.approx(plan.mass, abs=1e-9)

    def test_the_robust_method_has_the_solution_of_the_fast_one(self, monkeypatch):
        cost, a, b = problem(np.random.default_rng(21), 15, 11)
        fast = match(cost, a, b, penalty_a=0.05, penalty_b=INF)
        monkeypatch.setattr(unbalanced, "FAST", unbalanced.FAST._replace(steps=1))
        robust = match(cost, a, b, penalty_a=0.05, penalty_b=INF)
        assert robust.iterations > fast.iterations
        assert robust.value == pytest.approx(fast.value, abs=1e-9)

    def test_weights_of_very_different_size(self):
        rng = np.random.default_rng(10)
        cost, a, b = problem(rng, 20, 20)
        a = a ** np.arange(1, 21)
        plan = match(cost, a, b, penalty_a=0.23, penalty_b=0.31)
        assert plan.residual <= 1e-10
        assert plan.objective == pytest.approx(0.54 * (1 - plan.mass), abs=1e-9)


class TestSpecialCases:
    @given(seed=st.integers(0, 10_000), n=st.integers(1, 9), m=st.integers(1, 9))
    @settings(max_examples=40, deadline=None)
    def test_a_free_side_is_greedy(self, seed, n, m):
        cost, a, b = problem(np.random.default_rng(seed), n, m)
        precise = match(cost, a, b, penalty_b=0)
        recalled = match(cost, a, b, penalty_a=0)
        assert precise.value == pytest.approx(a @ cost.min(axis=1), abs=1e-12)
        assert recalled.value == pytest.approx(b @ cost.min(axis=0), abs=1e-12)
        assert precise.objective == precise.value
        assert max(precise.value, recalled.value) <= match(cost, a, b).value + 1e-12

    def test_a_free_and_a_finite_side(self):
        cost, a, b = problem(np.random.default_rng(11), 6, 7)
        plan = match(cost, a, b, penalty_a=0.4, penalty_b=0)
        low = cost.min(axis=1)
        np.testing.assert_allclose(plan.marginal_a, a * np.exp(-low / 0.4))
        nearly = match(cost, a, b, penalty_a=0.4, penalty_b=1e-7)
        assert nearly.objective == pytest.approx(plan.objective, abs=1e-5)

    def test_special_cases_are_limits_of_the_family(self):
        cost, a, b = problem(np.random.default_rng(12), 7, 5)
        for corner, near in [
            ((INF, INF), (1e5, 1e5)),
            ((INF, 0), (1e5, 1e-5)),
            ((0, INF), (1e-5, 1e5)),
            ((INF, 0.3), (1e5, 0.3)),
        ]:
            exact = match(cost, a, b, penalty_a=corner[0], penalty_b=corner[1])
            close = match(cost, a, b, penalty_a=near[0], penalty_b=near[1])
            assert close.value == pytest.approx(exact.value, abs=2e-4)

    def test_two_free_sides_move_nothing(self):
        cost, a, b = problem(np.random.default_rng(13), 3, 4)
        plan = match(cost, a, b, penalty_a=0, penalty_b=0)
        assert (plan.value, plan.mass, plan.objective) == (0.0, 0.0, 0.0)


class TestEntropic:
    @pytest.mark.parametrize("reference", ["product", "ones"])
    @pytest.mark.parametrize(
        "penalties", [(0.23, 0.31), (INF, INF), (INF, 0.2), (0.3, 0), (30.0, 30.0), (0, 0)]
    )
    def test_is_the_fixed_point_of_plain_scaling(self, reference, penalties):
        rng = np.random.default_rng(14)
        cost, a, b = problem(rng, 6, 8)
        if penalties == (INF, INF) or 30.0 in penalties:
            a, b = np.full(6, 1 / 6), np.full(8, 1 / 8)
        epsilon = 0.1
        plan = match(
            cost,
            a,
            b,
            penalty_a=penalties[0],
            penalty_b=penalties[1],
            epsilon=epsilon,
            reference=reference,
        )
        kernel = np.exp(-cost / epsilon) * (np.outer(a, b) if reference == "product" else 1.0)
        u, v = np.ones(6), np.ones(8)
        powers = [1.0 if math.isinf(p) else p / (p + epsilon) for p in penalties]
        for _ in range(20_000):
            u = (a / (kernel @ v)) ** powers[0]
            v = (b / (kernel.T @ u)) ** powers[1]
        np.testing.assert_allclose(plan.coupling, u[:, None] * kernel * v, atol=1e-8)

    def test_small_epsilon_tends_to_the_exact_plan(self):
        cost, a, b = problem(np.random.default_rng(15), 9, 7)
        for pa, pb in [(INF, INF), (0.23, 0.31)]:
            exact = match(cost, a, b, penalty_a=pa, penalty_b=pb)
            blurred = match(cost, a, b, penalty_a=pa, penalty_b=pb, epsilon=1e-3)
            assert blurred.value == pytest.approx(exact.value, abs=5e-3)
            assert blurred.objective >= exact.objective - 1e-9

    def test_a_tiny_epsilon_does_not_underflow(self):
        cost, a, b = problem(np.random.default_rng(16), 12, 12)
        plan = match(cost, a, b, epsilon=1e-3, strict=False)
        assert plan.mass == pytest.approx(1, abs=1e-4)
        assert plan.value >= match(cost, a, b).value - 1e-6


class TestMany:
    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"penalty_a": 0.23, "penalty_b": 0.31},
            {"penalty_a": 0.009, "penalty_b": 0.95},
            {"penalty_a": INF, "penalty_b": 0.3},
            {"penalty_b": 0},
            {"penalty_a": 0.23, "penalty_b": 0.31, "epsilon": 0.01},
        ],
    )
    def test_equals_one_by_one_bit_for_bit(self, options):
        rng = np.random.default_rng(17)
        shapes = [tuple(rng.integers(1, 25, 2)) for _ in range(40)]
        problems = [problem(rng, n, m, zeros=at % 3 == 0) for at, (n, m) in enumerate(shapes)]
        together = match_many(*(list(part) for part in zip(*problems, strict=True)), **options)
        for one, plan in zip(problems, together, strict=True):
            alone = match(*one, **options)
            assert alone.value == plan.value
            assert np.array_equal(alone.coupling, plan.coupling)

    def test_order_and_repetition(self):
        rng = np.random.default_rng(18)
        problems = [problem(rng, n, 30 - n) for n in range(5, 25)] * 2
        parts = [list(part) for part in zip(*problems, strict=True)]
        values = [p.value for p in match_many(*parts, penalty_a=0.2, penalty_b=0.4)]
        assert values[:20] == values[20:]
        turned = [part[::-1] for part in parts]
        assert [p.value for p in match_many(*turned, penalty_a=0.2, penalty_b=0.4)] == values[::-1]

    def test_no_problems_no_plans(self):
        assert match_many([], [], [], penalty_a=0.2, penalty_b=0.4) == []


class TestPlan:
    def test_value_transpose_strongest_flows_and_dictionary(self):
        cost, a, b = problem(np.random.default_rng(19), 3, 4)
        plan = match(cost, a, b).named(("a", "b", "c"), ("w", "x", "y", "z"))
        assert plan.value == pytest.approx((plan.cost * plan.coupling).sum())
        turned = plan.transposed()
        assert turned.coupling.shape == (4, 3)
        assert turned.candidate_tokens == ("w", "x", "y", "z")
        assert np.array_equal(turned.a, plan.b)
        strongest = plan.top(2)
        assert strongest[0][2] == plan.coupling.max()
        assert strongest[0][2] >= strongest[1][2]
        assert len(plan.top(100)) == np.count_nonzero(plan.coupling)
        assert json.loads(json.dumps(plan.to_dict()))["reference_tokens"][3] == "z"

    def test_is_frozen(self):
        plan = match([[0.5]], [1], [1])
        with pytest.raises(ValueError, match="read-only"):
            plan.coupling[0, 0] = 2
        with pytest.raises(AttributeError):
            plan.value = 3

    def test_arrays_of_the_caller_stay_writable(self):
        cost = np.array([[0.5, 0.2]])
        match(cost, [1.0], [0.5, 0.5])
        cost[0, 0] = 1.0
        assert cost[0, 0] == 1.0

    @pytest.mark.parametrize("cells", [1, 5, 11, 40])
    def test_the_value_of_a_large_plan_is_summed_in_blocks(self, monkeypatch, cells):
        monkeypatch.setattr("nlgauge.measure.cost.BLOCK_CELLS", cells)
        cost, a, b = problem(np.random.default_rng(21), 7, 5)
        plan = match(cost, a, b)
        assert plan.value == pytest.approx((cost * plan.coupling).sum(), abs=1e-15)


class TestErrors:
    def test_bad_options(self):
        for options in [{"penalty_a": -1}, {"penalty_b": math.nan}]:
            with pytest.raises(OptionError, match="at least 0"):
                match([[0.5]], [1], [1], **options)
        for epsilon in (-0.1, math.nan, math.inf, 1e-300):
            with pytest.raises(OptionError, match=r"must be 0, which is exact, or at least 1e-12"):
                match([[0.5]], [1], [1], epsilon=epsilon)
        assert match([[0.5]], [1], [1], epsilon=1e-12).value == 0.5
        with pytest.raises(OptionError, match="'product' or 'ones'"):
            match([[0.5]], [1], [1], epsilon=0.1, reference="other")

    def test_bad_shapes_and_values(self):
        with pytest.raises(ShapeError, match=r"\(1, 2\)"):
            match([[0.5, 0.1]], [1], [1])
        with pytest.raises(ShapeError, match="2 costs, 1 a and 1 b"):
            match_many([[[0.5]], [[0.5]]], [[1]], [[1]])
        for a in ([0.0, 0.0], [-1.0, 2.0], [math.nan, 1.0], [INF, 1.0]):
            with pytest.raises(DataError, match="weights a must be at least 0"):
                match([[0.5], [0.5]], a, [1])
        with pytest.raises(DataError, match="finite"):
            match([[math.nan]], [1], [1])
        with pytest.raises(DataError, match="at least 0"):
            match([[-0.5]], [1], [1])

    def test_no_convergence_is_reported(self, monkeypatch):
        for method in ("FAST", "ROBUST"):
            short = getattr(unbalanced, method)._replace(steps=2)
            monkeypatch.setattr(unbalanced, method, short)
        cost, a, b = problem(np.random.default_rng(20), 9, 9)
        with pytest.raises(NotConverged, match="1 of 1 transport problems"):
            match(cost, a, b, penalty_a=0.2, penalty_b=0.2)
        plan = match(cost, a, b, penalty_a=0.2, penalty_b=0.2, strict=False)
        assert not plan.converged
        assert plan.residual > 1e-6


@pytest.mark.parametrize("penalty", [1e11, 1e13, 1e16, 1e30, 1e300])
@pytest.mark.parametrize("epsilon", [0.0, 0.05])
def test_large_penalties_tend_to_infinite_ones(penalty, epsilon):
    cost, a, b = problem(np.random.default_rng(3), 12, 9)
    for factor in (1.0, 1e-6):
        for other in (0.3 * factor, penalty):
            found = match(
                factor * cost, a, b, penalty_a=penalty, penalty_b=other, epsilon=factor * epsilon
            )
            rigid = match(
                factor * cost,
                a,
                b,
                penalty_a=INF,
                penalty_b=INF if other == penalty else other,
                epsilon=factor * epsilon,
            )
            assert found.value == pytest.approx(rigid.value, rel=1e-8)
            assert found.objective == pytest.approx(rigid.objective, rel=1e-8)


def test_a_batch_of_costs_of_different_sizes_gives_the_bits_of_single_problems():
    rng = np.random.default_rng(4)
    problems = [
        (scale * cost, a, b) for scale in (1, 1e-12, 0) for cost, a, b in [problem(rng, 5, 4)]
    ]
    options = {"penalty_a": 1.0, "penalty_b": 0.3}
    for one, plan in zip(
        problems, match_many(*zip(*problems, strict=True), **options), strict=True
    ):
        np.testing.assert_array_equal(plan.coupling, match(*one, **options).coupling)
