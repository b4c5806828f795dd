"""The results of matrics.judged.quality() and matrics.judged.labels_needed()."""

from __future__ import annotations

from matrics._arrays import Array
from matrics._engine.results import NamedResult
from matrics._uncertainty.results import Interval


class JudgeQuality(NamedResult):
    """The quality of a judge, as from :func:`matrics.judged.quality`.

    Parameters
    ----------
    matrix : array, shape (*B, n, n)
        The confusion matrix of the judge: labelled samples by true class and judge's label.
    answered : array, shape (*B,)
        The share of all samples that the judge has labelled.
    scores : dict of str to Interval
        Measures of ``matrix`` with confidence limits.
    odds_ratio : array, shape (*B,)
        The odds of an error of the judge where the model errs, divided by the odds where the model is right (Mantel and
        Haenszel 1959): 1 if errors of the judge do not depend on the model, above 1 if they coincide with its errors.
    statistic : array, shape (*B,)
        The statistic of the test whether the odds ratio is 1: chi-squared with a single degree of freedom.
    p_value : array, shape (*B,)
        The p-value of the test; NaN unless both have errors and correct labels in the same class.
    """

    matrix: Array
    answered: Array
    scores: dict[str, Interval]
    odds_ratio: Array
    statistic: Array
    p_value: Array


class LabelsNeeded(NamedResult):
    """The number of labels that are needed, as from :func:`matrics.judged.labels_needed`.

    Parameters
    ----------
    labels : array, shape (*B,)
        The total number of labelled samples, drawn at random; infinite if labels of all samples do not suffice.
    more : array, shape (*B,)
        The number of labels that are missing; 0 if there are enough.
    in_strata : array, shape (*B,)
        The total number if the missing labels are allocated by ``allocation``.
    allocation : array, shape (*B, n, n) or (*B, n + 1, n)
        The number of samples of each judge's label and prediction to label next. The sum is the number of labels that
        are missing for ``in_strata``; NaN where ``in_strata`` is infinite.
    """

    labels: Array
    more: Array
    in_strata: Array
    allocation: Array
