"""The measures of a ScoreState that have bounds: areas under curves, and measures of the k highest scores."""

from __future__ import annotations

import math
from typing import Any

from matrics._ranking.areas_of_state import Histograms
from matrics._ranking.averages import Average
from matrics._ranking.bounds import Bounded


class BoundedMeasures(tuple[Any, ...]):
    """The part of :class:`matrics.ScoreState` with the measures that follow from the counts of its buckets."""

    __slots__ = ()

    def roc_auc(self, *, average: Average | None = "auto", zero_division: float = math.nan) -> Bounded:
        """The area under the ROC curve, with bounds that contain the area of the exact scores.

        Parameters
        ----------
        average : {"auto", "macro", "weighted", "micro", "class"} or None, default "auto"
            Of class scores: ``"auto"`` is the area of class 1 of two, and the mean of those of more classes, each
            against the rest. Otherwise that mean, the mean weighted by numbers of true samples, the area of all scores
            together, or each (``None`` or ``"class"``). Undefined areas are left out of means. Without classes it has
            no meaning.
        zero_division : float, default NaN
            The value without positives or without negatives.

        Returns
        -------
        Bounded
            ``value``, in which a pair within a bin counts ½, ``low`` and ``high``: shape (*B,), or (*B, n) for
            ``average=None``.

        Notes
        -----
        The limits hold for any order inside each bucket, and are attained: low if in each bucket the negatives have the
        higher scores, high if the positives have. The scores 0, 1, -inf and inf have buckets of their own, and in these
        pairs count half. If every score is the first number of its bucket, as float16 and bfloat16 scores are with 10
        bits or more, equal scores are known to be equal, and the area is exact. The limits are moved apart by some ulps
        of 1, more than all errors of rounding; with weights they hold for the sums in the state.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(edges=[0, 0.25, 0.5, 0.75, 1]).update([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
        >>> [round(float(x), 3) for x in state.roc_auc()]
        [0.625, 0.5, 0.75]
        """
        return Histograms(self).area("roc_auc", average, zero_division)

    def average_precision(self, *, average: Average | None = "auto", zero_division: float = math.nan) -> Bounded:
        """The average precision, with bounds that contain the value of the exact scores.

        It is the sum, over thresholds, of the precision times the increase of recall, as in scikit-learn.

        Parameters
        ----------
        average : {"auto", "macro", "weighted", "micro", "class"} or None, default "auto"
            Of class scores: ``"auto"`` is the value of class 1 of two, and the mean of those of more classes, each
            against the rest. Otherwise that mean, the mean weighted by numbers of true samples, the value of all scores
            together, or each (``None`` or ``"class"``). Undefined values are left out of means. Without classes it has
            no meaning.
        zero_division : float, default NaN
            The value without positives.

        Returns
        -------
        Bounded
            ``value``, in which all scores of a bucket count as equal, ``low`` and ``high``: shape (*B,), or (*B, n) for
            ``average=None``.

        Notes
        -----
        The value is highest if the positives of each bucket have equal scores, above those of its negatives, and lowest
        if they have different scores, below those of its negatives. The lower limit replaces a sum by a logarithm, and
        so is slightly lower.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(edges=[0, 0.25, 0.5, 0.75, 1]).update([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
        >>> [round(float(x), 3) for x in state.average_precision()]
        [0.75, 0.75, 0.833]
        """
        return Histograms(self).area("average_precision", average, zero_division)

    def precision_at_k(self, k: int, *, average: Average | None = "auto", zero_division: float = math.nan) -> Bounded:
        """The share of positive samples among the k highest scores, with bounds for the exact scores.

        It is :func:`matrics.ranking.precision_at_k` of all samples, if the scores in the bucket of the k-th score are
        equal: the mean over all orders of these samples.

        Parameters
        ----------
        k : int
            The number of samples that are chosen, such as the alerts that are looked into each day.
        average : {"auto", "macro", "weighted", "micro", "class"} or None, default "auto"
            Of class scores: ``"auto"`` is the value of class 1 of two, and the mean of those of more classes, each
            against the rest. Otherwise that mean, the mean weighted by numbers of true samples, the value of all scores
            together, or each (``None`` or ``"class"``). Undefined values are left out of means. Without classes it has
            no meaning.
        zero_division : float, default NaN
            The value where there are fewer than k samples.

        Returns
        -------
        Bounded
            ``value``, in which all scores of a bucket count as equal, ``low`` and ``high``: shape (*B,), or (*B, n) for
            ``average=None``.

        Raises
        ------
        TypeError
            The state has weighted counts: k is a number of samples, of which a state with weights has no counts.
        ValueError
            ``k`` is not an integer of at least 1, the state keeps no areas, or there is no such average.

        Notes
        -----
        Let the bucket of the k-th score have p positives and q negatives, and m samples of this bucket be among the k.
        Of these, m p / (p + q) are positive in ``value``, max(0, m - q) in ``low`` and min(m, p) in ``high``. Both
        bounds are attained. Buckets in which all scores are known to be equal (see :meth:`roc_auc`) are exact.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(edges=[0, 0.25, 0.5, 0.75, 1])
        >>> state = state.update([0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.45, 0.8])
        >>> [round(float(x), 3) for x in state.precision_at_k(2)]  # 0.8, and 1 of the 3 scores between 0.25 and 0.5
        [0.833, 0.5, 1.0]
        """
        return Histograms(self).at_k("precision_at_k", k, average, zero_division)

    def recall_at_k(self, k: int, *, average: Average | None = "auto", zero_division: float = math.nan) -> Bounded:
        """The share of positive samples that are among the k highest scores, with bounds for the exact scores.

        It is :func:`matrics.ranking.recall_at_k` of all samples, with the bounds of :meth:`precision_at_k`. Whether the
        true class of a sample is among the k highest scores of its classes is :meth:`top_k_recall`.

        Parameters
        ----------
        k : int
            The number of samples that are chosen, such as the alerts that are looked into each day.
        average : {"auto", "macro", "weighted", "micro", "class"} or None, default "auto"
            Of class scores: ``"auto"`` is the value of class 1 of two, and the mean of those of more classes, each
            against the rest. Otherwise that mean, the mean weighted by numbers of true samples, the value of all scores
            together, or each (``None`` or ``"class"``). Undefined values are left out of means. Without classes it has
            no meaning.
        zero_division : float, default NaN
            The value without positive samples, or with fewer than k samples.

        Returns
        -------
        Bounded
            ``value``, in which all scores of a bucket count as equal, ``low`` and ``high``: shape (*B,), or (*B, n) for
            ``average=None``.

        Raises
        ------
        TypeError
            The state has weighted counts: k is a number of samples, of which a state with weights has no counts.
        ValueError
            ``k`` is not an integer of at least 1, the state keeps no areas, or there is no such average.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(edges=[0, 0.25, 0.5, 0.75, 1])
        >>> state = state.update([0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.45, 0.8])
        >>> [round(float(x), 3) for x in state.recall_at_k(2)]
        [0.556, 0.333, 0.667]
        """
        return Histograms(self).at_k("recall_at_k", k, average, zero_division)

    def lift_at_k(self, k: int, *, average: Average | None = "auto", zero_division: float = math.nan) -> Bounded:
        """The precision among the k highest scores divided by the share of positives, with bounds for the exact scores.

        It is :func:`matrics.ranking.lift_at_k` of all samples, with the bounds of :meth:`precision_at_k`: 1 if samples
        are chosen at random.

        Parameters
        ----------
        k : int
            The number of samples that are chosen, such as the alerts that are looked into each day.
        average : {"auto", "macro", "weighted", "micro", "class"} or None, default "auto"
            Of class scores: ``"auto"`` is the value of class 1 of two, and the mean of those of more classes, each
            against the rest. Otherwise that mean, the mean weighted by numbers of true samples, the value of all scores
            together, or each (``None`` or ``"class"``). Undefined values are left out of means. Without classes it has
            no meaning.
        zero_division : float, default NaN
            The value without positive samples, or with fewer than k samples.

        Returns
        -------
        Bounded
            ``value``, in which all scores of a bucket count as equal, ``low`` and ``high``: shape (*B,), or (*B, n) for
            ``average=None``.

        Raises
        ------
        TypeError
            The state has weighted counts: k is a number of samples, of which a state with weights has no counts.
        ValueError
            ``k`` is not an integer of at least 1, the state keeps no areas, or there is no such average.

        Examples
        --------
        >>> import matrics
        >>> state = matrics.ScoreState.zeros(edges=[0, 0.25, 0.5, 0.75, 1])
        >>> state = state.update([0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.45, 0.8])
        >>> [round(float(x), 3) for x in state.lift_at_k(2)]
        [1.389, 0.833, 1.667]
        """
        return Histograms(self).at_k("lift_at_k", k, average, zero_division)
