"""The confusion matrix of each fold of a cross-validation, with the predictions if they are asked for."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, overload

import numpy as np
from sklearn.model_selection import cross_validate

from matrics._arrays import Array
from matrics._catalogue.classes import Classes
from matrics._counting.build import confusion_matrix
from matrics._engine.results import NamedResult, frame_of
from matrics._integrations.sklearn_labels import codes, extended, known_classes, one_label_each


class CrossValidated(NamedResult):
    """The result of :func:`matrics.sklearn.cross_validate_confusion` with ``return_indices=True``.

    Parameters
    ----------
    cm : array, shape (folds, n, n)
        The confusion matrix of each fold.
    labels : list
        The label of each class, in the order of the rows.
    y_true, y_pred : array, shape (M,)
        True and predicted labels of the samples that were in a test set, in the order of the folds.
    indices : array of int, shape (M,)
        Which row of X each of these is; a row may be in several folds of a repeated cross-validation.
    folds : array of int, shape (M,)
        The fold of each.
    """

    cm: Array
    labels: list[Hashable]
    y_true: Array
    y_pred: Array
    indices: Array
    folds: Array

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each prediction."""
        columns = {name: getattr(self, name) for name in ("indices", "folds", "y_true", "y_pred")}
        return frame_of(columns, indexed=False)


@overload
def cross_validate_confusion(
    estimator: Any, X: Any, y: Any, *, cv: Any = ..., return_indices: Literal[False] = ...
) -> Array: ...
@overload
def cross_validate_confusion(
    estimator: Any, X: Any, y: Any, *, cv: Any = ..., return_indices: Literal[True]
) -> CrossValidated: ...
def cross_validate_confusion(
    estimator: Any, X: Any, y: Any, *, cv: Any = None, return_indices: bool = False
) -> Array | CrossValidated:
    """The confusion matrix of each fold of a cross-validation: a stack, as every function here takes.

    Parameters
    ----------
    estimator : classifier
        A classifier of scikit-learn, a pipeline or a search; it is cloned and fitted once for each fold.
    X : array_like or data frame, shape (N, ...)
        The samples.
    y : array_like, shape (N,)
        Their labels, of any kind. All that occur are the classes, in order, also in folds that lack one.
    cv : int, splitter or iterable of splits, optional
        How rows are split, as scikit-learn takes it: a number of folds, a splitter, or pairs of training and test rows;
        five stratified folds if left out. ``GroupKFold().split(X, y, groups)`` keeps groups together.
    return_indices : bool, default False
        Whether to return the labels, the predictions and the rows of X as well, for comparisons of models on the same
        samples by :func:`matrics.compare_models`. Both models need the same folds: pass the same ``cv``, with a
        ``random_state`` if it shuffles.

    Returns
    -------
    array of int, shape (folds, n, n), or CrossValidated
        Rows are true classes, columns predicted ones.

    Raises
    ------
    ValueError
        There are several labels for a sample, or a label is missing. Errors of the estimator are passed on.

    Examples
    --------
    >>> import matrics
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from matrics.sklearn import cross_validate_confusion
    >>> X, y = load_iris(return_X_y=True)
    >>> stack = cross_validate_confusion(LogisticRegression(max_iter=500), X, y)
    >>> matrics.mcc(stack).round(2)
    array([0.95, 1.  , 0.91, 0.95, 1.  ])
    >>> models = LogisticRegression(max_iter=500), DecisionTreeClassifier(max_depth=1)
    >>> a, b = [cross_validate_confusion(model, X, y, return_indices=True) for model in models]
    >>> found = matrics.compare_models(a.y_true, [a.y_pred, b.y_pred], "mcc", labels=a.labels, rng=0)["mcc"]
    >>> found.tied
    array([ True, False])
    """
    labels = extended((), one_label_each(y, "y"), (), are_given=False)
    classes = Classes.of(len(labels), labels)
    predictions = _Predictions()
    # In this process, whatever joblib is told elsewhere, or the predictions would be kept in another one.
    found = cross_validate(
        estimator, X, y, cv=cv, scoring=predictions, n_jobs=1, return_indices=True, error_score="raise"
    )
    true, pred = ([codes(part, classes) for part in parts] for parts in (predictions.true, predictions.pred))
    cm = np.stack([confusion_matrix(*both, num_classes=classes.number) for both in zip(true, pred, strict=True)])
    if not return_indices:
        return cm
    rows = found["indices"]["test"]
    # Floating labels are whole numbers, as classifiers take no others; elsewhere here floating numbers are scores.
    named = [int(label) if isinstance(label, float) else label for label in labels]
    values = np.asarray(named)
    folds = np.repeat(np.arange(len(rows)), [len(part) for part in rows])
    return CrossValidated(
        cm, named, values[np.concatenate(true)], values[np.concatenate(pred)], np.concatenate(rows), folds
    )


class _Predictions:
    """A scorer that keeps labels and predictions of each fold, so that scikit-learn itself splits and fits."""

    def __init__(self) -> None:
        self.true: list[list[Hashable]] = []
        self.pred: list[list[Hashable]] = []

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        known = known_classes(estimator, None)
        self.true.append(one_label_each(y, "y"))
        self.pred.append(one_label_each(estimator.predict(X), "predictions"))
        extended(known, (), self.pred[-1], are_given=True)
        return 0.0
