"""score_labels(): measures of labels in a single call."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

from matrics._arrays import Array
from matrics._catalogue.classes import Classes
from matrics._catalogue.naming import by_names
from matrics._catalogue.record import Metric
from matrics._counting.codes import left_out
from matrics._engine.evaluation import Invalid, evaluate
from matrics._quoting import quoted_list
from matrics._scoring.score import resolve
from matrics._tables.label_counts import count_labels
from matrics._tables.vocabularies import ADVICE_WITH_POSITIVE
from matrics.typing import ArrayLike

__all__ = ["LabelScores", "score_labels"]


class LabelScores(dict[str, Any]):
    """The scores of labels, as from :func:`matrics.score_labels`: a dict with the classes and the matrix as attributes.

    Parameters
    ----------
    scores : dict of str to array
        The values, keyed by metric.
    labels : tuple, length n
        The label of each class, in the order of the matrix.
    matrix : array, shape (*B, n, n)
        The confusion matrix that was scored.
    """

    labels: tuple[Hashable, ...]
    matrix: Array

    def __init__(self, scores: dict[str, Any], labels: tuple[Hashable, ...], matrix: Array) -> None:
        super().__init__(scores)
        self.labels = labels
        self.matrix = matrix

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self), self.labels, self.matrix)

    def __repr__(self) -> str:
        return f"LabelScores({super().__repr__()}, labels=({quoted_list(self.labels)}))"


def score_labels(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
) -> LabelScores:
    """Measures of true and predicted labels, from the confusion matrix of their classes.

    Parameters
    ----------
    y_true : array_like, shape (*B, N)
        True labels of any kind: text, integers or booleans, in a list, a column of pandas, Polars or pyarrow, or an
        array or tensor of any library.
    y_pred : array_like, shape (*B, N)
        Predicted labels like the true ones; batches broadcast, such as the predictions (M, N) of M models. With
        ``labels``, floating numbers are class scores, of which the largest is the prediction.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. Square
        brackets take the label of a class: ``"recall[cat]"``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order. If left out, the classes are the labels that occur, true or predicted,
        sorted; or all categories in their order, if both columns are of the same categorical type of pandas or the same
        Enum of Polars. Labels are then copied to the host, which waits for a device, and a warning lists labels that
        are probably mistakes: ``'dog'`` and ``'Dog'``, or a class of only true or only predicted labels.
    positive : label, optional
        The positive class: a label. Per-class measures without an average are values of this class. Without it they are
        values of class 1 of two classes, and means over more (``macro``). Of two labels that are texts, neither is the
        default, and measures are means over both. If ``y_true`` and ``y_pred`` use different words, join both names
        with an equals sign: ``"yes=pos"`` makes one class of the true label ``yes`` and the predicted label ``pos``,
        and another class of the remaining labels.
    sample_weight : array_like, shape (*B, N), optional
        A weight for each sample.
    ignore_index : label, or list of labels, optional
        Samples with this true label, or any of these, are left out. It is a class only if ``labels`` has it or other
        samples are predicted as it, which is an error of their true class; averages are over the other classes.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and no
        other matrix is affected. ``"warn"`` names the first of them if the check is cheap (NumPy); ``"raise"`` checks
        on every backend, which waits for the device.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results. The blocks of a
        stack are scored in parallel.

    Returns
    -------
    LabelScores
        A dict keyed by metric, as from :func:`matrics.score` with ``class_names``; the key of a value for each class
        contains the label: ``recall/cat``. Its ``labels`` are the classes in order, and its ``matrix`` is the scored
        confusion matrix.

    Raises
    ------
    TypeError
        Without ``labels``, the labels are floating numbers, have kinds without a common order, or are traced in
        compiled code, which has no values; or as in :func:`matrics.confusion_matrix`.
    ValueError
        A label is missing (None, NaN or empty text), there are no samples, no label is in both arrays (except
        that 0 and 1, false and true, or fail and pass may be in a single array each), predictions that are not a true
        label would count as negative with ``positive``, or ``positive`` is not one of the classes; or as in
        :func:`matrics.confusion_matrix` and :func:`matrics.score`.

    Notes
    -----
    Pass ``labels`` in a loop, and for the comparison of several test sets: otherwise a class without samples in a test
    set changes the means over the classes.

    Examples
    --------
    >>> import matrics
    >>> y_true = ["ok", "fraud", "ok", "fraud", "ok"]
    >>> y_pred = ["ok", "fraud", "ok", "ok", "ok"]
    >>> scores = matrics.score_labels(y_true, y_pred, "accuracy, recall, specificity", positive="fraud")
    >>> matrics.to_dict(scores)
    {'accuracy': 0.8, 'recall': 0.5, 'specificity': 1.0}
    >>> scores.labels
    ('fraud', 'ok')
    >>> matrics.to_dict(matrics.score_labels(y_true, y_pred, "recall:class", labels=["ok", "fraud"]))
    {'recall/ok': 1.0, 'recall/fraud': 0.5}
    """
    of_classes: Any = {"positive": positive, "advice": ADVICE_WITH_POSITIVE}
    counts = count_labels(y_true, y_pred, labels, sample_weight, ignore_index, **of_classes)
    options: Any = {"zero_division": zero_division, "invalid": invalid, "workers": workers}
    names, known = counts.class_names, tuple(counts.labels)
    left = left_out(ignore_index, len(known), known)
    if not left:
        return LabelScores(counts.score(metrics, positive=positive, **options), known, counts.matrix)
    chosen = resolve(metrics, Classes.of(len(known), names, positive, left_out=left))
    values = evaluate(counts.matrix, [metric.bind() for metric in chosen.values()], **options)
    return LabelScores(by_names(dict(zip(chosen, values, strict=True)), chosen, names), known, counts.matrix)
