"""score(): many measures of a stack, in a single pass."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, overload

from matrics._arrays import Array, is_compiling
from matrics._catalogue.classes import Classes, Names, Sorted, Texts, labels_of_frame
from matrics._catalogue.functions import place_of
from matrics._catalogue.naming import by_names, check_names, named, names_or_labels
from matrics._catalogue.record import Metric
from matrics._catalogue.registry import CACHES, get_metric, groups
from matrics._engine.evaluation import Invalid, TableFunction, as_stack, evaluate
from matrics._quoting import quoted, split_outside
from matrics.typing import ArrayT, HostArray

_Chosen = tuple[dict[str, Metric], list[TableFunction]]  # metrics by the keys of the result, and their functions
# Resolved lists of measures: parsing a list takes as long as scoring some matrices.
_KNOWN: dict[Any, _Chosen] = {}
MAX_KNOWN = 256
MAX_LETTERS = 10_000  # of the specs and class names of a cached list, because a service may get them from users
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
    positive: Hashable = ...,
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
    positive: Hashable = ...,
) -> dict[str, ArrayT]: ...
def score(
    cm: Any,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
) -> dict[str, Array]:
    """Many measures of every confusion matrix of a stack.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones. NumPy, PyTorch, JAX or another array
        library that follows the array API standard; results are on the same device.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. Further
        specs are ``"f1:macro[0,2]"`` and ``"mcc:one_vs_rest"``, and PyCM's names work as well (``"Overall J"``).
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and no
        other matrix is affected. ``"warn"`` names the first of them if the check is cheap (NumPy); ``"raise"``
        checks on every backend, which waits for the device.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results. The blocks of a
        stack are scored in parallel.
    class_names : sequence of str, optional
        Names of the classes, in their order. With them the value of each class has its own key: ``recall/cat``, as in
        the metrics for training loops.
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, a label of a data frame, and an index
        otherwise. Per-class measures without an average are values of this class, as with ``:binary``, also with more
        than two classes. Without it they are values of class 1 of two classes, and means over more (``macro``). Of a
        data frame whose two labels are texts, neither is positive by itself: the values are then means, too.
        ``class_names`` change no value.

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
    >>> matrics.score(stack[0], "recall,precision[cat]", class_names=["cat", "dog"], positive="dog")
    {'recall': np.float64(0.9), 'precision[cat]': np.float64(0.9)}
    """
    try:
        number = _number_of_classes(cm)
    except (TypeError, ValueError):
        resolve(metrics)  # its error explains the right call for labels instead of a matrix
        raise
    labels = None if is_compiling() else labels_of_frame(cm)
    if labels is None:
        chosen, functions = bound_functions(metrics, number, class_names, positive)
    else:
        chosen = resolve(metrics, Classes.of(number, names_or_labels(class_names, number, labels), positive))
        functions = [metric.bind() for metric in chosen.values()]
    traced = not isinstance(metrics, str) and any(metric.is_traced for metric in chosen.values())
    results = evaluate(cm, functions, zero_division=zero_division, invalid=invalid, workers=workers, traced=traced)
    return by_names(dict(zip(chosen, results, strict=True)), chosen, class_names)


def _number_of_classes(cm: Any) -> int:
    # The shape of an array is read without a check, which would take as long as scoring a matrix.
    try:
        shape: Sequence[int] = getattr(cm, "shape", ())
    except RuntimeError:  # from a nested tensor, for which an error follows below
        shape = ()
    return int(shape[-1] if len(shape) > 1 else as_stack(cm)[1].shape[-1])


def bound_functions(
    metrics: str | Metric | Iterable[str | Metric],
    number: int,
    class_names: Sequence[str] | None,
    positive: Hashable,
) -> _Chosen:
    """The metrics under the keys of the result, and the functions of a table that belong to them."""
    # Compiled code that has read this cache would be compiled again whenever it changes.
    if is_compiling():
        return _bound(metrics, number, class_names, positive)
    key = _key_of(metrics, number, class_names, positive)
    if key is None:
        return _bound(metrics, number, class_names, positive)
    bound = _KNOWN.get(key)
    if bound is None:
        bound = _bound(metrics, number, class_names, positive)
        listed: Any = (metrics,) if isinstance(metrics, (str, Metric)) else metrics
        if sum(len(text) for text in (*(class_names or ()), *listed) if isinstance(text, str)) <= MAX_LETTERS:
            if len(_KNOWN) >= MAX_KNOWN:
                _KNOWN.clear()
            _KNOWN[key] = bound
    return bound


def _key_of(
    metrics: str | Metric | Iterable[str | Metric],
    number: int,
    class_names: Sequence[str] | None,
    positive: Hashable,
) -> tuple[Any, ...] | None:
    """The cache key of a list of measures; None if the list is not cached."""
    if type(metrics) is str and class_names is None and positive is None:
        return number, metrics  # most calls
    listed: Any = (metrics,) if isinstance(metrics, (str, Metric)) else metrics
    names: Any = () if class_names is None else class_names
    plain = type(listed) in (list, tuple) and type(names) in (list, tuple, Names, Texts, Sorted)
    plain &= type(positive) in (str, int, type(None))
    if (
        not plain
        or not all(isinstance(item, str) or (isinstance(item, Metric) and not item.is_traced) for item in listed)
        or any(type(n) is not str for n in names)
    ):
        return None
    # A metric is part of the key because two may share a name, and its spec because equal metrics may be spelled in two
    # ways.
    items = tuple([item if isinstance(item, str) else (item, item.spec, item.resolved) for item in listed])
    return number, items, type(names), None if class_names is None else tuple(names), positive


def _bound(
    metrics: str | Metric | Iterable[str | Metric],
    number: int,
    class_names: Sequence[str] | None,
    positive: Hashable,
) -> _Chosen:
    if is_compiling() and class_names is None and positive is None:
        chosen = resolve(metrics)  # the table has its classes, and titles are not needed there
    else:
        chosen = resolve(metrics, Classes.of(number, check_names(class_names, number), positive))
    return chosen, [metric.bind() for metric in chosen.values()]


_EXPECTED = "metrics: expected a name, a metric or a list of them"
_OF_LABELS = "for labels, call matrics.score(matrics.confusion_matrix(y_true, y_pred, num_classes=n))"


def resolve(metrics: str | Metric | Iterable[str | Metric], classes: Classes | None = None) -> dict[str, Metric]:
    """The requested metrics, under the keys of the result; resolved for the classes where these are known."""
    if isinstance(metrics, (str, Metric)):
        metrics = [metrics]
    if isinstance(metrics, Mapping) or not isinstance(metrics, Iterable):
        raise TypeError(_no_measure(metrics) if callable(metrics) else f"{_EXPECTED}, got {type(metrics).__name__}")
    chosen: dict[str, Metric] = {}
    known = groups()
    if not isinstance(metrics, (list, tuple, set, frozenset)) and hasattr(metrics, "dtype"):
        raise TypeError(f"{_EXPECTED}, got an array of {metrics.dtype}; {_OF_LABELS}")
    for item in metrics:
        if not isinstance(item, (str, Metric)):
            raise TypeError(_no_measure(item))
        for name in _names(item) if isinstance(item, str) else [item]:
            for member in _members(name, known, classes):
                key, metric = str(member), get_metric(member)
                _refuse_namesake(chosen.get(key, metric), metric)
                chosen[key] = metric
    if not chosen:
        raise ValueError("metrics: expected at least one metric, got none")
    _refuse_namesakes(chosen)
    if classes is None:
        return chosen
    resolved = {name: metric.resolved_for(classes) for name, metric in chosen.items()}
    return {named(name, metric.title(classes), metric): metric for name, metric in resolved.items()}


def _members(name: str | Metric, known: Mapping[str, Sequence[str]], classes: Classes | None) -> Sequence[str | Metric]:
    """The measures of a group; for classes without an order those without a need for it. Other names are unchanged."""
    if not isinstance(name, str) or name not in known:
        return [name]
    if classes is None or classes.ordered:
        return known[name]
    return [member for member in known[name] if not get_metric(member).uses_order]


def _refuse_namesakes(chosen: dict[str, Metric]) -> None:
    """Raise an error if two different measures have the same name, which is possible for users' own measures."""
    if not any(metric.is_own for metric in chosen.values()):
        return
    known: dict[str, Metric] = {}
    for metric in chosen.values():
        _refuse_namesake(known.setdefault(metric.spec, metric), metric)


def _refuse_namesake(metric: Metric, other: Metric) -> None:
    if metric is not other and metric != other:
        raise ValueError(
            f"metrics: expected a single measure of each name, got two that are called {quoted(metric.spec)}, "
            f"{_where(metric)} and {_where(other)}: give one of the two another name, by name="
        )


def _where(metric: Metric) -> str:
    return ".".join(place_of(metric.function))


def _no_measure(item: Any) -> str:
    """Advice for an element of the list that is no measure."""
    if not callable(item):
        return f"{_EXPECTED}, got {type(item).__name__}: {quoted(item)}; {_OF_LABELS}"
    name = getattr(item, "__name__", type(item).__name__)
    rest = f"functions that are not in matrics.list_metrics() are called directly: {name}(...)"
    if name == "cost":
        rest = "as a measure it is matrics.metrics.cost(costs)"
    return f"{_EXPECTED}, got the function {name}: {rest}"


def _names(text: str) -> list[str]:
    return [part.strip() for part in split_outside(text) if part.strip()]
