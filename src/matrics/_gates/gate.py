"""gate(): whether a model fulfils requirements."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Literal

from matrics._catalogue.record import Metric
from matrics._gates.evidence import read_evidence
from matrics._gates.judge import check_manner, judged
from matrics._gates.requirements import read_requirements
from matrics._gates.results import GateResult
from matrics._judged.counts import JudgedCounts
from matrics.typing import ArrayLike


def gate(
    y_true_or_cm: ArrayLike | JudgedCounts,
    requirements: str | Metric | Iterable[str | Metric],
    *,
    y_pred: ArrayLike | None = None,
    baseline: ArrayLike | None = None,
    margin: float = 0.0,
    level: float = 0.95,
    on_undecided: Literal["pass", "fail"] | None = None,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
    sample_weight: ArrayLike | None = None,
    squared_weights: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    clusters: ArrayLike | None = None,
    zero_division: float = math.nan,
) -> GateResult:
    """Decide whether a model fulfils requirements, by confidence intervals: pass, fail, or undecided.

    Parameters
    ----------
    y_true_or_cm : array_like, shape (n, n), or (N,) with ``y_pred``; or JudgedCounts
        A confusion matrix, or true labels; or samples that a judge has labelled, and people in part, as
        :func:`matrics.judged.count` counts them.
    requirements : str, Metric, or several of them
        Bounds such as ``"mcc >= 0.8"`` and ``"recall[fraud] > 0.9"``, with ``>=``, ``>``, ``<=`` or ``<``. With a
        baseline also measures without a bound, such as ``"mcc"``: they must not be worse than the baseline's by more
        than ``margin``. A measure of every class (``"recall:class >= 0.5"``) is one requirement for each.
    y_pred : array_like, shape (N,), optional
        Predicted labels, if the first argument has true ones. Floating numbers are class scores, of which the largest
        is the prediction.
    baseline : array_like, shape (n, n), or (N,) with ``y_pred``, optional
        The confusion matrix of another model on other samples; with ``y_pred``, the labels that the other model
        predicted for the same samples.
    margin : float, default 0
        By how much a measure may be worse than that of the baseline.
    level : float, default 0.95
        The confidence level of the two-sided intervals.
    on_undecided : {"pass", "fail"}, optional
        What an undecided gate counts as.
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
    sample_weight : array_like, shape (N,), optional
        A weight for each sample, with labels.
    squared_weights : array_like, shape (n, n), optional
        With a matrix of weights: the matrix of their squares, as ``confusion_matrix(..., sample_weight=weights**2)``
        counts it. With a baseline it is a pair of such matrices, of the model and of the baseline.
    clusters : array_like, shape (N,), optional
        The cluster of each sample, with labels: such as a patient or a question that is answered several times. Whole
        clusters are random.
    zero_division : float, default NaN
        The value of undefined measures (0/0).

    Returns
    -------
    GateResult
        Its ``verdict``, which is also what it is true or false by, and the verdict on each requirement.

    Raises
    ------
    ValueError
        A requirement cannot be read, its bound is outside the range of the measure, a measure has no better direction
        to compare it in, or several matrices are given.
    TypeError
        Labels are given without ``y_pred``, or options of labels with a matrix.
    InvalidConfusionMatrix
        A cell is negative, NaN or infinite.

    Notes ----- A requirement passes if the whole interval fulfils it, fails if none of it does, and is undecided in
    between. An interval whose status is not 0, for example because there are few samples, does not pass: it is
    undecided, or it fails. With fewer than five errors only the limit on the side of better values may be wrong, so
    that these are no reason against a pass by the other limit: a perfect model passes. An undefined value has no
    limits, and is undecided. Of several requirements the gravest verdict counts: fail before undecided before pass.
    Each has its own interval at ``level``, not corrected for their number: more of them do not make it more likely that
    a gate passes a model which it should not.

    The intervals are those of :func:`matrics.interval`, and for a baseline those of :func:`matrics.compare_paired` (the
    same samples) or :func:`matrics.compare` (others), and for judged samples those of :func:`matrics.judged.interval`.
    The samples must be independent, unless they have ``clusters``.

    Examples
    --------
    >>> import matrics
    >>> found = matrics.gate([[880, 20], [15, 85]], "mcc >= 0.7, recall[1] >= 0.8")
    >>> print(found)
    mcc >= 0.7: pass; 0.810, 95 % between 0.738 and 0.863 recall of class 1 >= 0.8: undecided; 0.850, 95 % between 0.767
    and 0.907; about 2,470 samples would decide (now 1,000) most frequent errors:
      0 predicted as 1: 20 (2.2% of 0)
      1 predicted as 0: 15 (15.0% of 1)
    >>> found.verdict, bool(found)
    ('undecided', False)

    A new model and the old one on the same samples, with a margin:

    >>> y_true = ["ok", "fraud"] * 200
    >>> old = ["ok", "fraud"] * 180 + ["fraud", "ok"] * 20
    >>> new = ["ok", "fraud"] * 182 + ["fraud", "ok"] * 18
    >>> print(matrics.gate(y_true, "accuracy", y_pred=new, baseline=old, margin=0.02))
    accuracy - baseline >= -0.02: pass; 0.010, 95 % between -0.002 and 0.024
    """
    has_baseline = baseline is not None
    margin = check_manner(margin, on_undecided, has_baseline=has_baseline)
    evidence, classes = read_evidence(
        y_true_or_cm,
        y_pred,
        baseline,
        name="y_true_or_cm",
        num_classes=num_classes,
        labels=labels,
        class_names=class_names,
        positive=positive,
        sample_weight=sample_weight,
        squared_weights=squared_weights,
        clusters=clusters,
    )
    wanted = read_requirements(requirements, classes, margin, has_baseline=has_baseline)
    return judged(wanted, evidence, classes, level=level, on_undecided=on_undecided, zero_division=zero_division)
