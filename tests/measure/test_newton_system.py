"""The eliminated Newton system against exact fractions, where floats would cancel."""

from fractions import Fraction

import numpy as np
import pytest

from nlgauge.kernels.duality import Workspace
from nlgauge.kernels.newton_system import NewtonSystem, factor, solve


def exactly(matrix, right):
    """The solution of a system of fractions, by Gauss and Jordan."""
    rows = [[*row, y] for row, y in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return np.array([float(row[-1]) for row in rows])


def unreduced(table, elastic_a, elastic_b):
    n, m = table.shape
    exact = [[Fraction(x) for x in row] for row in table.tolist()]
    matrix = [[Fraction(0)] * (n + m) for _ in range(n + m)]
    for i in range(n):
        matrix[i][i] = sum(exact[i], Fraction(elastic_a[i]))
        for j in range(m):
            matrix[i][n + j] = matrix[n + j][i] = exact[i][j]
    for j in range(m):
        matrix[n + j][n + j] = sum((row[j] for row in exact), Fraction(elastic_b[j]))
    return matrix


@pytest.mark.parametrize("spread", [0, 6, 14])
@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (3, 3), (6, 7)])
def test_solves_the_system_before_elimination(shape, spread):
    """Rows that give and columns that take leave no difference: all digits are right."""
    rng = np.random.default_rng(spread)
    n, m = shape
    plan, slack = rng.random(shape), 10.0 ** -rng.uniform(0, spread, size=shape)
    r, c = rng.random(n), rng.random(m)
    system, work = NewtonSystem(n, m), Workspace(n, m)
    work.plan, work.slack, work.row_sums, work.column_sums = plan.ravel(), slack.ravel(), r, c
    work.rate_a, work.rate_b = 0.25, 0.5
    factor(system, work)
    ya, yb = -rng.random(n), rng.random(m)
    work.right_a, work.right_b = ya, yb
    solve(system, work)
    df, dg = np.asarray(work.df), np.asarray(work.dg)
    weights = np.asarray(system.weights)[: n * m].reshape(n, m)
    matrix = unreduced(weights, r * 0.25, c * 0.5)
    right = [Fraction(y) for y in (*ya.tolist(), *yb.tolist())]
    np.testing.assert_allclose(np.r_[df, dg], exactly(matrix, right), rtol=1e-12)
