"""Arrays of NumPy."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from matrics._arrays.spare_bit import SpareBit
from matrics._arrays.standard import Array, InOneRow

# If a smaller share than 1 / MANY of the elements is not an end, repeating the ends is as fast.
MANY = 5
# The number of scores that are read twice in less time than a call takes.
_FEW = 2**15


@functools.lru_cache(maxsize=8)
def _rows_with_border(n: int) -> Array:
    """The index of the first class of each row in a flat grid of n + 2 by n + 2."""
    return np.arange(1, (n + 2) ** 2, n + 2)


@functools.lru_cache(maxsize=64)
def _float_dtype(dtype: Any) -> Any:
    """The floating dtype in which counts of a dtype are scored."""
    return np.dtype(InOneRow(np).float_dtype(np.empty(0, dtype)))


class NumPy(InOneRow):
    """The library of arrays in the memory of the CPU, whose values can be inspected."""

    looking_is_free = True

    def host_view(self, x: Array) -> Array | None:
        """The array itself."""
        return x

    def from_host(self, x: Array) -> Array:
        """The array itself."""
        return x

    def on_host(self, function: Callable[..., Array], *arrays: Array) -> Array:
        """Apply a function of float64 arrays to these arrays; the result has their dtype."""
        result = function(*(x.astype(np.float64, copy=False) for x in arrays))
        return result.astype(arrays[0].dtype, copy=False)

    def device_option(self, like: Array) -> dict[str, Any]:  # noqa: ARG002
        """No options: there is a single device."""
        return {}

    def widest_float(self, like: Array) -> Any:  # noqa: ARG002
        """The float of 64 bits."""
        return np.float64

    def widest_int(self, like: Array) -> Any | None:  # noqa: ARG002
        """The integer of 64 bits."""
        return np.int64

    def float_dtype(self, x: Array) -> Any:
        """See ``Standard``. The result is cached, as its computation takes as long as a sum."""
        return _float_dtype(x.dtype)

    def is_integer(self, x: Array) -> bool:
        """See ``Standard``, by the letter of its kind, which takes a tenth of the time of the standard's function."""
        return bool(x.dtype.kind in "biu")

    def is_float(self, x: Array) -> bool:
        """See ``Standard``, by its type, because dtypes of other packages may claim this kind."""
        return issubclass(x.dtype.type, np.floating)

    def to_float(self, x: Array) -> Array:
        """See ``Standard``. The method ``x.astype`` takes a fifth of the time of ``xp.astype``."""
        dtype = self.float_dtype(x)
        return x if x.dtype == dtype else x.astype(dtype)

    def is_unsigned(self, x: Array) -> bool:
        """See ``Standard``, by its kind."""
        return bool(x.dtype.kind == "u")

    def copied(self, x: Array) -> Array:
        """A copy."""
        return x.copy()

    def replaced(self, x: Array, where: Array, value: float) -> Array:
        """See ``Standard``, which costs a copy."""
        return np.where(where, value, x) if where.any() else x

    def packed(self, x: Array) -> Array:
        """A copy, unless it has no gaps."""
        return np.ascontiguousarray(x)

    def exponent(self, x: Array) -> Array:
        """See ``Standard``, of subnormal numbers as well."""
        return np.frexp(x)[1].astype(x.dtype)

    def power_of_two(self, exponent: Array) -> Array:
        """See ``Standard``."""
        return np.ldexp(exponent.dtype.type(1), exponent.astype(np.int32))

    def bits(self, x: Array) -> Array:
        """See ``Standard``."""
        return x.view(np.int32)

    def eigvalsh(self, x: Array) -> Array:
        """See ``Standard``, for contiguous matrices: NumPy would otherwise gather each matrix."""
        return np.linalg.eigvalsh(np.ascontiguousarray(x))

    def sort_descending(self, keys: Array, *others: Array) -> list[Array]:
        """See ``Standard``."""
        order = np.argsort(-keys, axis=-1)
        return [self.take_along(x, order) for x in (keys, *others)]

    def take_along(self, x: Array, index: Array) -> Array:
        """See ``Standard``, by places in all rows as a single row."""
        length = x.shape[-1]
        if x.size > length:
            first = np.arange(0, x.size, length).reshape(*x.shape[:-1], 1)
            index = index + first
        return x.reshape(-1).take(index)

    def sort_with_labels(self, scores: Array, labels: Array) -> tuple[Array, Array, Callable[[Array], Array]]:
        """See ``Standard``, by a single sort of integers."""
        way = SpareBit.of(scores)
        keys = None if way is None else way.encode(scores, labels)
        if way is None or keys is None:
            return super().sort_with_labels(scores, labels)
        keys.sort(axis=-1)
        labels = np.bitwise_and(keys, 1, dtype=np.int64)
        labels ^= 1
        keys &= -2
        return keys, labels, lambda keys: way.decode(keys, scores.dtype)

    def sums_from_none(self, x: Array) -> Array:
        """See ``Standard``, in a single pass."""
        sums = np.empty((x.shape[0], x.shape[1] + 1), x.dtype)
        sums[:, 0] = 0
        np.add.accumulate(x, axis=-1, out=sums[:, 1:])
        return sums

    def running_maximum(self, x: Array) -> Array:
        """See ``Standard``, in a single pass."""
        return np.maximum.accumulate(x, axis=-1)

    def at_ends(self, is_end: Array, *arrays: Array) -> list[Array]:
        """See ``Standard``; where nearly all are ends, only the others change."""
        if is_end.all():
            return list(arrays)
        others = np.flatnonzero(~is_end)
        if others.size > is_end.size / MANY:
            ends = np.flatnonzero(is_end)
            lengths = np.diff(ends, prepend=-1)
            return [np.repeat(x.reshape(-1)[ends], lengths).reshape(x.shape) for x in arrays]
        last = np.flatnonzero(is_end.reshape(-1)[others + 1])  # the last of neighbours that are no ends
        ends = np.repeat(others[last] + 1, np.diff(last, prepend=-1))
        copies = [x.copy() for x in arrays]
        for x in copies:
            flat = x.reshape(-1)
            flat[others] = flat[ends]
        return copies

    def scatter_add(self, rows: Array, values: Array, length: int) -> Array:
        """See ``Standard``, for each entry of the last axis in sequence."""
        *batch, _, width = values.shape
        number = math.prod(batch)
        sums = [self.count(rows, number, length, values[..., k], dtype=values.dtype) for k in range(width)]
        return np.reshape(np.stack(sums, axis=-1), (*batch, length, width))

    def sum_of_products(self, a: Array, b: Array) -> Array:
        """See ``Standard``, in their own dtype, without a copy."""
        return np.matmul(np.matrix_transpose(a), b)

    def _bincount(self, bins: Array, weights: Array | None, length: int, dtype: Any) -> Array:  # noqa: ARG002
        return np.bincount(bins, weights, minlength=length)

    def add_into(self, x: Array, index: Array, values: Array) -> None:
        """See ``Standard``."""
        np.add.at(x, index, values)

    def look_up(self, table: Array, index: Array) -> Array:
        """See ``Standard``."""
        return table.take(index)

    def bordered(self, y_true: Array, y_pred: Array, n: int, *, is_pred_within: bool) -> Array:
        """See ``Standard``, by a table of the rows, where a label out of range takes the first or the last.

        For a small batch that is half the time of arithmetic, and a third of a call of ``clip``.
        """
        cells = _rows_with_border(n).take(y_true + 1, mode="clip")
        cells += y_pred if is_pred_within else np.minimum(np.maximum(y_pred, -1), n)
        return cells

    def of_bits(self, x: Array) -> Array:
        """See ``Standard``: they are the upper half of a float32."""
        if x.dtype != np.uint16:
            return self.to_float(x)
        wide = x.astype(np.uint32)
        wide <<= 16
        return wide.view(np.float32)

    def count_true(self, x: Array) -> Array:
        """See ``Standard``, in half the time of ``count_nonzero`` along an axis."""
        return np.add.reduce(x.view(np.uint8), axis=-1, dtype=np.uint32)

    def max_and_argmax(self, scores: Array) -> tuple[Array, Array]:
        """See ``Standard``; a second pass for the maximum would be as slow as the first, which stops at NaN."""
        index = np.argmax(scores, axis=-1)
        return np.take_along_axis(scores, index[..., None], axis=-1)[..., 0], index

    def argmax_unless_nan(self, scores: Array, otherwise: int) -> Array:
        """See ``Standard``; in a small array a single search for NaN is fastest."""
        if not 0 < scores.size <= _FEW:
            return super().argmax_unless_nan(scores, otherwise)
        flat = scores.ravel("K")  # in the order of memory, which needs no copy if it is contiguous
        if math.isnan(flat.item(flat.argmax())):  # the first NaN is the maximum
            return np.where(np.isnan(scores).any(axis=-1), otherwise, scores.argmax(-1))
        return scores.argmax(-1)
