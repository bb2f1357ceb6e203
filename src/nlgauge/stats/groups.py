"""Sums and means over groups of segments, such as documents or prompts."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.core.arrays import Floats, Ints
from nlgauge.core.errors import ShapeError
from nlgauge.stats.coefficients import divide
from nlgauge.stats.validation import as_matrices, as_rows

Label = TypeVar("Label")


def number_groups(labels: Sequence[Label]) -> tuple[tuple[Label, ...], Ints]:
    """Return the groups in the order of first appearance, and the number of each label's group."""
    numbers = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    return tuple(numbers), np.array([numbers[label] for label in labels], dtype=np.int64)


def sum_groups(rows: ArrayLike, groups: Sequence[Hashable]) -> Floats:
    """Return the sums of the rows of each group, in the order of first appearance.

    Tests on the sums resample or exchange whole groups (documents, prompts), which is correct if
    segments of a group are similar. If groups differ in size and `finish` divides by the number of
    segments, rows should have this number in a column.

    Parameters
    ----------
    rows : array_like, one row of statistics per segment
    groups : sequence, the group of every row

    Returns
    -------
    ndarray, one row per group

    Raises
    ------
    ShapeError
        If there are not as many groups as rows.

    Examples
    --------
    >>> sum_groups([[1, 1], [2, 1], [4, 1]], ["a", "b", "a"])
    array([[5., 2.],
           [2., 1.]])
    """
    table = as_rows(rows, "rows")
    if len(groups) != table.shape[0]:
        raise ShapeError(f"{table.shape[0]} segments but {len(groups)} groups; give one for each.")
    names, number = number_groups(groups)
    sums = np.zeros((len(names), table.shape[1]))
    np.add.at(sums, number, table)
    return sums


def document_means(
    documents: Sequence[str], *matrices: ArrayLike
) -> tuple[tuple[str, ...], tuple[Floats, ...]]:
    """Return the documents and, for every matrix, each system's means over their inputs.

    Only cells that all the matrices fill count; a document without one is NaN.

    Parameters
    ----------
    documents : sequence of str, the document of each input (column)
    matrices : array_like, systems x inputs

    Returns
    -------
    tuple of the documents in order of first appearance, and of matrices, systems x documents

    Examples
    --------
    >>> names, (means,) = document_means(["a", "a", "b"], [[1, 2, 5], [3, 5, 7]])
    >>> names, means.tolist()
    (('a', 'b'), [[1.5, 5.0], [4.0, 7.0]])
    """
    values = as_matrices(**{f"matrix {i + 1}": matrix for i, matrix in enumerate(matrices)})
    if len(documents) != values[0].shape[1]:
        raise ShapeError(
            f"{len(documents)} documents are named, but the matrices have {values[0].shape[1]} "
            "inputs; name the document of every input."
        )
    present = np.logical_and.reduce([np.isfinite(each) for each in values])
    counts = sum_groups(present.T, documents).T
    sums = (sum_groups(np.where(present, each, 0.0).T, documents).T for each in values)
    return tuple(dict.fromkeys(documents)), tuple(divide(each, counts) for each in sums)
