"""Functions that users write as measures: their names, and checks of their arguments and results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, get_args

from matrics._arrays import Array
from matrics._engine.table import Table
from matrics._quoting import quoted

#: The end of the qualified name of a function that is the attribute of its metric.
IN_METRIC = ".function"


def place_of(function: Any) -> tuple[str, str]:
    """The module and the qualified name of a function, as in its source."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return getattr(function, "__module__", None) or "", name.removesuffix(IN_METRIC)


def checked_name(name: Any, function: Any) -> str:
    """The name, if it can be used in specs; raises otherwise."""
    if isinstance(name, str) and name.isidentifier():
        return name
    raise ValueError(
        f"expected a Python identifier as name, because specs use other characters, got {quoted(name)} of "
        f"{quoted(function)}: pass name="
    )


def several(aliases: Iterable[str]) -> Iterable[str]:
    """The aliases as a list; a single name may be given as text."""
    return [aliases] if isinstance(aliases, str) else aliases


def checked_word(value: Any, expected: Any, name: str, what: str) -> Any:
    """The value, if it is among the words of a ``Literal`` type; raises otherwise."""
    words = [word for part in get_args(expected) for word in (get_args(part) or (part,))]
    words = [None if word is type(None) else word for word in words]
    if not any(value is word or (isinstance(word, str) and value == word) for word in words):
        raise ValueError(f"{name}: expected {what} to be one of {', '.join(map(repr, words))}, got {quoted(value)}")
    return value


def checked_range(bounds: Any, name: str) -> tuple[float, float]:
    """The smallest and the largest value of a measure; raises unless they are two numbers in order."""
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        low = high = math.nan
    if not low < high:
        raise ValueError(
            f"{name}: expected range to be two numbers, the smallest and the largest value, got {quoted(bounds)}"
        )
    return low, high


def called_with(function: Callable[..., Any], table: Table, keywords: dict[str, Any], name: str) -> Any:
    """The result of a user's function; errors name the measure."""
    try:
        return function(table, **keywords)
    except AttributeError as error:
        if error.obj is not table:
            raise
        raise TypeError(
            f"{name}: expected an attribute of matrics.typing.Table, such as tp, true, total and divide, got "
            f"{error.name!r}"
        ) from error
    except Exception as error:
        error.add_note(f"The function of the measure {name} is called with a matrics.typing.Table, not with a matrix.")
        raise


def checked_values(values: Any, table: Table, name: str, *, is_classwise: bool) -> Array:
    """The result of a user's measure, if its shape fits the kind; raises otherwise."""
    batch = tuple(table.total.shape)
    expected, got = (table.n, *batch) if is_classwise else batch, getattr(values, "shape", None)
    if got is not None and tuple(got) == expected:
        return values
    kind = "per_class" if is_classwise else "overall"
    like = "t.tp, with a value for each class" if is_classwise else "t.total, with a value for each matrix"
    description = type(values).__name__ if got is None else f"the shape {tuple(got)}"
    raise ValueError(
        f"{name}: expected the function to return an array of the shape of {like}, because the kind is {kind!r}: "
        f"{expected}, got {description}"
    )
