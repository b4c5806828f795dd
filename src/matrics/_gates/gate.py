"""gate(): whether a model fulfils requirements."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Literal

from matrics._catalogue.record import Metric
from matrics._gates.evidence import read_evidence
from matrics._gates.requirements import Other, read_requirements
from matrics._gates.results import GateResult
from matrics._gates.verdicts import check_options, decide
from matrics._judged.counts import JudgedCounts
from matrics.typing import ArrayLike


def gate(
    y_true_or_cm: ArrayLike | JudgedCounts,
    requirements: str | Metric | Iterable[str | Metric],
    *,
    y_pred: ArrayLike | None = None,
    y_score: ArrayLike | None = None,
    groups: ArrayLike | Sequence[Hashable] | None = None,
    reference: Hashable = None,
    baseline: ArrayLike | None = None,
    margin: float = 0.0,
    level: float = 0.95,
    correction: Literal["none", "bonferroni"] | None = None,
    on_undecided: Literal["pass", "fail"] | None = None,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
    lower_is_positive: bool = False,
    sample_weight: ArrayLike | None = None,
    squared_weights: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    clusters: ArrayLike | None = None,
    zero_division: float = math.nan,
) -> GateResult:
    """Decide whether a model fulfils requirements, by confidence intervals: pass, fail, or undecided.

    Parameters
    ----------
    y_true_or_cm : array_like, shape (n, n), or (N,) with ``y_pred`` or ``y_score``; or JudgedCounts
        A confusion matrix (with ``groups`` several, (G, n, n)), or true labels; or the counts of
        :func:`matrics.judged.count`: a judge has labelled all samples, and people some of them.
    requirements : str, Metric, or several of them
        Bounds such as ``"mcc >= 0.8"`` and ``"recall[fraud] > 0.9"``, with ``>=``, ``>``, ``<=`` or ``<``. With a
        baseline or a reference group also measures without a bound, such as ``"mcc"``: they must not be worse than
        those of the baseline or of the reference group by more than ``margin``. A measure of every class
        (``"recall:class >= 0.5"``) is a requirement for each class. With ``y_score`` also measures of scores, such as
        ``"roc_auc >= 0.9"``.
    y_pred : array_like, shape (N,), optional
        Predicted labels, if the first argument has true labels. Floating numbers are class scores, of which the largest
        is the prediction.
    y_score : array_like of floating numbers, shape (N,) or (N, n), optional
        Scores of class 1 of two, or of the ``positive`` class, or of each of n classes, for measures of scores. Those of
        :func:`matrics.ranking.interval` have limits.
    groups : array_like, shape (N,), or sequence of hashables, length G, optional
        The group of each sample, such as its month or its site: each requirement has to be fulfilled in each group. The
        groups are in the order of the categories of a data frame, or else sorted. For matrices (G, n, n), and counts
        of judged samples of groups, the name of each group.
    reference : hashable, optional
        The group with which all other groups are compared, as the samples of a baseline are; there is no baseline then.
    baseline : array_like, shape (n, n), or (N,) with ``y_pred``, optional
        The confusion matrix of another model on other samples; with ``y_pred``, the labels that the other model
        predicted for the same samples. With ``groups`` each group is compared with the same group of the baseline, of
        which there are as many matrices (G, n, n).
    margin : float, default 0
        By how much a measure may be worse than that of the baseline, or of the reference group.
    level : float, default 0.95
        The confidence level of the two-sided intervals.
    correction : {"none", "bonferroni"}, optional
        With groups: whether limits are adjusted for the number of groups, so that those of a requirement hold for all
        groups together. By default those of differences (from the reference group, or from the baseline) are, and
        others are not: a gate passes only if each group does, which becomes less likely with more groups, and not more.
    on_undecided : {"pass", "fail"}, optional
        The verdict in place of ``"undecided"``.
    num_classes : int, optional
        Number of classes; labels are 0 to n - 1.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order. If neither is given, the classes are those among the labels, sorted.
    class_names : sequence of str, optional
        Names of the classes of a matrix.
    positive : hashable, optional
        The positive class: a label where there are labels, a class name where there are ``class_names``, and an index
        otherwise. Per-class measures without an average are values of this class. Without it they are values of class 1
        of two classes, and means over more (``macro``).
    lower_is_positive : bool, default False
        Whether scores are lower in the positive class, as those of a test whose low values mean an illness. For scores
        of a single class.
    sample_weight : array_like, shape (N,), optional
        A weight for each sample, with labels.
    squared_weights : array_like, shape (n, n), optional
        With a matrix of weights: the matrix of their squares, as ``confusion_matrix(..., sample_weight=weights**2)``
        counts it. With a baseline it is a pair of such matrices, of the model and of the baseline. With
        ``groups`` those of each group, (G, n, n).
    clusters : array_like, shape (N,), optional
        The cluster of each sample, with labels: such as a patient or a question that is answered several times.
        Clusters are independent, and the samples of a cluster are not.
    zero_division : float, default NaN
        The value of undefined measures (0/0).

    Returns
    -------
    GateResult
        The verdict, and the verdict on each requirement. The result is true if the verdict is ``"pass"``.

    Raises
    ------
    ValueError
        A requirement cannot be read, its bound is outside the range of the measure, a measure has no better direction
        to compare it in, or several matrices are given.
    TypeError
        Labels are given without ``y_pred``, or options of labels with a matrix.
    InvalidConfusionMatrix
        A cell is negative, NaN or infinite.

    Notes
    -----
    A requirement passes if the whole interval fulfils it, fails if no part of the interval does, and is undecided
    otherwise. A requirement with an interval whose status is not 0, for example because there are few samples, is
    undecided or fails. With fewer than five errors only the limit on the side of better values may be wrong, so the
    other limit decides: a perfect model passes. An undefined value has no limits, and is undecided. The gate fails if a
    requirement fails, and otherwise is undecided if a requirement is undecided. Each requirement has an interval at
    ``level``, without correction for their number: more requirements do not make it more likely that a bad model passes.

    The intervals are computed by :func:`matrics.interval`, for measures of scores by :func:`matrics.ranking.interval`,
    for judged samples by :func:`matrics.judged.interval`, and for a baseline by :func:`matrics.compare_paired` (the same
    samples) or :func:`matrics.compare` (other samples). Groups have different samples, so differences from a reference
    group have the limits of :func:`matrics.compare`. For measures of scores and judged samples these are recovered from
    the limits of both groups (MOVER). The samples must be independent, unless they have ``clusters``.

    Examples
    --------
    >>> import matrics
    >>> result = matrics.gate([[880, 20], [15, 85]], "mcc >= 0.7, recall[1] >= 0.8")
    >>> print(result)
    mcc >= 0.7: pass; 0.810, 95 % between 0.738 and 0.863
    recall of class 1 >= 0.8: undecided; 0.850, 95 % between 0.767 and 0.907; about 2,470 samples would decide (now 1,000)
    most frequent errors:
      0 predicted as 1: 20 (2.2% of 0)
      1 predicted as 0: 15 (15.0% of 1)
    >>> result.verdict, bool(result)
    ('undecided', False)

    A new and an old model on the same samples, with a margin:

    >>> y_true = ["ok", "fraud"] * 200
    >>> old = ["ok", "fraud"] * 180 + ["fraud", "ok"] * 20
    >>> new = ["ok", "fraud"] * 182 + ["fraud", "ok"] * 18
    >>> print(matrics.gate(y_true, "accuracy", y_pred=new, baseline=old, margin=0.02))
    accuracy - baseline >= -0.02: pass; 0.010, 95 % between -0.002 and 0.024

    Each month alone, and each month compared with the first month:

    >>> months = {"2026-01": [[880, 20], [15, 85]], "2026-02": [[870, 30], [12, 88]], "2026-03": [[790, 110], [30, 70]]}
    >>> result = matrics.gate(
    ...     list(months.values()), ["recall[1] >= 0.6", "accuracy"], groups=list(months), reference="2026-01", margin=0.05
    ... )
    >>> print(result)
    2026-01: recall of class 1 >= 0.6: pass; 0.850, 95 % between 0.767 and 0.907
    2026-02: recall of class 1 >= 0.6: pass; 0.880, 95 % between 0.802 and 0.930
    2026-03: recall of class 1 >= 0.6: pass; 0.700, 95 % between 0.604 and 0.781
    2026-02: accuracy - reference >= -0.05: pass; -0.007, 97.5 % between -0.027 and 0.013
    2026-03: accuracy - reference >= -0.05: fail; -0.105, 97.5 % between -0.134 and -0.077
    limits hold for each group alone: they are not adjusted for the number of groups
    limits of differences are adjusted for 2 groups: 97.5 % each, 95 % together (Bonferroni)
    most frequent errors:
      0 predicted as 1: 160 (5.9% of 0)
      1 predicted as 0: 57 (19.0% of 1)
    """  # noqa: E501 (printed lines)
    other: Other | None = "reference" if reference is not None else "baseline" if baseline is not None else None
    margin = check_options(
        margin, on_undecided, other=other is not None, correction=correction, has_groups=groups is not None
    )
    samples, classes = read_evidence(
        y_true_or_cm,
        y_pred,
        baseline,
        name="y_true_or_cm",
        num_classes=num_classes,
        labels=labels,
        class_names=class_names,
        positive=positive,
        lower_is_positive=lower_is_positive,
        sample_weight=sample_weight,
        squared_weights=squared_weights,
        clusters=clusters,
        y_score=y_score,
        groups=groups,
        reference=reference,
    )
    are_probabilities = samples.are_probabilities
    bounds = read_requirements(requirements, classes, margin, other=other, are_probabilities=are_probabilities)
    return decide(
        bounds,
        samples,
        classes,
        level=level,
        correction=correction,
        on_undecided=on_undecided,
        zero_division=zero_division,
    )
