"""The confusion matrix of each fold of a cross-validation, optionally with the predictions."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, overload

import numpy as np
from sklearn.model_selection import cross_validate

from matrics._arrays import Array
from matrics._catalogue.classes import Classes
from matrics._counting.build import confusion_matrix
from matrics._engine.results import NamedResult, frame_of
from matrics._integrations.sklearn_labels import codes, extended, known_classes, single_labels


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
        The row of X of each sample; a row may be in several folds of a repeated cross-validation.
    folds : array of int, shape (M,)
        The fold of each sample.
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
    """The confusion matrix of each fold of a cross-validation, as a stack.

    Parameters
    ----------
    estimator : classifier
        A classifier of scikit-learn, a pipeline or a search; it is cloned and fitted once for each fold.
    X : array_like or data frame, shape (N, ...)
        The samples.
    y : array_like, shape (N,)
        The labels of the samples, of any type. The classes of every fold are the sorted labels of all folds.
    cv : int, splitter or iterable of splits, optional
        How rows are split, as in scikit-learn: a number of folds, a splitter, or pairs of training and test rows; five
        stratified folds if left out. ``GroupKFold().split(X, y, groups)`` keeps groups together.
    return_indices : bool, default False
        Whether to return the labels, the predictions and the rows of X as well, for comparisons of models on the same
        samples by :func:`matrics.compare_models`. Both models need the same folds: pass the same ``cv``, with a
        ``random_state`` if it shuffles.

    Returns
    -------
    array of int, shape (folds, n, n), or CrossValidated
        Rows are true classes, columns predicted classes.

    Raises
    ------
    ValueError
        A sample has several labels or a missing label. Errors of the estimator are raised unchanged.

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
    >>> result = matrics.compare_models(a.y_true, [a.y_pred, b.y_pred], "mcc", labels=a.labels, rng=0)["mcc"]
    >>> result.tied
    array([ True, False])
    """
    labels = extended((), single_labels(y, "y"), (), is_complete=False)
    classes = Classes.of(len(labels), labels)
    predictions = _Predictions()
    # n_jobs=1, as the predictions would otherwise be stored in another process.
    results = cross_validate(
        estimator, X, y, cv=cv, scoring=predictions, n_jobs=1, return_indices=True, error_score="raise"
    )
    true, pred = ([codes(part, classes) for part in parts] for parts in (predictions.true, predictions.pred))
    cm = np.stack([confusion_matrix(*both, num_classes=classes.number) for both in zip(true, pred, strict=True)])
    if not return_indices:
        return cm
    rows = results["indices"]["test"]
    # Classifiers take floating labels only if they are whole; as integers they are not mistaken for scores.
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
        self.true.append(single_labels(y, "y"))
        self.pred.append(single_labels(estimator.predict(X), "predictions"))
        extended(known, (), self.pred[-1], is_complete=True)
        return 0.0
