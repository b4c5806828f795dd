"""matrics: stacks of confusion matrices, scored by any measure, on any array backend.

>>> import matrics
>>> matrics.score([[45, 5], [5, 45]], ["mcc", "eve"])["mcc"]
np.float64(0.8)

The verbs are here: count (``confusion_matrix``), score (``score``, ``score_labels``), decide (``interval``,
``compare``, ``gate``), and report (``report``, ``to_frame``). States (``ConfusionState``) count batches. The rest is in
modules:

========================================== ==========================================================
``metrics``                                all measures; the nine of the group ``core`` are here, too
``ranking``, ``probabilities``             scores of classes: areas, curves, thresholds, calibration
``stats``, ``judged``, ``raters``          tests, sample sizes, labels by judges, several raters
``multilabel``, ``fairness``, ``frames``   samples with several labels, groups, data frames
``simulate``, ``transform``                random matrices; normalized, merged, reweighted stacks
``torch``, ``torchmetrics``, ``flax``      running metrics; ``dask``, ``xarray``, ``sklearn``, ...
``evals``, ``loggers``, ``transformers``   logs of language models, loggers, the Trainer
``plot``, ``study``, ``results``           pictures, measures of measures, classes of results
``testing``, ``typing``                    assertions for tests of models, types for annotations
========================================== ==========================================================

``help(matrics.ranking)`` shows the contents of a module.
"""

import importlib
from typing import TYPE_CHECKING

from matrics._catalogue.own import metric
from matrics._catalogue.record import Metric
from matrics._catalogue.registry import get_metric, list_metrics, register
from matrics._engine.evaluation import InvalidConfusionMatrix, check
from matrics._engine.results import to_dict, to_json
from matrics._quoting import quoted
from matrics._scoring.score import score
from matrics.metrics import accuracy, balanced_accuracy, cen, cohen_kappa, eve, f1, mcc, precision, recall

if TYPE_CHECKING:
    from matrics import (
        dask,
        evals,
        fairness,
        flax,
        frames,
        judged,
        loggers,
        metrics,
        multilabel,
        plot,
        probabilities,
        ranking,
        raters,
        results,
        simulate,
        sklearn,
        stats,
        study,
        testing,
        torch,
        torchmetrics,
        transform,
        transformers,
        typing,
        xarray,
    )
    from matrics._catalogue.description import describe
    from matrics._counting.build import confusion_matrix, soft_confusion_matrix
    from matrics._gates.gate import gate
    from matrics._multilabel.state import MultilabelState
    from matrics._progress.bar import progress
    from matrics._ranking.state import ScoreState
    from matrics._reporting.report import report
    from matrics._scoring.streaming import score_blocks
    from matrics._states.confusion import ConfusionState
    from matrics._states.margins import MarginState
    from matrics._tables.classification_report import classification_report
    from matrics._tables.label_scores import score_labels
    from matrics._tables.latex import to_latex
    from matrics._tables.table import to_frame
    from matrics._uncertainty.compare import compare, compare_paired
    from matrics._uncertainty.interval import interval
    from matrics._uncertainty.models import compare_models
    from matrics._uncertainty.results import Interval, IntervalStatus

#: Functions and classes that are imported when they are first used, with their modules: with them, the import would
#: take twice as long. Type checkers read them above.
_LATER = {
    "ConfusionState": "matrics._states.confusion",
    "Interval": "matrics._uncertainty.results",
    "IntervalStatus": "matrics._uncertainty.results",
    "MarginState": "matrics._states.margins",
    "MultilabelState": "matrics._multilabel.state",
    "ScoreState": "matrics._ranking.state",
    "classification_report": "matrics._tables.classification_report",
    "compare": "matrics._uncertainty.compare",
    "compare_models": "matrics._uncertainty.models",
    "compare_paired": "matrics._uncertainty.compare",
    "confusion_matrix": "matrics._counting.build",
    "describe": "matrics._catalogue.description",
    "gate": "matrics._gates.gate",
    "interval": "matrics._uncertainty.interval",
    "progress": "matrics._progress.bar",
    "report": "matrics._reporting.report",
    "score_blocks": "matrics._scoring.streaming",
    "score_labels": "matrics._tables.label_scores",
    "soft_confusion_matrix": "matrics._counting.build",
    "to_frame": "matrics._tables.table",
    "to_latex": "matrics._tables.latex",
}

