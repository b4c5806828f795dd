"""What calls of each library see, and which of its names are about classification."""

import inspect

from coming import sklearn_labels, sklearn_scores
from coming.run import Library


def _sklearn():
    from sklearn import calibration, metrics

    names = {name: getattr(metrics, name) for name in metrics.__all__}
    return Library({**names, "calibration_curve": calibration.calibration_curve}, 1e-9, lambda _, arrays: arrays, {})


def _torchmetrics():
    import torchmetrics
    from torchmetrics import classification, functional
    from torchmetrics.functional import classification as functions
    from torchmetrics.functional import nominal

    from coming.torch_data import as_tensors
    from matrics.torchmetrics import ConfusionMetric, ScoreMetric

    names = {
        name: getattr(module, name)
        for module in (classification, functional, nominal, functions)
        for name in module.__all__
    }
    names["MetricCollection"] = torchmetrics.MetricCollection
    return Library(names, 1e-5, as_tensors, {"ScoreMetric": ScoreMetric, "ConfusionMetric": ConfusionMetric})


PACKAGES = {"sklearn": "scikit-learn", "torchmetrics": "torchmetrics"}
LIBRARIES = {"sklearn": _sklearn, "torchmetrics": _torchmetrics}


def topics(name):
    """The topics of a library's page; those of torchmetrics name classes that need it."""
    if name == "sklearn":
        return [*sklearn_labels.TOPICS, *sklearn_scores.TOPICS]
    from coming import torch_labels, torch_scores, torch_several

    return [*torch_labels.TOPICS, *torch_scores.TOPICS, *torch_several.TOPICS]


def public(name):
    """The functions of a library that its page has to mention, each in a call or among what is not here."""
    if name == "sklearn":
        from sklearn import metrics

        return set(metrics.__all__)
    from torchmetrics.functional import classification, nominal

    return set(classification.__all__) | set(nominal.__all__)


def classes():
    """The classes of torchmetrics for classification, and the functions that they keep the state of."""
    from torchmetrics import classification
    from torchmetrics.functional import classification as functions

    plain = {name.replace("_", ""): getattr(functions, name) for name in functions.__all__}
    named = {"binarygroupstatrates": "binarygroupsstatrates"}
    found = {name: name.lower() for name in classification.__all__ if inspect.isclass(getattr(classification, name))}
    return {name: plain.get(named.get(key, key)) for name, key in found.items()}
