"""The results of intervals and comparisons, and the reasons against relying on them."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Self

import numpy as np

from matrics._arrays import Array
from matrics._engine.results import NamedResult, frame_of


class IntervalStatus(IntEnum):
    """Why the limits of an interval are missing or unreliable; ``sentence`` has the reason in words.

    Up to 7, a larger number is a more serious problem; if there are several problems, the status is the most serious
    problem. 8 to 11 are as minor as 1. 11 to 13 are of estimates of a prevalence, and 12 and 13 leave it undefined.

    The status is about the samples that a measure depends on. Accuracy depends on no class, a recall on its row, a
    precision on its column, MCC and averages over classes on all classes. A proportion needs 20 samples in its
    denominator, and of these 5 successes and 5 failures. Other measures need 20 samples of every class, 20 n² in all,
    5 errors and 5 correct predictions; two measures, whose limits do not hold with so few samples, need more. The
    derivatives by the cells decide what a measure depends on, also of an own measure. Measures whose limits missed the
    true value too often for any number of samples, such as EVE of more than two classes, have the status
    ``LIMITS_MISS`` in place of 0.

    Status 0 of 95 % limits promises that at most 7 of 100 data sets have the status 0 and limits that miss the true
    value. Where nearly all data sets have the status 0, the coverage therefore is at least 93 %. This holds exactly for
    proportions of independent samples; the documentation has simulations of other measures. The status depends on the
    data. So the coverage among data sets with the status 0 may be lower where five errors are hardly expected: such a
    data set has more errors than most.

    Examples
    --------
    >>> import matrics
    >>> matrics.IntervalStatus(1).sentence
    'few samples: below 20 of a class (or of its clusters), 20 n² (or more) in all or 5 errors; may miss the truth'
    """

    sentence: str

    def __new__(cls, value: int, sentence: str) -> Self:
        """A code with its sentence."""
        status = int.__new__(cls, value)
        status._value_ = value
        status.sentence = sentence
        return status

    OK = 0, "the limits can be relied on"
    FEW_SAMPLES = (
        1,
        "few samples: below 20 of a class (or of its clusters), 20 n² (or more) in all or 5 errors; may miss the truth",
    )
    EMPTY_CLASS = (
        2,
        "a true class has no samples: limits are for the other classes, and a prevalence has no estimate",
    )
    UNDEFINED_REPLICATES = (
        3,
        "more than a twentieth of the replicates are undefined, and left out of the limits",
    )
    NOT_COUNTS = (
        4,
        "cells are not whole numbers: limits for weighted samples need squared_weights=; these treat cells as counts",
    )
    NO_VARIATION = (
        5,
        "no limits: the method has no usable estimate of the variance, as without errors or at the end of a range",
    )
    UNDEFINED = 6, "the measure is undefined for this matrix"
    INVALID = 7, "the matrix is invalid: a cell, a count or a probability is negative, NaN or infinite"
    FEW_LABELS = (
        8,
        "few true labels: below 10 of a class, 5 errors or 2 of a stratum of judged samples; limits may miss the truth",
    )
    BIASED = (
        9,
        "estimate biased by over a tenth of its standard error (as a minimum of similar classes); may miss the truth",
    )
    LIMITS_MISS = (
        10,
        "limits of this measure missed the true value in over 7 % of simulated data sets like this data set",
    )
    AT_THE_EDGE = (
        11,
        "a share would be negative by the rates of the matrix, and is 0; its covariance is that of a share inside",
    )
    UNDETERMINED = 12, "two classes are predicted alike: the predictions do not determine the class of a sample"
    NO_SAMPLES = 13, "there are no samples without labels"


class Interval(NamedResult, optional=1):
    """An interval of each matrix of a stack, as from :func:`matrics.interval`; all arrays have the shape of the scores.

    Parameters
    ----------
    estimate : array
        The measure of the matrix itself.
    low, high : array
        The limits; NaN if there are none.
    standard_error : array
        The standard error of the estimate.
    undefined : array of int
        The number of replicates for which the measure is undefined; 0 for methods without replicates.
    status : array of int
        Why the limits are missing or not to be relied on: a code of :class:`matrics.IntervalStatus`.
    effective_labels : array, optional
        Of :func:`matrics.judged.interval`: how many samples with true labels alone, drawn at random, would give this
        standard error.
    """

    estimate: Array
    low: Array
    high: Array
    standard_error: Array
    undefined: Array
    status: Array
    effective_labels: Array = None


class Comparison(NamedResult, optional=3):
    """A comparison of two classifiers, as from :func:`matrics.compare`; all arrays have the shape of the scores.

    Parameters
    ----------
    difference : array
        The measure of a minus that of b.
    low, high : array
        Its limits; NaN if there are none.
    standard_error : array
        Its standard error.
    probability : array
        The probability that a is better: higher, or lower if lower values are better. Without draws it is computed from
        a normal distribution with these limits, with a posterior from the posterior, and otherwise as the share of the
        replicates. NaN for measures without a better direction.
    status : array of int
        A code of :class:`matrics.IntervalStatus`.
    unpaired_width : array, optional
        Of :func:`matrics.compare_paired`: the width that the interval would have if the samples of both were
        independent.
    p_value : array, optional
        Of :func:`matrics.compare_paired`: of the hypothesis that both have the same value, for accuracy, and for the
        sensitivity and the specificity of a class; NaN for other measures.
    effective_labels : array, optional
        Of :func:`matrics.judged.compare`: how many samples with true labels alone, drawn at random, would give this
        standard error of the difference.
    """

    difference: Array
    low: Array
    high: Array
    standard_error: Array
    probability: Array
    status: Array
    unpaired_width: Array = None
    p_value: Array = None
    effective_labels: Array = None


class ModelComparison(NamedResult, optional=2):
    """A comparison of M models on the same samples, as from :func:`matrics.compare_models`; class axes come last.

    Parameters
    ----------
    intervals : Interval
        The interval of each model: arrays (*B, M) or (*B, M, n).
    differences : Comparison
        All pairwise differences, row less column: arrays (*B, M, M) or (*B, M, M, n).
    probability_best : array, shape (*B, M) or (*B, M, n)
        The probability of each model of being the best.
    tied : array of bool, shape (*B, M) or (*B, M, n)
        Which models are not significantly different from the best (itself included), corrected for comparing all.
    names : tuple of str, length M, optional
        The names of the models, where predictions or scores were a mapping of names.
    p_value : array, shape (*B, M, M) or (*B, M, M, n), optional
        Of :func:`matrics.ranking.compare`: of the hypothesis that two models have the same value, two-sided; 1 on the
        diagonal. Of each pair alone: it is ``tied`` that is corrected for looking at all pairs.
    """

    intervals: Interval
    differences: Comparison
    probability_best: Array
    tied: Array
    names: tuple[str, ...] | None = None
    p_value: Array = None

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each element of the arrays; with names, ``model`` is their column."""
        if self.names is None:
            return super().to_frame()
        return frame_of({"model": np.asarray(self.names, object), **self._replace(names=None)._asdict()}, indexed=False)
