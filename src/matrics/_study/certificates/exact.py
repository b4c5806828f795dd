"""The formulas of the catalogue in exact arithmetic: what confirms that a witness is none of rounding.

A measure is one function of a table. Here the cells of the table are fractions, which stay fractions in sums, products
and quotients; a root, a logarithm or an eigenvalue has 60 digits. So there is no second definition of any measure.
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
    """A context of mpmath with this number of digits; loaded on first use."""
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
    """A fraction, or a number of 60 digits for irrational values."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    @classmethod
    def of(cls, value: Any) -> Number:
        """The exact number behind an integer or a float: the float nearest to 1/3 is 1/3."""
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
        """Whether no operation has rounded."""
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
        if other == 0:  # as floats have it
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

    # NumPy calls these by name for arrays of objects.

    def sqrt(self) -> Number:
        """Square root; a fraction if it is one."""
        if isinstance(self.value, Fraction) and self.value >= 0:
            above, below = math.isqrt(self.value.numerator), math.isqrt(self.value.denominator)
            if above**2 == self.value.numerator and below**2 == self.value.denominator:
                return Number(Fraction(above, below))
        return self._function("sqrt")

    def log(self) -> Number:
        """Natural logarithm."""
        if self == 0:
            return Number.of(-math.inf)
        return Number.of(0) if self == 1 else self._function("log")

    def log1p(self) -> Number:
        """Natural logarithm of 1 + x."""
        return (self + 1).log()

    def log2(self) -> Number:
        """Logarithm to the base 2."""
        return self.log() / Number(_mp().log(2))

    def log10(self) -> Number:
        """Logarithm to the base 10."""
        return self.log() / Number(_mp().log(10))

    def __getattr__(self, name: str) -> Callable[[], Number]:
        if name not in FUNCTIONS:
            raise AttributeError(f"exact arithmetic has no function {quoted(name)}")
        return lambda: self._function(FUNCTIONS[name])

    def floor(self) -> Number:
        """The largest integer that is not above."""
        return Number.of(int(_mp().floor(self.real())))

    def _function(self, name: str) -> Number:
        value = getattr(_mp(), name)(self.real())
        return Number(value if isinstance(value, _mp().mpf) else _mp().mpf(math.nan))


#: What NumPy calls a function of one number, and what mpmath does.
FUNCTIONS = {name: name for name in ("exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh")}
FUNCTIONS |= {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}


def lifted(x: Any) -> Array:
    """An array of exact numbers."""
    return _LIFT(x) if np.ndim(x) else np.asarray(Number.of(x), dtype=object)


_LIFT = np.frompyfunc(Number.of, 1, 1)
_ATAN2 = np.frompyfunc(lambda y, x: Number(_mp().atan2(Number.of(y).real(), Number.of(x).real())), 2, 1)


class Namespace:
    """NumPy for arrays of such numbers: what formulas call, where NumPy's own would fall back to floats."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def where(self, condition: Any, x: Any, y: Any) -> Array:
        """Scalars become numbers."""
        return np.where(condition, lifted(x), lifted(y))

    def astype(self, x: Array, dtype: Any) -> Array:
        """Conditions and integers become numbers."""
        return lifted(x) if np.dtype(dtype).hasobject else x.astype(dtype)

    def asarray(self, x: Any, **_: Any) -> Array:
        """An array of numbers."""
        return lifted(np.asarray(x, dtype=object))

    def zeros_like(self, x: Array) -> Array:
        """Zeros."""
        return lifted(np.zeros(x.shape, int))

    def ones_like(self, x: Array) -> Array:
        """Ones."""
        return lifted(np.ones(x.shape, int))

    def full_like(self, x: Array, value: float) -> Array:
        """One number everywhere."""
        return lifted(np.full(x.shape, value))

    def atan2(self, y: Array, x: Array) -> Array:
        """Angle of a point."""
        return np.asarray(_ATAN2(y, x), dtype=object)

    def isnan(self, x: Array) -> Array:
        """Where an element differs from itself."""
        return x != x  # noqa: PLR0124

    def finfo(self, _: Any) -> Any:
        """The properties of floats of this number of digits."""
        return SimpleNamespace(eps=10.0**-DIGITS, smallest_normal=0.0)


class Exact(Standard):
    """Arrays of such numbers as a library."""

    def __init__(self) -> None:
        super().__init__(Namespace())

    def is_integer(self, x: Array) -> bool:  # noqa: ARG002
        """As of integers, no difference loses digits."""
        return True

    def device_option(self, like: Array) -> dict[str, Any]:  # noqa: ARG002
        """There is one device."""
        return {}

    def constant(self, rows: Sequence[Sequence[float]], like: Array) -> Array:  # noqa: ARG002
        """A matrix of numbers."""
        return lifted(np.asarray(rows))

    def exponent(self, x: Array) -> Array:
        """0: no number is too large or too small to be exact."""
        return self.xp.zeros_like(x)

    def power_of_two(self, exponent: Array) -> Array:
        """1, as all exponents are 0."""
        return self.xp.ones_like(exponent)

    def largest_exponent(self, x: Array) -> int:  # noqa: ARG002
        """The smallest normal number of float64; exact numbers are not near it."""
        return 1022

    def eigvalsh(self, x: Array) -> Array:
        """Ascending eigenvalues of symmetric matrices (…, n, n)."""
        mp, n = _mp(), x.shape[-1]
        found = np.empty(x.shape[:-1], dtype=object)
        for place in np.ndindex(x.shape[:-2]):
            values = mp.eigsy(mp.matrix([[entry.real() for entry in row] for row in x[place]]), eigvals_only=True)
            found[place] = [Number(values[k]) for k in range(n)]
        return found


class ExactTable(Table):
    """A table of such cells: no scale is needed, and only 0 is zero."""

    def _scale(self) -> Array | None:
        return None

    def is_zero(self, x: Array) -> Array:
        """Where x is 0."""
        return x == 0


EXACT = Exact()


def exact_values(metric: Metric, matrices: Array) -> list[Number]:
    """The measure of each matrix (K, n, n) of integers or fractions; NaN where it is undefined."""
    cells = lifted(np.asarray(matrices, dtype=object))
    table = ExactTable(np.moveaxis(cells, 0, -1), EXACT, class_first=True, is_moderate=True)
    with np.errstate(all="ignore"):
        return [Number.of(value) for value in np.atleast_1d(metric.bind()(table))]
