"""What results have in common: a text of at most a screen, plain numbers for JSON, and a data frame."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import math
from collections import namedtuple
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np

from matrics._arrays import as_arrays
from matrics._wording import significant

__all__ = ["NamedResult", "Result", "columns_of", "frame_of", "short_repr", "to_dict", "to_json"]

SCHEMA = 1  # of to_json: raised when a name changes its meaning or is no longer there
FEW = 6  # elements of an array, of a list or of a dictionary that a text shows
LONGEST = 160  # characters of a text within another


class Result:
    """A result of a function: its text is at most a screen, ``to_dict`` has plain numbers, ``to_frame`` a data frame.

    Results are data classes, or named tuples (:class:`NamedResult`).
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return short_repr(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and texts, as :func:`matrics.to_dict` gives them."""
        return to_dict(self)

    def to_json(self) -> str:
        """Strict JSON, as :func:`matrics.to_json` writes it."""
        return to_json(self)

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each element of the arrays."""
        return frame_of(self)


class _Elements(tuple[Any, ...]):
    """A tuple whose elements have names. PyTorch compiles it as a named tuple, which has no other base than tuple.

    Dask computes the elements of a tuple that has all attributes of a named tuple, also ``_field_defaults``.
    """

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()
    _field_defaults: ClassVar[dict[str, Any]] = {}
    _optional: ClassVar[tuple[str, ...]] = ()
    _template: ClassVar[Any]
    _whole: ClassVar[Any]

    def __new__(cls, *values: Any, **named: Any) -> Self:
        row = cls._template(*values, **named)
        number = len(cls._fields)
        there = {name: one for name, one in zip(cls._optional, row[number:], strict=True) if one is not None}
        kind: type[Self] = _with(cls, tuple(there)) if there else cls
        return tuple.__new__(kind, (*row[:number], *there.values()))

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Self:
        return cls(*values)

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def _replace(self, **named: Any) -> Self:
        """The same result with other values of some fields; optional ones are removed by None."""
        found: Self = self._whole(**(self._asdict() | named))
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self._whole, self._asdict())


@dataclass_transform(frozen_default=True)
class NamedResult(Result, _Elements):
    """A result that is a named tuple of its fields, so that JAX and PyTorch take it as a tree of arrays.

    The fields are the annotations of the class. The last ones may be optional: ``class Interval(NamedResult,
    optional=1)``. Where these do not apply they are None, and the result is a tuple of the other fields, as PyTorch's
    ``vmap`` takes no None. A result that has some of them is of a subclass with the same name.
    """

    __slots__ = ()

    def __init_subclass__(cls, *, optional: int = 0) -> None:
        names = tuple(cls.__annotations__)
        number = len(names) - optional
        cls._fields, cls._optional, cls._whole = names[:number], names[number:], cls
        defaults = [vars(cls)[name] for name in names if name in vars(cls)]
        cls._template = namedtuple(cls.__name__, names, defaults=defaults)  # type: ignore[misc]  # noqa: PYI024
        cls._field_defaults = {name: vars(cls)[name] for name in cls._fields if name in vars(cls)}
        type.__setattr__(cls, "__match_args__", names)
        type.__setattr__(cls, "__signature__", inspect.signature(cls._template))
        for name in cls._fields:
            setattr(cls, name, vars(cls._template)[name])


@lru_cache
def _with(whole: Any, optional: tuple[str, ...]) -> Any:
    """The class of the results that have these of the optional fields."""
    copied = {name: getattr(whole, name) for name in ("__doc__", "__module__", "__qualname__")}
    names = dict.fromkeys((*whole._fields, *optional))
    found = type(whole.__name__, (whole,), {**copied, "__slots__": (), "__annotations__": names})
    found._whole = whole  # type: ignore[attr-defined]
    return found


def _made(whole: Any, fields: dict[str, Any]) -> Any:
    """A result that was pickled or copied."""
    return whole(**fields)


def columns_of(results: Sequence[tuple[Any, ...]], kind: type[NamedResult]) -> list[tuple[Any, ...]]:
    """The values of each field of several results of a class; there may be none."""
    return list(zip(*results, strict=True)) or [()] * len(kind._fields)


