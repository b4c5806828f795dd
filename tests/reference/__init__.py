"""The documented formula of every measure, evaluated by mpmath: written apart from the library, to compare it with.

One file for a few families, one function a measure, with the name and the options that the measure has. Nothing here
imports the library: the formulas are those of the catalogue and of the papers that it names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mpmath import mp

from . import information, overall, rates, similarity  # noqa: F401 (each registers its formulas)
from .counts import CLASSWISE, FORMULAS, Counts, Number, Undefined, digits_needed


def evaluate(
    name: str, cells: Sequence[Sequence[Any]], *, average: str | None = None, bits: int = 0, **options: Any
) -> Any:
    """The value of a measure, an ``mpf``; None where it is undefined; a list of them where there is one a class.

    ``average``: class (also the default of class measures), macro, micro, weighted, or one_vs_rest.
    """
    with mp.workprec(max(bits, digits_needed(cells))):
        counts = Counts(cells)
        if name not in CLASSWISE:
            if average == "one_vs_rest":
                return [_value(name, counts.one_vs_rest(k), **options) for k in counts.classes]
            return _value(name, counts, **options)
        if average == "micro":
            return _value(name, counts.pooled(), 1, **options)
        values = [_value(name, counts, k, **options) for k in counts.classes]
        if average in (None, "class"):
            return values
        weights = counts.true if average == "weighted" else [1] * counts.n
        known = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None and weight]
        return _mean(known)


def derivatives(
    name: str, cells: Sequence[Sequence[Any]], i: int, j: int, *, side: int = 1, **options: Any
) -> list[Number | None]:
    """What each value changes by as cell (i, j) grows (side=-1: shrinks), an ``mpf``; None where it is no number."""
    bits = digits_needed(cells) + 500
    with mp.workprec(bits):
        step = side * mp.ldexp(mp.mpf(cells[i][j]) or sum(map(sum, cells)) or 1, -200)
        moved = [[mp.mpf(cell) for cell in row] for row in cells]
        moved[i][j] += step
        pairs = zip(*(_listed(evaluate(name, at, bits=bits, **options)) for at in (cells, moved)), strict=True)
        return [None if None in pair or any(map(mp.isinf, pair)) else (pair[1] - pair[0]) / step for pair in pairs]


def _listed(values: Any) -> list[Number | None]:
    return values if isinstance(values, list) else [values]


def _value(name: str, *arguments: Any, **options: Any) -> Number | None:
    try:
        value = +mp.mpf(FORMULAS[name](*arguments, **options))
    except (Undefined, ZeroDivisionError):
        return None
    return None if mp.isnan(value) else value


def _mean(known: list[tuple[Number, Number]]) -> Number | None:
    """Undefined classes are left out."""
    weight = sum(weight for _, weight in known)
    mean = sum(value * weight for value, weight in known) / weight if weight else mp.nan
    return None if mp.isnan(mean) else mean  # of ∞ and -∞
