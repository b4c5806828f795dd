"""matrics: stacks of confusion matrices, scored by any measure, on any array backend.

>>> import matrics
>>> matrics.score([[45, 5], [5, 45]], ["mcc", "eve"])["mcc"]
np.float64(0.8)
"""

import signal

from matrics._process import IS_COMMAND

if IS_COMMAND and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Ctrl-C during the imports ends the command line without a traceback. Its main() raises again.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import importlib.util
from typing import TYPE_CHECKING

from matrics import metrics
from matrics._catalogue.own import metric
from matrics._catalogue.record import Metric
from matrics._catalogue.registry import get_metric, list_metrics, register
from matrics._engine.evaluation import InvalidConfusionMatrix, check
from matrics._engine.results import to_dict
from matrics._metrics import *  # noqa: F403 (each family says what of it is public)
from matrics._quoting import quoted
from matrics._scoring.score import score

if TYPE_CHECKING:
    from matrics import plot, raters, study
    from matrics._catalogue.description import describe
    from matrics._catalogue.verbal import interpret, list_benchmarks
    from matrics._counting.build import confusion_matrix, soft_confusion_matrix
    from matrics._folds.compare_datasets import compare_datasets
    from matrics._folds.compare_folds import compare_folds
    from matrics._folds.permutation import permutation_test
    from matrics._folds.results import DatasetComparison, FoldComparison, PermutationTest
    from matrics._gates.gate import gate
    from matrics._gates.results import GateResult, RequirementResult
    from matrics._judged.compare import judged_compare
    from matrics._judged.correction import judged_confusion_matrix
    from matrics._judged.counts import JudgedCounts, judged_counts
    from matrics._judged.expected import expected_confusion_matrix, expected_interval
    from matrics._judged.interval import judged_interval
    from matrics._judged.needed import draw_for_labelling, labels_needed
    from matrics._judged.quality import judge_quality
    from matrics._judged.results import JudgedComparison, JudgedInterval, JudgeQuality, LabelsNeeded
    from matrics._multilabel.scores import multilabel_confusion_matrix, multilabel_score, subset_accuracy
    from matrics._multilabel.state import MultilabelState
    from matrics._ranking.areas import average_precision, partial_roc_auc, roc_auc
    from matrics._ranking.best import BestThreshold, best_threshold
    from matrics._ranking.best_interval import BestThresholdInterval, best_threshold_interval
    from matrics._ranking.bounds import Bounded
    from matrics._ranking.brier import BrierDecomposition, brier_decomposition, brier_score
    from matrics._ranking.calibration import Reliability, expected_calibration_error, reliability_curve
    from matrics._ranking.curves import (
        PrecisionRecallCurve,
        RocCurve,
        precision_at_recall,
        precision_recall_curve,
        recall_at_precision,
        recall_at_specificity,
        roc_curve,
    )
    from matrics._ranking.decisions import DecisionCurve, decision_curve
    from matrics._ranking.inference.compare import RankingComparison, compare_rankings
    from matrics._ranking.inference.interval import ranking_interval
    from matrics._ranking.inference.recalibrated import calibration_interval
    from matrics._ranking.losses import binary_cross_entropy, log_loss
    from matrics._ranking.state import ScoreState
    from matrics._ranking.thresholds import ThresholdCurve, threshold_confusion_matrix, threshold_curve
    from matrics._ranking.top_k import top_k_accuracy, top_k_recall
    from matrics._ranking.variance import roc_auc_variance
    from matrics._reporting.report import Report, report
    from matrics._scoring.costs import expected_cost
    from matrics._scoring.fairness import (
        Disparity,
        EqualizedOdds,
        demographic_parity,
        disparity,
        equal_opportunity,
        equalized_odds,
    )
    from matrics._scoring.streaming import score_blocks
    from matrics._stacks.merging import merge_classes
    from matrics._stacks.prevalence import PrevalenceEstimate, at_prevalence
    from matrics._stacks.simulate import class_proportions, controlled_errors, random_matrices, resample
    from matrics._stacks.transform import (
        normalize,
        one_vs_rest,
        pair_counts,
        rebalance,
        repair,
        transpose,
        weight_cells,
    )
    from matrics._states.confusion import ConfusionState
    from matrics._states.margins import MarginState
    from matrics._tables.classification_report import ClassificationReport, classification_report
    from matrics._tables.counts import count_frame
    from matrics._tables.diagnostic import DiagnosticTable, diagnostic_table
    from matrics._tables.frame_counts import FrameCounts
    from matrics._tables.label_scores import LabelScores, score_labels
    from matrics._tables.table import to_frame
    from matrics._tables.tally import count_sql
    from matrics._uncertainty.compare import compare, compare_paired
    from matrics._uncertainty.interval import interval
    from matrics._uncertainty.joint import McNemar, joint_confusion_matrix, mcnemar
    from matrics._uncertainty.models import compare_models
    from matrics._uncertainty.planning import samples_needed
    from matrics._uncertainty.prevalence import estimate_prevalence
    from matrics._uncertainty.results import Comparison, Interval, IntervalStatus, ModelComparison, PairedComparison
    from matrics._uncertainty.shares import PrevalenceStatus

