"""Scores as Python numbers under the names for a logger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matrics._arrays import Array, Standard, as_arrays
from matrics._catalogue.averages import CLASSWISE
from matrics._catalogue.naming import check_names, columns, metric_of, named, title_of
from matrics._quoting import quoted


def named_numbers(
    scores: Mapping[str, Any], prefix: str = "", class_names: Sequence[str] | None = None
) -> dict[str, float]:
    """All scores of a single matrix as Python numbers under different names, which have titles for files.

    >>> import matrics
    >>> intervals = matrics.interval([[40, 10], [5, 45]], "recall:class")
    >>> list(named_numbers(intervals, "val/", ["cat", "dog"]))
    ['val/recall/cat', 'val/recall/dog', 'val/recall/cat/low', 'val/recall/dog/low', 'val/recall/cat/high', ...]
    """
    _check(scores, prefix)
    entries = [
        (key, ending, *_array(key, value)) for key, score in scores.items() for ending, value in _parts(key, score)
    ]
    values = _on_host([(backend, array) for *_, backend, array in entries])
    numbers: dict[str, float] = {}
    keys: dict[str, str] = {}  # name -> key of the scores
    for (key, ending, *_), value in zip(entries, values, strict=True):
        for name, number in zip(_names(key, value, class_names), value.astype(float).ravel().tolist(), strict=True):
            full = named(f"{prefix}{name}{ending}", f"{prefix}{_in_full(name)}{ending}")
            if full in numbers:
                raise ValueError(
                    f"scores: expected a single value for each name, got {quoted(full)} of {quoted(keys[full])} and of "
                    f"{quoted(key)}: log one of them in a separate call with another prefix="
                )
            numbers[full], keys[full] = number, key
    return numbers


def _check(scores: Any, prefix: Any) -> None:
    if not isinstance(scores, Mapping):
        hint = ": pass its .log_dict()" if hasattr(scores, "log_dict") else ""
        raise TypeError(f"scores: expected a dict as matrics.score returns it, got {type(scores).__name__}{hint}")
    if not isinstance(prefix, str):
        raise TypeError(f"prefix: expected text, got {quoted(prefix)}")


def _parts(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The value, or the estimate and both limits of an interval, with the suffixes of their names."""
    if not isinstance(key, str):
        raise TypeError(f"scores: expected names as keys, got {quoted(key)}")
    fields = getattr(value, "_fields", ()) if isinstance(value, tuple) else ()
    if {"low", "high"} <= set(fields):
        yield from (("", value[0]), ("/low", value.low), ("/high", value.high))
    else:
        yield "", value


def _array(key: str, value: Any) -> tuple[Standard, Array]:
    label = f"scores[{quoted(key)}]"
    backend, (array,) = as_arrays(**{label: value})
    if not backend.can_look(array):
        raise TypeError(
            f"{label}: expected a known number, got a traced value: log the result of the compiled function, outside "
            "of the function"
        )
    if not backend.xp.isdtype(array.dtype, ("bool", "real floating", "integral")):
        raise TypeError(f"{label}: expected a real number, got dtype {array.dtype}")
    return backend, array


def _on_host(arrays: list[tuple[Standard, Array]]) -> list[Array]:
    """The arrays as NumPy arrays, with a single transfer for each library."""
    results: dict[int, Array] = {}
    for chosen in {id(backend): backend for backend, _ in arrays}.values():
        places = [place for place, (backend, _) in enumerate(arrays) if backend is chosen]
        results |= zip(places, chosen.all_to_numpy([arrays[place][1] for place in places]), strict=True)
    return [results[place] for place in range(len(arrays))]


def _names(key: str, value: Array, class_names: Sequence[str] | None) -> list[str]:
    """The names of the values under a key: a single name, or a name for each class."""
    if value.ndim == 0:
        return [key]
    is_classwise = key.endswith(tuple(f":{average}" for average in CLASSWISE))  # also for names outside the catalogue
    metric = None if is_classwise else _metric(key)
    if value.ndim != 1 or not (is_classwise or (metric and metric.is_classwise)):
        raise ValueError(
            f"scores: expected scores of a single matrix, got {quoted(key)} of shape {value.shape}: log the matrices "
            "of a "
            "stack in separate calls, each with a prefix="
        )
    names = check_names(class_names, len(value)) or tuple(map(str, range(len(value))))
    if metric is None:
        return [f"{key.rpartition(':')[0]}/{name}" for name in names]
    return columns(key, metric, names)


def _in_full(name: str) -> str:
    """The title of a name if it adds the class or the average to the name, or else the name.

    >>> from matrics._catalogue.naming import MeasureName
    >>> _in_full(MeasureName("recall", "recall of fraud")), _in_full(MeasureName("recall/cat", "recall of cat"))
    ('recall of fraud', 'recall/cat')
    """
    title = title_of(name)
    return title if title.startswith(name) else name


def _metric(key: str) -> Any:
    try:
        return metric_of(key)
    except (TypeError, ValueError):  # a name that the user invented
        return None
