"""The formulas of the catalogue in exact arithmetic, which shows that a witness is not a result of rounding.

A measure is a function of a table. Here the cells of the table are fractions, which stay fractions in sums, products
and quotients; roots, logarithms and eigenvalues have 60 digits. So no measure needs a second definition.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import total_ordering
from types import SimpleNamespace
from typing import Any

import numpy as np

from matrics._arrays import Array, Standard
from matrics._catalogue.record import Metric
from matrics._engine.table import Table
from matrics._quoting import quoted

DIGITS = 60


def _mp() -> Any:
    """The context of mpmath with ``DIGITS`` digits; mpmath is imported on first use."""
    if not _MP:
        try:
            import mpmath
        except ImportError as error:
            raise ImportError('exact arithmetic needs mpmath: python -m pip install "matrics[study]"') from error
        context = mpmath.MPContext()
        context.dps = DIGITS
        _MP.append(context)
    return _MP[0]


_MP: list[Any] = []


@total_ordering
class Number:
    """A fraction, or a number of 60 digits for an irrational value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    @classmethod
    def of(cls, value: Any) -> Number:
        """The exact number of an integer or a float: the float nearest to 1/3 becomes 1/3."""
        if isinstance(value, Number):
            return value
        if isinstance(value, (int, np.integer, np.bool_)):
            return cls(Fraction(int(value)))
        if not math.isfinite(value):
            return cls(_mp().mpf(float(value)))
        exact = Fraction(float(value))
        simple = exact.limit_denominator(1000)
        return cls(simple if float(simple) == value else exact)

    @property
    def is_fraction(self) -> bool:
        """Whether the value is exact, without rounding."""
        return isinstance(self.value, Fraction)

    def real(self) -> Any:
        """The value as a number of mpmath."""
        if isinstance(self.value, Fraction):
            return _mp().mpf(self.value.numerator) / self.value.denominator
        return self.value

    def _with(self, other: Any, operation: Callable[[Any, Any], Any]) -> Number:
        other = Number.of(other)
        if self.is_fraction and other.is_fraction:
            return Number(operation(self.value, other.value))
        return Number(operation(self.real(), other.real()))

    def __add__(self, other: Any) -> Number:
        return self._with(other, operator.add)

    def __sub__(self, other: Any) -> Number:
        return self._with(other, operator.sub)

    def __mul__(self, other: Any) -> Number:
        return self._with(other, operator.mul)

    def __truediv__(self, other: Any) -> Number:
        other = Number.of(other)
        if other == 0:  # as in floating-point arithmetic
            sign = 0 if self == 0 or self != self else 1 if self > 0 else -1  # noqa: PLR0124 (NaN)
            return Number(_mp().mpf(math.inf) * sign) if sign else Number.of(math.nan)
        return self._with(other, operator.truediv)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Number:
        return Number.of(other) - self

    def __rtruediv__(self, other: Any) -> Number:
        return Number.of(other) / self

    def __neg__(self) -> Number:
        return Number(-self.value)

    def __abs__(self) -> Number:
        return Number(abs(self.value))

    def __pow__(self, exponent: Any) -> Number:
        power = Number.of(exponent)
        if self.is_fraction and power.is_fraction and power.value.denominator == 1 and self.value != 0:
            return Number(self.value ** int(power.value))
        return Number(_mp().power(self.real(), power.real()))

    def __eq__(self, other: object) -> bool:
        return self._compare(other, operator.eq)

    def __ne__(self, other: object) -> bool:  # NaN differs from itself
        return not self._compare(other, operator.eq)

    def __lt__(self, other: Any) -> bool:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> bool:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> bool:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> bool:
        return self._compare(other, operator.ge)

    __hash__ = None  # type: ignore[assignment]

    def _compare(self, other: Any, operation: Callable[[Any, Any], Any]) -> bool:
        other = Number.of(other)
        if self.is_fraction and other.is_fraction:
            return bool(operation(self.value, other.value))
        return bool(operation(self.real(), other.real()))

    def __float__(self) -> float:
        return float(self.value)

    def __bool__(self) -> bool:
        return bool(self.value != 0)

    # NumPy calls these methods by name for arrays of objects.

    def sqrt(self) -> Number:
        """The square root; a fraction if it is rational."""
        if isinstance(self.value, Fraction) and self.value >= 0:
            above, below = math.isqrt(self.value.numerator), math.isqrt(self.value.denominator)
            if above**2 == self.value.numerator and below**2 == self.value.denominator:
                return Number(Fraction(above, below))
        return self._function("sqrt")

    def log(self) -> Number:
        """The natural logarithm."""
        if self == 0:
            return Number.of(-math.inf)
        return Number.of(0) if self == 1 else self._function("log")

    def log1p(self) -> Number:
        """The natural logarithm of 1 + x."""
        return (self + 1).log()

    def log2(self) -> Number:
        """The logarithm to the base 2."""
        return self.log() / Number(_mp().log(2))

    def log10(self) -> Number:
        """The logarithm to the base 10."""
        return self.log() / Number(_mp().log(10))

    def __getattr__(self, name: str) -> Callable[[], Number]:
        if name not in FUNCTIONS:
            raise AttributeError(f"exact arithmetic: expected a supported function, got {quoted(name)}")
        return lambda: self._function(FUNCTIONS[name])

    def floor(self) -> Number:
        """The largest integer that is not above the value."""
        return Number.of(int(_mp().floor(self.real())))

    def _function(self, name: str) -> Number:
        value = getattr(_mp(), name)(self.real())
        return Number(value if isinstance(value, _mp().mpf) else _mp().mpf(math.nan))


