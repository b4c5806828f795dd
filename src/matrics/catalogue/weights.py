"""Weights of one's own: from the matrix that a user has to one that a metric can hold, compare, print and read back."""

from __future__ import annotations

import math
from typing import Annotated, Any

from matrics import _backend
from matrics._names import quoted

#: How much each error counts, ``[true][pred]``; a second word says what else has to hold.
WeightMatrix = Annotated[tuple[tuple[float, ...], ...], "any"]
SymmetricWeights = Annotated[tuple[tuple[float, ...], ...], "symmetric"]


def read(value: Any, name: str, metric: str, *, symmetric: bool) -> WeightMatrix:
    """The weights of a list, an array or the text of a spec; raises with what was expected."""
    expected = f"{metric}: expected {name} to be {in_words(symmetric=symmetric)}"
    rows = _rows(value, name)
    try:
        # Adding 0 leaves no -0, which would print as such.
        weights = tuple([tuple([float(weight) + 0.0 for weight in row]) for row in rows])
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{expected} such as [[0, 1], [1, 0]], got {quoted(value)}") from error
    if not weights or any(len(row) != len(weights) for row in weights):
        lengths = ", ".join([str(len(row)) for row in weights])
        raise ValueError(f"{expected}, as many columns as rows, got {len(weights)} rows of {lengths or 'nothing'}")
    wrong = _what_is_wrong(weights, symmetric=symmetric)
    if wrong is not None:
        raise ValueError(f"{expected}, {wrong}")
    return weights


def in_words(*, symmetric: bool) -> str:
    """What ``read`` takes."""
    return f"{'a symmetric' if symmetric else 'an'} (n, n) matrix of disagreements"


def spell(weights: WeightMatrix) -> str:
    """The text that ``read`` reads as these weights."""
    return "[" + ",".join(["[" + ",".join([spell_number(weight) for weight in row]) + "]" for row in weights]) + "]"


def spell_number(value: float) -> str:
    """The shortest text that is read as this number."""
    return repr(value).removesuffix(".0")


def _rows(value: Any, name: str) -> Any:
    # torch.compile can follow the roads of texts and lists; those of arrays lead out of its graph.
    if isinstance(value, str):
        text = "".join(value.split())
        if text.startswith("[[") and text.endswith("]]"):
            return [row.split(",") for row in text[2:-2].split("],[")]
        return [[value]]  # which is no number
    if isinstance(value, (list, tuple)):
        return value
    backend, (array,) = _backend.as_arrays(**{name: value})
    if not backend.can_look(array):
        raise TypeError(f"{name}: expected numbers that are known beforehand, as options are, got a traced array")
    return backend.to_numpy(array).tolist()


def _what_is_wrong(weights: WeightMatrix, *, symmetric: bool) -> str | None:
    for i, row in enumerate(weights):
        for j, weight in enumerate(row):
            if not 0 <= weight < math.inf:
                return f"finite and not negative, got {weight:g} at [{i}, {j}]"
            if i == j and weight != 0:
                return (
                    f"0 on the diagonal, as full agreement, and larger for worse errors, got {weight:g} at [{i}, {i}]; "
                    "weights of agreement, with 1 on the diagonal, become such by 1 - weights"
                )
            if symmetric and weight != weights[j][i]:
                return f"got {weight:g} at [{i}, {j}] and {weights[j][i]:g} at [{j}, {i}]"
    return None
