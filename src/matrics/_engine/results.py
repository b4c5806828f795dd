"""The base classes of results: a short text, plain numbers for JSON, and a data frame."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import math
import re
from collections import namedtuple
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np

from matrics._arrays import as_arrays
from matrics._extras import __version__
from matrics._wording import significant

__all__ = ["NamedResult", "Result", "columns_of", "frame_of", "short_repr", "to_dict", "to_json"]

SCHEMA = 1  # the version of to_json; it increases when a name changes its meaning or is removed
SURROGATES = re.compile("[\ud800-\udfff]")
FEW = 6  # the number of elements of an array, a list or a dictionary in a text
LONGEST = 160  # the number of characters of a nested text


class Result:
    """A result of a function, with a short text, ``to_dict`` for plain numbers and ``to_frame`` for a data frame.

    Results are data classes, or named tuples (:class:`NamedResult`).
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return short_repr(self)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain numbers, lists and texts; see :func:`matrics.to_dict`."""
        return to_dict(self)

    def to_json(self) -> str:
        """The fields as strict JSON; see :func:`matrics.to_json`."""
        return to_json(self)

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each element of the arrays."""
        return frame_of(self)


class _Elements(tuple[Any, ...]):
    """A tuple with named elements. PyTorch compiles it like a named tuple, whose only base is tuple.

    Dask computes the elements of tuples with all attributes of a named tuple, including ``_field_defaults``.
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
        present = {name: value for name, value in zip(cls._optional, row[number:], strict=True) if value is not None}
        kind: type[Self] = _with(cls, tuple(present)) if present else cls
        return tuple.__new__(kind, (*row[:number], *present.values()))

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Self:
        return cls(*values)

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def _replace(self, **named: Any) -> Self:
        """The result with other values of some fields; None removes optional fields."""
        result: Self = self._whole(**(self._asdict() | named))
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._whole, self._asdict())


@dataclass_transform(frozen_default=True)
class NamedResult(Result, _Elements):
    """A result that is a named tuple of its fields, which JAX and PyTorch treat as a tree of arrays.

    The fields are the annotations of the class. The last fields may be optional: ``class Interval(NamedResult,
    optional=1)``. Missing optional fields are None, and the result is a tuple of the other fields, as PyTorch's
    ``vmap`` does not accept None. A result with optional fields is an instance of a subclass with the same name.
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
    """The subclass for results with these optional fields."""
    copied = {name: getattr(whole, name) for name in ("__doc__", "__module__", "__qualname__")}
    names = dict.fromkeys((*whole._fields, *optional))
    subclass = type(whole.__name__, (whole,), {**copied, "__slots__": (), "__annotations__": names})
    subclass._whole = whole  # type: ignore[attr-defined]
    return subclass


def _restored(whole: Any, fields: dict[str, Any]) -> Any:
    """The result of a pickle or a copy."""
    return whole(**fields)


def columns_of(results: Sequence[tuple[Any, ...]], kind: type[NamedResult]) -> list[tuple[Any, ...]]:
    """The values of each field of several results of a class, or of none."""
    return list(zip(*results, strict=True)) or [()] * len(kind._fields)


def to_dict(scores: Any) -> dict[str, Any]:
    """Scores as plain numbers, lists and dictionaries, for ``json.dumps``, loggers and trainers.

    Parameters
    ----------
    scores : mapping, or a result
        The result of :func:`matrics.score`, :func:`matrics.interval`, :func:`matrics.compare` or another function of
        this library, with arrays of any library. The call waits for their device.

    Returns
    -------
    dict
        A dictionary with plain texts as keys. Values of a single matrix are Python numbers, values of a stack nested
        lists, and results such as intervals dictionaries of their fields. NaN stays NaN.

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
        raise TypeError(f"scores: expected a dictionary or a result of a function of matrics, got {scores!r:.60}")
    result: dict[str, Any] = _plain(scores)
    return result


def to_json(scores: Any) -> str:
    """Scores as strict JSON, which has neither NaN nor infinite numbers.

    Parameters
    ----------
    scores : mapping, or a result
        The result of :func:`matrics.score`, :func:`matrics.interval`, :func:`matrics.compare` or another function of
        this library, with arrays of any library. The call waits for their device.

    Returns
    -------
    str
        An object with the keys ``schema`` (the version of this layout, an integer), ``version`` (the version of
        matrics), ``values`` (as from :func:`matrics.to_dict`, with null in place of NaN and infinite numbers) and
        ``nulls``. For each null, ``nulls`` has ``at``, its place in ``values`` as a JSON pointer (RFC 6901), and
        ``value``: ``"nan"``, ``"inf"`` or ``"-inf"``.

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

    nulls: list[dict[str, str]] = []
    values = _finite(to_dict(scores), "", nulls)
    document = {"schema": SCHEMA, "version": __version__, "values": values, "nulls": nulls}
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    return SURROGATES.sub(lambda letter: json.dumps(letter[0])[1:-1], text)  # surrogates of file names