#: NumPy's names of functions of a single number, and mpmath's names.
FUNCTIONS = {name: name for name in ("exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh")}
FUNCTIONS |= {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}


def lifted(x: Any) -> Array:
    """An array of exact numbers."""
    return _LIFT(x) if np.ndim(x) else np.asarray(Number.of(x), dtype=object)


_LIFT = np.frompyfunc(Number.of, 1, 1)
_ATAN2 = np.frompyfunc(lambda y, x: Number(_mp().atan2(Number.of(y).real(), Number.of(x).real())), 2, 1)


class Namespace:
    """NumPy's namespace for arrays of exact numbers, with replacements for functions that would convert to floats."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def where(self, condition: Any, x: Any, y: Any) -> Array:
        """The elements of x or y, with scalars as exact numbers."""
        return np.where(condition, lifted(x), lifted(y))

    def astype(self, x: Array, dtype: Any) -> Array:
        """The array in another dtype; conditions and integers become exact numbers."""
        return lifted(x) if np.dtype(dtype).hasobject else x.astype(dtype)

    def asarray(self, x: Any, **_: Any) -> Array:
        """An array of exact numbers."""
        return lifted(np.asarray(x, dtype=object))

    def zeros_like(self, x: Array) -> Array:
        """An array of zeros."""
        return lifted(np.zeros(x.shape, int))

    def ones_like(self, x: Array) -> Array:
        """An array filled with 1."""
        return lifted(np.ones(x.shape, int))

    def full_like(self, x: Array, value: float) -> Array:
        """An array filled with a number."""
        return lifted(np.full(x.shape, value))

    def atan2(self, y: Array, x: Array) -> Array:
        """The angle of a point."""
        return np.asarray(_ATAN2(y, x), dtype=object)

    def isnan(self, x: Array) -> Array:
        """Whether each element differs from itself."""
        return x != x  # noqa: PLR0124

    def finfo(self, _: Any) -> Any:
        """The properties of numbers with ``DIGITS`` digits."""
        return SimpleNamespace(eps=10.0**-DIGITS, smallest_normal=0.0)


class Exact(Standard):
    """The array library of exact numbers."""

    def __init__(self) -> None:
        super().__init__(Namespace())

    def is_integer(self, x: Array) -> bool:  # noqa: ARG002
        """True: as with integers, no difference loses digits."""
        return True

    def device_option(self, like: Array) -> dict[str, Any]:  # noqa: ARG002
        """No options, as there is a single device."""
        return {}

    def constant(self, rows: Sequence[Sequence[float]], like: Array) -> Array:  # noqa: ARG002
        """A matrix of exact numbers."""
        return lifted(np.asarray(rows))

    def exponent(self, x: Array) -> Array:
        """Zeros, as no number is too large or too small to be exact."""
        return self.xp.zeros_like(x)

    def power_of_two(self, exponent: Array) -> Array:
        """Array filled with 1, as all exponents are 0."""
        return self.xp.ones_like(exponent)

    def largest_exponent(self, x: Array) -> int:  # noqa: ARG002
        """The exponent of the smallest normal number of float64, which exact numbers are never near."""
        return 1022

    def eigvalsh(self, x: Array) -> Array:
        """Ascending eigenvalues of symmetric matrices (…, n, n)."""
        mp, n = _mp(), x.shape[-1]
        results = np.empty(x.shape[:-1], dtype=object)
        for place in np.ndindex(x.shape[:-2]):
            values = mp.eigsy(mp.matrix([[entry.real() for entry in row] for row in x[place]]), eigvals_only=True)
            results[place] = [Number(values[k]) for k in range(n)]
        return results


class ExactTable(Table):
    """A table of exact cells, which needs no scale, and in which only 0 is zero."""

    def _scale(self) -> Array | None:
        return None

    def is_zero(self, x: Array) -> Array:
        """Whether each element is 0."""
        return x == 0


EXACT = Exact()


def exact_values(metric: Metric, matrices: Array) -> list[Number]:
    """The exact value of each matrix (K, n, n) of integers or fractions; NaN where it is undefined."""
    cells = lifted(np.asarray(matrices, dtype=object))
    table = ExactTable(np.moveaxis(cells, 0, -1), EXACT, class_first=True, is_moderate=True)
    with np.errstate(all="ignore"):
        return [Number.of(value) for value in np.atleast_1d(metric.bind()(table))]
