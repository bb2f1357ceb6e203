"""Products that skip zeros: the same numbers as products that do not."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="the product is compiled by numba (pip install nlgauge[fast])")


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (40, 12)])
def test_products_with_mostly_zeros_are_products(shape):
    from nlgauge.measure.sparse import symmetric_product

    rng = np.random.default_rng(4)
    rows = rng.normal(size=(shape[0], 5))
    thin = np.where(rng.random(shape) < 0.1, rng.random(shape), 0.0)
    made = symmetric_product(rows @ rows.T, thin)
    np.testing.assert_allclose(made, rows @ rows.T @ thin, atol=1e-13)
