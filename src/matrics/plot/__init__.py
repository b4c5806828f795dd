"""Pictures of confusion matrices, of scores and of decisions, drawn by Matplotlib (extra ``plot``).

Each function draws and returns a display: an object with the data, ``figure_`` and ``ax_``, that shows itself in a
notebook, is saved by ``save("name.pdf")``, drawn once more into other axes by ``plot(ax)``, and put into words by
``describe()``. Matplotlib is imported when something is drawn, and none of its settings is changed.
"""

from matrics.plot.agreement import AgreementDisplay, agreement
from matrics.plot.confusion import Confusion, ConfusionMatrixDisplay, confusion_matrix
from matrics.plot.difference import Change, DifferenceDisplay, difference
from matrics.plot.display import Display
from matrics.plot.models import MeasureOfModels, ModelsDisplay, models

__all__ = [
    "AgreementDisplay",
    "Change",
    "Confusion",
    "ConfusionMatrixDisplay",
    "DifferenceDisplay",
    "Display",
    "MeasureOfModels",
    "ModelsDisplay",
    "agreement",
    "confusion_matrix",
    "difference",
    "models",
]
