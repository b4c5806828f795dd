"""permutation_test(): a test of whether predictions are related to the labels."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._arrays.draws import source_of
from matrics._arrays.draws.numpy import NumPySource
from matrics._arrays.frames import by_columns, is_frame
from matrics._arrays.sizes import check_draws
from matrics._catalogue.classes import Classes
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import evaluate
from matrics._folds.results import PermutationTest
from matrics._progress import steps
from matrics._quoting import quoted
from matrics._scoring.score import resolve
from matrics._uncertainty.model_samples import PairedSamples, named_models
from matrics.typing import ArrayLike

DEFAULT_NUM = 9999
# Cells of shuffles in memory at a time.
CELLS_AT_ONCE = 2**21
# The largest number of samples from which NumPy draws hypergeometric numbers.
MOST_SAMPLES = 10**9
# Values of a shuffle lower by at most this relative difference are equal up to rounding.
ROUNDING = 1e-12


def permutation_test(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    metric: str | Metric,
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    ignore_index: Any = None,
    num: int | None = None,
    rng: Any = None,
) -> PermutationTest:
    """The p-value of any measure: how often shuffled predictions are at least as good.

    Parameters
    ----------
    y_true : array_like, shape (N,)
        True labels.
    y_pred : array_like, shape (N,) or (M, N)
        Predicted labels, of a single model or of M models.
    metric : str or Metric
        A measure with a single value, for which higher or lower values are better.
    num_classes : int, optional
        Number of classes, n; labels are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    positive : hashable, optional
        The positive class: a label where there are ``labels``, and an index otherwise. Per-class measures without an
        average are values of this class. Without it they are values of class 1 of two classes, and means over more
        (``macro``).
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out. Such a class takes no part in averages over classes.
    num : int, optional
        Number of shuffles; 9,999 if left out.
    rng : numpy.random.Generator or int, optional
        Where random numbers come from, or a seed; new draws every time if left out.

    Returns
    -------
    PermutationTest
        The measure, its p-value, and the mean and the deviation of the measure over the shuffles; numbers, or arrays
        (M,).

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.compare_models`; the measure has several values or no better direction, or there are more than
        10⁹ samples.

    Notes
    -----
    Shuffled labels have a random confusion matrix with the same sums of rows and columns. So a shuffle costs n² draws,
    however many samples there are, and all shuffles are scored as a batch. The p-value is (1 + the number of shuffles
    that are at least as good) / (1 + num), because the actual labels count as a shuffle. A shuffle with an undefined
    measure counts as at least as good.

    References
    ----------
    Ojala and Garriga 2010, "Permutation tests for studying classifier performance", test 1.

    Examples
    --------
    >>> import matrics
    >>> y_true, y_pred = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1, 0, 1]
    >>> result = matrics.stats.permutation_test(y_true, y_pred, "accuracy", num_classes=2, rng=0)
    >>> print(f"{result.score:.1f}, p = {result.p_value:.2f}")
    0.8, p = 0.10
    """
    num = DEFAULT_NUM if num is None else check_draws(num)
    is_single = len(_shape(y_pred)) == 1
    predictions: Any = named_models({"": y_pred})[1] if is_single else y_pred
    samples = PairedSamples.of(y_true, predictions, num_classes, labels, None, None, ignore_index)
    n = samples.classes.number
    chosen = resolve(metric, Classes.of(n, samples.classes.labels, positive, left_out=samples.left_out))
    if len(chosen) != 1:
        raise ValueError(f"metric: expected a single measure, got {len(chosen)}")
    ((name, measure),) = chosen.items()
    if measure.is_classwise or measure.higher_is_better is None:
        what = "a single value" if measure.is_classwise else "a better direction"
        raise ValueError(f"metric: expected a measure with {what}, got {quoted(name)}")
    if len(samples.true) > MOST_SAMPLES:
        raise ValueError(f"y_true: expected at most {MOST_SAMPLES:,} samples, got {len(samples.true):,}")
    source = source_of(rng)
    if not isinstance(source, NumPySource):
        raise TypeError("rng: expected a seed or numpy.random.default_rng(seed), as labels are counted on the host")
    matrices = samples.matrices()
    side = 1 if measure.higher_is_better else -1

    def scored(stack: Array) -> Array:
        return side * np.asarray(evaluate(stack, [measure.bind()], invalid="nan")[0])

    scores = scored(matrices)
    results = [
        _of_model(cm, value, scored, num, source.generator)
        for cm, value in steps(list(zip(matrices, scores, strict=True)))
    ]
    p_value, mean, deviation, undefined = (np.asarray(part) for part in zip(*results, strict=True))
    fields = [side * scores, p_value, side * mean, deviation, undefined]
    score, p_value, mean, deviation, undefined = (x[0] if is_single else x for x in fields)
    return PermutationTest(score, p_value, mean, deviation, undefined, num)


def _shape(y_pred: Any) -> tuple[int, ...]:
    if is_frame(y_pred):
        return np.shape(by_columns(y_pred))
    return tuple(y_pred.shape) if hasattr(y_pred, "shape") else np.shape(np.asarray(y_pred, object))


def _of_model(cm: Array, score: float, scored: Any, num: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """The p-value of a matrix, the mean and the deviation of its shuffles, and the number of undefined shuffles."""
    step = max(1, CELLS_AT_ONCE // cm.size)
    parts = [scored(shuffled(cm, min(step, num - start), rng)) for start in steps(range(0, num, step))]
    values = np.concatenate(parts)
    missing = np.isnan(values)
    least = score - ROUNDING * max(1.0, abs(score)) if math.isfinite(score) else score
    as_good = np.count_nonzero(missing | (values >= least))
    known = values[~missing]
    with NUMPY.quiet():
        mean = float(known.mean()) if known.size else math.nan
        deviation = float(known.std()) if known.size else math.nan
    p_value = math.nan if math.isnan(score) else (1 + as_good) / (1 + num)
    return p_value, mean, deviation, int(missing.sum())


def shuffled(cm: Array, num: int, rng: np.random.Generator) -> Array:
    """Random matrices (num, n, n) of shuffled labels, with the row sums and column sums of this matrix."""
    n = len(cm)
    rows, columns = cm.sum(axis=1).astype(np.int64), cm.sum(axis=0).astype(np.int64)
    left = np.broadcast_to(columns, (num, n)).copy()  # the samples of each column that no row has yet
    matrices = np.empty((num, n, n), np.int64)
    for i in range(n - 1):
        remaining = np.full(num, rows[i])
        rest = left.sum(axis=1)
        for j in range(n - 1):
            rest = rest - left[:, j]
            matrices[:, i, j] = rng.hypergeometric(left[:, j], rest, remaining)
            remaining = remaining - matrices[:, i, j]
        matrices[:, i, -1] = remaining
        left -= matrices[:, i]
    matrices[:, -1] = left
    return matrices
