"""Differences between groups of samples in the value of a measure."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, as_arrays
from matrics._catalogue.classes import Classes, labels_of_frame
from matrics._catalogue.naming import names_or_labels
from matrics._catalogue.registry import get_metric
from matrics._engine.evaluation import Invalid, as_stack
from matrics._engine.results import NamedResult
from matrics._quoting import quoted
from matrics._scoring.score import score
from matrics.typing import ArrayLike


class Disparity(NamedResult):
    """The smallest and the largest value over groups, and their difference and ratio.

    Parameters
    ----------
    minimum, maximum : array, shape (*B,)
        Over the groups with a defined value.
    difference : array, shape (*B,)
        ``maximum - minimum``; 0 if all groups are alike. NaN if fewer than two groups have a value.
    ratio : array, shape (*B,)
        ``minimum / maximum``; 1 if all groups are alike. NaN if fewer than two groups have a value.
    undefined : array of int, shape (*B,)
        How many groups have no defined value, and are left out.
    """

    minimum: Array
    maximum: Array
    difference: Array
    ratio: Array
    undefined: Array


class EqualizedOdds(NamedResult):
    """Differences between groups in two rates, and in the worse of both.

    Parameters
    ----------
    difference : array, shape (*B,)
        The larger of the differences of both rates.
    ratio : array, shape (*B,)
        The smaller of the ratios of both rates.
    true_positive_rate, false_positive_rate : Disparity
        The disparity of each rate.
    """

    difference: Array
    ratio: Array
    true_positive_rate: Disparity
    false_positive_rate: Disparity


def disparity(values: ArrayLike, *, axis: int = -1) -> Disparity:
    """Compare the values of groups: the smallest, the largest, their difference and their ratio.

    Parameters
    ----------
    values : array_like, shape (*B, G)
        The values of any measure for each group, for example from :func:`matrics.score` of a stack of the groups'
        confusion matrices.
    axis : int, default -1
        The axis of the groups.

    Returns
    -------
    Disparity
        Of arrays (*B,). Groups whose value is NaN (undefined) are left out, and ``undefined`` is their number. The
        minimum and the maximum are NaN if all values are NaN; the difference and the ratio are NaN if fewer than two
        groups have a value. The ratio is also NaN where the largest value is 0 or the smallest is negative, because a
        ratio needs a scale that starts at 0. The result is differentiable.

    Raises
    ------
    ValueError
        There is no such axis, or no group along it.
    TypeError
        The values are not real numbers.

    Notes
    -----
    With few samples, the extremes of many groups differ by chance, and the more groups there are, the
    more. :func:`matrics.interval` shows how precisely each group's value is known.

    Minimum, maximum and difference are those of Fairlearn's ``MetricFrame`` (``between_groups``), which leaves NaN out
    as well; so does the ratio where no value is negative. For a single group, Fairlearn's difference is 0 and its ratio
    1.

    References
    ----------
    Weerts et al. 2023, Fairlearn: Assessing and improving fairness of AI systems.

    Examples
    --------
    >>> import matrics
    >>> print(matrics.fairness.disparity([0.5, 0.8, float("nan"), 0.4]))
    Disparity(minimum=0.4, maximum=0.8, difference=0.4, ratio=0.5, undefined=1)
    """
    backend, (array,) = as_arrays(values=values)
    if not (backend.is_integer(array) or backend.is_float(array)):
        raise TypeError(f"values: expected real numbers, one for each group, got dtype {array.dtype}")
    shape = tuple(array.shape)
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)) or not -len(shape) <= axis < len(shape):
        raise ValueError(
            f"axis: expected one of the axes of the values, which have the shape {shape}, got {quoted(axis)}"
        )
    if shape[axis] == 0:
        raise ValueError(f"values: expected at least one group along axis={axis}, got shape {shape}")
    array, xp = backend.to_float(array), backend.xp
    with backend.quiet():
        undefined = xp.isnan(array)
        number = xp.sum(xp.astype(undefined, backend.widest_int(array) or xp.int32), axis=axis)
        has_defined, several = number < shape[axis], number < shape[axis] - 1
        minimum = xp.where(has_defined, xp.min(xp.where(undefined, math.inf, array), axis=axis), math.nan)
        maximum = xp.where(has_defined, xp.max(xp.where(undefined, -math.inf, array), axis=axis), math.nan)
        # Replaced before the division, as the gradient passes through both branches of where.
        known = several & (minimum >= 0) & (maximum > 0)
        ratio = backend.divide(xp.where(known, minimum, 0), xp.where(known, maximum, 1))
        difference = xp.where(several, maximum - minimum, math.nan)
        return _result(backend, minimum, maximum, difference, xp.where(known, ratio, math.nan), number)


def _result(backend: Any, *fields: Array) -> Disparity:
    """Numbers of NumPy instead of its arrays without an axis."""
    return Disparity(*(field[()] if backend is NUMPY else field for field in fields))


def demographic_parity(
    cm: ArrayLike,
    *,
    positive: Hashable = None,
    class_names: Sequence[str] | None = None,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
) -> Disparity:
    """Differences between groups in their selection rate: the share of samples predicted as positive.

    Parameters
    ----------
    cm : array_like, shape (*B, G, 2, 2)
        The confusion matrix of each group, as counted by :func:`matrics.confusion_matrix` with ``groups``.
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, and an index otherwise. Class 1 if left out.
    class_names : sequence of str, optional
        Names of the classes, in their order.
    zero_division : float, default NaN
        The rate of a group without samples. With NaN such groups are left out.
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and no
        other matrix is affected. ``"warn"`` names the first of them if the check is cheap (NumPy); ``"raise"`` checks
        on every backend, which waits for the device.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results.

    Returns
    -------
    Disparity
        Of arrays (*B,): a difference of 0 and a ratio of 1 are demographic parity. NaN where a group's matrix is
        invalid, and where fewer than two groups have samples; the ratio also where no sample is predicted as positive.

    Raises
    ------
    ValueError
        There are more than two classes, or no axis of groups, or ``positive`` is none of the classes.

    References
    ----------
    Calders, Kamiran and Pechenizkiy 2009; Fairlearn's ``demographic_parity_difference`` and
    ``demographic_parity_ratio``.

    Examples
    --------
    >>> import matrics
    >>> cm = [[[30, 10], [5, 55]], [[40, 20], [10, 30]]]  # 65 and 50 of 100 are predicted as 1
    >>> matrics.fairness.demographic_parity(cm).difference.round(2)
    np.float64(0.15)
    """
    (rates,) = _disparities(
        cm,
        ["predicted_prevalence"],
        class_names,
        positive,
        {"zero_division": zero_division, "invalid": invalid, "workers": workers},
    )
    return rates


def equal_opportunity(
    cm: ArrayLike,
    *,
    positive: Hashable = None,
    class_names: Sequence[str] | None = None,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
) -> Disparity:
    """Differences between groups in their recall (true positive rate).

    Parameters
    ----------
    cm : array_like, shape (*B, G, 2, 2)
        The confusion matrix of each group, as counted by :func:`matrics.confusion_matrix` with ``groups``.
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, and an index otherwise. Class 1 if left out.
    class_names : sequence of str, optional
        Names of the classes, in their order.
    zero_division : float, default NaN
        The recall of a group without positive samples. With NaN such groups are left out; Fairlearn counts them as 0.
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and no
        other matrix is affected. ``"warn"`` names the first of them if the check is cheap (NumPy); ``"raise"`` checks
        on every backend, which waits for the device.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results.

    Returns
    -------
    Disparity
        Of arrays (*B,): a difference of 0 and a ratio of 1 are equal opportunity. NaN where a group's matrix is
        invalid, and where fewer than two groups have positive samples; the ratio also where no group has a true
        positive.

    Raises
    ------
    ValueError
        There are more than two classes, or no axis of groups, or ``positive`` is none of the classes.

    References
    ----------
    Hardt, Price and Srebro 2016, definition 2.2; Fairlearn's ``equal_opportunity_difference`` and
    ``equal_opportunity_ratio``.

    Examples
    --------
    >>> import matrics
    >>> cm = [[[30, 10], [6, 54]], [[40, 20], [10, 30]]]  # recalls 0.9 and 0.75
    >>> matrics.fairness.equal_opportunity(cm).difference.round(2)
    np.float64(0.15)
    """
    (recalls,) = _disparities(
        cm, ["recall"], class_names, positive, {"zero_division": zero_division, "invalid": invalid, "workers": workers}
    )
    return recalls


def equalized_odds(
    cm: ArrayLike,
    *,
    positive: Hashable = None,
    class_names: Sequence[str] | None = None,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
) -> EqualizedOdds:
    """Differences between groups in their true and false positive rates, and in the worse of both.

    Parameters
    ----------
    cm : array_like, shape (*B, G, 2, 2)
        The confusion matrix of each group, as counted by :func:`matrics.confusion_matrix` with ``groups``.
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, and an index otherwise. Class 1 if left out.
    class_names : sequence of str, optional
        Names of the classes, in their order.
    zero_division : float, default NaN
        A rate of a group without positive (or negative) samples. With NaN such groups are left out of that rate;
        Fairlearn counts them as 0.
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and no
        other matrix is affected. ``"warn"`` names the first of them if the check is cheap (NumPy); ``"raise"`` checks
        on every backend, which waits for the device.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results.

    Returns
    -------
    EqualizedOdds
        Of arrays (*B,): the larger of both differences, the smaller of both ratios, and the :class:`Disparity` of each
        rate. A difference of 0 and a ratio of 1 are equalized odds. NaN where a group's matrix is invalid, and where
        that of either rate is NaN: fewer than two groups have that rate, or, for the ratio, it is 0 in all groups.

    Raises
    ------
    ValueError
        There are more than two classes, or no axis of groups, or ``positive`` is none of the classes.

    References
    ----------
    Hardt, Price and Srebro 2016, definition 2.1; Fairlearn's ``equalized_odds_difference`` and
    ``equalized_odds_ratio`` (``agg="worst_case"``).

    Examples
    --------
    >>> import matrics
    >>> cm = [[[30, 10], [6, 54]], [[40, 40], [10, 30]]]
    >>> odds = matrics.fairness.equalized_odds(cm)
    >>> odds.difference.round(2), odds.ratio.round(2)  # of the false positive rates, 0.25 and 0.5
    (np.float64(0.25), np.float64(0.5))
    >>> odds.true_positive_rate.difference.round(2)
    np.float64(0.15)
    """
    recall, fpr = _disparities(
        cm,
        ["recall", "fpr"],
        class_names,
        positive,
        {"zero_division": zero_division, "invalid": invalid, "workers": workers},
    )
    backend, fields = as_arrays(a=recall.difference, b=fpr.difference, c=recall.ratio, d=fpr.ratio)
    difference, ratio = backend.xp.maximum(*fields[:2]), backend.xp.minimum(*fields[2:])
    return EqualizedOdds(difference, ratio, recall, fpr)


def _disparities(
    cm: Any, names: list[str], class_names: Sequence[str] | None, positive: Hashable, options: dict[str, Any]
) -> list[Disparity]:
    """Disparities of per-class measures of the positive class, over the last axis of the batch."""
    labels = labels_of_frame(cm)
    backend, cm = as_stack(cm)
    shape = tuple(cm.shape)
    if shape[-1] != 2:
        raise ValueError(
            f"cm: expected two classes, (*B, groups, 2, 2), got shape {shape}; for each class against the rest take "
            "matrics.transform.one_vs_rest(cm), whose classes are axis -3, and move its axis of groups, -4, there: "
            "(*B, n, groups, 2, 2)"
        )
    if len(shape) < 3 or shape[-3] == 0:
        raise ValueError(f"cm: expected a confusion matrix for each group, (*B, groups, 2, 2), got shape {shape}")
    # The size of the population is NaN only in invalid matrices: undefined groups are left out, invalid groups are not.
    classes = Classes.of(2, names_or_labels(class_names, 2, labels), positive, by_construction=True)
    measures = [get_metric(name).resolved_for(classes) for name in [*names, "population"]]
    *values, sizes = score(cm, measures, **options).values()
    xp = backend.xp
    valid = ~xp.any(xp.isnan(sizes), axis=-1)
    return [
        _result(backend, *(xp.where(valid, field, math.nan) for field in result[:-1]), result.undefined)
        for result in map(disparity, values)
    ]
