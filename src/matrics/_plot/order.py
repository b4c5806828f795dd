"""The order in which classes are drawn."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from matrics._quoting import quoted
from matrics.typing import NumPyArray

__all__ = ["ordered_classes"]


def ordered_classes(matrix: NumPyArray, order: Any) -> list[int]:
    """The numbers of the classes in the order in which they are drawn.

    Raises
    ------
    ValueError
        The order is neither "clusters" nor a permutation of the numbers of the classes.
    """
    n = len(matrix)
    if order is None:
        return list(range(n))
    if isinstance(order, str):
        if order != "clusters":
            raise ValueError(f"order: expected 'clusters', the numbers of the classes, or None, got {quoted(order)}")
        return clusters(matrix)
    numbers = [int(place) for place in order] if isinstance(order, (Sequence, np.ndarray)) else []
    if sorted(numbers) != list(range(n)):
        raise ValueError(
            f"order: expected each of the {n} classes once, as numbers from 0 to {n - 1}, got {quoted(order)}"
        )
    return numbers


def clusters(matrix: NumPyArray) -> list[int]:
    """The classes in an order in which confused classes are neighbours: the leaves of a tree, by average linkage.

    The distance of two classes is 1 minus the larger of the two shares of errors between them.
    """
    if len(matrix) < 3:
        return list(range(len(matrix)))
    try:
        hierarchy = importlib.import_module("scipy.cluster.hierarchy")
    except ImportError as error:
        raise ImportError('order="clusters" needs SciPy: python -m pip install "matrics[plot]"') from error
    sizes = matrix.sum(axis=1, keepdims=True)
    shares = matrix / np.where(sizes > 0, sizes, 1)
    distances = 1 - np.maximum(shares, shares.T)
    tree = hierarchy.linkage(distances[np.triu_indices(len(matrix), 1)], "average", optimal_ordering=True)
    return [int(place) for place in hierarchy.leaves_list(tree)]
