"""Measures as scorers of scikit-learn, and a confusion matrix for each fold of a cross-validation."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from matrics._catalogue.classes import Classes
from matrics._catalogue.record import Metric
from matrics._counting.codes import check_classes
from matrics._engine.evaluation import check_options
from matrics._integrations.sklearn_folds import CrossValidated, cross_validate_confusion
from matrics._integrations.sklearn_measures import read_measures
from matrics._integrations.sklearn_scorer import Scorer

__all__ = ["CrossValidated", "cross_validate_confusion", "scorer"]


def scorer(
    metrics: str | Metric | Iterable[str | Metric],
    *,
    positive: Hashable = None,
    labels: Iterable[Hashable] | None = None,
    zero_division: float | None = None,
) -> Scorer:
    """A scorer for ``scoring=`` of scikit-learn: of a single measure, or of several with a single ``predict``.

    Higher values are better, always: the scorer negates measures that are better when lower, such as ``cen`` or
    ``log_loss``, under the same name.

    Parameters
    ----------
    metrics : str, Metric, or several of them
        Names, aliases or specs of measures with a single value for each matrix, such as ``"mcc"`` and
        ``"recall:macro"`` (see :func:`matrics.get_metric`), or metrics; and measures of scores: ``"roc_auc"``,
        ``"average_precision"`` (also as ``":macro"``, ``":weighted"``, ``":micro"``, and
        ``"roc_auc(multi_class=one_vs_one)"``), ``"log_loss"``, ``"brier_score"`` and ``"expected_calibration_error"``
        with its options, or of a single class: ``"roc_auc[fraud]"``. Measures of scores call ``decision_function`` or
        ``predict_proba`` as scikit-learn's scorers do. With a single name or ``Metric`` the scorer returns a number;
        with a list, or a text with several names, a dictionary with the specs as keys.
    positive : label, optional
        The positive class, as in :func:`matrics.score`. Scores of two classes are scores of this class. With more
        classes, values without an average are of this class against the rest.
    labels : sequence, optional
        All classes, in order. If left out, they are the ``classes_`` of the estimator, and any other classes of the
        test data: a sample of an unknown class counts as an error, and its probability is 0.
    zero_division : float, optional
        The value of undefined measures (0/0), as in :func:`matrics.score`, before it is negated. If left out, a value
        that the predictions make undefined is the worst value of the measure's range, so that no such model is chosen;
        NaN where the worst value is infinite. A value that the true labels make undefined for every model is NaN, with
        scikit-learn's ``UndefinedMetricWarning``. Examples are the ROC AUC, the MCC and the recall of a fold without
        samples of a class. In a mean over classes, a class that occurs and is undefined, such as the precision of a
        class that is never predicted, counts as the worst. A class that is neither a true nor a predicted label is left
        out; a class without true samples is left out of measures such as the recall.

    Returns
    -------
    Scorer
        A scorer that can be cloned and pickled. It takes ``sample_weight`` through metadata routing:
        ``scorer(...).set_score_request(sample_weight=True)``.

    Raises
    ------
    ValueError
        A measure has no direction, or a value for each class; or a name, an option or an average does not exist.
    TypeError
        The metrics are not names or metrics, or a measure has no such option. When the scorer is called: the estimator,
        such as a regressor, has no ``classes_``, and no ``labels`` were given.

    See Also
    --------
    matrics.sklearn.cross_validate_confusion : the matrices themselves, for intervals and comparisons.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_validate
    >>> from matrics.sklearn import scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> results = cross_validate(LogisticRegression(max_iter=500), X, y, scoring=scorer("mcc, f1, cen, roc_auc"))
    >>> {name: round(float(values.mean()), 3) for name, values in results.items() if name.startswith("test")}
    {'test_mcc': 0.962, 'test_f1': 0.973, 'test_cen': -0.051, 'test_roc_auc': 0.996}
    """
    if zero_division is not None:
        check_options(zero_division, "nan")
    checked_labels = None if labels is None else list(check_classes(None, labels).labels or ())
    if checked_labels is not None:
        Classes.of(len(checked_labels), checked_labels, positive)  # raises if the positive class is not a label
    measures = read_measures(metrics)
    is_single = isinstance(metrics, (str, Metric)) and len(measures) == 1
    return Scorer(measures, positive=positive, labels=checked_labels, zero_division=zero_division, is_single=is_single)
