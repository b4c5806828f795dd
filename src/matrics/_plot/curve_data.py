"""The data of curves: points of every model at every threshold, from scores or from computed curves."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._catalogue.classes import TWO, Classes
from matrics._catalogue.naming import check_names, title_of
from matrics._catalogue.record import Metric
from matrics._engine.results import NamedResult
from matrics._plot.inputs import on_host
from matrics._quoting import quoted
from matrics._ranking.curves import PrecisionRecallCurve, RocCurve, precision_recall_curve, roc_curve
from matrics._ranking.inference.interval import interval
from matrics._ranking.inputs import ScoredSamples, read
from matrics._ranking.positive import directed, two_classes
from matrics._ranking.rows import as_rows
from matrics._ranking.thresholds import ThresholdCurve, threshold_curve
from matrics._scoring.score import resolve
from matrics.typing import NumPyArray

__all__ = [
    "CurveLine",
    "CurveScores",
    "curve_name",
    "equal_values",
    "in_units_of_scores",
    "index_of",
    "lines_of_scores",
    "measures_of",
    "read_computed",
    "read_scores",
    "refuse_with_computed",
    "sides_of",
    "single_measure",
    "steps",
    "with_mark",
]

# The names and aliases of curves. (In PyCM, PR is the prevalence.)
CURVE_NAMES = {
    "roc": "roc",
    "roc_curve": "roc",
    "precision_recall": "precision_recall",
    "precision_recall_curve": "precision_recall",
    "pr": "precision_recall",
    "pr_curve": "precision_recall",
}


AREAS = {"roc": "roc_auc", "precision_recall": "average_precision"}

#: Each of several classes against the rest.
EACH_CLASS = Classes(2, ("the rest", "each class"), by_construction=True)


class CurveScores(NamedTuple):
    """The scores of a model, or of a class against the rest."""

    name: str
    y_true: NumPyArray  # (N,), integers 0 and 1
    scores: NumPyArray  # (N,)
    problem: str  # why there is no curve; empty if there is a curve
    sides: Classes = TWO  # both classes, with their names in titles


class CurveLine(NamedResult):
    """A line of :func:`matrics.plot.curve`.

    Parameters
    ----------
    name : str
        The model, or the measure.
    x, y : array, shape (T,)
        The points, from the highest threshold to the lowest: false and true positive rates, recall and precision, or
        thresholds and values.
    thresholds : array, shape (T,)
        The thresholds; the first is infinite.
    summary : float
        The ROC AUC, the average precision, or the best value. NaN if it is undefined or was not computed.
    best : int or None
        The index of the marked threshold in these arrays: the best or the given threshold.
    problem : str
        Why there are no points; empty if there are points.
    low, high : float
        The limits of an area; NaN if there are none.
    """

    name: str
    x: NumPyArray
    y: NumPyArray
    thresholds: NumPyArray
    summary: float = np.nan
    best: int | None = None
    problem: str = ""
    low: float = np.nan
    high: float = np.nan


def read_scores(
    y_true: Any,
    y_score: Any,
    names: Sequence[str] | None,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
    *,
    lower_is_positive: bool = False,
) -> list[CurveScores]:
    """The scores of each model, or of each class against the rest, with names; with ``positive`` only of that class.

    Scores that are lower in the positive class have the other sign.

    Raises
    ------
    ValueError
        Names, labels and scores do not fit.
    """
    if not isinstance(y_score, Mapping):
        return _read_model(y_true, y_score, names, class_names, positive, lower_is_positive)
    if not y_score:
        raise ValueError("y_score: expected the scores of at least one model, got an empty mapping")
    if names is not None:
        raise ValueError("names: expected None, as the keys of y_score are the names")
    models: list[CurveScores] = []
    for key, scores in y_score.items():
        parts = _read_model(y_true, scores, None, class_names, positive, lower_is_positive)
        named = [part._replace(name=f"{key}, {part.name}" if len(parts) > 1 else str(key)) for part in parts]
        models += named
    return models


def _read_model(  # noqa: PLR0917 (the parameters of read_scores)
    y_true: Any,
    y_score: Any,
    names: Sequence[str] | None,
    class_names: Sequence[str] | None,
    positive: Hashable,
    lower_is_positive: bool,  # noqa: FBT001
) -> list[CurveScores]:
    samples = read(y_true, y_score, positive=index_of(class_names, positive), lower_is_positive=lower_is_positive)
    sides = sides_of(samples, class_names)
    rows, shape = as_rows(samples)
    scores, labels, spoiled = (
        np.asarray(rows.backend.to_numpy(part)) for part in (rows.scores, rows.positive, rows.spoiled)
    )
    if not len(scores):
        raise ValueError(f"y_score: expected the scores of at least one model, got shape {np.shape(y_score)}")
    if samples.num_classes is not None and class_names is not None:
        check_names(class_names, samples.num_classes)
        default_names = [", ".join([*map(str, place[:-1]), class_names[place[-1]]]) for place in np.ndindex(*shape)]
    else:
        word = "curve" if samples.num_classes is None else "class"
        default_names = [f"{word} {', '.join(map(str, place))}" for place in np.ndindex(*shape)] if shape else [""]
    return [
        CurveScores(
            name, labels[k].astype(np.int64), scores[k], _problem(labels[k], is_spoiled=bool(spoiled[k])), sides
        )
        for k, name in enumerate(_checked_names(names, default_names))
    ]


def index_of(class_names: Sequence[str] | None, positive: Hashable) -> Hashable:
    """The index of the positive class among ``class_names``; without these, ``positive`` itself."""
    if class_names is None or positive is None:
        return positive
    return Classes.of(len(class_names), tuple(class_names), positive).positive


def sides_of(samples: ScoredSamples, class_names: Sequence[str] | None) -> Classes:
    """The names of the two classes in titles."""
    if samples.num_classes is not None:
        return EACH_CLASS
    if samples.names is None or class_names is None:
        return two_classes(samples.names)
    rest, positive = (class_names[k] if isinstance(k, int) else k for k in samples.names)
    return two_classes((rest, positive))


def _checked_names(names: Sequence[str] | None, default_names: list[str]) -> list[str]:
    if names is None:
        return default_names
    if isinstance(names, str) or len(names) != len(default_names):
        raise ValueError(f"names: expected {len(default_names)}, a name for each curve, got {quoted(names)}")
    return [str(name) for name in names]


def _problem(positive: NumPyArray, *, is_spoiled: bool) -> str:
    if is_spoiled:
        return "a score is NaN or a label out of range"
    if not positive.size:
        return "no samples"
    if positive.all() or not positive.any():
        return f"no {'negative' if positive.any() else 'positive'} samples"
    return ""


def curve_name(kind: Any) -> Any:
    """The name of a curve, also from "PR" or "precision-recall"; measures are unchanged."""
    return CURVE_NAMES.get(kind.lower().replace("-", "_").replace(" ", "_"), kind) if isinstance(kind, str) else kind


def measures_of(kind: Any, classes: Classes) -> dict[str, Metric]:
    """The measures that are drawn against the threshold, keyed by title; empty for ROC and precision-recall curves.

    Raises
    ------
    ValueError
        A measure is unknown, or has a value for each class.
    """
    if isinstance(kind, str) and kind in CURVE_NAMES:
        return {}
    metrics = resolve(kind, classes)
    for name, metric in metrics.items():
        if metric.is_classwise:
            raise ValueError(
                f"kind: expected measures with a single value for each matrix, got {name}; choose an average"
            )
    return {title_of(name): metric for name, metric in metrics.items()}


def lines_of_scores(
    models: Sequence[CurveScores], kind: str, measures: Mapping[str, Metric], best: Any, level: float
) -> list[list[CurveLine]]:
    """The lines of each model: a single ROC or precision-recall curve, or a line for each measure."""
    return [_lines_of(model, kind, measures, best, level) for model in models]


def _lines_of(
    model: CurveScores, kind: str, measures: Mapping[str, Metric], best: Any, level: float
) -> list[CurveLine]:
    no_points = np.empty(0)
    if model.problem:
        empty = CurveLine(model.name, no_points, no_points, no_points, problem=model.problem)
        return [empty] * max(1, len(measures))
    if measures:
        curve = threshold_curve(model.y_true, model.scores, list(measures.values()), unique=True)
        return [
            _against_threshold(model.name, curve.thresholds, values, metric, marks=best is not False)
            for values, metric in zip(curve.values.values(), measures.values(), strict=True)
        ]
    if kind == "roc":
        fpr, tpr, thresholds = roc_curve(model.y_true, model.scores)
        line = CurveLine(model.name, fpr, tpr, thresholds)
    else:
        precision, recall, thresholds = precision_recall_curve(model.y_true, model.scores)
        line = CurveLine(model.name, recall, precision, thresholds)
    area = interval(model.y_true, model.scores, AREAS[kind], level=level)[AREAS[kind]]
    summary, low, high = (float(part) for part in area[:3])
    line = line._replace(summary=summary, low=low, high=high)
    if isinstance(best, Metric):
        (values,) = threshold_curve(model.y_true, model.scores, [best]).values.values()
        line = line._replace(best=_place_of_best(values, best))
    return [line]


def with_mark(line: CurveLine, threshold: float) -> CurveLine:
    """The line with a mark at this threshold."""
    return line._replace(best=max(int(np.count_nonzero(line.thresholds >= threshold)) - 1, 0))


def in_units_of_scores(line: Any, kind: str) -> Any:
    """A line or a band of negated scores, with thresholds in the units of the scores."""
    fields = ["thresholds"] * hasattr(line, "thresholds") + ["x"] * (kind == "threshold")
    return line._replace(**{name: -getattr(line, name) for name in fields})


def _against_threshold(
    name: str, thresholds: NumPyArray, values: NumPyArray, metric: Metric, *, marks: bool = True
) -> CurveLine:
    place = _place_of_best(values, metric) if marks else None
    value = float(np.nan if place is None else values[place])
    return CurveLine(name, thresholds, values, thresholds, value, place)


def _place_of_best(values: NumPyArray, metric: Metric) -> int | None:
    """The index of the best value, of equal values that of the highest threshold; None if all are undefined."""
    if metric.higher_is_better is None or np.isnan(values).all():
        return None
    return int(np.nanargmax(values if metric.higher_is_better else -np.asarray(values)))


def read_computed(
    curves: Any, names: Sequence[str] | None, *, lower_is_positive: bool = False
) -> tuple[str, dict[str, Metric], list[list[CurveLine]]]:
    """The kind, the measures and the lines of a computed curve, or of a mapping of names to computed curves.

    Thresholds of scores that are lower in the positive class have the other sign.

    Raises
    ------
    TypeError
        The argument is something else.
    ValueError
        The curves are of different kinds, or names do not fit.
    """
    if isinstance(curves, Mapping) and curves and names is None:
        parts = [read_computed(curve, None, lower_is_positive=lower_is_positive) for curve in curves.values()]
        if len({(kind, tuple(measures)) for kind, measures, _ in parts}) > 1:
            raise ValueError("y_true: expected curves of the same kind and of the same measures, got different kinds")
        lines = [
            [line._replace(name=f"{key}, {line.name}" if len(models) > 1 else str(key)) for line in model]
            for key, (_, _, models) in zip(curves, parts, strict=True)
            for model in models
        ]
        return *parts[0][:2], lines
    if isinstance(curves, ThresholdCurve):
        thresholds = directed(on_host("thresholds", curves.thresholds), lower_is_positive=lower_is_positive)
        values = {name: on_host("values", value) for name, value in curves.values.items()}
        flat = thresholds.reshape(-1, thresholds.shape[-1])
        measures: dict[str, Metric] = {}
        columns = []
        for name, value in values.items():
            ((title, metric),) = measures_of(name, TWO).items()
            title = title if title_of(name) == name else title_of(name)  # the title of the curve already has the class
            if title not in measures:
                columns.append(value.reshape(flat.shape))
            measures.setdefault(title, metric)
        titles = _checked_names(names, [f"curve {k}" for k in range(len(flat))] if thresholds.ndim > 1 else [""])
        return (
            "threshold",
            measures,
            [
                [
                    _against_threshold(titles[k], *_descending(flat[k], column[k]), metric)
                    for column, metric in zip(columns, measures.values(), strict=True)
                ]
                for k in range(len(flat))
            ],
        )
    if not isinstance(curves, (RocCurve, PrecisionRecallCurve)):
        raise TypeError(
            "y_score: expected scores in addition to y_true; or, instead of both, a ThresholdCurve, RocCurve or "
            f"PrecisionRecallCurve, or a mapping of names to such curves, got {type(curves).__name__}"
        )
    first, second, thresholds = (on_host("curve", part) for part in curves)
    thresholds = directed(thresholds, lower_is_positive=lower_is_positive)
    x, y = (first, second) if isinstance(curves, RocCurve) else (second, first)
    flat_x, flat_y, flat = (part.reshape(-1, part.shape[-1]) for part in (x, y, thresholds))
    titles = _checked_names(names, [f"curve {k}" for k in range(len(flat))] if thresholds.ndim > 1 else [""])
    lines = [[CurveLine(titles[k], flat_x[k], flat_y[k], flat[k])] for k in range(len(flat))]
    lines = [[_undefined_if_nan(line) for line in model] for model in lines]
    return ("roc" if isinstance(curves, RocCurve) else "precision_recall"), {}, lines


def _descending(thresholds: NumPyArray, values: NumPyArray) -> tuple[NumPyArray, NumPyArray]:
    """Thresholds and values in descending order of the thresholds; users may pass them in any order."""
    order = np.argsort(-thresholds, kind="stable")
    return thresholds[order], values[order]


def _undefined_if_nan(line: CurveLine) -> CurveLine:
    known = np.isfinite(line.x) & np.isfinite(line.y)
    return line if known.any() else line._replace(problem="undefined at every threshold")


def steps(x: NumPyArray, y: NumPyArray) -> tuple[NumPyArray, NumPyArray]:
    """The corners of steps: each value holds from the previous x (exclusive) to its own x (inclusive)."""
    return np.repeat(x, 2)[:-1], np.repeat(y, 2)[1:]


def refuse_with_computed(kind: Any, best: Any, level: Any) -> None:
    """Raise an error for options that need more data than a computed curve has."""
    for name, value in (("kind", kind), ("level", level)):
        if value is not None:
            raise ValueError(f"{name}: expected None with a computed curve; pass y_true and y_score instead")
    if best is not None and not isinstance(best, bool):
        raise ValueError("best: expected True or False with a computed curve; pass y_true and y_score instead")


def single_measure(metric: Any, name: str, classes: Classes) -> Metric:
    """The measure of the argument ``best`` or ``iso``."""
    metrics = list(resolve(metric, classes).values())
    if len(metrics) != 1 or metrics[0].is_classwise:
        raise ValueError(
            f"{name}: expected a measure with a single value for each matrix, got {quoted(metric)}; choose an average"
        )
    return metrics[0]


def equal_values(iso: Any, kind: str, prevalence: float, classes: Classes) -> Metric | None:
    """The measure of the lines of equal values; None if the share of positive samples is unknown."""
    if kind == "threshold":
        if iso is not None and iso is not False:
            raise ValueError("iso: expected None, because iso-lines are for ROC and precision-recall curves")
        return None
    if iso is True or (iso is None and kind == "precision_recall"):
        iso = "f1"
    if iso is None or iso is False:
        return None
    metric = single_measure(iso, "iso", classes)
    return metric if np.isfinite(prevalence) else None
