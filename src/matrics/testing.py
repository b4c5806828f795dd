"""Assertions for tests of models, with pytest or without: ``matrics.testing.assert_at_least``."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Literal

from matrics._catalogue.record import Metric
from matrics._gates.evidence import read_evidence
from matrics._gates.requirements import bound
from matrics._gates.verdicts import check_options, decide
from matrics.typing import ArrayLike

__all__ = ["assert_at_least"]


def assert_at_least(
    cm_or_y: ArrayLike,
    metric: str | Metric,
    least: float,
    *,
    y_pred: ArrayLike | None = None,
    level: float = 0.95,
    on_undecided: Literal["pass", "fail"] | None = None,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
    sample_weight: ArrayLike | None = None,
    squared_weights: ArrayLike | None = None,
    zero_division: float = math.nan,
    top: int = 5,
) -> None:
    """Raise an AssertionError unless the whole confidence interval of a measure is at or above a number.

    Parameters
    ----------
    cm_or_y : array_like, shape (n, n), or (N,) with ``y_pred``
        A confusion matrix, or true labels.
    metric : str or Metric
        A measure that is better when higher, such as ``"mcc"`` or ``"recall[fraud]"``.
    least : float
        The least acceptable value.
    y_pred : array_like, shape (N,), optional
        Predicted labels, if the first argument has true labels. Floating numbers are class scores, of which the largest
        is the prediction.
    level : float, default 0.95
        The confidence level of the two-sided intervals.
    num_classes : int, optional
        Number of classes; labels are 0 to n - 1.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order. If neither is given, the classes are the sorted labels.
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
        counts it.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    on_undecided : {"pass", "fail"}, optional
        With ``"pass"`` an interval that contains the number, or whose status is not 0, raises no error. Otherwise it
        raises an error, and the message says how many samples would decide.
    top : int, default 5
        The number of the most frequent errors in the message.

    Raises
    ------
    AssertionError
        The measure is below the number, or undecided; the message has the interval and the most frequent errors.
    ValueError
        The measure is better when lower, for which :func:`matrics.gate` exists; or as in that function.

    Examples
    --------
    >>> from matrics.testing import assert_at_least
    >>> assert_at_least([[90, 10], [12, 88]], "accuracy", 0.8)
    >>> assert_at_least([[90, 10], [12, 88]], "recall[fraud]", 0.95, class_names=["ok", "fraud"])
    Traceback (most recent call last):
        ...
    AssertionError: recall of fraud >= 0.95: fail; 0.880, 95 % between 0.802 and 0.930
    most frequent errors:
      fraud predicted as ok: 12 (12.0% of fraud)
      ok predicted as fraud: 10 (10.0% of ok)
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    check_options(0.0, on_undecided, other=False)
    evidence, classes = read_evidence(
        cm_or_y,
        y_pred,
        None,
        name="cm_or_y",
        num_classes=num_classes,
        labels=labels,
        class_names=class_names,
        positive=positive,
        sample_weight=sample_weight,
        squared_weights=squared_weights,
    )
    requirements = bound(metric, ">=", least, classes)
    if not all(requirement.metric.higher_is_better for requirement in requirements):
        raise ValueError(
            f"metric: expected a measure that is better when higher, got {metric}; for others use "
            f"matrics.gate(cm, '{metric} <= {least:.10g}')"
        )
    result = decide(
        requirements, evidence, classes, level=level, on_undecided=on_undecided, zero_division=zero_division, top=top
    )
    if not result:
        raise AssertionError(str(result))
