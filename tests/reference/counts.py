"""One confusion matrix in numbers of as many digits as it needs: what the reference formulas are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mpmath import mp, mpf

Number = Any  # mpf: mpmath has no types

FORMULAS: dict[str, Callable[..., Any]] = {}
CLASSWISE: set[str] = set()


class Undefined(ArithmeticError):  # noqa: N818 (the word that records use)
    """0/0: the measure says nothing of this matrix."""


def overall(function: Callable[..., Number]) -> Callable[..., Number]:
    """Register the reference of an overall measure, ``f(counts, **options)``, under its name."""
    FORMULAS[function.__name__] = function
    return function


def per_class(function: Callable[..., Number]) -> Callable[..., Number]:
    """Register the reference of a class measure, ``f(counts, k, **options)``, under its name."""
    CLASSWISE.add(function.__name__)
    return overall(function)


def quotient(a: Number, b: Number) -> Number:
    """a / b; 0/0 is undefined, and anything else over 0 is infinite."""
    if b != 0:
        return mpf(a) / b
    if a == 0:
        raise Undefined
    return mp.inf if a > 0 else -mp.inf


def ratio(a: Number, b: Number) -> Number:
    """a / b where the record calls the measure undefined without a divisor, whatever is divided."""
    if b == 0:
        raise Undefined
    return mpf(a) / b


def x_log_x(x: Number) -> Number:
    return x * mp.log(x) if x else mpf(0)


def log(x: Number) -> Number:
    """ln x; -∞ at 0."""
    return mp.log(x) if x else -mp.inf


class Counts:
    """A matrix and its counts, exact; rows are true classes and columns predicted ones."""

    def __init__(self, cells: Sequence[Sequence[Any]]) -> None:
        self.n = n = len(cells)
        self.c = c = [[mpf(cell) for cell in row] for row in cells]
        self.true = [sum(row) for row in c]
        self.pred = [sum(row[k] for row in c) for k in range(n)]
        self.total = sum(self.true)
        self.tp = [c[k][k] for k in range(n)]
        self.fn = [sum(c[k][j] for j in range(n) if j != k) for k in range(n)]
        self.fp = [sum(c[i][k] for i in range(n) if i != k) for k in range(n)]
        self.tn = [sum(c[i][j] for i in range(n) for j in range(n) if k not in (i, j)) for k in range(n)]
        self.not_true = [self.fp[k] + self.tn[k] for k in range(n)]
        self.not_pred = [self.fn[k] + self.tn[k] for k in range(n)]
        self.hits = sum(self.tp)
        self.errors = sum(self.fn)

    @property
    def classes(self) -> range:
        return range(self.n)

    def one_vs_rest(self, k: int) -> Counts:
        """Class k against the rest; the class itself is index 1."""
        return Counts([[self.tn[k], self.fp[k]], [self.fn[k], self.tp[k]]])

    def pooled(self) -> Counts:
        """All classes against their rests, added up: what a micro average is the measure of."""
        return Counts([[sum(self.tn), sum(self.fp)], [sum(self.fn), sum(self.tp)]])


def digits_needed(cells: Sequence[Sequence[Any]]) -> int:
    """Bits in which sums and products of four counts of this matrix are exact, or nearly: it may span 1e±300."""
    sizes = [mp.mag(mpf(cell)) for row in cells for cell in row if cell]
    return 200 + 5 * (max(sizes) - min(sizes) + 1) if sizes else 200
