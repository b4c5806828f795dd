"""The measures of a scorer of scikit-learn: of the matrix of predicted labels, and of the scores of the classes."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrics._arrays import Array
from matrics._catalogue.classes import Classes
from matrics._catalogue.of_scores import spec_of
from matrics._catalogue.record import Metric
from matrics._catalogue.registry import options_of
from matrics._engine.evaluation import evaluate
from matrics._engine.table import Table
from matrics._quoting import quoted, split_outside, unquote
from matrics._ranking.areas import average_precision, roc_auc
from matrics._ranking.at_k import lift_at_k, precision_at_k, recall_at_k
from matrics._ranking.brier import brier_score
from matrics._ranking.calibration import expected_calibration_error
from matrics._ranking.curves import precision_at_recall, recall_at_precision, recall_at_specificity
from matrics._ranking.losses import log_loss
from matrics._ranking.top_k import top_k_accuracy
from matrics._scoring.score import resolve

DECISION, PROBABILITY = "decision_function", "predict_proba"


@dataclass(frozen=True)
class ScoreMeasure:
    """A measure of scores: its function, direction and range, and the methods of estimators that give the scores."""

    function: Callable[..., Any]
    higher_is_better: bool
    worst: float
    methods: tuple[str, ...]
    averages: tuple[str, ...] = ()
    worst_of_classes: float = math.inf
    takes_columns: bool = False  # whether it needs the scores of every class, also where there are two classes
    is_symmetric: bool = True  # whether the value is the same with either of two classes as the positive class
    of_classes: tuple[str, ...] = ()  # the methods for more than two classes, if their order differs

    def methods_for(self, number: int) -> tuple[str, ...]:
        """The methods of estimators that give the scores of ``number`` classes, in order of preference."""
        return self.of_classes if number > 2 and self.of_classes else self.methods


# As in scikit-learn: decision_function comes first, but predict_proba for the ROC AUC of several classes, because
# logits of different samples may have another order than their probabilities.
SCORE_MEASURES = {
    "roc_auc": ScoreMeasure(
        *(roc_auc, True, 0.0, (DECISION, PROBABILITY), ("macro", "weighted", "micro"), 0.0),
        of_classes=(PROBABILITY, DECISION),
    ),
    "average_precision": ScoreMeasure(
        *(average_precision, True, 0.0, (DECISION, PROBABILITY), ("macro", "weighted", "micro"), 0.0),
        is_symmetric=False,
    ),
    **{
        function.__name__: ScoreMeasure(
            *(function, True, 0.0, (DECISION, PROBABILITY), ("macro", "weighted", "micro"), 0.0), is_symmetric=False
        )
        for function in (
            *(precision_at_k, recall_at_k, lift_at_k),
            *(precision_at_recall, recall_at_precision, recall_at_specificity),
        )
    },
    "top_k_accuracy": ScoreMeasure(top_k_accuracy, True, 0.0, (DECISION, PROBABILITY), takes_columns=True),
    "log_loss": ScoreMeasure(log_loss, False, math.inf, (PROBABILITY,)),
    "brier_score": ScoreMeasure(brier_score, False, 1.0, (PROBABILITY,), worst_of_classes=2.0),
    "expected_calibration_error": ScoreMeasure(
        expected_calibration_error, False, 1.0, (PROBABILITY,), worst_of_classes=1.0, is_symmetric=False
    ),
}
# Options that are rates, and the measures that have a default for k.
RATES, WITH_DEFAULT = ("recall", "precision", "specificity"), ("top_k_accuracy",)
# Parameters of the functions that the scorer sets.
SET_HERE = {"average", "positive", "sample_weight", "ignore_index", "zero_division", "workers", "logits", "class_axis"}


@dataclass(frozen=True)
class Measure:
    """A measure of a scorer, under the name that the user gave: a metric, or a measure of scores with options."""

    name: str
    metric: Metric | None = None
    score: ScoreMeasure | None = None
    options: tuple[tuple[str, Any], ...] = ()
    average: str | None = None
    chosen: str | None = None  # the class in square brackets

    @property
    def higher_is_better(self) -> bool:
        """Whether higher values are better; every measure of a scorer has a direction."""
        return bool(self.score.higher_is_better if self.score else self.metric and self.metric.higher_is_better)

    def signed(self, value: float) -> float:
        """The value, negated if lower values are better."""
        return value if self.higher_is_better else 0.0 - value  # avoids a negative zero

    def worst(self, classes: Classes) -> float:
        """The worst value in the range of the measure; it may be infinite."""
        if self.metric is not None:
            return _worst(self.metric)
        assert self.score is not None  # noqa: S101 (a measure has a metric or a score)
        return self.score.worst if self.class_of(classes) is not None else self.score.worst_of_classes

    def class_of(self, classes: Classes) -> int | None:
        """The class whose scores the measure uses: the class in brackets, the positive class, or class 1 of two.

        None means the scores of every class.
        """
        assert self.score is not None  # noqa: S101 (as above)
        if self.chosen is not None:
            return classes.index(self.chosen, self.name)
        if (
            self.score.takes_columns
            or self.average is not None
            or {"multi_class", "of"} & {key for key, _ in self.options}
        ):
            return None
        if classes.positive is not None or classes.number != 2:
            return classes.positive
        return 1 if self.score.is_symmetric else classes.positive_of(self.name)


def read_measures(metrics: Any) -> dict[str, Measure]:
    """The measures of a scorer under the names that the user gave.

    Raises an error unless each has a direction and a single value for a model.
    """
    items = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    if isinstance(items, Mapping) or not isinstance(items, Iterable) or hasattr(items, "dtype"):
        resolve(metrics)  # raises the error with the expected kinds
    measures: dict[str, Measure] = {}
    label_names: list[Any] = []
    for item in items:
        names = [part.strip() for part in split_outside(item) if part.strip()] if isinstance(item, str) else [item]
        for name in names:
            score = _score_measure(name) if isinstance(name, str) else None
            if score is not None:
                measures[score.name] = score
                continue
            label_names.append(name)
            measures.update((key, Measure(key, metric)) for key, metric in resolve([name]).items())
    if label_names or not measures:
        resolve(label_names)  # raises for an empty list, and for two metrics of the same name
    undirected = [
        measure.name for measure in measures.values() if measure.metric and measure.metric.higher_is_better is None
    ]
    if undirected:
        raise ValueError(f"metrics: expected measures with a better direction, got {', '.join(undirected[:5])}")
    for measure in measures.values():
        if measure.metric is not None and measure.metric.is_classwise:
            raise ValueError(
                f"metrics: expected a single value for each model, got {quoted(measure.name)} with a value for each "
                "class: "
                f"name the class in square brackets ({measure.metric.name}[fraud]), or an average"
            )
        if measure.metric is not None:
            measure.metric.bind()  # raises if a required option is missing
    return measures


def _score_measure(name: str) -> Measure | None:
    """The measure of scores of a spec, such as ``roc_auc(multi_class=one_vs_one):weighted`` or ``roc_auc[cat]``."""
    spec = spec_of(name)
    head, *ends = split_outside(spec, ":")
    base, bracket, rest = head.partition("(")
    chosen = None
    if not bracket and "[" in base:
        base, _, inside = base.partition("[")
        chosen = unquote(inside.rstrip().removesuffix("]").strip())
    canonical = base.strip()
    if canonical not in SCORE_MEASURES:
        return None
    score = SCORE_MEASURES[canonical]
    average = ends[0].strip() if ends else None
    if len(ends) > 1 or (average is not None and (average not in score.averages or chosen is not None)):
        hint = f", with an average (:{', :'.join(score.averages)})" if score.averages else " without an average"
        raise ValueError(f"metrics: expected {quoted(canonical)}{hint}, or [class], got {quoted(name)}")
    known = [key for key in inspect.signature(score.function).parameters if key not in SET_HERE][2:]
    options = {}
    for key, value in options_of(bracket, rest, spec).items():
        if key not in known:
            accepted = ", ".join(known) or "no options"
            raise TypeError(f"{canonical} has no option {quoted(key)} in a scorer; its options: {accepted}")
        options[key] = int(value) if value.isdecimal() else float(value) if key in RATES else value
    missing = [key for key in known if key in (*RATES, "k") and key not in options and canonical not in WITH_DEFAULT]
    if missing:
        raise TypeError(
            f"{canonical}: expected the option {missing[0]}, such as {canonical}({missing[0]}=...), got none"
        )
    return Measure(name, None, score, tuple(options.items()), average, chosen)


def of_matrix(
    cm: Array, measures: Iterable[Measure], classes: Classes, zero_division: float | None
) -> tuple[dict[str, float], set[str]]:
    """The values of the measures of predicted labels by name, and the names of the unavoidably undefined measures.

    Undefined values are NaN. The true labels alone make the latter measures undefined, with any predictions.
    """
    chosen = {item.name: item.metric.resolved_for(classes) for item in measures if item.metric is not None}
    if not chosen:
        return {}, set()
    if zero_division is not None:
        results = evaluate(
            cm, [metric.bind() for metric in chosen.values()], zero_division=zero_division, invalid="raise"
        )
        return {name: float(value) for name, value in zip(chosen, results, strict=True)}, set()
    true = cm.sum(axis=1)
    models = _models_of(true)
    trials = evaluate(models, [metric.bind() for metric in chosen.values()], invalid="nan") if not true.all() else []
    unavoidable = {name for name, values in zip(chosen, trials, strict=False) if np.isnan(values).all()}
    # Classes without a value must not make a mean infinite: such means are computed without the worst value as well.
    plain = {
        name: metric for name, metric in chosen.items() if math.isinf(_worst(metric)) and metric.kind == "per_class"
    }
    functions = [
        metric.bind() for metric in (*(_with_worst(metric, models) for metric in chosen.values()), *plain.values())
    ]
    results = [float(value) for value in evaluate(cm, functions, invalid="raise")]
    values, unfilled = dict(zip(chosen, results, strict=False)), dict(zip(plain, results[len(chosen) :], strict=True))
    changed = {name for name, value in unfilled.items() if math.isinf(values[name]) and values[name] != value}
    return {name: math.nan if name in changed | unavoidable else value for name, value in values.items()}, unavoidable


def _models_of(true: Array) -> Array:
    """Confusion matrices of three models with these row sums: perfect, guessing, and with all kinds of errors."""
    n = len(true)
    guesses = np.tile(np.arange(1.0, n + 1), (n, 1))
    rates = np.stack([np.eye(n), guesses, guesses + 2 * n * np.eye(n) + guesses.T**2])
    return true[:, None] * rates / rates.sum(axis=-1, keepdims=True)


def _worst(metric: Metric) -> float:
    return float(metric.range[0 if metric.higher_is_better else 1])


def _with_worst(metric: Metric, models: Array) -> Metric:
    """The metric with its worst value for each class that occurs and is undefined, unless no model defines it.

    Otherwise a mean would prefer the model that never predicts a class, because its precision is 0/0. Means leave out a
    class that is neither a true nor a predicted label of the fold. Measures such as the recall leave out a class
    without true samples.
    """
    if metric.kind != "per_class":
        return metric
    function, worst = metric.function, _worst(metric)
    (trials,) = evaluate(models, [replace(metric, average="class", classes=(), class_weights=()).bind()], invalid="nan")
    is_defined = ~np.isnan(trials).all(axis=0)

    def filled(table: Table, **options: Any) -> Array:
        values = function(table, **options)
        is_undefined = (values != values) & (table.true + table.pred > 0)  # noqa: PLR0124 (NaN)
        if len(values) == len(is_defined):  # pooled classes have two values
            is_undefined = is_undefined & is_defined.reshape(-1, *(1,) * (values.ndim - 1))
        return table.xp.where(is_undefined, worst, values)

    return replace(metric, function=filled)


def of_scores(
    measure: Measure,
    y_true: Array,
    scores: Array,
    classes: Classes,
    *,
    sample_weight: Array | None,
    zero_division: float | None,
) -> float:
    """The value of a measure of class scores (N, n), for the class numbers of the true labels."""
    assert measure.score is not None  # noqa: S101 (checked by the caller)
    keywords: dict[str, Any] = dict(measure.options)
    index = measure.class_of(classes)
    if index is not None:
        y_true, scores = (y_true == index).astype(int), scores[:, index]
    elif measure.average is not None:
        keywords["average"] = measure.average
    if sample_weight is not None:
        keywords["sample_weight"] = sample_weight
    undefined_value = math.nan if zero_division is None else zero_division
    return float(measure.score.function(y_true, scores, zero_division=undefined_value, **keywords))