def to_dict(scores: Any) -> dict[str, Any]:
    """Scores as plain numbers, lists and dictionaries, as ``json.dumps``, loggers and trainers take them.

    Parameters
    ----------
    scores : mapping, or a result
        What :func:`matrics.score`, :func:`matrics.interval`, :func:`matrics.compare` or another function of this
        library returns. Arrays of any library will do; it waits for their device.

    Returns
    -------
    dict
        With plain texts as keys. Values of one matrix are numbers of Python, those of a stack nested lists, and
        intervals and the like dictionaries of their fields. NaN stays NaN.

    Examples
    --------
    >>> import matrics
    >>> scores = matrics.score([[45, 5], [5, 45]], "accuracy,recall:class")
    >>> matrics.to_dict(scores)
    {'accuracy': 0.9, 'recall:class': [0.9, 0.9]}
    >>> import json
    >>> json.dumps(matrics.to_dict(matrics.ranking.roc_curve([0, 1], [0.2, 0.7])))
    '{"fpr": [0.0, 0.0, 1.0], "tpr": [0.0, 1.0, 1.0], "thresholds": [Infinity, 0.7, 0.2]}'
    """
    if not isinstance(scores, Mapping) and not _is_result(scores):
        raise TypeError(f"scores: expected the dictionary or the result that a function returned, got {scores!r:.60}")
    found: dict[str, Any] = _plain(scores)
    return found


