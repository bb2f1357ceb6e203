"""The encoder without a model: fixed vectors, words in context."""

from __future__ import annotations

import numpy as np

from nlgauge.encode import open_encoder


def test_vectors_are_the_same_in_every_version() -> None:
    (cloud,) = open_encoder("hashing").encode(["The cat"], (0,))
    assert cloud.tokens.strings == ("<s>", "the", "cat", "</s>")
    np.testing.assert_allclose(
        cloud.points[0, 1, :3], [0.5689171, -0.3095053, 0.6147366], atol=1e-6
    )


def test_deeper_layers_depend_more_on_neighbours() -> None:
    encoder = open_encoder("hashing")
    (one,) = encoder.encode(["the cat sat"], (0, 1, 4))
    (two,) = encoder.encode(["the dog sat"], (0, 1, 4))
    drift = np.linalg.norm(one.points[:, 1] - two.points[:, 1], axis=1)
    assert drift[0] == 0 < drift[1] < drift[2]