#: The names that are imported when they are first used, by the module that has them: with them, the import would
#: take twice as long. Type checkers read them above.
_LATER = {
    "matrics._catalogue.description": ("describe",),
    "matrics._catalogue.verbal": ("interpret", "list_benchmarks"),
    "matrics._counting.build": ("confusion_matrix", "soft_confusion_matrix"),
    "matrics._folds.compare_datasets": ("compare_datasets",),
    "matrics._folds.compare_folds": ("compare_folds",),
    "matrics._folds.permutation": ("permutation_test",),
    "matrics._folds.results": ("DatasetComparison", "FoldComparison", "PermutationTest"),
    "matrics._gates.gate": ("gate",),
    "matrics._gates.results": ("GateResult", "RequirementResult"),
    "matrics._judged.compare": ("judged_compare",),
    "matrics._judged.correction": ("judged_confusion_matrix",),
    "matrics._judged.counts": ("JudgedCounts", "judged_counts"),
    "matrics._judged.expected": ("expected_confusion_matrix", "expected_interval"),
    "matrics._judged.interval": ("judged_interval",),
    "matrics._judged.needed": ("draw_for_labelling", "labels_needed"),
    "matrics._judged.quality": ("judge_quality",),
    "matrics._judged.results": ("JudgedComparison", "JudgedInterval", "JudgeQuality", "LabelsNeeded"),
    "matrics._multilabel.scores": ("multilabel_confusion_matrix", "multilabel_score", "subset_accuracy"),
    "matrics._multilabel.state": ("MultilabelState",),
    "matrics._ranking.areas": ("average_precision", "partial_roc_auc", "roc_auc"),
    "matrics._ranking.best": ("BestThreshold", "best_threshold"),
    "matrics._ranking.best_interval": ("BestThresholdInterval", "best_threshold_interval"),
    "matrics._ranking.bounds": ("Bounded",),
    "matrics._ranking.brier": ("BrierDecomposition", "brier_decomposition", "brier_score"),
    "matrics._ranking.calibration": ("Reliability", "expected_calibration_error", "reliability_curve"),
    "matrics._ranking.curves": (
        "PrecisionRecallCurve",
        "RocCurve",
        "precision_at_recall",
        "precision_recall_curve",
        "recall_at_precision",
        "recall_at_specificity",
        "roc_curve",
    ),
    "matrics._ranking.decisions": ("DecisionCurve", "decision_curve"),
    "matrics._ranking.inference.compare": ("RankingComparison", "compare_rankings"),
    "matrics._ranking.inference.interval": ("ranking_interval",),
    "matrics._ranking.inference.recalibrated": ("calibration_interval",),
    "matrics._ranking.losses": ("binary_cross_entropy", "log_loss"),
    "matrics._ranking.state": ("ScoreState",),
    "matrics._ranking.thresholds": ("ThresholdCurve", "threshold_confusion_matrix", "threshold_curve"),
    "matrics._ranking.top_k": ("top_k_accuracy", "top_k_recall"),
    "matrics._ranking.variance": ("roc_auc_variance",),
    "matrics._reporting.report": ("Report", "report"),
    "matrics._scoring.costs": ("expected_cost",),
    "matrics._scoring.fairness": (
        "Disparity",
        "EqualizedOdds",
        "demographic_parity",
        "disparity",
        "equal_opportunity",
        "equalized_odds",
    ),
    "matrics._scoring.streaming": ("score_blocks",),
    "matrics._stacks.merging": ("merge_classes",),
    "matrics._stacks.prevalence": ("PrevalenceEstimate", "at_prevalence"),
    "matrics._stacks.simulate": ("class_proportions", "controlled_errors", "random_matrices", "resample"),
    "matrics._stacks.transform": (
        "normalize",
        "one_vs_rest",
        "pair_counts",
        "rebalance",
        "repair",
        "transpose",
        "weight_cells",
    ),
    "matrics._states.confusion": ("ConfusionState",),
    "matrics._states.margins": ("MarginState",),
    "matrics._tables.classification_report": ("ClassificationReport", "classification_report"),
    "matrics._tables.counts": ("count_frame",),
    "matrics._tables.diagnostic": ("DiagnosticTable", "diagnostic_table"),
    "matrics._tables.frame_counts": ("FrameCounts",),
    "matrics._tables.label_scores": ("LabelScores", "score_labels"),
    "matrics._tables.table": ("to_frame",),
    "matrics._tables.tally": ("count_sql",),
    "matrics._uncertainty.compare": ("compare", "compare_paired"),
    "matrics._uncertainty.interval": ("interval",),
    "matrics._uncertainty.joint": ("McNemar", "joint_confusion_matrix", "mcnemar"),
    "matrics._uncertainty.models": ("compare_models",),
    "matrics._uncertainty.planning": ("samples_needed",),
    "matrics._uncertainty.prevalence": ("estimate_prevalence",),
    "matrics._uncertainty.results": ("Comparison", "Interval", "IntervalStatus", "ModelComparison", "PairedComparison"),
    "matrics._uncertainty.shares": ("PrevalenceStatus",),
}
_WHERE = {name: module for module, names in _LATER.items() for name in names}