def to_json(scores: Any) -> str:
    """Scores as strict JSON, which has neither NaN nor infinite numbers.

    Parameters
    ----------
    scores : mapping, or a result
        What :func:`matrics.score`, :func:`matrics.interval`, :func:`matrics.compare` or another function of this
        library returns. Arrays of any library will do; it waits for their device.

    Returns
    -------
    str
        An object with the keys ``schema`` (the version of this layout, an integer), ``version`` (that of matrics),
        ``values`` (as of :func:`matrics.to_dict`, with null in place of NaN and infinite numbers) and ``nulls``: for
        each of these, ``at``, its place in ``values`` as a JSON pointer (RFC 6901), and ``value``: ``"nan"``, ``"inf"``
        or ``"-inf"``.

    See Also
    --------
    to_dict : The same values as a dictionary, in which NaN stays NaN.

    Examples
    --------
    >>> import json, matrics
    >>> text = matrics.to_json(matrics.score([[0, 0], [0, 4]], "accuracy,mcc"))
    >>> document = json.loads(text)
    >>> document["values"], document["nulls"]
    ({'accuracy': 1.0, 'mcc': None}, [{'at': '/mcc', 'value': 'nan'}])
    """
    import json
    from importlib.metadata import version  # with all of ``email``: 30 ms

    nulls: list[dict[str, str]] = []
    values = _finite(to_dict(scores), "", nulls)
    document = {"schema": SCHEMA, "version": version("matrics"), "values": values, "nulls": nulls}
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def _finite(value: Any, place: str, nulls: list[dict[str, str]]) -> Any:
    """Plain values with None in place of numbers that JSON does not have, which are added to ``nulls``."""
    if isinstance(value, dict):
        return {
            key: _finite(part, f"{place}/{key.replace('~', '~0').replace('/', '~1')}", nulls)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [_finite(part, f"{place}/{position}", nulls) for position, part in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        nulls.append({"at": place, "value": str(value)})
        return None
    return value


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    for kind in (str, int, float):  # a code of a status is an integer, and a key with a title a text
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if _is_result(value):
        return {name: _plain(one) for name, one in _fields(value).items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one) for one in value]
    if hasattr(value, "dtype"):
        found = _on_host(value)
        return str(value) if found is None else _plain(found.tolist())
    return str(value)


def short_repr(result: Any) -> str:
    """The fields of a result: numbers rounded to four digits, and of large arrays their shape and dtype.

    Arrays that are traced have no values to show, only a shape.
    """
    parts = [f"{name}={_short(value)}" for name, value in _fields(result).items()]
    return f"{type(result).__name__}({', '.join(parts)})"


def _short(value: Any) -> str:
    if isinstance(value, float):
        return significant(float(value), 4)
    if isinstance(value, Mapping):
        return f"{{{_listed([f'{str(key)!r}: {_short(one)}' for key, one in value.items()])}}}"
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return _short_array(value)
    if isinstance(value, (list, tuple)) and not _is_result(value):
        return f"[{_listed([_short(one) for one in value])}]"
    text = repr(value)
    return text if len(text) <= LONGEST or _is_result(value) else f"{text[:LONGEST]}…"


def _listed(parts: list[str]) -> str:
    return ", ".join(parts if len(parts) <= FEW else [*parts[: FEW // 2], f"… {len(parts) - FEW // 2} more"])


def _short_array(array: Any) -> str:
    shape = tuple(array.shape)
    few = all(isinstance(size, int) for size in shape) and int(np.prod(shape)) <= FEW
    found = _on_host(array) if few else None
    if found is None:
        return f"<{str(array.dtype).removeprefix('torch.')} array of shape {shape}>"
    return _short(found.tolist()) if found.ndim else _short(found.item())


def frame_of(result: Any, *, indexed: bool = True) -> Any:
    """A data frame of pandas with a row for each element of the arrays, and a column for each field.

    Rows are along the axes that all arrays have in common, from the first on, with their positions in ``index_0``,
    ``index_1``, …; further axes become columns (``roots/0``, ``roots/1``), as do the fields of results within the
    result (``threshold/low``).

    Parameters
    ----------
    result
        A result, or a mapping of names of columns to arrays.
    indexed
        Whether the positions are columns; not needed if other columns identify a row.
    """
    pandas = _pandas()
    columns = _columns(result if isinstance(result, Mapping) else _fields(result), "")
    shapes = [column.shape for column in columns.values()]
    depth = next(
        (k for k in range(min(map(len, shapes))) if len({shape[k] for shape in shapes}) > 1), min(map(len, shapes))
    )
    common = shapes[0][:depth]
    places = np.indices(common).reshape(depth, math.prod(common))
    found = {f"index_{axis}": place for axis, place in enumerate(places)} if indexed else {}
    for name, column in columns.items():
        for place in np.ndindex(*column.shape[depth:]):
            title = "/".join([name, *([",".join(map(str, place))] if place else [])])
            found[title] = column[(..., *place)].reshape(-1)
    return pandas.DataFrame(found)


def _columns(fields: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Arrays of NumPy by the names of their columns; a measure has its title as its name."""
    found = {}
    for name, value in fields.items():
        if _is_result(value):
            found.update(_columns(_fields(value), f"{prefix}{name}/"))
        elif isinstance(value, Mapping):
            found.update(_columns({getattr(key, "title_", str(key)): one for key, one in value.items()}, prefix))
        elif value is not None:
            array = _on_host(value) if hasattr(value, "dtype") else np.asarray(value)
            if array is None:
                raise TypeError(f"{name}: expected concrete values, got a traced array")
            found[f"{prefix}{name}"] = array
    return found


def _pandas() -> Any:
    try:
        return importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError("to_frame needs pandas: python -m pip install pandas") from error


def _is_result(value: Any) -> bool:
    return hasattr(type(value), "_fields") or (dataclasses.is_dataclass(value) and not callable(value))


def _fields(result: Any) -> dict[str, Any]:
    """The fields of a named tuple or of a data class, by name."""
    if isinstance(result, tuple):
        found: dict[str, Any] = result._asdict()  # type: ignore[attr-defined]
        return found
    return {one.name: getattr(result, one.name) for one in dataclasses.fields(result)}


def _on_host(array: Any) -> Any:
    """An array of any library as one of NumPy; None if it has no values, as in code that is traced."""
    if isinstance(array, (np.ndarray, np.generic)):
        return np.asarray(array)
    try:
        backend, (found,) = as_arrays(result=array)
        return np.asarray(backend.to_numpy(backend.detached(found)))
    except (TypeError, ValueError, RuntimeError):
        return np.asarray(array) if hasattr(array, "to_numpy") else None
