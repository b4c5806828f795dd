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
    """A scorer of scikit-learn, for ``scoring=``: of one measure, or of several with one ``predict`` for all of them.

    Higher is better in all that it returns: values of measures that are better when lower, such as ``cen`` or
    ``log_loss``, are negated, under the same name.

    Parameters
    ----------
    metrics : str, Metric, or several of them
        Names, aliases or specs of measures with one value for each matrix, such as ``"mcc"`` and ``"recall:macro"``
        (see :func:`matrics.get_metric`), or metrics; and measures of scores: ``"roc_auc"``, ``"average_precision"``
        (also as ``":macro"``, ``":weighted"``, ``":micro"``, and ``"roc_auc(multi_class=one_vs_one)"``),
        ``"log_loss"``, ``"brier_score"`` and ``"expected_calibration_error"`` with its options, or of one class:
        ``"roc_auc[fraud]"``. The latter call ``decision_function`` or ``predict_proba`` as scikit-learn's scorers do.
        One name or ``Metric`` gives a scorer with one number; a list, or a text with several names, one that returns a
        dictionary with the specs as keys.
    positive : label, optional
        The positive class, as in :func:`matrics.score`. With scores of two classes it is the one that they are of; with
        those of more, values without an average are of this class against the rest.
    labels : sequence, optional
        All classes, in order. If left out, they are the ``classes_`` of the estimator and, should others occur in the
        test data, these as well: a sample of an unknown class counts as an error, and its probability is 0.
    zero_division : float, optional
        The value of undefined measures (0/0), as in :func:`matrics.score`, before it is negated. If left out, a value
        that is undefined because of what is predicted is the worst end of the measure's range, so that no such model
        is chosen; NaN where that end is infinite. A value that the true labels make undefined for every model, such as
        the ROC AUC, the MCC and a recall of a fold without one of the classes, is NaN, with scikit-learn's
        ``UndefinedMetricWarning``. In a mean over classes, a class that occurs and is undefined, such as the
        precision of a class that is never predicted, counts as the worst. A class that is neither a true nor a
        predicted label is left out; a class without true samples is left out of measures such as the recall.

    Returns
    -------
    Scorer
        It clones and pickles, and takes ``sample_weight`` through metadata routing:
        ``scorer(...).set_score_request(sample_weight=True)``.

    Raises
    ------
    ValueError
        A measure has no better direction, or a value for each class; or a name, an option or an average does not exist.
    TypeError
        The metrics are no names, or a measure has no such option. When called: the estimator has no ``classes_``,
        such as a regressor, and no ``labels`` were given.

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
    >>> found = cross_validate(LogisticRegression(max_iter=500), X, y, scoring=scorer("mcc, f1, cen, roc_auc"))
    >>> {name: round(float(values.mean()), 3) for name, values in found.items() if name.startswith("test")}
    {'test_mcc': 0.962, 'test_f1': 0.973, 'test_cen': -0.051, 'test_roc_auc': 0.996}
    """
    if zero_division is not None:
        check_options(zero_division, "nan")
    given = None if labels is None else list(check_classes(None, labels).labels or ())
    if given is not None:
        Classes.of(len(given), given, positive)  # raises for a positive class that is none of them
    measures = read_measures(metrics)
    is_one = isinstance(metrics, (str, Metric)) and len(measures) == 1
    return Scorer(measures, positive=positive, labels=given, zero_division=zero_division, is_one=is_one)
