"""Measures of class scores, which no confusion matrix contains, and their names in other libraries."""

from __future__ import annotations

from collections.abc import Mapping

from matrics._quoting import did_you_mean, fold

#: The names by the call of the function; the first name is the name of the function.
OF_SCORES = {
    "ranking.roc_auc(y_true, y_score)": ("roc_auc", "auc", "auroc", "roc_auc_score", "area_under_curve"),
    "ranking.roc_curve(y_true, y_score)": ("roc_curve",),
    "ranking.partial_roc_auc(y_true, y_score, max_fpr=)": ("partial_roc_auc", "partial_auc"),
    "ranking.average_precision(y_true, y_score)": ("average_precision", "average_precision_score", "pr_auc", "auprc"),
    "ranking.precision_recall_curve(y_true, y_score)": ("precision_recall_curve",),
    "ranking.precision_at_recall(y_true, y_score, recall)": ("precision_at_recall", "precision_at_fixed_recall"),
    "ranking.recall_at_precision(y_true, y_score, precision)": ("recall_at_precision", "recall_at_fixed_precision"),
    "ranking.recall_at_specificity(y_true, y_score, specificity)": (
        "recall_at_specificity",
        "sensitivity_at_specificity",
    ),
    "ranking.precision_at_k(y_true, y_score, k)": ("precision_at_k",),
    "ranking.recall_at_k(y_true, y_score, k)": ("recall_at_k",),
    "ranking.lift_at_k(y_true, y_score, k)": ("lift_at_k",),
    "probabilities.log_loss(y_true, y_prob)": ("log_loss", "logloss", "neg_log_loss", "binary_cross_entropy", "bce"),
    "probabilities.brier_score(y_true, y_prob)": ("brier_score", "brier", "brier_score_loss", "neg_brier_score"),
    "probabilities.expected_calibration_error(y_true, y_prob)": (
        "expected_calibration_error",
        "ece",
        "calibration_error",
    ),
    "probabilities.expected_calibration_error(y_true, y_prob, norm='max')": ("maximum_calibration_error",),
    "probabilities.reliability_curve(y_true, y_prob)": ("reliability_curve", "calibration_curve"),
    "ranking.top_k_accuracy(y_true, y_score, k)": ("top_k_accuracy", "top_k", "top_k_accuracy_score"),
    "ranking.top_k_recall(y_true, y_score, k)": ("top_k_recall",),
    "ranking.confusion_matrix(y_true, y_score, thresholds)": ("confusion_matrix_at_thresholds",),
    "ranking.threshold_curve(y_true, y_score, metrics)": ("threshold_curve", "metric_at_thresholds", "det_curve"),
}
#: The calls by name.
CALLS = {name: call for call, names in OF_SCORES.items() for name in names}

#: Measures of class scores that this library does not have.
MISSING = (
    *("hinge_loss", "coverage_error", "ndcg", "ndcg_score", "dcg_score", "label_ranking_loss"),
    "label_ranking_average_precision",
)

# The functions by the word after the number in top5, top_5_accuracy or top-5 recall.
_TOP = {"": "top_k_accuracy", "accuracy": "top_k_accuracy", "acc": "top_k_accuracy", "recall": "top_k_recall"}


def call_of(name: str) -> str | None:
    """The call of the function of scores with a name, as text; None for other names.

    >>> call_of("AUROC"), call_of("top-5"), call_of("recall")
    ('ranking.roc_auc(y_true, y_score)', 'ranking.top_k_accuracy(y_true, y_score, k=5)', None)
    """
    function, k = _of_top(fold(name))
    return f"ranking.{function}(y_true, y_score, k={k})" if function else CALLS.get(fold(name))


def spec_of(spec: str) -> str:
    """The spec with the name of the function of scores; specs of other measures are not changed.

    >>> spec_of("ECE:class_wise"), spec_of("top5"), spec_of("recall@0.5")
    ('expected_calibration_error:class_wise', 'top_k_accuracy(k=5)', 'recall@0.5')
    >>> spec_of("maximum_calibration_error")
    'expected_calibration_error(norm=max)'
    """
    name = name_of(spec)
    function, k = _of_top(fold(name))
    rest = spec[len(name) :]
    if function:
        return f"{function}(k={k}){rest}"
    call = CALLS.get(fold(name))
    if call is None:
        return spec
    option = "(norm=max)" if "norm" in call else ""
    return f"{call.partition('(')[0].rpartition('.')[2]}{option}{rest}"


def name_of(spec: str) -> str:
    """The name of a spec: the text before brackets, an average or a threshold."""
    for end in "@:[(":  # only string methods, which torch.compile supports
        spec = spec.partition(end)[0]
    return spec


def names_of(functions: set[str]) -> dict[str, str]:
    """The names of functions by all names of some functions of scores."""
    called = {name: call.partition("(")[0].rpartition(".")[2] for name, call in CALLS.items()}
    return {name: function for name, function in called.items() if function in functions}


def near(spec: str, names: Mapping[str, str]) -> str:
    """A question with the functions that a misspelt name may mean; an empty text for a known name."""
    name = name_of(spec)
    return "" if call_of(name) else did_you_mean(fold(name), names, names.__getitem__)


def _of_top(name: str) -> tuple[str, str]:
    """The function and the number of a name such as top5 or top_5_accuracy; empty texts for other names."""
    rest = name.removeprefix("top").lstrip("_")
    kind = rest.lstrip("0123456789")
    number = rest.removesuffix(kind)
    function = _TOP.get(kind.lstrip("_"))
    return (function, number) if function and number and name.startswith("top") else ("", "")
