"""Settings of metrics for training loops: the positive class, the prefix, and values for undefined measures."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from matrics._arrays import Array, as_arrays
from matrics._arrays.sizes import check_state_size, written_size
from matrics._catalogue.classes import Classes
from matrics._catalogue.naming import check_names, title_of
from matrics._catalogue.of_scores import call_of, name_of
from matrics._catalogue.record import Metric
from matrics._counting.codes import left_out
from matrics._engine.evaluation import check_options, evaluate, frames_to_the_user
from matrics._memory_limits import ARRAY
from matrics._quoting import quoted, split_outside
from matrics._scoring.score import resolve
from matrics._states.margin_scores import measures_of_cells
from matrics._states.margins import MarginState
from matrics._states.two_words import TwoWords
from matrics._states.windows import checked_decay


def classes_of(
    number: int,
    labels: Iterable[Hashable] | None,
    class_names: Sequence[str] | None,
    positive: Any,
    *,
    by_construction: bool = False,
    ignored: Sequence[int] = (),
) -> Classes:
    """The classes of a metric; ``positive`` is the label or the name of the positive class.

    >>> classes_of(2, [7, 8], ["ok", "fraud"], 8).positive, classes_of(2, [7, 8], ["ok", "fraud"], "fraud").positive
    (1, 1)
    """
    known = None if labels is None else list(labels)
    if known and class_names and any(type(label) is type(positive) and label == positive for label in known):
        positive = class_names[known.index(positive)]
    left = left_out(list(ignored), number, None if known is None else tuple(known))
    return Classes.of(
        number, check_names(class_names, number) or known, positive, by_construction=by_construction, left_out=left
    )


def resolved(metrics: str | Metric | Iterable[str | Metric], classes: Classes) -> tuple[dict[str, Metric], list[str]]:
    """The metrics of a ConfusionMetric under plain text keys, which compiled code supports, and their titles."""
    records = resolve(_of_labels(metrics), classes)
    return {str(key): metric for key, metric in records.items()}, [title_of(key) for key in records]


def _of_labels(metrics: Any) -> Any:
    """The metrics, unchanged; raises an error for measures of scores."""
    items = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    if not isinstance(items, Iterable) or isinstance(items, Mapping):
        return metrics  # resolve raises an error for it
    items = list(items)
    names = [name.strip() for item in items if isinstance(item, str) for name in split_outside(item)]
    score_names = [name for name in names if call_of(name_of(name)) or "@" in name]
    if score_names:
        raise ValueError(
            f"metrics: expected measures of predicted labels, got {', '.join(score_names)}, which need scores: use "
            "the ScoreMetric of the same module"
        )
    return items


def checked_prefix(prefix: Any) -> str:
    """The prefix of the names of values; raises unless it is text."""
    if not isinstance(prefix, str):
        raise TypeError(f"prefix: expected text, got {quoted(prefix)}")
    return prefix


def decay_and_dtype(decay: Any, dtype: Any, widest: Any) -> tuple[float | None, Any]:
    """The checked decay, and the dtype of the counts, which is the widest float by default with a decay."""
    if decay is None:
        return None, dtype
    return checked_decay(decay), widest if dtype is None else dtype


class Undefined(NamedTuple):
    """The value of 0/0 inside of measures, and the replacement of undefined measures.

    NaN is always the same object, as different NaN objects are not equal, and JAX would compile again for each metric.
    """

    zero_division: float
    fill: float | None

    @classmethod
    def of(cls, zero_division: Any, fill_undefined: Any) -> Undefined:
        """The checked values; None or NaN as replacement keeps NaN."""
        check_options(zero_division, "nan")
        within = math.nan if math.isnan(zero_division) else float(zero_division)
        if fill_undefined is None:
            return cls(within, None)
        if isinstance(fill_undefined, bool) or not isinstance(fill_undefined, (int, float)):
            raise TypeError(f"fill_undefined: expected a number, or None to keep NaN, got {quoted(fill_undefined)}")
        return cls(within, None if math.isnan(fill_undefined) else float(fill_undefined))

    def filled(self, values: Array, properties: CountProperties, *, is_count: bool) -> Array:
        """The values of a metric with undefined values replaced; NaN without samples, except for counts."""
        xp = as_arrays(values=values)[0].xp
        if self.fill is not None:
            values = xp.where(xp.isnan(values) & properties.is_valid, xp.full_like(values, self.fill), values)
        return values if is_count else xp.where(properties.is_empty, math.nan, values)


class CountProperties(NamedTuple):
    """Two properties of counts, computed on their device: whether all are 0, and whether all are valid."""

    is_empty: Array
    is_valid: Array

    @classmethod
    def of(cls, counts: Array, carried: Array | None = None) -> CountProperties:
        """The properties of counts, which are two words in default JAX; their sum may overflow."""
        backend, (counts,) = as_arrays(counts=counts)
        if carried is not None and carried.shape[-1] > 0 and backend.is_integer(counts):
            counts = TwoWords(counts, carried).to_float(backend)
        xp = backend.xp
        least, most = xp.min(counts), xp.max(counts)
        is_valid = (least >= 0) & (most < math.inf) if backend.is_float(counts) else least >= 0
        return cls((least == 0) & (most == 0), is_valid)


def keeps_cells(
    metrics: Mapping[str, Metric], num_classes: int, bytes_of_cell: int, *, margins_alone: bool, allow_large: bool
) -> bool:
    """Whether a metric counts all cells of its matrix, or only margins; raises if the state is too large.

    It counts margins in a ``MarginMetric``, and if the cells exceed the limit of arrays and no measure needs them,
    unless ``allow_large``.
    """
    size = num_classes**2 * bytes_of_cell
    sizes = {"num_classes": num_classes}
    if not margins_alone and (allow_large is True or size <= ARRAY.size):
        check_state_size(size, sizes, allow_large=allow_large)
        return True
    cell_measures = measures_of_cells(metrics)
    need = f"{', '.join(cell_measures)} need{'s' if len(cell_measures) == 1 else ''} all cells of the matrix"
    if margins_alone and cell_measures:
        raise ValueError(
            f"metrics: expected measures of a MarginMetric (see matrics.MarginState.list_metrics()), got others: "
            f"{need}, which take {written_size(size)}; use a ConfusionMetric"
        )
    if cell_measures:
        of_margins = "the measures of MarginMetric and of matrics.MarginState.list_metrics()"
        advice = f"; {need}, and {of_margins} three numbers for each class"
        check_state_size(size, sizes, allow_large=allow_large, advice=advice)
        return True
    check_state_size(3 * num_classes * bytes_of_cell, sizes, allow_large=allow_large)
    return False


def no_matrix(num_classes: int) -> NoReturn:
    """Raise an error, as a metric of margins has no matrix."""
    raise ValueError(
        f"matrix: expected a metric of all cells, got a metric of true positives, row sums and column sums "
        f"of {num_classes:,} classes (metric.state); use a ConfusionMetric, beyond the limit of "
        f"{ARRAY.variable} with allow_large=True"
    )


def empty_values(metrics: Iterable[Metric], num_classes: int, *, has_cells: bool) -> list[np.ndarray]:
    """The values of a matrix without samples: NaN, except for counts, which are 0."""
    if not has_cells:
        metrics = list(metrics)
        scores = MarginState.zeros(num_classes, allow_large=True).score(metrics, invalid="nan")
        return [scores[metric.spec] for metric in metrics]
    zeros = np.zeros((num_classes, num_classes), np.int64)
    return evaluate(zeros, [metric.bind() for metric in metrics], invalid="nan")


def are_counts(values: Iterable[np.ndarray]) -> tuple[bool, ...]:
    """Whether each value is a number, not NaN, without samples."""
    return tuple(not bool(np.isnan(value).any()) for value in values)


def warn_of_no_samples() -> None:
    """Warn that values are NaN because there were no samples; call it only if values can be read immediately."""
    warnings.warn(
        "compute() before update(): no sample is counted, or all were left out, and measures without samples are NaN",
        RuntimeWarning,
        stacklevel=frames_to_the_user(),
    )
