"""Measures as scorers of scikit-learn, and a confusion matrix for each fold of a cross-validation."""

from matrics._extras import requires

with requires("matrics.sklearn needs", "sklearn", extra="sklearn"):
    from matrics._integrations.sklearn import cross_validate_confusion, scorer
    from matrics._integrations.sklearn_folds import CrossValidated

__all__ = [
    "CrossValidated",
    "cross_validate_confusion",
    "scorer",
]
