"""Two classifiers on the same samples: their joint table, and McNemar's test."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._arrays.sizes import check_size
from matrics._counting.codes import as_codes, check_classes, numbered_groups
from matrics._counting.jointly import count_jointly
from matrics._counting.labels import check_ignore_index
from matrics._engine.results import NamedResult
from matrics._metrics.inference import special
from matrics._uncertainty.measure import Score
from matrics._uncertainty.weighted import ROUNDING, are_counts
from matrics.typing import ArrayLike


def joint_confusion_matrix(
    y_true: ArrayLike,
    y_a: ArrayLike,
    y_b: ArrayLike,
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    groups: ArrayLike | None = None,
    num_groups: int | None = None,
) -> Array:
    """Count the samples by true class and the predictions of two classifiers.

    Parameters
    ----------
    y_true, y_a, y_b : array_like of int, shape (*B, N)
        True labels, and those predicted by a and by b. Batches broadcast against each other. Class scores are no
        labels: take their ``argmax`` first.
    num_classes : int, optional
        Number of classes, n; labels are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    sample_weight : array_like, optional
        A weight for each sample; broadcasts against the labels. Comparisons of such a table treat weights as numbers of
        samples, such as equal samples in a row of a file. For other weights, :func:`matrics.compare_paired` takes the
        table of the squared weights as well.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out.
    groups : array_like, optional
        The group of each sample, an integer in [0, num_groups) or a text, such as its cluster for ``cluster_axis`` of
        :func:`matrics.compare_paired`; broadcasts against the labels. There is a table for each group.
    num_groups : int, optional
        Number of groups, G; needed with integers in ``groups``.

    Returns
    -------
    array, shape (*B, n, n, n), or (*B, G, n, n, n) with groups
        Integers, or floating numbers if weighted: ``[true, a, b]``. Summed over b it is the confusion matrix of a,
        summed over a that of b. On devices and in compiled code, where values are not inspected, samples with a label
        out of range are left out.

    Raises
    ------
    ValueError
        A label, a group or a weight is out of range, or the shapes do not fit.
    TypeError
        The labels are not integers, or ``groups`` of integers are given without ``num_groups``, or the reverse.

    Examples
    --------
    >>> import matrics
    >>> joint = matrics.stats.joint_confusion_matrix([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0], num_classes=2)
    >>> joint.sum(-1)  # the confusion matrix of a
    array([[1, 1],
           [0, 2]])
    """
    classes = check_classes(num_classes, labels)
    label_arrays = {"y_true": y_true, "y_a": y_a, "y_b": y_b}
    if classes.labels is not None:
        _, label_arrays["y_b"], _ = as_codes(classes.labels, y_true, y_b, ignore_index, may_drop=False)
        label_arrays["y_true"], label_arrays["y_a"], ignore_index = as_codes(
            classes.labels, y_true, y_a, ignore_index, may_drop=False
        )
    n, (groups, number_of_groups) = classes.number, numbered_groups(groups, num_groups)
    check_size(n**3 * max(number_of_groups, 1), num_classes=n, num_groups=number_of_groups or None)
    numbers = dict.fromkeys(label_arrays, n)
    if groups is not None:
        label_arrays, numbers = {"groups": groups, **label_arrays}, {"groups": number_of_groups, **numbers}
    return count_jointly(label_arrays, numbers, sample_weight=sample_weight, ignored=check_ignore_index(ignore_index))


def check_joint(array: Array, backend: Standard) -> Array:
    """The array, checked to be a table of two classifiers on the same samples, (*B, n, n, n)."""
    shape = tuple(array.shape)
    if len(shape) < 3 or not shape[-1] == shape[-2] == shape[-3] != 0:
        raise ValueError(
            "joint: expected counts by true class, prediction of a and prediction of b (*B, n, n, n), as from "
            f"matrics.stats.joint_confusion_matrix(y_true, y_a, y_b, num_classes=n), got shape {shape}; two confusion "
            "matrices do not tell on which samples the classifiers differ"
        )
    if not (backend.is_integer(array) or backend.is_float(array)):
        raise TypeError(f"joint: expected counts, got dtype {array.dtype}")
    return array


def margins(table: Array, xp: Any) -> tuple[Array, Array]:
    """The matrices of a and of b (*, n, n), from joint tables (*, n, n²)."""
    n = table.shape[-2]
    cube = xp.reshape(table, (*table.shape[:-1], n, n))
    return xp.sum(cube, axis=-1), xp.sum(cube, axis=-2)


def difference_of(score: Score, xp: Any) -> Score:
    """A function of joint tables (*, n, n²): all measures of a minus those of b."""

    def difference(table: Array, workers: int) -> list[Array]:
        a, b = (score(margin, workers) for margin in margins(table, xp))
        return [value_a - value_b for value_a, value_b in zip(a, b, strict=True)]

    return difference


class McNemar(NamedResult):
    """McNemar's test, as from :func:`matrics.stats.mcnemar`.

    Parameters
    ----------
    statistic : array, shape (*B,)
        The smaller number of samples that a single classifier predicts correctly; or chi-squared.
    p_value : array, shape (*B,)
        Two-sided; 1 if no sample is predicted correctly by a single classifier, NaN for invalid tables.
    """

    statistic: Array
    p_value: Array


def mcnemar(joint: ArrayLike, *, exact: bool = True, mid_p: bool = False) -> McNemar:
    """McNemar's test of whether two classifiers are correct equally often, on the same samples.

    Parameters
    ----------
    joint : array_like, shape (*B, n, n, n)
        Counts by true class, class predicted by a, and class predicted by b, as from
        :func:`matrics.stats.joint_confusion_matrix` without weights.
    exact : bool, default True
        Whether to compute the p-value from the binomial distribution, by SciPy (extra ``stats``) on the host;
        otherwise of chi-squared with one degree of freedom, with a correction for continuity.
    mid_p : bool, default False
        Whether only half of the probability of the observed table counts (with ``exact``): the test is then less
        conservative. Where each is alone correct b times, this is 1 - f/2, with the probability f of b among 2 b.

    Returns
    -------
    McNemar
        The statistic and the p-value, arrays (*B,).

    Raises
    ------
    ValueError
        ``joint`` has no three equal axes of classes or a cell that is not a whole number, or ``mid_p`` is given without
        ``exact``.

    Notes
    -----
    The test counts samples, so it does not accept sums of weights: the p-value would depend on the unit of the weights.
    :func:`compare_paired` compares the accuracy of weighted samples with ``squared_weights``. Sums of weights that are
    whole numbers cannot be distinguished from counts, and are treated as counts. In compiled code, where values are not
    inspected, tables with cells that are not whole numbers have the statistic and the p-value NaN.

    References
    ----------
    McNemar 1947; Fagerland, Lydersen and Laake 2013 (mid-p).

    Examples
    --------
    >>> import matrics
    >>> y_true, a, b = [1] * 20, [1] * 18 + [0] * 2, [1] * 8 + [0] * 10 + [1] * 2
    >>> joint = matrics.stats.joint_confusion_matrix(y_true, a, b, num_classes=2)
    >>> result = matrics.stats.mcnemar(joint)
    >>> int(result.statistic), round(float(result.p_value), 4)  # a alone is correct 10 times, b alone twice
    (2, 0.0386)
    """
    if mid_p and not exact:
        raise ValueError("mid_p: expected False, as exact=False is another test")
    backend, (array,) = as_arrays(joint=joint)
    array = backend.detached(check_joint(array, backend))
    xp, diagonal = backend.xp, backend.xp.linalg.diagonal
    cells = backend.to_float(array)
    valid = xp.all(xp.isfinite(cells) & (cells >= 0), axis=(-3, -2, -1))
    if backend.is_float(array):
        tables = xp.reshape(cells, (math.prod(array.shape[:-3]), array.shape[-1], -1))
        counted = xp.reshape(are_counts(tables, backend), tuple(valid.shape))
        _refuse_weights(cells, valid & ~counted, backend)
        valid = valid & counted
    cells = xp.where(valid[..., None, None, None], cells, 0)
    right_a, right_b = (xp.sum(diagonal(xp.sum(cells, axis=axis)), axis=-1) for axis in (-1, -2))
    both = xp.sum(diagonal(diagonal(cells)), axis=-1)
    only_a, only_b = right_a - both, right_b - both
    smaller, number = xp.minimum(only_a, only_b), only_a + only_b
    if exact:
        p_value = backend.on_host(lambda least, of: _binomial(least, of, mid_p=mid_p), smaller, number)
        return _of_valid(smaller, p_value, valid, backend)
    corrected = xp.clip(xp.abs(only_a - only_b) - 1, 0, None)
    positive = number > 0
    statistic = xp.where(positive, corrected**2 / xp.where(positive, number, 1), 0)
    p_value = xp.where(positive, 2 * backend.normal_cdf(-xp.sqrt(statistic)), 1)
    return _of_valid(statistic, p_value, valid, backend)


def _refuse_weights(cells: Array, weighted: Array, backend: Standard) -> None:
    """Raise an error for tables with sums of weights, where values can be inspected."""
    if not backend.can_look(weighted) or not bool(backend.xp.any(weighted)):
        return
    values = backend.to_numpy(cells)
    is_part = backend.to_numpy(weighted)[..., None, None, None] & (
        np.abs(values - np.rint(values)) > ROUNDING * (1 + values)
    )
    place = tuple(map(int, np.argwhere(is_part)[0]))
    raise ValueError(
        f"joint: expected numbers of samples, got the cell {values[place]:g} at {place}; for weighted samples use "
        "matrics.compare_paired(joint, 'accuracy', squared_weights=...), with the joint table of the squared weights"
    )


def _of_valid(statistic: Array, p_value: Array, valid: Array, backend: Standard) -> McNemar:
    """The test's result, NaN for invalid tables."""
    statistic, p_value = (backend.xp.where(valid, values, math.nan) for values in (statistic, p_value))
    return McNemar(statistic[()], p_value[()]) if backend is NUMPY else McNemar(statistic, p_value)


def _binomial(least: Array, number: Array, *, mid_p: bool) -> Array:
    """Twice the probability of at most this many samples of probability 1/2; mid-p counts half of the last term."""
    at_most = _cdf(least, number)
    if not mid_p:
        return np.minimum(2 * at_most, 1)
    below = _cdf(least - 1, number)
    # With equal numbers, both tails contain the observed table, and half of it counts once.
    even = np.where(number > 0, 1 - (at_most - below) / 2, 1)
    return np.where(2 * least == number, even, at_most + below)


def _cdf(count: Array, number: Array) -> Array:
    """The binomial cumulative distribution, as an incomplete beta function, which supports large numbers."""
    inside = (count >= 0) & (count < number)
    value = special("betainc")(np.where(inside, number - count, 1), np.where(inside, count + 1, 1), 0.5)
    return np.where(inside, value, count >= 0)
