"""The ranking loss of samples with several labels: the share of pairs of labels in the wrong order."""

from __future__ import annotations

from matrics._arrays import Array, Standard


def ranking_losses(is_true: Array, is_false: Array, scores: Array, backend: Standard) -> Array:
    """The share of wrong pairs of each sample, (N,), from arrays (N, L); 0 for a sample without pairs.

    A pair is a label that the sample has and a label that it has not. It is wrong if the score of the former is not
    above the score of the latter. Entries that are neither true nor false may have any score but NaN.

    >>> import numpy as np
    >>> from matrics._arrays import NUMPY
    >>> is_true = np.array([[True, False, False], [True, True, True]])
    >>> ranking_losses(is_true, ~is_true, np.array([[0.5, 0.5, 0.1], [0.1, 0.2, 0.3]]), NUMPY)
    array([0.5, 0. ])
    """
    xp = backend.xp
    wide = backend.widest_float(scores)
    # True labels first, then a stable sort: among equal scores, true labels come first and count as wrong.
    first = xp.argsort(xp.astype(~is_true, xp.int32), axis=-1, stable=True)
    second = xp.argsort(backend.take_along(scores, first), axis=-1, stable=True)
    order = backend.take_along(first, second)
    trues, falses = (xp.astype(backend.take_along(x, order), wide) for x in (is_true, is_false))
    wrong = xp.sum(backend.running_sum(trues) * falses, axis=-1)
    pairs = xp.sum(trues, axis=-1) * xp.sum(falses, axis=-1)
    return wrong / xp.where(pairs > 0, pairs, 1)
