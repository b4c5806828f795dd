"""The small data sets on which both libraries are run: a few samples each, with whatever makes libraries differ."""

from typing import Any, NamedTuple

import numpy as np

import matrics


class Case(NamedTuple):
    """One data set: what is odd about it, and its arrays by the names that the calls use."""

    name: str
    what: str
    arrays: dict[str, Any]


WEIGHT = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.0, 1.0, 2.0, 1.0])
# Sums of eighths, so that float32 has the same probabilities as float64.
SCORES = np.array([1, 4, 3, 7, 6, 2, 7, 5, 1, 4]) / 8
PROBABILITIES = (
    np.array(
        [[5, 2, 1], [4, 3, 1], [2, 5, 1], [1, 6, 1], [2, 4, 2], [1, 3, 4], [0, 8, 0], [1, 2, 5], [4, 1, 3], [2, 0, 6]]
    )
    / 8
)
TIED = np.concat([PROBABILITIES[:6], np.array([[3, 3, 2], [0, 4, 4], [3, 2, 3], [4, 0, 4]]) / 8])
LOGITS = np.array([-2.0, 0.25, -1.0, 3.0, 1.5, -0.5, 0.75, 0.5, -4.0, 0.5])
PRED = [0, 0, 1, 1, 1, 2, 1, 2, 0, 2]


def _labels(y_true, y_pred):
    return {"y_true": np.array(y_true), "y_pred": np.array(y_pred), "weight": WEIGHT, "groups": np.arange(10) % 2}


def _scores(y_true, y_score):
    return {"y_true": np.array(y_true), "y_score": np.array(y_score), "weight": WEIGHT}


def _several(y_true, y_pred, y_score):
    return {"y_true": np.array(y_true), "y_pred": np.array(y_pred), "y_score": np.array(y_score) / 8}


SEVERAL_TRUE = [[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 1]]
SEVERAL_SCORES = [[6, 2, 5], [1, 7, 4], [5, 3, 2], [2, 3, 6], [7, 5, 1], [3, 6, 3]]

#: By the kind of data that a call takes.
CASES = {
    "classes": [
        Case(
            "ordinary",
            "three classes, all true and predicted",
            _labels([0, 0, 0, 1, 1, 1, 1, 2, 2, 2], [0, 0, 1, 1, 1, 2, 1, 2, 0, 2]),
        ),
        Case(
            "absent",
            "class 2 has no samples, but is predicted",
            _labels([0, 0, 0, 1, 1, 1, 1, 1, 0, 1], [0, 0, 1, 1, 1, 2, 1, 1, 0, 1]),
        ),
        Case(
            "never predicted",
            "class 2 has samples, and is never predicted",
            _labels([0, 0, 0, 1, 1, 1, 1, 2, 2, 2], [0, 0, 1, 1, 1, 0, 1, 0, 0, 1]),
        ),
        Case(
            "nowhere",
            "class 2 is neither true nor predicted",
            _labels([0, 0, 0, 1, 1, 1, 1, 0, 0, 1], [0, 0, 1, 1, 1, 0, 1, 0, 0, 1]),
        ),
    ],
    "two classes": [
        Case("ordinary", "nothing", _labels([0, 0, 0, 1, 1, 1, 0, 0, 0, 1], [0, 0, 1, 1, 1, 0, 1, 0, 0, 1])),
        Case("no positives", "no sample is of class 1", _labels([0] * 10, [0, 0, 1, 0, 0, 0, 1, 0, 0, 0])),
        Case("none predicted", "class 1 is never predicted", _labels([0, 0, 0, 1, 1, 0, 0, 0, 0, 1], [0] * 10)),
        Case("only class 0", "all samples are of class 0, and predicted so", _labels([0] * 10, [0] * 10)),
    ],
    "scores": [
        Case(
            "ordinary",
            "nothing",
            _scores([0, 0, 0, 1, 1, 0, 1, 1, 0, 0], [0.1, 0.4, 0.3, 0.9, 0.8, 0.2, 0.7, 0.35, 0.05, 0.6]),
        ),
        Case("ties", "equal scores, one of them exactly 0.5", _scores([0, 0, 1, 1, 1, 0, 1, 0, 0, 1], SCORES)),
        Case("no positives", "no sample is of class 1", _scores([0] * 10, SCORES)),
        Case("no negatives", "all samples are of class 1", _scores([1] * 10, SCORES)),
    ],
    "logits": [
        Case("ordinary", "logits, whose sign decides", _scores([0, 0, 0, 1, 1, 0, 1, 1, 0, 0], LOGITS)),
        Case(
            "in [0, 1] by chance",
            "logits that lie between 0 and 1, and so pass for probabilities",
            _scores([0, 0, 0, 1, 1, 0, 1, 1, 0, 0], SCORES),
        ),
    ],
    "large logits": [
        Case(
            "above 17",
            "logits above 17, whose sigmoid in float32 is 1",
            _scores([0, 0, 0, 1, 1, 0, 1, 1, 0, 0], LOGITS + 25),
        ),
    ],
    "some ignored": [
        Case(
            "ordinary", "the label -1 marks what nobody has annotated", _labels([0, 0, -1, 1, 1, 1, -1, 2, 2, 2], PRED)
        ),
        Case("absent", "the same, and no sample of class 2 is left", _labels([0, 0, 0, 1, 1, 1, 1, -1, -1, -1], PRED)),
    ],
    "class scores": [
        Case("ordinary", "probabilities of three classes", _scores([0, 0, 0, 1, 1, 1, 1, 2, 2, 2], PROBABILITIES)),
        Case("absent", "class 2 has no samples", _scores([0, 0, 0, 1, 1, 1, 1, 1, 0, 1], PROBABILITIES)),
        Case(
            "tied classes",
            "the two highest scores of some samples are equal",
            _scores([0, 0, 0, 1, 1, 1, 1, 2, 2, 2], TIED),
        ),
    ],
    "several labels": [
        Case(
            "ordinary",
            "three labels a sample",
            _several(SEVERAL_TRUE, [[1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 0, 1], [1, 1, 0], [0, 1, 0]], SEVERAL_SCORES),
        ),
        Case(
            "empty",
            "no sample has label 2, which is predicted; one sample has no label, true or predicted",
            _several(
                [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]],
                [[1, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 0], [1, 1, 0], [0, 1, 0]],
                SEVERAL_SCORES,
            ),
        ),
        Case(
            "never predicted",
            "label 2 is never predicted",
            _several(SEVERAL_TRUE, [[1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], SEVERAL_SCORES),
        ),
    ],
}


def arrays(kind, case):
    """The arrays of a case, with the confusion matrix ``cm`` of its labels."""
    found = dict(case.arrays)
    if kind in {"classes", "two classes"}:
        number = 3 if kind == "classes" else 2
        labels = np.union1d(found["y_true"], found["y_pred"])
        found["cm"] = matrics.confusion_matrix(found["y_true"], found["y_pred"], num_classes=number)
        found["cm_seen"] = matrics.confusion_matrix(found["y_true"], found["y_pred"], labels=labels)
    return found


def tensor_names(arrays):
    """What torchmetrics calls the arrays of a case."""
    names = {"y_true": "target", "y_pred": "preds", "y_score": "scores" if "y_pred" in arrays else "preds"}
    return {name: names.get(name, name) for name in arrays}
