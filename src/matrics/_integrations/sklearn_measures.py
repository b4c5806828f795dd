"""What a scorer of scikit-learn measures: measures of the matrix of predicted labels, and of scores of the classes."""

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
class OfScores:
    """A measure of scores: its function, its direction, the range, and what scikit-learn asks estimators for."""

    function: Callable[..., Any]
    higher_is_better: bool
    worst: float
    methods: tuple[str, ...]
    averages: tuple[str, ...] = ()
    worst_of_classes: float = math.inf
    takes_columns: bool = False  # whether it takes the scores of every class, of two as well
    is_symmetric: bool = True  # whether it does not matter which of two classes is positive
    of_classes: tuple[str, ...] = ()  # the methods for more than two classes, where that is another order

    def methods_for(self, number: int) -> tuple[str, ...]:
        """The methods of estimators that are asked for the scores of so many classes, in order."""
        return self.of_classes if number > 2 and self.of_classes else self.methods


# scikit-learn asks for decision_function first, and for ROC AUC of several classes for predict_proba alone: logits
# of different samples rank otherwise than their probabilities.
OF_SCORE = {
    "roc_auc": OfScores(
        *(roc_auc, True, 0.0, (DECISION, PROBABILITY), ("macro", "weighted", "micro"), 0.0),
        of_classes=(PROBABILITY, DECISION),
    ),
    "average_precision": OfScores(
        *(average_precision, True, 0.0, (DECISION, PROBABILITY), ("macro", "weighted", "micro"), 0.0),
        is_symmetric=False,
    ),
    **{
        function.__name__: OfScores(
            *(function, True, 0.0, (DECISION, PROBABILITY), ("macro", "weighted", "micro"), 0.0), is_symmetric=False
        )
        for function in (
            *(precision_at_k, recall_at_k, lift_at_k),
            *(precision_at_recall, recall_at_precision, recall_at_specificity),
        )
    },
    "top_k_accuracy": OfScores(top_k_accuracy, True, 0.0, (DECISION, PROBABILITY), takes_columns=True),
    "log_loss": OfScores(log_loss, False, math.inf, (PROBABILITY,)),
    "brier_score": OfScores(brier_score, False, 1.0, (PROBABILITY,), worst_of_classes=2.0),
    "expected_calibration_error": OfScores(
        expected_calibration_error, False, 1.0, (PROBABILITY,), worst_of_classes=1.0, is_symmetric=False
    ),
}
# Options that are shares, and the measures whose k may be left out.
RATES, WITH_DEFAULT = ("recall", "precision", "specificity"), ("top_k_accuracy",)
# Options of the functions that the scorer sets itself.
SET_HERE = {"average", "positive", "sample_weight", "ignore_index", "zero_division", "workers", "logits", "class_axis"}


