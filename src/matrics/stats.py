"""Statistical tests, sample sizes and tables of clinical studies.

>>> import matrics
>>> matrics.stats.samples_needed([[45, 5], [5, 45]], "accuracy", half_width=0.02)
np.float64(868.0)
"""

from matrics._folds.compare_datasets import compare_datasets
from matrics._folds.compare_folds import compare_folds
from matrics._folds.permutation import permutation_test
from matrics._tables.diagnostic import diagnostic_table
from matrics._tables.diagnostic_groups import diagnostic_groups
from matrics._tables.diagnostic_pair import diagnostic_comparison
from matrics._tables.participant_flow import participant_flow
from matrics._uncertainty.joint import joint_confusion_matrix, mcnemar
from matrics._uncertainty.planning import samples_needed
from matrics._uncertainty.prevalence import estimate_prevalence

__all__ = [
    "compare_datasets",
    "compare_folds",
    "diagnostic_comparison",
    "diagnostic_groups",
    "diagnostic_table",
    "estimate_prevalence",
    "joint_confusion_matrix",
    "mcnemar",
    "participant_flow",
    "permutation_test",
    "samples_needed",
]
