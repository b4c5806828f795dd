"""How sure a score is: intervals for every measure."""

from matrics.uncertainty.compare import compare, compare_paired
from matrics.uncertainty.interval import interval
from matrics.uncertainty.joint import McNemar, joint_confusion_matrix, mcnemar
from matrics.uncertainty.models import compare_models
from matrics.uncertainty.planning import samples_needed
from matrics.uncertainty.results import Comparison, Interval, IntervalStatus, ModelComparison, PairedComparison

__all__ = [
    "Comparison",
    "Interval",
    "IntervalStatus",
    "McNemar",
    "ModelComparison",
    "PairedComparison",
    "compare",
    "compare_models",
    "compare_paired",
    "interval",
    "joint_confusion_matrix",
    "mcnemar",
    "samples_needed",
]