def _finite(value: Any, place: str, nulls: list[dict[str, str]]) -> Any:
    """The values with None in place of numbers that JSON does not have; adds these numbers to ``nulls``."""
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
    for kind in (str, int, float):  # codes of a status are subclasses of int, and keys with a title subclasses of str
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if _is_result(value):
        return {name: _plain(item) for name, item in _fields(value).items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if hasattr(value, "dtype"):
        array = _on_host(value)
        return str(value) if array is None else _plain(array.tolist())
    return str(value)


def short_repr(result: Any) -> str:
    """The fields of a result as text: numbers with four digits, and large arrays as shape and dtype.

    Traced arrays have only a shape.
    """
    parts = [f"{name}={_short(value)}" for name, value in _fields(result).items()]
    return f"{type(result).__name__}({', '.join(parts)})"


def _short(value: Any) -> str:
    if isinstance(value, float):
        return significant(float(value), 4)
    if isinstance(value, Mapping):
        return f"{{{_listed([f'{str(key)!r}: {_short(item)}' for key, item in value.items()])}}}"
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return _short_array(value)
    if isinstance(value, (list, tuple)) and not _is_result(value):
        return f"[{_listed([_short(item) for item in value])}]"
    text = repr(value)
    return text if len(text) <= LONGEST or _is_result(value) else f"{text[:LONGEST]}…"


def _listed(parts: list[str]) -> str:
    return ", ".join(parts if len(parts) <= FEW else [*parts[: FEW // 2], f"… {len(parts) - FEW // 2} more"])


def _short_array(array: Any) -> str:
    shape = tuple(array.shape)
    few = all(isinstance(size, int) for size in shape) and int(np.prod(shape)) <= FEW
    values = _on_host(array) if few else None
    if values is None:
        return f"<{str(array.dtype).removeprefix('torch.')} array of shape {shape}>"
    return _short(values.tolist()) if values.ndim else _short(values.item())


def frame_of(result: Any, *, indexed: bool = True) -> Any:
    """A data frame of pandas with a row for each element of the arrays, and a column for each field.

    Rows are along the first axes that all arrays have in common, with their positions in ``index_0``, ``index_1``, …;
    further axes become columns (``roots/0``, ``roots/1``), as do the fields of nested results (``threshold/low``).

    Parameters
    ----------
    result
        A result, or arrays by the names of columns.
    indexed
        Whether the positions are columns, which is unnecessary if other columns identify the rows.
    """
    pandas = _pandas()
    columns = _columns(result if isinstance(result, Mapping) else _fields(result), "")
    shapes = [column.shape for column in columns.values()]
    depth = next(
        (k for k in range(min(map(len, shapes))) if len({shape[k] for shape in shapes}) > 1), min(map(len, shapes))
    )
    common = shapes[0][:depth]
    places = np.indices(common).reshape(depth, math.prod(common))
    data = {f"index_{axis}": place for axis, place in enumerate(places)} if indexed else {}
    for name, column in columns.items():
        for place in np.ndindex(*column.shape[depth:]):
            title = "/".join([name, *([",".join(map(str, place))] if place else [])])
            data[title] = column[(..., *place)].reshape(-1)
    return pandas.DataFrame(data)


def _columns(fields: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """NumPy arrays by the names of their columns; the name of a measure is its title."""
    columns = {}
    for name, value in fields.items():
        if _is_result(value):
            columns.update(_columns(_fields(value), f"{prefix}{name}/"))
        elif isinstance(value, Mapping):
            columns.update(_columns({getattr(key, "title_", str(key)): item for key, item in value.items()}, prefix))
        elif value is not None:
            array = _on_host(value) if hasattr(value, "dtype") else np.asarray(value)
            if array is None:
                raise TypeError(f"{name}: expected concrete values, got a traced array")
            columns[f"{prefix}{name}"] = array
    return columns


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
        fields: dict[str, Any] = result._asdict()  # type: ignore[attr-defined]
        return fields
    return {item.name: getattr(result, item.name) for item in dataclasses.fields(result)}


def _on_host(array: Any) -> Any:
    """The array of any library as a NumPy array; None if it is traced and has no values."""
    if isinstance(array, (np.ndarray, np.generic)):
        return np.asarray(array)
    try:
        backend, (converted,) = as_arrays(result=array)
        return np.asarray(backend.to_numpy(backend.detached(converted)))
    except (TypeError, ValueError, RuntimeError):
        return np.asarray(array) if hasattr(array, "to_numpy") else None