@dataclass(frozen=True)
class Measure:
    """One of the values of a scorer, by its name as given: a metric, or a measure of scores with options."""

    name: str
    metric: Metric | None = None
    score: OfScores | None = None
    options: tuple[tuple[str, Any], ...] = ()
    average: str | None = None
    chosen: str | None = None  # the class in square brackets

    @property
    def higher_is_better(self) -> bool:
        """Its direction, which every measure of a scorer has."""
        return bool(self.score.higher_is_better if self.score else self.metric and self.metric.higher_is_better)

    def signed(self, value: float) -> float:
        """The value with the sign that makes higher values better."""
        return value if self.higher_is_better else 0.0 - value  # without a negative zero

    def worst(self, classes: Classes) -> float:
        """The worst end of its range, which may be infinite."""
        if self.metric is not None:
            return _worst(self.metric)
        assert self.score is not None  # noqa: S101 (it is one of the two)
        return self.score.worst if self.class_of(classes) is not None else self.score.worst_of_classes

    def class_of(self, classes: Classes) -> int | None:
        """The class of which a measure of scores takes the scores: in brackets, positive, or class 1 of two.

        None stands for every class.
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
    """The measures by their names as given; each has a better direction and one value for a model, or this raises."""
    given = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    if isinstance(given, Mapping) or not isinstance(given, Iterable) or hasattr(given, "dtype"):
        resolve(metrics)  # which says what was expected
    found: dict[str, Measure] = {}
    of_labels: list[Any] = []
    for item in given:
        names = [part.strip() for part in split_outside(item) if part.strip()] if isinstance(item, str) else [item]
        for name in names:
            score = _of_scores(name) if isinstance(name, str) else None
            if score is not None:
                found[score.name] = score
                continue
            of_labels.append(name)
            found.update((key, Measure(key, metric)) for key, metric in resolve([name]).items())
    if of_labels or not found:
        resolve(of_labels)  # raises for none at all, and for two of one name
    undirected = [one.name for one in found.values() if one.metric and one.metric.higher_is_better is None]
    if undirected:
        raise ValueError(f"metrics: expected measures with a better direction, got {', '.join(undirected[:5])}")
    for one in found.values():
        if one.metric is not None and one.metric.is_classwise:
            raise ValueError(
                f"metrics: expected one value for each model, got {quoted(one.name)}, with one for each class: name "
                f"the class in square brackets ({one.metric.name}[fraud]), or an average"
            )
        if one.metric is not None:
            one.metric.bind()  # raises for an option that is lacking
    return found


def _of_scores(name: str) -> Measure | None:
    """A measure of scores, such as ``roc_auc(multi_class=one_vs_one):weighted`` or ``roc_auc[cat]``."""
    spec = spec_of(name)
    head, *ends = split_outside(spec, ":")
    base, bracket, rest = head.partition("(")
    chosen = None
    if not bracket and "[" in base:
        base, _, inside = base.partition("[")
        chosen = unquote(inside.rstrip().removesuffix("]").strip())
    canonical = base.strip()
    if canonical not in OF_SCORE:
        return None
    score = OF_SCORE[canonical]
    average = ends[0].strip() if ends else None
    if len(ends) > 1 or (average is not None and (average not in score.averages or chosen is not None)):
        some = f", possibly with one of :{', :'.join(score.averages)}" if score.averages else " without an average"
        raise ValueError(f"metrics: expected {quoted(canonical)}{some}, or [class], got {quoted(name)}")
    known = [key for key in inspect.signature(score.function).parameters if key not in SET_HERE][2:]
    options = {}
    for key, value in options_of(bracket, rest, spec).items():
        if key not in known:
            takes = ", ".join(known) or "no options"
            raise TypeError(f"{canonical} has no option {quoted(key)} in a scorer; it takes {takes}")
        options[key] = int(value) if value.isdecimal() else float(value) if key in RATES else value
    lacking = [key for key in known if key in (*RATES, "k") and key not in options and canonical not in WITH_DEFAULT]
    if lacking:
        raise TypeError(
            f"{canonical}: expected the option {lacking[0]}, such as {canonical}({lacking[0]}=...), got none"
        )
    return Measure(name, None, score, tuple(options.items()), average, chosen)


def of_matrix(
    cm: Array, measures: Iterable[Measure], classes: Classes, zero_division: float | None
) -> tuple[dict[str, float], set[str]]:
    """The values of the measures of predicted labels, by name, NaN where undefined; and those undefined for any model.

    The latter are undefined whatever is predicted for these true labels.
    """
    chosen = {one.name: one.metric.resolved_for(classes) for one in measures if one.metric is not None}
    if not chosen:
        return {}, set()
    if zero_division is not None:
        found = evaluate(cm, [one.bind() for one in chosen.values()], zero_division=zero_division, invalid="raise")
        return {name: float(value) for name, value in zip(chosen, found, strict=True)}, set()
    true = cm.sum(axis=1)
    models = _models_of(true)
    tried = evaluate(models, [one.bind() for one in chosen.values()], invalid="nan") if not true.all() else []
    lost = {name for name, values in zip(chosen, tried, strict=False) if np.isnan(values).all()}
    # Where the worst end is infinite, also without it: classes without a value must not make the mean infinite.
    plain = {name: one for name, one in chosen.items() if math.isinf(_worst(one)) and one.kind == "per_class"}
    functions = [one.bind() for one in (*(_with_worst(one, models) for one in chosen.values()), *plain.values())]
    found = [float(value) for value in evaluate(cm, functions, invalid="raise")]
    values, beside = dict(zip(chosen, found, strict=False)), dict(zip(plain, found[len(chosen) :], strict=True))
    changed = {name for name, value in beside.items() if math.isinf(values[name]) and values[name] != value}
    return {name: math.nan if name in changed | lost else value for name, value in values.items()}, lost


def _models_of(true: Array) -> Array:
    """Matrices of a perfect model, of one that guesses and of one with all kinds of errors, for these true sizes."""
    n = len(true)
    guesses = np.tile(np.arange(1.0, n + 1), (n, 1))
    rates = np.stack([np.eye(n), guesses, guesses + 2 * n * np.eye(n) + guesses.T**2])
    return true[:, None] * rates / rates.sum(axis=-1, keepdims=True)


def _worst(metric: Metric) -> float:
    return float(metric.range[0 if metric.higher_is_better else 1])


def _with_worst(metric: Metric, models: Array) -> Metric:
    """The same with the worst value for each class that occurs and is undefined, but not for each of the models.

    A mean that left such a class out would choose the model that never predicts it: its precision is 0/0. A class that
    is neither true nor predicted in a fold is left out, and so is one that is not true from measures of true classes.
    """
    if metric.kind != "per_class":
        return metric
    function, worst = metric.function, _worst(metric)
    (tried,) = evaluate(models, [replace(metric, average="class", classes=(), class_weights=()).bind()], invalid="nan")
    is_defined = ~np.isnan(tried).all(axis=0)

    def filled(table: Table, **options: Any) -> Array:
        values = function(table, **options)
        is_undefined = (values != values) & (table.true + table.pred > 0)  # noqa: PLR0124 (NaN)
        if len(values) == len(is_defined):  # those of pooled classes are two
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
    """The value of a measure of scores (N, n) of the classes, for the numbers of the true ones; NaN where undefined."""
    assert measure.score is not None  # noqa: S101 (the caller has looked)
    keywords: dict[str, Any] = dict(measure.options)
    which = measure.class_of(classes)
    if which is not None:
        y_true, scores = (y_true == which).astype(int), scores[:, which]
    elif measure.average is not None:
        keywords["average"] = measure.average
    if sample_weight is not None:
        keywords["sample_weight"] = sample_weight
    replaced = math.nan if zero_division is None else zero_division
    return float(measure.score.function(y_true, scores, zero_division=replaced, **keywords))
