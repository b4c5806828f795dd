"""Names that have another meaning in scikit-learn, SciPy or torchmetrics, and the specs with the same numbers.

``describe``, the pages of the measures and the page of conventions read this table. ``tests/test_elsewhere.py`` calls
every function of these libraries with the name of a measure: the values agree, or this table has the specs that do.
"""

from __future__ import annotations

from typing import NamedTuple


class Elsewhere(NamedTuple):
    """A function of another library that shares a name with a measure here, but differs."""

    there: str
    what: str
    two: str | None = None
    """The spec with the same number for two classes; None if no spec exists, or if the function takes no labels."""
    more: str | None = None
    """The spec with the same number for more classes."""

    def __str__(self) -> str:
        specs = dict.fromkeys(spec for spec in (self.two, self.more) if spec is not None)
        return f"{self.there} is {self.what}" + (f": {', '.join(specs)}" if specs else "")


_TORCH = "class 1 of two, and pooled over more, by default"


def _averaged(name: str, there: str, *, pooled: bool = True) -> tuple[Elsewhere, ...]:
    """The notes on a class measure; by default it is the value of class 1 of two, and the mean over more classes."""
    classification = f"torchmetrics.functional.classification.multiclass_{there}"
    return (
        *((Elsewhere(f"torchmetrics.functional.{there}", _TORCH, name, f"{name}:micro"),) if pooled else ()),
        Elsewhere(classification, "the mean over the classes, also over two, by default", f"{name}:macro", name),
    )


_BIAS = "corrected for bias by default; without that it is {}(effective=true) here"
_VECTORS = "a distance of two vectors, 1 - {}:binary if they are of 0 and 1"
_CLUSTERINGS = "for clusterings, of pairs of samples: fowlkes_mallows:binary of pair_counts here"

#: The notes by the name of the measure.
ELSEWHERE: dict[str, tuple[Elsewhere, ...]] = {
    "accuracy": (
        Elsewhere(
            "torchmetrics.functional.classification.multiclass_accuracy",
            "the mean over the true classes by default",
            "balanced_accuracy",
            "balanced_accuracy",
        ),
    ),
    "recall": _averaged("recall", "recall"),
    "specificity": _averaged("specificity", "specificity"),
    "precision": _averaged("precision", "precision"),
    "npv": _averaged("npv", "negative_predictive_value"),
    "f1": (
        *_averaged("f1", "f1_score"),
        Elsewhere("scipy.spatial.distance.dice", _VECTORS.format("f1")),
    ),
    "fbeta": _averaged("fbeta", "fbeta_score"),
    "jaccard": (
        *_averaged("jaccard", "jaccard_index", pooled=False),
        Elsewhere("torchmetrics.functional.critical_success_index", "of values above a threshold", "jaccard:binary"),
        Elsewhere("scipy.spatial.distance.jaccard", _VECTORS.format("jaccard")),
    ),
    "fowlkes_mallows": (
        Elsewhere("sklearn.metrics.fowlkes_mallows_score", _CLUSTERINGS),
        Elsewhere("torchmetrics.functional.clustering.fowlkes_mallows_index", _CLUSTERINGS),
        Elsewhere("torchmetrics.functional.cosine_similarity", "of the rows of two arrays of numbers"),
    ),
    "diagnostic_odds_ratio": (
        Elsewhere(
            "scipy.stats.contingency.odds_ratio",
            "of a single 2×2 matrix, given its margins by default; kind='sample' is diagnostic_odds_ratio here",
        ),
    ),
    "g_mean": (
        Elsewhere("scipy.stats.gmean", "the geometric mean of an array; here it is the geometric mean of the recalls"),
    ),
    "hamming_loss": (
        Elsewhere(
            "torchmetrics.functional.classification.multiclass_hamming_distance",
            "the mean over the true classes by default",
            "fnr:macro",
            "fnr",
        ),
    ),
    "chi_squared": (Elsewhere("scipy.stats.chi2", "the distribution"),),
    "cramers_v": (Elsewhere("torchmetrics.functional.cramers_v", _BIAS.format("cramers_v")),),
    "tschuprows_t": (Elsewhere("torchmetrics.functional.tschuprows_t", _BIAS.format("tschuprows_t")),),
    "theil_u": (
        Elsewhere(
            "torchmetrics.functional.theils_u",
            "of the prediction given the truth, if predictions are passed first",
            "theil_u(direction=pred_given_true)",
            "theil_u(direction=pred_given_true)",
        ),
    ),
    "kl_divergence": (
        Elsewhere("torchmetrics.functional.kl_divergence", "of any distributions; here they are the classes' sizes"),
    ),
    "canberra": (
        Elsewhere("scipy.spatial.distance.canberra", "of two vectors of numbers; here it is PyCM's, of a class"),
    ),
}
