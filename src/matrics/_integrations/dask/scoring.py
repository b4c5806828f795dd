"""``score`` for dask arrays."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from dask.layers import ArrayBlockIdDep

from matrics._arrays import NUMPY
from matrics._catalogue.classes import Classes
from matrics._catalogue.naming import by_names, check_names
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import Invalid, InvalidConfusionMatrix, describe_invalid, evaluate
from matrics._engine.execution import table_in_order
from matrics._integrations.dask.blocks import (
    Part,
    at_block,
    check_stack,
    empty_like,
    empty_stack,
    per_block,
    unwrapped,
)
from matrics._scoring.score import resolve


def score(
    cm: Any,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
) -> dict[str, Any]:
    """Many measures of every confusion matrix of a dask array, lazily: :func:`matrics.score` of each block.

    A single task computes all measures of a block and reads the block once. Compute all measures together, by
    ``dask.compute(scores)``; otherwise each call reads the stack again.

    Parameters
    ----------
    cm : dask array, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones. The batch may be in any chunks, also of
        unknown sizes; both axes of classes are whole in one chunk.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell, once they are computed: every measure of such a
        matrix is NaN. ``"warn"`` names the first of each block; on a cluster warnings are in the logs of the workers.
        ``"raise"`` raises an error when the result is computed.
    workers : int, default 1
        Number of threads in each task. More than one is for schedulers that run a single task at a time on several
        cores; dask's own threads take one task each.
    class_names : sequence of str, optional
        Names of the classes, in their order. With them the value of each class has its own key: ``recall/cat``.
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, an index otherwise. Per-class measures without
        an average are values of this class. Without it they are values of class 1 of two classes, and means over more
        (``macro``).

    Returns
    -------
    dict of str to dask array
        Keyed by metric, as given: shape (*B,), or (*B, n) for ``:class`` and ``:one_vs_rest`` without ``class_names``,
        in the chunks of the batch. Floating stacks keep their dtype (half is widened to float32); integers give
        float64.

    Raises
    ------
    TypeError
        ``cm`` is not a dask array, its cells are not real numbers, or a metric has no such option.
    ValueError
        The shape is not (*B, n, n), an axis of classes is in several chunks or of unknown length, or a metric, option
        or average does not exist.
    InvalidConfusionMatrix
        When the result is computed: a matrix is invalid and ``invalid="raise"``. The message names the block, and the
        positions within it.

    Examples
    --------
    >>> import dask, dask.array, numpy
    >>> from matrics.dask import score
    >>> stack = numpy.array([[[45, 5], [5, 45]], [[50, 0], [10, 40]], [[30, 20], [0, 50]]])
    >>> scores = score(dask.array.from_array(stack, chunks=(2, 2, 2)), ["mcc", "recall:class"])
    >>> scores["mcc"]
    dask.array<matrics-score-0, shape=(3,), dtype=float64, chunksize=(2,), chunktype=numpy.ndarray>
    >>> (computed,) = dask.compute(scores)
    >>> computed["mcc"].round(3)
    array([0.8  , 0.816, 0.655])
    """
    cm = check_stack(cm)
    chosen = resolve(metrics, Classes.of(cm.shape[-1], check_names(class_names, cm.shape[-1]), positive))
    batch, n = tuple(range(cm.ndim - 2)), cm.shape[-1]
    options: dict[str, Any] = {"zero_division": zero_division, "invalid": invalid, "workers": workers}
    # The scores of an empty stack give all dtypes, and check all options.
    functions = [metric.bind() for metric in chosen.values()]
    parts = []
    for position, values in enumerate(evaluate(empty_stack(cm, (0,)), functions, **options)):
        added = {cm.ndim: n} if values.ndim > 1 else {}
        parts.append(Part((position,), empty_like(values, len(batch) + len(added)), added))
    results = per_block(
        _score_block,
        "score",
        batch,
        cm,
        tuple(range(cm.ndim)),
        ArrayBlockIdDep(cm.chunks[:-2]),
        batch,
        parts=parts,
        metrics=tuple(chosen.values()),
        **options,
    )
    return by_names(dict(zip(chosen, results, strict=True)), chosen, class_names)


def _score_block(
    block: Any,
    place: tuple[int, ...],
    *,
    metrics: Sequence[Metric],
    zero_division: float,
    invalid: Invalid,
    workers: int,
) -> list[Any]:
    """The values of all measures for the matrices of a block."""
    cm = unwrapped(block)
    is_numpy = isinstance(cm, np.ndarray)
    functions = [metric.bind() for metric in metrics]
    invalid_here: Invalid = "nan" if is_numpy else invalid
    results = evaluate(cm, functions, zero_division=zero_division, invalid=invalid_here, workers=workers)
    if is_numpy and invalid != "nan":
        _report_invalid(cm, results[0], place, invalid)
    return results


def _report_invalid(cm: Any, values: Any, place: tuple[int, ...], invalid: Invalid) -> None:
    """Warn about invalid matrices, or raise an error, with the place of their block.

    Every measure of an invalid matrix is NaN, so only matrices with a NaN are checked.
    """
    first = values[..., 0] if np.ndim(values) > cm.ndim - 2 else values
    candidates = np.flatnonzero(np.isnan(first))
    if not candidates.size:
        return
    with NUMPY.quiet():
        cells = cm.reshape(-1, *cm.shape[-2:])[candidates]
        invalid_places = candidates[~table_in_order(NUMPY.to_float(cells), NUMPY).valid]
    if not invalid_places.size:
        return
    message = at_block(place) + describe_invalid(cm, invalid_places)
    if invalid == "raise":
        raise InvalidConfusionMatrix(message)
    warnings.warn(message, RuntimeWarning, stacklevel=2)
