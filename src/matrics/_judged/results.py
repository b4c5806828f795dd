"""What matrics.judged.interval() and matrics.judged.compare() return."""

from __future__ import annotations

from typing import Any, NamedTuple

from matrics._arrays import Array
from matrics._engine.results import frame_of, short_repr, to_dict
from matrics._uncertainty.results import Interval


class JudgedInterval(NamedTuple):
    """An interval as from :func:`matrics.judged.interval`: the fields of :class:`matrics.Interval` and one more.

    Parameters
    ----------
    estimate, low, high, standard_error, undefined, status : array
        As of :class:`matrics.Interval`.
    effective_labels : array
        How many samples with true labels alone, drawn at random, would give this standard error.
    """

    estimate: Array
    low: Array
    high: Array
    standard_error: Array
    undefined: Array
    status: Array
    effective_labels: Array

    def __repr__(self) -> str:
        return short_repr(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and texts, as :func:`matrics.to_dict` gives them."""
        return to_dict(self)

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each element of the arrays."""
        return frame_of(self)


class JudgedComparison(NamedTuple):
    """A comparison as from :func:`matrics.judged.compare`: a :class:`matrics.results.Comparison` and one field more.

    Parameters
    ----------
    difference, low, high, standard_error, probability, status : array
        As of :class:`matrics.results.Comparison`.
    effective_labels : array
        How many samples with true labels alone, drawn at random, would give this standard error of the difference.
    """

    difference: Array
    low: Array
    high: Array
    standard_error: Array
    probability: Array
    status: Array
    effective_labels: Array

    def __repr__(self) -> str:
        return short_repr(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and texts, as :func:`matrics.to_dict` gives them."""
        return to_dict(self)

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each element of the arrays."""
        return frame_of(self)


class JudgeQuality(NamedTuple):
    """How good a judge is, as from :func:`matrics.judged.quality`.

    Parameters
    ----------
    matrix : array, shape (*B, n, n)
        The judge's own confusion matrix: labelled samples by true class and the judge's label.
    scores : dict of str to Interval
        Measures of that matrix with limits.
    odds_ratio : array, shape (*B,)
        How many times as large the odds of an error of the judge are where the model errs (Mantel and Haenszel 1959):
        1 if its errors do not depend on the model, above 1 if it makes the same ones.
    statistic : array, shape (*B,)
        The statistic of the test that it is 1: chi-squared with one degree of freedom.
    p_value : array, shape (*B,)
        Its p-value; NaN where no class has errors of both and correct labels of both.
    """

    matrix: Array
    scores: dict[str, Interval]
    odds_ratio: Array
    statistic: Array
    p_value: Array

    def __repr__(self) -> str:
        return short_repr(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and texts, as :func:`matrics.to_dict` gives them."""
        return to_dict(self)


class LabelsNeeded(NamedTuple):
    """How many labels are needed, as from :func:`matrics.judged.labels_needed`.

    Parameters
    ----------
    labels : array, shape (*B,)
        The number of labelled samples in all, drawn at random; infinite if all samples would not be enough.
    more : array, shape (*B,)
        How many of them are missing; 0 if there are enough.
    in_strata : array, shape (*B,)
        The number in all if the missing ones are drawn as ``allocation`` says.
    allocation : array, shape (*B, n, n)
        How many samples of each judge's label and prediction to label next. They add up to the missing ones of
        ``in_strata``; NaN where that is infinite.
    """

    labels: Array
    more: Array
    in_strata: Array
    allocation: Array

    def __repr__(self) -> str:
        return short_repr(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and texts, as :func:`matrics.to_dict` gives them."""
        return to_dict(self)
