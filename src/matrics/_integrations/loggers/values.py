"""Scores as plain numbers, each under the name that a logger gets."""

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
    """All scores of one matrix as Python's numbers under different names, which have titles for files.

    >>> import matrics
    >>> intervals = matrics.interval([[40, 10], [5, 45]], "recall:class")
    >>> list(named_numbers(intervals, "val/", ["cat", "dog"]))
    ['val/recall/cat', 'val/recall/dog', 'val/recall/cat/low', 'val/recall/dog/low', 'val/recall/cat/high', ...]
    """
    _check(scores, prefix)
    found = [
        (key, ending, *_array(key, value)) for key, given in scores.items() for ending, value in _parts(key, given)
    ]
    values = _on_host([(backend, array) for *_, backend, array in found])
    numbers: dict[str, float] = {}
    keys: dict[str, str] = {}  # name -> key of the scores
    for (key, ending, *_), value in zip(found, values, strict=True):
        for name, number in zip(_names(key, value, class_names), value.astype(float).ravel().tolist(), strict=True):
            full = named(f"{prefix}{name}{ending}", f"{prefix}{_in_full(name)}{ending}")
            if full in numbers:
                raise ValueError(
                    f"scores: expected one value for each name, got {quoted(full)} of {quoted(keys[full])} and of "
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
            f"{label}: expected a number that is known, got one that is being traced: log outside of the compiled "
            "function, from what it returns"
        )
    if not backend.xp.isdtype(array.dtype, ("bool", "real floating", "integral")):
        raise TypeError(f"{label}: expected a real number, got one of dtype {array.dtype}")
    return backend, array


def _on_host(given: list[tuple[Standard, Array]]) -> list[Array]:
    """NumPy's arrays of all, in one transfer for each library."""
    found: dict[int, Array] = {}
    for chosen in {id(backend): backend for backend, _ in given}.values():
        places = [place for place, (backend, _) in enumerate(given) if backend is chosen]
        found |= zip(places, chosen.all_to_numpy([given[place][1] for place in places]), strict=True)
    return [found[place] for place in range(len(given))]


def _names(key: str, value: Array, class_names: Sequence[str] | None) -> list[str]:
    """The names of the values under a key: one, or one for each class."""
    if value.ndim == 0:
        return [key]
    is_classwise = key.endswith(
        tuple(f":{average}" for average in CLASSWISE)
    )  # also for names that are not in the catalogue
    metric = None if is_classwise else _metric(key)
    if value.ndim != 1 or not (is_classwise or (metric and metric.is_classwise)):
        raise ValueError(
            f"scores: expected scores of one matrix, got {quoted(key)} of shape {value.shape}: log the matrices of a "
            "stack in separate calls, each with a prefix="
        )
    names = check_names(class_names, len(value)) or tuple(map(str, range(len(value))))
    if metric is None:
        return [f"{key.rpartition(':')[0]}/{name}" for name in names]
    return columns(key, metric, names)


def _in_full(name: str) -> str:
    """The addition of the title to a name: the class or average for recall, none for recall/cat.

    >>> from matrics._catalogue.naming import MeasureName
    >>> _in_full(MeasureName("recall", "recall of fraud")), _in_full(MeasureName("recall/cat", "recall of cat"))
    ('recall of fraud', 'recall/cat')
    """
    title = title_of(name)
    return title if title.startswith(name) else name


def _metric(key: str) -> Any:
    try:
        return metric_of(key)
    except (TypeError, ValueError):  # a name of the user's
        return None
