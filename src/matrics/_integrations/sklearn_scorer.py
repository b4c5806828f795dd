"""The scorer: an estimator, samples and labels in, the value of one measure or of several out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics._scorer import _BaseScorer

from matrics._arrays import Array
from matrics._catalogue.classes import Classes
from matrics._counting.build import confusion_matrix
from matrics._engine.evaluation import frames_to_the_user
from matrics._integrations.sklearn_labels import (
    as_classes,
    codes,
    extended,
    known_classes,
    method_of,
    one_label_each,
    scores_of_classes,
)
from matrics._integrations.sklearn_measures import Measure, of_matrix, of_scores
from matrics._quoting import quoted, quoted_list


class Scorer(_BaseScorer):
    """What :func:`matrics.sklearn.scorer` makes: ``scoring=`` of scikit-learn.

    Its base is one of scikit-learn's private names, as there is no public one for this: ``TunedThresholdClassifierCV``
    takes ``_score_func``, ``_sign`` and ``_kwargs`` of a scorer, a dictionary of scorers shares predictions only with
    those of this class, and it has the requests for metadata. ``make_scorer`` would hide the estimator, and with it the
    classes.
    """

    def __init__(
        self,
        measures: Mapping[str, Measure],
        *,
        positive: Hashable,
        labels: Sequence[Hashable] | None,
        zero_division: float | None,
        is_one: bool,
    ) -> None:
        # TunedThresholdClassifierCV looks for the positive class among the keywords. Values have their signs already.
        keywords = {} if positive is None else {"pos_label": positive}
        super().__init__(self._of_labels, 1, keywords, response_method="predict")
        self.measures, self.positive, self.labels, self.zero_division = measures, positive, labels, zero_division
        self.is_one = is_one

    def __repr__(self) -> str:
        names = list(self.measures)
        given = {"positive": self.positive, "labels": self.labels, "zero_division": self.zero_division}
        options = "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
        return f"scorer({names[0] if self.is_one else names!r}{options})"

    def _score(
        self, method_caller: Callable[..., Any], estimator: Any, X: Any, y_true: Any, **metadata: Any
    ) -> float | dict[str, float]:
        """What scikit-learn calls, by itself and through a dictionary of scorers, which shares predictions."""
        known = known_classes(estimator, self.labels)
        true = one_label_each(y_true, "y_true")
        needs_labels = any(one.metric is not None for one in self.measures.values())
        pred = one_label_each(method_caller(estimator, "predict", X), "predictions") if needs_labels else []
        classes = self._classes(known, true, pred)
        weight = _weights(metadata.get("sample_weight"))
        numbers = codes(true, classes)
        values, lost = self._of_matrix(numbers, pred, classes, weight) if needs_labels else ({}, set())
        of_method: dict[str, Array] = {}
        for one in self.measures.values():
            if one.score is not None:
                method = method_of(estimator, one.score.methods_for(classes.number), one.name)
                if method not in of_method:
                    # Not by method_caller: it keeps the scores of one class, whichever another scorer asked for.
                    of_method[method] = scores_of_classes(estimator, X, method, classes)
                options = {"sample_weight": weight, "zero_division": self.zero_division}
                values[one.name] = of_scores(one, numbers, of_method[method], classes, **options)
                if math.isnan(values[one.name]):  # which no scores change
                    lost.add(one.name)
        if lost:
            has = np.bincount(numbers, weight, classes.number) > 0
            names = [label for label, is_there in zip(classes.labels or (), has, strict=True) if not is_there]
            warnings.warn(
                f"{', '.join(name for name in self.measures if name in lost)}: undefined whatever is predicted, and so "
                f"NaN, as y_true has no sample of {quoted_list(names, 5)}; with stratified folds, which have every "
                "class, or with zero_division= every fold has a value",
                UndefinedMetricWarning,
                stacklevel=frames_to_the_user(),
            )
        found: float | dict[str, float] = self._finished(values, classes, lost)
        return found

    def _of_labels(self, y_true: Any, y_pred: Any, *, sample_weight: Any = None, pos_label: Any = None) -> float:  # noqa: ARG002 (scikit-learn hands the positive class on)
        """The value for predicted labels, which ``TunedThresholdClassifierCV`` asks for at each threshold.

        An infinite worst value stands for one that is undefined: NumPy's argmax, which chooses the threshold, would
        choose a NaN.
        """
        (name, one), *_ = self.measures.items()
        if not self.is_one:
            raise ValueError(f"expected a scorer of one measure for a threshold, got {self!r}")
        if one.metric is None:
            raise ValueError(f"expected a measure of predicted labels for a threshold, got {name}, which has none")
        true, pred = one_label_each(y_true, "y_true"), one_label_each(y_pred, "predictions")
        classes = self._classes(self.labels or (), true, pred)
        values, _ = self._of_matrix(codes(true, classes), pred, classes, _weights(sample_weight))
        found = float(self._finished(values, classes, ()))
        return one.signed(one.worst(classes)) if math.isnan(found) else found

    def _classes(self, known: Sequence[Hashable], true: list[Hashable], pred: list[Hashable]) -> Classes:
        are_given = self.labels is not None
        return as_classes(extended(tuple(known), true, pred, are_given=are_given), self.positive, are_given=are_given)

    def _of_matrix(
        self, numbers: Array, pred: list[Hashable], classes: Classes, weight: Array | None
    ) -> tuple[dict[str, float], set[str]]:
        cm = confusion_matrix(numbers, codes(pred, classes), num_classes=classes.number, sample_weight=weight)
        return of_matrix(cm, self.measures.values(), classes, self.zero_division)

    def _finished(self, values: Mapping[str, float], classes: Classes, lost: Collection[str]) -> Any:
        """The values with their signs, in the order of the names; undefined ones are the worst, if that is finite.

        Those that are undefined for every model stay NaN.
        """
        found = {}
        for name, one in self.measures.items():
            value, worst = values[name], one.worst(classes)
            if math.isnan(value) and name not in lost and self.zero_division is None and math.isfinite(worst):
                value = worst
            found[name] = one.signed(value)
        return next(iter(found.values())) if self.is_one else found


def _weights(sample_weight: Any) -> Array | None:
    try:
        return None if sample_weight is None else np.asarray(sample_weight, float)
    except (TypeError, ValueError) as error:
        raise TypeError(f"sample_weight: expected a number for each sample, got {quoted(sample_weight)}") from error