#: Modules that need no other library than the core, so that a name can be looked up in them.
_MODULES = (
    "evals",
    "fairness",
    "frames",
    "judged",
    "loggers",
    "metrics",
    "multilabel",
    "plot",
    "probabilities",
    "ranking",
    "raters",
    "results",
    "simulate",
    "stats",
    "study",
    "testing",
    "transform",
    "typing",
)
#: Modules that are named after the library that they need.
_ADAPTERS = ("dask", "flax", "sklearn", "torch", "torchmetrics", "transformers", "xarray")

__all__ = [
    "ConfusionState",
    "Interval",
    "IntervalStatus",
    "InvalidConfusionMatrix",
    "MarginState",
    "Metric",
    "MultilabelState",
    "ScoreState",
    "accuracy",
    "balanced_accuracy",
    "cen",
    "check",
    "classification_report",
    "cohen_kappa",
    "compare",
    "compare_models",
    "compare_paired",
    "confusion_matrix",
    "dask",
    "describe",
    "evals",
    "eve",
    "f1",
    "fairness",
    "flax",
    "frames",
    "gate",
    "get_metric",
    "interval",
    "judged",
    "list_metrics",
    "loggers",
    "mcc",
    "metric",
    "metrics",
    "multilabel",
    "plot",
    "precision",
    "probabilities",
    "progress",
    "ranking",
    "raters",
    "recall",
    "register",
    "report",
    "results",
    "score",
    "score_blocks",
    "score_labels",
    "simulate",
    "sklearn",
    "soft_confusion_matrix",
    "stats",
    "study",
    "testing",
    "to_dict",
    "to_frame",
    "to_json",
    "to_latex",
    "torch",
    "torchmetrics",
    "transform",
    "transformers",
    "typing",
    "xarray",
]

__version__ = "0.1.0"


def __dir__() -> list[str]:
    """The public names, without the modules of the implementation."""
    return sorted([*__all__, "__all__", "__doc__", "__name__", "__version__"])


def __getattr__(name: str) -> object:
    """A module, a function or a class, which is imported on first use; raises for other names, with a hint."""
    if name in _MODULES or name in _ADAPTERS:
        return importlib.import_module(f"matrics.{name}")
    if name in _LATER:
        value = getattr(importlib.import_module(_LATER[name]), name)
        globals()[name] = value  # later accesses do not call this function
        return value
    raise AttributeError(f"module 'matrics' has no attribute {quoted(name)}{_hint(name)}")


def _hint(name: str) -> str:
    """The place of a name that is not here: in a module, or in the catalogue as an alias; or a similar name."""
    if name.startswith("_"):
        return ""
    import difflib

    places: dict[str, str] = {}
    for module in _MODULES:
        places |= dict.fromkeys(importlib.import_module(f"matrics.{module}").__all__, f"matrics.{module}")
    if name in places:
        return f"; use {places[name]}.{name}"
    try:
        known = get_metric(name)
    except ValueError as error:
        near = difflib.get_close_matches(name, [*__all__, *places], n=1, cutoff=0.85)
        place = "matrics" if near and near[0] in __all__ else places.get(near[0]) if near else None
        return f"; did you mean {place}.{near[0]}?" if near else f": {error}"
    if known.is_own:
        return (
            f": the measure belongs to a user; use matrics.score or matrics.get_metric with the name "
            f"{quoted(str(known))}"
        )
    return f": the measure is {known.place}; in matrics.score {quoted(name)} means {quoted(str(known))}"
