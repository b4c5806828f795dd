"""The scorer: a function of an estimator, samples and labels that returns the values of measures."""

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
    scores_of_classes,
    single_labels,
)
from matrics._integrations.sklearn_measures import Measure, of_matrix, of_scores
from matrics._quoting import quoted, quoted_list


class Scorer(_BaseScorer):
    """A scorer for ``scoring=`` of scikit-learn, as :func:`matrics.sklearn.scorer` returns it.

    The base class is private in scikit-learn, because no public class does this. ``TunedThresholdClassifierCV`` reads
    ``_score_func``, ``_sign`` and ``_kwargs`` of a scorer. A dictionary of scorers shares predictions only between
    instances of this class. The base class also implements metadata routing. ``make_scorer`` would hide the estimator,
    and with it the classes.
    """

    def __init__(
        self,
        measures: Mapping[str, Measure],
        *,
        positive: Hashable,
        labels: Sequence[Hashable] | None,
        zero_division: float | None,
        is_single: bool,
    ) -> None:
        # TunedThresholdClassifierCV reads the positive class from the keywords. The sign is 1: values are negated here.
        keywords = {} if positive is None else {"pos_label": positive}
        super().__init__(self._of_labels, 1, keywords, response_method="predict")
        self.measures, self.positive, self.labels, self.zero_division = measures, positive, labels, zero_division
        self.is_single = is_single

    def __repr__(self) -> str:
        names = list(self.measures)
        settings = {"positive": self.positive, "labels": self.labels, "zero_division": self.zero_division}
        options = "".join(f", {name}={value!r}" for name, value in settings.items() if value is not None)
        return f"scorer({names[0] if self.is_single else names!r}{options})"

    def _score(
        self, method_caller: Callable[..., Any], estimator: Any, X: Any, y_true: Any, **metadata: Any
    ) -> float | dict[str, float]:
        """The value, or the values by name; scikit-learn calls it, also through a dictionary of scorers."""
        known = known_classes(estimator, self.labels)
        true = single_labels(y_true, "y_true")
        needs_labels = any(measure.metric is not None for measure in self.measures.values())
        pred = single_labels(method_caller(estimator, "predict", X), "predictions") if needs_labels else []
        classes = self._classes(known, true, pred)
        weight = _weights(metadata.get("sample_weight"))
        numbers = codes(true, classes)
        values, unavoidable = self._of_matrix(numbers, pred, classes, weight) if needs_labels else ({}, set())
        of_method: dict[str, Array] = {}
        for measure in self.measures.values():
            if measure.score is not None:
                method = method_of(estimator, measure.score.methods_for(classes.number), measure.name)
                if method not in of_method:
                    # method_caller would return the scores of the class that another scorer has requested.
                    of_method[method] = scores_of_classes(estimator, X, method, classes)
                options = {"sample_weight": weight, "zero_division": self.zero_division}
                values[measure.name] = of_scores(measure, numbers, of_method[method], classes, **options)
                if math.isnan(values[measure.name]):  # undefined with any scores
                    unavoidable.add(measure.name)
        if unavoidable:
            has = np.bincount(numbers, weight, classes.number) > 0
            names = [label for label, is_there in zip(classes.labels or (), has, strict=True) if not is_there]
            warnings.warn(
                f"{', '.join(name for name in self.measures if name in unavoidable)}: undefined for any predictions, "
                f"and so NaN, as y_true has no sample of {quoted_list(names, 5)}; use stratified folds, which have "
                "every "
                "class, or zero_division= to give every fold a value",
                UndefinedMetricWarning,
                stacklevel=frames_to_the_user(),
            )
        result: float | dict[str, float] = self._finished(values, classes, unavoidable)
        return result

    def _of_labels(self, y_true: Any, y_pred: Any, *, sample_weight: Any = None, pos_label: Any = None) -> float:  # noqa: ARG002 (scikit-learn hands the positive class on)
        """The value for predicted labels, which ``TunedThresholdClassifierCV`` computes at each threshold.

        The worst value, even if it is infinite, replaces an undefined value: NumPy's argmax, which chooses the
        threshold, would choose a NaN.
        """
        (name, measure), *_ = self.measures.items()
        if not self.is_single:
            raise ValueError(f"expected a scorer of a single measure for a threshold, got {self!r}")
        if measure.metric is None:
            raise ValueError(f"expected a measure of predicted labels for a threshold, got {name}, a measure of scores")
        true, pred = single_labels(y_true, "y_true"), single_labels(y_pred, "predictions")
        classes = self._classes(self.labels or (), true, pred)
        values, _ = self._of_matrix(codes(true, classes), pred, classes, _weights(sample_weight))
        result = float(self._finished(values, classes, ()))
        return measure.signed(measure.worst(classes)) if math.isnan(result) else result

    def _classes(self, known: Sequence[Hashable], true: list[Hashable], pred: list[Hashable]) -> Classes:
        is_complete = self.labels is not None
        return as_classes(
            extended(tuple(known), true, pred, is_complete=is_complete), self.positive, is_complete=is_complete
        )

    def _of_matrix(
        self, numbers: Array, pred: list[Hashable], classes: Classes, weight: Array | None
    ) -> tuple[dict[str, float], set[str]]:
        cm = confusion_matrix(numbers, codes(pred, classes), num_classes=classes.number, sample_weight=weight)
        return of_matrix(cm, self.measures.values(), classes, self.zero_division)

    def _finished(self, values: Mapping[str, float], classes: Classes, unavoidable: Collection[str]) -> Any:
        """The signed values in the order of the names; the worst value, if it is finite, replaces undefined values.

        Measures that are undefined for every model stay NaN.
        """
        results = {}
        for name, measure in self.measures.items():
            value, worst = values[name], measure.worst(classes)
            if math.isnan(value) and name not in unavoidable and self.zero_division is None and math.isfinite(worst):
                value = worst
            results[name] = measure.signed(value)
        return next(iter(results.values())) if self.is_single else results


def _weights(sample_weight: Any) -> Array | None:
    try:
        return None if sample_weight is None else np.asarray(sample_weight, float)
    except (TypeError, ValueError) as error:
        raise TypeError(f"sample_weight: expected a number for each sample, got {quoted(sample_weight)}") from error
