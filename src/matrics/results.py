"""The classes of all results that functions return, for annotations and ``isinstance``.

:class:`matrics.Interval`, the result of :func:`matrics.interval`, is at the top level; displays are in
:mod:`matrics.plot`, and results of studies in :mod:`matrics.study`.
"""

from matrics._folds.results import DatasetComparison, FoldComparison, PermutationTest
from matrics._gates.results import GateResult, RequirementResult
from matrics._judged.counts import JudgedCounts
from matrics._judged.results import JudgeQuality, LabelsNeeded
from matrics._metrics.spectral import GershgorinBounds
from matrics._ranking.best import BestThreshold
from matrics._ranking.bounds import Bounded
from matrics._ranking.brier import BrierDecomposition
from matrics._ranking.calibration import Reliability
from matrics._ranking.curves import PrecisionRecallCurve, RocCurve
from matrics._ranking.decisions import DecisionCurve
from matrics._ranking.drift import ScoreDrift
from matrics._ranking.thresholds import ThresholdCurve
from matrics._reporting.report import Report
from matrics._scoring.fairness import Disparity, EqualizedOdds
from matrics._stacks.prevalence import PrevalenceEstimate
from matrics._tables.classification_report import ClassificationReport
from matrics._tables.diagnostic_groups import DiagnosticGroups
from matrics._tables.diagnostic_pair import DiagnosticComparison
from matrics._tables.diagnostic_results import DiagnosticTable
from matrics._tables.frame_counts import FrameCounts
from matrics._tables.label_scores import LabelScores
from matrics._tables.participant_flow import ParticipantFlow
from matrics._uncertainty.joint import McNemar
from matrics._uncertainty.results import Comparison, ModelComparison

__all__ = [
    "BestThreshold",
    "Bounded",
    "BrierDecomposition",
    "ClassificationReport",
    "Comparison",
    "DatasetComparison",
    "DecisionCurve",
    "DiagnosticComparison",
    "DiagnosticGroups",
    "DiagnosticTable",
    "Disparity",
    "EqualizedOdds",
    "FoldComparison",
    "FrameCounts",
    "GateResult",
    "GershgorinBounds",
    "JudgeQuality",
    "JudgedCounts",
    "LabelScores",
    "LabelsNeeded",
    "McNemar",
    "ModelComparison",
    "ParticipantFlow",
    "PermutationTest",
    "PrecisionRecallCurve",
    "PrevalenceEstimate",
    "Reliability",
    "Report",
    "RequirementResult",
    "RocCurve",
    "ScoreDrift",
    "ThresholdCurve",
]