__all__ = [
    "BestThreshold",
    "BestThresholdInterval",
    "Bounded",
    "BrierDecomposition",
    "ClassificationReport",
    "Comparison",
    "ConfusionState",
    "DatasetComparison",
    "DecisionCurve",
    "DiagnosticTable",
    "Disparity",
    "EqualizedOdds",
    "FoldComparison",
    "FrameCounts",
    "GateResult",
    "Interval",
    "IntervalStatus",
    "InvalidConfusionMatrix",
    "JudgeQuality",
    "JudgedComparison",
    "JudgedCounts",
    "JudgedInterval",
    "LabelScores",
    "LabelsNeeded",
    "MarginState",
    "McNemar",
    "Metric",
    "ModelComparison",
    "MultilabelState",
    "PairedComparison",
    "PermutationTest",
    "PrecisionRecallCurve",
    "PrevalenceEstimate",
    "PrevalenceStatus",
    "RankingComparison",
    "Reliability",
    "Report",
    "RequirementResult",
    "RocCurve",
    "ScoreState",
    "ThresholdCurve",
    "at_prevalence",
    "average_precision",
    "best_threshold",
    "best_threshold_interval",
    "binary_cross_entropy",
    "brier_decomposition",
    "brier_score",
    "calibration_interval",
    "check",
    "class_proportions",
    "classification_report",
    "compare",
    "compare_datasets",
    "compare_folds",
    "compare_models",
    "compare_paired",
    "compare_rankings",
    "confusion_matrix",
    "controlled_errors",
    "count_frame",
    "count_sql",
    "decision_curve",
    "demographic_parity",
    "describe",
    "diagnostic_table",
    "disparity",
    "draw_for_labelling",
    "equal_opportunity",
    "equalized_odds",
    "estimate_prevalence",
    "expected_calibration_error",
    "expected_confusion_matrix",
    "expected_cost",
    "expected_interval",
    "gate",
    "get_metric",
    "interpret",
    "interval",
    "joint_confusion_matrix",
    "judge_quality",
    "judged_compare",
    "judged_confusion_matrix",
    "judged_counts",
    "judged_interval",
    "labels_needed",
    "list_benchmarks",
    "list_metrics",
    "log_loss",
    "mcnemar",
    "merge_classes",
    "metric",
    "multilabel_confusion_matrix",
    "multilabel_score",
    "normalize",
    "one_vs_rest",
    "pair_counts",
    "partial_roc_auc",
    "permutation_test",
    "plot",
    "precision_at_recall",
    "precision_recall_curve",
    "random_matrices",
    "ranking_interval",
    "raters",
    "rebalance",
    "recall_at_precision",
    "recall_at_specificity",
    "register",
    "reliability_curve",
    "repair",
    "report",
    "resample",
    "roc_auc",
    "roc_auc_variance",
    "roc_curve",
    "samples_needed",
    "score",
    "score_blocks",
    "score_labels",
    "soft_confusion_matrix",
    "study",
    "subset_accuracy",
    "threshold_confusion_matrix",
    "threshold_curve",
    "to_dict",
    "to_frame",
    "top_k_accuracy",
    "top_k_recall",
    "transpose",
    "weight_cells",
]
__all__ += metrics.__all__

__version__ = "0.1.0"


def __dir__() -> list[str]:
    """What is public: no modules that this one is made of."""
    return sorted([*__all__, "__all__", "__doc__", "__name__", "__version__"])


def __getattr__(name: str) -> object:
    """Import what is needed later when it is first used, and name the measure that an alias means.

    Each measure has one name in Python, and all its names in ``score``.
    """
    if name in {"plot", "raters", "study"}:
        return importlib.import_module(f"matrics.{name}")
    if name in _WHERE:
        value = getattr(importlib.import_module(_WHERE[name]), name)
        globals()[name] = value  # from now on without this function
        return value
    if name.isidentifier() and not name.startswith("_") and importlib.util.find_spec(f"matrics.{name}") is not None:
        raise AttributeError(
            f"module 'matrics' has no attribute {quoted(name)} before it is imported: import matrics.{name}"
        )
    try:
        known = get_metric(name) if not name.startswith("_") else None
    except ValueError as error:
        import difflib

        near = difflib.get_close_matches(name, __all__, n=1, cutoff=0.85)
        if near:
            raise AttributeError(f"module 'matrics' has no attribute {quoted(name)}; did you mean {near[0]}?") from None
        raise AttributeError(f"module 'matrics' has no attribute {quoted(name)}: {error}") from None
    if known is None:
        raise AttributeError(f"module 'matrics' has no attribute {quoted(name)}")
    if known.is_own:
        raise AttributeError(
            f"module 'matrics' has no attribute {quoted(name)}: the measure is not of this library; matrics.score and "
            f"matrics.get_metric know it as {quoted(str(known))}"
        )
    raise AttributeError(
        f"module 'matrics' has no attribute {quoted(name)}: the measure is matrics.{known.name}; in matrics.score "
        f"{quoted(name)} means {quoted(str(known))}"
    )
