"""Averages over classes, for all functions of class scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, get_args

from matrics._arrays import Array
from matrics._engine.evaluation import check_options
from matrics._engine.safety import Safe
from matrics._quoting import quoted
from matrics._ranking.inputs import ScoredSamples, of_others
from matrics._ranking.rows import SampleRows, as_rows, each

Average = Literal["auto", "macro", "weighted", "micro", "class"]

#: The value of each row, undefined if the divisor is 0.
RowFunction = Callable[[SampleRows, Safe], Array]


def check_average(
    average: Any,
    known: tuple[str, ...] = get_args(Average),
    *,
    positive: Any = None,
    num_classes: int | None = None,
) -> str:
    """The name of the average: "auto" becomes "binary" for two classes and "macro" otherwise, None becomes "class".

    With ``"binary"`` the value is that of class 1, as for scores of class 1 alone. An unknown name raises an error.
    """
    name = average if average is None or isinstance(average, str) else ""
    if name != "auto" and positive is not None:
        raise ValueError(
            f'average={quoted(average)}: expected "auto" with positive={quoted(positive)}, which compares a class '
            "with the rest"
        )
    if name == "auto" and num_classes == 2:
        return "binary"
    method = {"auto": "macro", None: "class"}.get(name, name)
    if method not in known:
        expected = (*known, *([None] if "class" in known else []))
        raise ValueError(f"average: expected one of {', '.join(map(repr, expected))}, got {quoted(average)}")
    return str(method)


def of_rows(
    function: RowFunction, samples: ScoredSamples, average: str, zero_division: float, workers: int = 1
) -> Array:
    """The value for scores of class 1, (*B,); for scores of n classes, the average of each class against the rest."""
    check_options(zero_division, "nan", workers)
    backend = samples.backend
    xp, safe = backend.xp, Safe(backend, float(zero_division))
    rows, shape = as_rows(samples)
    has_classes = samples.num_classes is not None
    if has_classes and average not in ("class", "binary") and samples.left_out:
        rows, shape = _others(rows, shape, samples.left_out)
    if has_classes and average == "micro":
        rows, shape = _pooled(rows, shape), shape[:-1]
    values = each(rows, lambda part: xp.where(part.spoiled, math.nan, function(part, safe)), workers)
    values = xp.reshape(values, shape)
    if has_classes and average in ("macro", "weighted"):
        with backend.quiet():
            spoiled = xp.any(xp.reshape(rows.spoiled, shape), axis=-1)
            weights = None if average == "macro" else _class_sizes(rows, shape, values)
            values = xp.where(spoiled, math.nan, mean_of_defined(values, weights, safe))
    if has_classes and average == "binary":
        values = values[..., 1]
    return samples.finish(values)


def mean_of_defined(values: Array, weights: Array | None, safe: Safe) -> Array:
    """The mean along the last axis; undefined values are left out."""
    xp = safe.xp
    defined = ~xp.isnan(values)
    weights = xp.astype(defined, values.dtype) if weights is None else xp.where(defined, weights, 0)
    return safe.divide(xp.sum(xp.where(defined, values, 0) * weights, axis=-1), xp.sum(weights, axis=-1))


def _class_sizes(rows: SampleRows, shape: tuple[int, ...], like: Array) -> Array:
    """The number of samples in each class, or the sum of their weights."""
    xp = rows.backend.xp
    size = xp.astype(rows.positive, like.dtype) if rows.weight is None else xp.where(rows.positive, rows.weight, 0)
    return xp.astype(xp.reshape(xp.sum(size, axis=-1), shape), like.dtype)


def _others(rows: SampleRows, shape: tuple[int, ...], left_out: tuple[int, ...]) -> tuple[SampleRows, tuple[int, ...]]:
    """The rows of the classes that are not left out, and their shape."""
    xp, number = rows.backend.xp, shape[-1] - len(left_out)

    def others(x: Array) -> Array:
        sample_axes = tuple(x.shape[1:])
        kept = of_others(xp.reshape(x, (math.prod(shape[:-1]), shape[-1], *sample_axes)), left_out, xp, axis=1)
        return xp.reshape(kept, (math.prod(shape[:-1]) * number, *sample_axes))

    weight = None if rows.weight is None else others(rows.weight)
    kept_rows = SampleRows(rows.backend, others(rows.scores), others(rows.positive), weight, others(rows.spoiled))
    return kept_rows, (*shape[:-1], number)


def _pooled(rows: SampleRows, shape: tuple[int, ...]) -> SampleRows:
    """Rows with the scores of all classes: a score is positive if the sample is of its class."""
    xp, count = rows.backend.xp, math.prod(shape[:-1])
    length = shape[-1] * rows.scores.shape[-1]

    def flat(x: Array) -> Array:
        return xp.reshape(x, (count, length))

    weight = None if rows.weight is None else flat(rows.weight)
    spoiled = xp.any(xp.reshape(rows.spoiled, (count, shape[-1])), axis=-1)
    return SampleRows(rows.backend, flat(rows.scores), flat(rows.positive), weight, spoiled)
