"""score(): many measures of one stack, in one pass."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

from matrics._backend import Array, is_compiling
from matrics._names import split_outside
from matrics.catalogue.record import Metric
from matrics.catalogue.registry import CACHES, get_metric, groups
from matrics.evaluation import Invalid, TableFunction, evaluate
from matrics.naming import by_names
from matrics.typing import ArrayT, HostArray

# The keys and functions of lists of names: to read them anew takes half as long as to score one matrix.
_KNOWN: dict[tuple[str, ...], tuple[list[str], list[TableFunction]]] = {}
MAX_KNOWN = 256
CACHES.append(_KNOWN)


@overload
def score(
    cm: HostArray,
    metrics: str | Metric | Iterable[str | Metric] = ...,
    *,
    zero_division: float = ...,
    invalid: Invalid = ...,
    workers: int = ...,
    class_names: Sequence[str] | None = ...,
) -> dict[str, Any]: ...
@overload
def score(
    cm: ArrayT,
    metrics: str | Metric | Iterable[str | Metric] = ...,
    *,
    zero_division: float = ...,
    invalid: Invalid = ...,
    workers: int = ...,
    class_names: Sequence[str] | None = ...,
) -> dict[str, ArrayT]: ...
def score(
    cm: Any,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
    class_names: Sequence[str] | None = None,
) -> dict[str, Array]:
    """Many measures of every confusion matrix of a stack.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones. NumPy, PyTorch, JAX or another array
        library that follows the array API standard; results are on the same device.
    metrics : str, Metric, or several of them
        Names, aliases, specs (``"recall:class"``, ``"fbeta(beta=2):weighted"``, ``"mcc:one_vs_rest"``), metrics, or
        groups (``core``, ``overall``, ``all``, ``on_host``, or a family as in :func:`matrics.list_metrics`). PyCM's
        names work as well (``"Overall J"``). One string may contain several of these, separated by commas.
    zero_division : float, default NaN
        The value of a measure where it is undefined (0/0).
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and no
        other matrix is affected. ``"warn"`` names the first of them where the check is cheap (NumPy); ``"raise"``
        checks on every backend, which waits for the device.
    workers : int, default 1
        Number of threads for the blocks of a stack in the CPU's memory; -1 for as many as there are cores.
    class_names : sequence of str, optional
        Names of the classes, one for each. With them the values of each class have a key of their own: ``recall/cat``,
        as in the metrics for training loops.

    Returns
    -------
    dict of str to array
        Keyed by metric, as given: shape (*B,), or (*B, n) for ``:class`` and ``:one_vs_rest`` without
        ``class_names``. Floating stacks keep their dtype (half is widened to float32); integers are scored in the
        widest float of their device.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n), or a metric, option or average does not exist; the message has the nearest names.
    TypeError
        The cells are not real numbers, or a metric has no such option.
    InvalidConfusionMatrix
        A matrix is invalid and ``invalid="raise"``.

    Examples
    --------
    >>> import matrics
    >>> stack = [[[45, 5], [5, 45]], [[50, 0], [10, 40]]]
    >>> scores = matrics.score(stack, ["mcc", "recall:class"])
    >>> scores["mcc"].round(3)
    array([0.8  , 0.816])
    >>> scores["recall:class"]
    array([[0.9, 0.9],
           [1. , 0.8]])
    >>> matrics.score(stack, "recall:class", class_names=["cat", "dog"])
    {'recall/cat': array([0.9, 1. ]), 'recall/dog': array([0.9, 0.8])}
    """
    chosen = {} if class_names is None else resolve(metrics)
    names, functions = _functions(metrics) if class_names is None else _bound(chosen)
    results = evaluate(cm, functions, zero_division=zero_division, invalid=invalid, workers=workers)
    return by_names(dict(zip(names, results, strict=True)), chosen, class_names)


def _functions(metrics: str | Metric | Iterable[str | Metric]) -> tuple[list[str], list[TableFunction]]:
    """The keys of the result, and the functions of a Table that belong to them."""
    names: Any = (metrics,) if isinstance(metrics, str) else metrics
    # Compiled code that has seen this memory would be compiled again whenever it changes.
    if is_compiling() or type(names) not in (list, tuple) or not all(isinstance(name, str) for name in names):
        return _bound(resolve(metrics))
    found = _KNOWN.get(tuple(names))
    if found is None:
        found = _bound(resolve(names))
        if len(_KNOWN) >= MAX_KNOWN:
            _KNOWN.clear()
        _KNOWN[tuple(names)] = found
    return found


def _bound(chosen: dict[str, Metric]) -> tuple[list[str], list[TableFunction]]:
    return list(chosen), [metric.bind() for metric in chosen.values()]


_OF_LABELS = (
    "metrics: expected a name, a metric or a list of them, got {}; of labels it is "
    "matrics.score(matrics.confusion_matrix(y_true, y_pred, num_classes=n))"
)


def resolve(metrics: str | Metric | Iterable[str | Metric]) -> dict[str, Metric]:
    """The requested metrics, under the keys of the result."""
    if isinstance(metrics, (str, Metric)):
        metrics = [metrics]
    if isinstance(metrics, Mapping) or not isinstance(metrics, Iterable):
        raise TypeError(f"metrics: expected a name, a metric or a list of them, got {type(metrics).__name__}")
    chosen: dict[str, Metric] = {}
    known = groups()
    if not isinstance(metrics, (list, tuple, set, frozenset)) and hasattr(metrics, "dtype"):
        raise TypeError(_OF_LABELS.format(f"an array of {metrics.dtype}"))
    for item in metrics:
        if not isinstance(item, (str, Metric)):
            raise TypeError(_OF_LABELS.format(f"{type(item).__name__}: {item!r}"))
        for name in _names(item) if isinstance(item, str) else [item]:
            members = known.get(name, [name]) if isinstance(name, str) else [name]
            chosen.update((str(member), get_metric(member)) for member in members)
    if not chosen:
        raise ValueError("metrics: expected at least one metric, got none")
    return chosen


def resolve_of_two(metrics: str | Metric | Iterable[str | Metric]) -> dict[str, Metric]:
    """The requested metrics of matrices that are 2×2 by construction: class measures as given, or those of class 1."""
    chosen = resolve(metrics)
    return {
        name: metric if metric.kind == "overall" or metric.average else metric.using(average="binary")
        for name, metric in chosen.items()
    }


def _names(text: str) -> list[str]:
    return [part.strip() for part in split_outside(text) if part.strip()]
