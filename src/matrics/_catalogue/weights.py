"""Weights or costs of classes, or of pairs of classes: parsed, spelled, and sorted by class."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from matrics._arrays import Array, Standard, as_arrays
from matrics._catalogue.classes import Classes, spell_class
from matrics._quoting import cut, quoted, split_outside, unquote

#: The agreement of the classes of each cell, ``[true][pred]``: 1 on the diagonal, and less for worse errors.
Agreement = Annotated[tuple[tuple[float, ...], ...], "agreement"]
SymmetricAgreement = Annotated[tuple[tuple[float, ...], ...], "symmetric agreement"]
#: The disagreement: 0 on the diagonal, and more for worse errors; only the proportions matter.
Disagreement = Annotated[tuple[tuple[float, ...], ...], "disagreement"]
SymmetricDisagreement = Annotated[tuple[tuple[float, ...], ...], "symmetric disagreement"]
#: The cost of each kind of prediction, ``[true][pred]``: any finite number, also on the diagonal.
CostMatrix = Annotated[tuple[tuple[float, ...], ...], "costs"]

#: A number or a row for each class, or pairs of the name of a class and a number or row.
Values = tuple[Any, ...]

_WORDS = {
    "agreement": "an (n, n) matrix of agreement",
    "symmetric agreement": "a symmetric (n, n) matrix of agreement",
    "disagreement": "an (n, n) matrix of disagreement",
    "symmetric disagreement": "a symmetric (n, n) matrix of disagreement",
    "costs": "an (n, n) matrix of costs",
}
_EXAMPLES = {"costs": "[[0, 1], [50, 0]]", "agreement": "[[1, 0.5], [0.5, 1]]"}


class TracedMatrix:
    """An (n, n) array with unknown numbers, as under ``jit``, or with a gradient.

    It is equal only to itself.
    """

    def __init__(self, array: Array, backend: Standard, names: tuple[str, ...] = ()) -> None:
        self.array, self.backend, self.names = array, backend, names

    def __len__(self) -> int:
        return int(self.array.shape[0])

    def __str__(self) -> str:
        return f"<array ({len(self)}, {len(self)})>"

    def like(self, cells: Array, backend: Standard) -> Array:
        """The matrix in the dtype of the cells; raises if the cells are of another library."""
        if backend.xp is not self.backend.xp:
            raise TypeError(
                "costs: expected known numbers, or a matrix cm of the same library as the costs, got costs that are "
                "traced or need a gradient, and a cm of another library, or a cm that is scored on the host"
            )
        return backend.xp.astype(self.array, cells.dtype)

    def in_order(self, classes: Classes, name: str) -> TracedMatrix:
        """The matrix in the order of the classes, by the function ``in_order`` for the places of cells."""
        n = len(self)
        places = tuple([tuple(range(k * n, (k + 1) * n)) for k in range(n)])
        ordered = in_order(tuple(zip(self.names, places, strict=True)) if self.names else places, classes, name)
        back = [row[0] // n for row in plain(ordered)]
        if back == list(range(n)):
            return self
        xp = self.backend.xp
        index = xp.asarray(back, **self.backend.device_option(self.array))
        array = xp.take(xp.take(self.array, index, axis=0), index, axis=1)
        return TracedMatrix(array, self.backend, tuple([self.names[k] for k in back]))


def in_words(kind: str) -> str:
    """The values that ``read_matrix`` accepts for an option of this kind, in words."""
    return _WORDS[kind]


def read_matrix(value: Any, name: str, metric: str, *, kind: str) -> Values | TracedMatrix:
    """The matrix of a list, an array or the text of a spec; raises for other values.

    Rows may have the names of their classes: a dictionary, or ``[ok=[0,1],fraud=[50,0]]``. Columns have the same order.
    Costs may be an array with unknown numbers.
    """
    expected = f"{metric}: expected {name} to be {in_words(kind)}"
    if kind == "costs":
        traced = value if isinstance(value, TracedMatrix) else _traced(value, name, expected)
        if traced is not None:
            return traced
    names, items = _items(value, name, may_be_named=True)
    try:
        rows = tuple([_row(item) for item in items])
    except (TypeError, ValueError, OverflowError) as error:
        example = _EXAMPLES.get(kind.removeprefix("symmetric "), "[[0, 1], [1, 0]]")
        raise ValueError(f"{expected} such as {example}, got {quoted(value)}") from error
    if not rows or any(len(row) != len(rows) for row in rows):
        lengths = ", ".join([str(len(row)) for row in rows])
        raise ValueError(f"{expected}, as many columns as rows, got {len(rows)} rows of {cut(lengths) or 'nothing'}")
    wrong = _problem(rows, kind)
    if wrong is not None:
        raise ValueError(f"{expected}, {wrong}")
    return tuple(zip(names, rows, strict=True)) if names else rows


def read_class_weights(value: Any, metric: str) -> Values:
    """The weights of classes, from a list, an array, a dictionary by class or the text of a spec; raises for others.

    >>> read_class_weights({"cat": 2, "dog": 1}, "recall"), read_class_weights("[.2,.8]", "recall")
    ((('cat', 2.0), ('dog', 1.0)), (0.2, 0.8))
    """
    expected = f"{metric}: expected class_weights to be a number for each class, from 0 on and not all 0,"
    names, items = _items(value, "class_weights", may_be_named=True)
    try:
        weights = tuple([_number(item) for item in items])
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{expected} such as [1, 3] or {{'cat': 1, 'dog': 3}}, got {quoted(value)}") from error
    if not all(0 <= weight < math.inf for weight in weights) or not any(weights):
        raise ValueError(f"{expected} got {quoted(value)}")
    return tuple(zip(names, weights, strict=True)) if names else weights


def spell(value: Any) -> str:
    """The text of a spec for this value."""
    if not isinstance(value, tuple):
        return spell_number(value)
    if is_named(value):
        return "[" + ",".join([f"{spell_class(name)}={spell(item)}" for name, item in value]) + "]"
    return "[" + ",".join([spell(item) for item in value]) + "]"


def spell_number(value: float) -> str:
    """The shortest text for this number."""
    return repr(value).removesuffix(".0")


def is_named(value: Values | TracedMatrix) -> bool:
    """Whether the values have the names of classes."""
    if isinstance(value, TracedMatrix):
        return bool(value.names)
    return bool(value) and isinstance(value[0], tuple) and isinstance(value[0][0], str)


def plain(value: Any) -> Any:
    """The numbers alone, without the names of classes, as formulas need them."""
    return tuple([item for _, item in value]) if isinstance(value, tuple) and is_named(value) else value


def in_order(value: Any, classes: Classes, name: str) -> Any:
    """The values in the order of the classes of certain matrices; raises if the classes differ.

    If the classes of the matrices have no names, rows with names keep their order.
    """
    if isinstance(value, TracedMatrix):
        return value.in_order(classes, name)
    n = classes.number
    if not is_named(value):
        if not classes.ordered:
            example = ",".join([f"{spell_class(label)}=…" for label in (classes.labels or ())[:3]])
            raise ValueError(
                f"{name}: expected the class of each number or row, as the order of {classes.listed} is only "
                f"alphabetical: {name}=[{example}] or a dictionary; or pass the classes in their order, as labels= or "
                "class_names="
            )
        return _of_number(value, n, name)
    items = dict(value)
    is_matrix = isinstance(value[0][1], tuple)
    if is_matrix and classes.labels is None:
        return _of_number(value, n, name)
    others = [label for label in items if classes.labels is not None and not classes.has(label)]
    places = [classes.index(label, name) for label in items if label not in others]
    missing = [classes.labels[k] if classes.labels else k for k in range(n) if k not in places]
    if others or missing or len(places) > n:
        problems = [("missing", missing), ("unknown", others)]
        got = "; ".join([f"{kind}: {', '.join(map(repr, labels[:10]))}" for kind, labels in problems if labels])
        raise ValueError(
            f"{name}: expected each of the classes {classes.listed} once; {got or 'a class is there twice'}"
        )
    back = [places.index(k) for k in range(n)]
    rows = [value[k] for k in back]
    return tuple([(label, tuple([row[k] for k in back])) for label, row in rows] if is_matrix else rows)


def _of_number(value: Values, n: int, name: str) -> Values:
    if len(value) == n:
        return value
    shape, got = f"a matrix ({n}, {n}) for {n} classes", f"({len(value)}, {len(value)})"
    if not isinstance(plain(value)[0], tuple):
        shape, got = f"{n} numbers, as many as classes", str(len(value))
    raise ValueError(f"{name}: expected {shape}, got {got}")


def _items(value: Any, name: str, *, may_be_named: bool) -> tuple[tuple[str, ...], Sequence[Any]]:
    """The names of the classes, if any, and their values: numbers, or texts of numbers."""
    # torch.compile supports texts and lists; arrays would break its graph.
    if isinstance(value, str):
        text = value.strip()
        if not (text.startswith("[") and text.endswith("]")):
            return (), [text]  # neither a row nor a number
        parts = split_outside(text[1:-1], quoted=True)
        pairs = [split_outside(part, "=", quoted=True) for part in parts]
        if may_be_named and all(len(pair) == 2 for pair in pairs):
            return tuple([unquote(pair[0]) for pair in pairs]), [pair[1] for pair in pairs]
        return (), parts
    if may_be_named and isinstance(value, Mapping):
        return tuple([str(label) for label in value]), list(value.values())
    if isinstance(value, (list, tuple)):
        return (), value
    backend, (array,) = as_arrays(**{name: value})
    if not backend.can_look(array):
        raise TypeError(f"{name}: expected known numbers, got a traced array: pass the values as Python numbers")
    return (), backend.to_numpy(array).tolist()


def _traced(value: Any, name: str, expected: str) -> TracedMatrix | None:
    """The matrix of an array with unknown numbers; None for all other values."""
    if isinstance(value, (str, list, tuple, Mapping)):
        return None
    backend, (array,) = as_arrays(**{name: value})
    if backend.is_constant(array):
        return None
    shape = tuple(array.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{expected}, as many columns as rows, got shape {shape}")
    if not (backend.is_integer(array) or backend.is_float(array)):
        raise TypeError(f"{expected}, got dtype {array.dtype}")
    return TracedMatrix(array, backend)


def _row(item: Any) -> tuple[float, ...]:
    if isinstance(item, str):
        text = item.strip()
        if not (text.startswith("[") and text.endswith("]")):
            raise ValueError(item)
        item = text[1:-1].split(",")
    if isinstance(item, Mapping):
        raise TypeError(item)
    return tuple([_number(number) for number in item])


def _number(item: Any) -> float:
    return float(item) + 0.0  # adding 0 removes the sign of -0, which would be printed


def _problem(rows: tuple[tuple[float, ...], ...], kind: str) -> str | None:
    full = int(kind in ("agreement", "symmetric agreement"))
    for i, row in enumerate(rows):
        for j, number in enumerate(row):
            if kind == "costs":
                if not -math.inf < number < math.inf:
                    return f"finite, got {number:g} at [{i}, {j}]"
                continue
            if not 0 <= number < math.inf:
                return f"finite and not negative, got {number:g} at [{i}, {j}]"
            if i == j and number != full:
                return f"{_DIAGONALS[full]}, got {number:g} at [{i}, {i}]; {_OTHERS[full]}"
            if full and number > 1:
                return f"{_DIAGONALS[full]}, got {number:g} at [{i}, {j}]"
            if kind.startswith("symmetric") and number != rows[j][i]:
                return f"got {number:g} at [{i}, {j}] and {rows[j][i]:g} at [{j}, {i}]"
    return None


# The descriptions by the number on the diagonal.
_DIAGONALS = {
    1: "with 1 on the diagonal, as full agreement, and less for worse errors",
    0: "with 0 on the diagonal, as full agreement, and more for worse errors",
}
_OTHERS = {
    1: "disagreements, with 0 on the diagonal, are costs=",
    0: "weights of agreement, with 1 on the diagonal, are weights=",
}
