"""matrics: stacks of confusion matrices, scored by any measure, on any array backend.

>>> import matrics
>>> matrics.score([[45, 5], [5, 45]], ["mcc", "eve"])["mcc"]
np.float64(0.8)
"""

from matrics import metrics
from matrics.build import confusion_matrix, soft_confusion_matrix
from matrics.catalogue.description import describe
from matrics.catalogue.record import Metric
from matrics.catalogue.registry import get_metric, list_metrics
from matrics.evaluation import InvalidConfusionMatrix, check
from matrics.metrics import *  # noqa: F403 (each family says what of it is public)
from matrics.scoring import score
from matrics.state import ConfusionState
from matrics.transform import (
    normalize,
    one_vs_rest,
    pair_counts,
    rebalance,
    repair,
    transpose,
    weight_cells,
)
from matrics.verbal import interpret, list_benchmarks

__all__ = [
    "ConfusionState",
    "InvalidConfusionMatrix",
    "Metric",
    "check",
    "confusion_matrix",
    "describe",
    "get_metric",
    "interpret",
    "list_benchmarks",
    "list_metrics",
    "normalize",
    "one_vs_rest",
    "pair_counts",
    "rebalance",
    "repair",
    "score",
    "soft_confusion_matrix",
    "transpose",
    "weight_cells",
]
__all__ += metrics.__all__

__version__ = "0.1.0.dev0"
