"""Pictures of confusion matrices, of scores and of decisions, drawn by Matplotlib (extra ``plot``).

Each function draws and returns a display: an object with the data, ``figure_`` and ``ax_``. Notebooks show it,
``save("name.pdf")`` saves it, ``plot(ax)`` draws it into other axes, and ``describe()`` returns a text. Matplotlib is
imported when something is drawn, and its settings are not changed.
"""

from matrics._plot.agreement import AgreementDisplay, agreement
from matrics._plot.calibration import CalibrationDisplay, CalibrationLine, SmoothLine, calibration
from matrics._plot.confusion import Confusion, ConfusionMatrixDisplay, confusion_matrix
from matrics._plot.critical_difference import CriticalDifferenceDisplay, critical_difference
from matrics._plot.curve import CurveDisplay, curve
from matrics._plot.curve_bands import Band
from matrics._plot.curve_data import CurveLine
from matrics._plot.decision_curve import DecisionCurveDisplay, decision_curve
from matrics._plot.difference import Change, DifferenceDisplay, difference
from matrics._plot.discrimination import DiscriminationLinesDisplay, NamedLine, discrimination_lines
from matrics._plot.display import Display
from matrics._plot.distribution import DistributionDisplay, distribution
from matrics._plot.history import TrainingRun
from matrics._plot.models import MeasureOfModels, ModelsDisplay, models
from matrics._plot.participant_flow import ParticipantFlowDisplay, participant_flow
from matrics._plot.raters import RatersDisplay, raters
from matrics._plot.spectrum import Spectrum, SpectrumDisplay, spectrum
from matrics._plot.subgroups import SubgroupsDisplay, subgroups
from matrics._plot.training import TrainingDisplay, training
from matrics._plot.training_classes import Forgotten, TrainingClassesDisplay, training_classes

__all__ = [
    "AgreementDisplay",
    "Band",
    "CalibrationDisplay",
    "CalibrationLine",
    "Change",
    "Confusion",
    "ConfusionMatrixDisplay",
    "CriticalDifferenceDisplay",
    "CurveDisplay",
    "CurveLine",
    "DecisionCurveDisplay",
    "DifferenceDisplay",
    "DiscriminationLinesDisplay",
    "Display",
    "DistributionDisplay",
    "Forgotten",
    "MeasureOfModels",
    "ModelsDisplay",
    "NamedLine",
    "ParticipantFlowDisplay",
    "RatersDisplay",
    "SmoothLine",
    "Spectrum",
    "SpectrumDisplay",
    "SubgroupsDisplay",
    "TrainingClassesDisplay",
    "TrainingDisplay",
    "TrainingRun",
    "agreement",
    "calibration",
    "confusion_matrix",
    "critical_difference",
    "curve",
    "decision_curve",
    "difference",
    "discrimination_lines",
    "distribution",
    "models",
    "participant_flow",
    "raters",
    "spectrum",
    "subgroups",
    "training",
    "training_classes",
]
