"""What matrics.judged.quality() and matrics.judged.labels_needed() return."""

from __future__ import annotations

from matrics._arrays import Array
from matrics._engine.results import NamedResult
from matrics._uncertainty.results import Interval


class JudgeQuality(NamedResult):
    """How good a judge is, as from :func:`matrics.judged.quality`.

    Parameters
    ----------
    matrix : array, shape (*B, n, n)
        The judge's own confusion matrix: labelled samples by true class and the judge's label.
    answered : array, shape (*B,)
        The share of all samples that the judge has labelled.
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
    answered: Array
    scores: dict[str, Interval]
    odds_ratio: Array
    statistic: Array
    p_value: Array


class LabelsNeeded(NamedResult):
    """How many labels are needed, as from :func:`matrics.judged.labels_needed`.

    Parameters
    ----------
    labels : array, shape (*B,)
        The number of labelled samples in all, drawn at random; infinite if all samples would not be enough.
    more : array, shape (*B,)
        How many of them are missing; 0 if there are enough.
    in_strata : array, shape (*B,)
        The number in all if the missing ones are drawn as ``allocation`` says.
    allocation : array, shape (*B, n, n) or (*B, n + 1, n)
        How many samples of each judge's label and prediction to label next. They add up to the missing ones of
        ``in_strata``; NaN where that is infinite.
    """

    labels: Array
    more: Array
    in_strata: Array
    allocation: Array
