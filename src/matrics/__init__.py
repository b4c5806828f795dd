"""matrics: stacks of confusion matrices, scored by any measure, on any array backend.

>>> import matrics
>>> matrics.score([[45, 5], [5, 45]], ["mcc", "eve"])["mcc"]
np.float64(0.8)
"""

from matrics.build import confusion_matrix, soft_confusion_matrix
from matrics.evaluation import InvalidConfusionMatrix, check
from matrics.metrics.agreement import accuracy, balanced_accuracy, cohen_kappa
from matrics.metrics.catalogue import describe, get_metric, list_metrics
from matrics.metrics.correlation import mcc
from matrics.metrics.information import (
    cen,
    joint_entropy,
    mcen,
    mutual_information,
    nmi,
    pred_entropy,
    true_entropy,
)
from matrics.metrics.metric import Metric
from matrics.metrics.rates import (
    auc,
    f1,
    false_omission_rate,
    fbeta,
    fdr,
    fnr,
    fowlkes_mallows,
    fpr,
    gini,
    informedness,
    jaccard,
    markedness,
    npv,
    precision,
    recall,
    specificity,
)
from matrics.metrics.spectral import GershgorinBounds, eigenvalues, eve, gershgorin_bounds
from matrics.scoring import score
from matrics.transform import normalize, one_vs_rest, pair_counts, rebalance, repair, transpose

__version__ = "0.1.0.dev0"

__all__ = [
    "GershgorinBounds",
    "InvalidConfusionMatrix",
    "Metric",
    "accuracy",
    "auc",
    "balanced_accuracy",
    "cen",
    "check",
    "cohen_kappa",
    "confusion_matrix",
    "describe",
    "eigenvalues",
    "eve",
    "f1",
    "false_omission_rate",
    "fbeta",
    "fdr",
    "fnr",
    "fowlkes_mallows",
    "fpr",
    "gershgorin_bounds",
    "get_metric",
    "gini",
    "informedness",
    "jaccard",
    "joint_entropy",
    "list_metrics",
    "markedness",
    "mcc",
    "mcen",
    "mutual_information",
    "nmi",
    "normalize",
    "npv",
    "one_vs_rest",
    "pair_counts",
    "precision",
    "pred_entropy",
    "rebalance",
    "recall",
    "repair",
    "score",
    "soft_confusion_matrix",
    "specificity",
    "transpose",
    "true_entropy",
]
