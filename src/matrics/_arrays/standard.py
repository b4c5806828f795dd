"""The operations of an array library that matrics needs, in terms of the array API standard.

A subclass for a library overrides the differences. An object is chosen on entry, by the arrays of the user, and
passed along.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from array_api_compat import device as _device_of

Array = Any
Namespace = Any
Compiler = Literal["xla", "inductor"]


class Standard:
    """A library that follows the array API standard.

    Parameters
    ----------
    xp
        The namespace of its arrays.
    """

    looking_is_free = False
    """Whether values can be inspected without waiting; those on a device cannot."""

    passes_over = False
    """Whether ``count`` skips bins beyond the last bin."""

    def __init__(self, xp: Namespace) -> None:
        self.xp = xp

    # Values -----------------------------------------------------------------------------------------------------------

    def quiet(self) -> contextlib.AbstractContextManager[Any]:
        """A context without floating-point warnings: NumPy would warn of 0/0, for which every measure has a result."""
        return np.errstate(all="ignore")

    def can_look(self, x: Array) -> bool:  # noqa: ARG002
        """Whether values of ``x`` can be inspected in Python (this may wait for the device)."""
        return True

    def is_constant(self, x: Array) -> bool:
        """Whether values of ``x`` are known, and nothing takes derivatives with respect to them."""
        return self.can_look(x)

    def compiler(self, x: Array) -> Compiler | None:  # noqa: ARG002
        """The compiler that is tracing operations on ``x``, if it compiles for the CPU."""
        return None

    view: Callable[[Array], Array] | None = None
    """The function of ``viewer`` where nothing is mapped, so that axes keep their order."""

    def host_view(self, x: Array) -> Array | None:  # noqa: ARG002
        """The memory of ``x`` as a NumPy array; None if ``x`` cannot be scored by NumPy.

        That is so on other devices, where something traces, maps or differentiates, and in dtypes unknown to NumPy.
        """
        return None

    def host_views(self, *arrays: Array) -> list[Array] | None:
        """The memory of several arrays, if NumPy can take all of them."""
        views = []
        for x in arrays:
            view = self.host_view(x)
            if view is None:
                return None
            views.append(view)
        return views

    def viewer(self, x: Array) -> Callable[[Array], Array] | None:  # noqa: ARG002
        """A function that shows the values of ``x`` and of arrays computed from it; None where that is expensive.

        Unlike a view of the host, it only answers questions about all values: under a mapped function the arrays have
        more axes, in any order. It also includes values in a differentiated function.
        """
        return None

    def detached(self, x: Array) -> Array:
        """The same values without a gradient."""
        return x

    def from_host(self, x: Array) -> Array:
        """A result of the host as an array of the library whose stack ``host_view`` has returned."""
        return self.xp.asarray(x)

    def to_numpy(self, x: Array) -> Array:
        """The values on the host; waits for the device."""
        return np.asarray(x)

    def known(self, name: str, x: Array) -> Array:
        """The values of an argument on the host; traced values are not known yet, and raise an error."""
        if not self.can_look(x):
            raise TypeError(f"{name}: expected known values, outside jit, compile and vmap, got a traced array")
        return self.to_numpy(self.detached(x))

    def all_to_numpy(self, arrays: list[Array]) -> list[Array]:
        """The values of several arrays on the host; waits for a device once, not for each array."""
        return [self.to_numpy(x) for x in arrays]

    def on_host(self, function: Callable[..., Array], *arrays: Array) -> Array:
        """Apply a function of float64 NumPy arrays; the result is an array of the library. Waits for the device."""
        if not all(map(self.can_look, arrays)):
            raise TypeError(
                "this measure needs SciPy, which runs on the host: it cannot be part of jit, compile, vmap or fake "
                "tensors; call it outside"
            )
        like = arrays[0]
        with np.errstate(all="ignore"):
            result = function(*(self.to_numpy(x).astype(np.float64) for x in arrays))
        return self.xp.asarray(result, dtype=like.dtype, **self.device_option(like))

    # Dtypes -----------------------------------------------------------------------------------------------------------

    def device_option(self, like: Array) -> dict[str, Any]:
        """``device=`` for a new array that is used together with ``like``."""
        return {"device": _device_of(like)}

    def varying_as(self, x: Array, like: Array) -> Array:  # noqa: ARG002
        """``x`` as an array that may differ between the devices of ``jax.shard_map`` if ``like`` may."""
        return x

    def sum_over_devices(self, arrays: Any, axis_name: Any) -> Any:  # noqa: ARG002
        """The sums of the arrays of a tuple over the devices of an axis."""
        raise TypeError(
            f"axis_name: expected None, as {self.xp.__name__.rpartition('.')[2]} has no named axes; it is an axis of "
            f"jax.shard_map or jax.vmap, got {axis_name!r}"
        )

    def widest_float(self, like: Array) -> Any:
        """The widest real floating dtype on the device of ``like``; Apple's GPUs and default JAX have no float64."""
        known = self.xp.__array_namespace_info__().dtypes(kind="real floating", **self.device_option(like))
        return known.get("float64", known["float32"])

    def widest_int(self, like: Array) -> Any | None:
        """The 64-bit integer of the device, or None (default JAX: sums would wrap at 2**31)."""
        return self.xp.__array_namespace_info__().dtypes(kind="signed integer", **self.device_option(like)).get("int64")

    def wider_float(self, x: Array) -> Any | None:  # noqa: ARG002
        """A dtype with far larger exponents than that of ``x``, if arithmetic may mix the two."""
        return None

    def is_integer(self, x: Array) -> bool:
        """Whether ``x`` has integers or booleans: counts, or labels."""
        return x.dtype == self.xp.bool or self._isdtype(x, "integral")

    def is_float(self, x: Array) -> bool:
        """Whether ``x`` has real floating numbers of any width."""
        return self._isdtype(x, "real floating")

    def is_unsigned(self, x: Array) -> bool:
        """Whether ``x`` has unsigned integers."""
        return self._isdtype(x, "unsigned integer")

    def _isdtype(self, x: Array, kind: str) -> bool:
        try:
            return bool(self.xp.isdtype(x.dtype, kind))
        except TypeError:  # NumPy raises this for a foreign dtype (text, objects, ml_dtypes)
            return False

    def float_dtype(self, x: Array) -> Any:
        """The dtype in which ``x`` is scored: float32 and float64 stay, half is widened, integers take the widest."""
        xp = self.xp
        if x.dtype in (xp.float32, xp.float64):
            return x.dtype
        if self.is_integer(x):
            return self.widest_float(x)
        return xp.float32 if xp.finfo(x.dtype).bits < 32 else self.widest_float(x)

    def to_float(self, x: Array) -> Array:
        """``x`` in the dtype in which it is scored."""
        dtype = self.float_dtype(x)
        return x if x.dtype == dtype else self.xp.astype(x, dtype)

    def host_bits(self, x: Array) -> Array | None:  # noqa: ARG002 (others have them)
        """The bits of bfloat16, a dtype that NumPy lacks, as its uint16, where ``host_view`` would have the numbers."""
        return None

    def of_bits(self, x: Array) -> Array:
        """The numbers in the dtype in which they are scored; uint16 are the bits of bfloat16."""
        return self.to_float(x)

    def to_wide(self, x: Array) -> Array:
        """``x`` in a dtype that holds its sums: integers as int64, or as floats if int64 is too narrow or missing."""
        integer = self.widest_int(x)
        if self.is_integer(x) and integer is not None and x.dtype != self.xp.uint64:
            return self.xp.astype(x, integer)
        return self.to_float(x)

    # New arrays -------------------------------------------------------------------------------------------------------

    def class_index(self, n: int, like: Array) -> Array:
        """The numbers 0, 1, …, n - 1 on the device of ``like``."""
        return self.xp.arange(n, **self.device_option(like))

    def identity(self, n: int, like: Array) -> Array:
        """A boolean mask (n, n), True on the diagonal, on the device of ``like``."""
        return self.xp.eye(n, dtype=self.xp.bool, **self.device_option(like))

    @property
    def everywhere(self) -> Array:
        """A single True, which broadcasts against any mask on the CPU."""
        return self.xp.asarray(True)

    def shares(self, n: int, like: Array) -> Array:
        """The numbers 0, 1/n, 2/n, …, 1, each rounded once, in the dtype of ``like``."""
        return self.xp.astype(self.class_index(n + 1, like), like.dtype) / n

    def constant(self, rows: Sequence[Sequence[float]], like: Array) -> Array:
        """A matrix of Python's numbers, in the dtype and on the device of ``like``."""
        return self.xp.asarray(rows, dtype=like.dtype, **self.device_option(like))

    def copied(self, x: Array) -> Array:
        """A copy of ``x``, in libraries with writable arrays."""
        return x

    def replaced(self, x: Array, where: Array, value: float) -> Array:
        """``x`` with a value at some places; possibly ``x`` itself if there are no places."""
        return self.xp.where(where, value, x)

    def packed(self, x: Array) -> Array:
        """``x`` contiguous in memory, in libraries with strides."""
        return x

    # Arithmetic -------------------------------------------------------------------------------------------------------

    def clamped(self, x: Array, low: float | None, high: float | None) -> Array:
        """Numbers clipped to a range, whose ends are of the same kind: integers or floats."""
        return self.xp.clip(x, low, high)

    def divide(self, a: Array, b: Array) -> Array:
        """``a / b`` for b that is not 0, with a gradient that is finite wherever it can be."""
        return a / b

    def exponent(self, x: Array) -> Array:
        """The exponent of numbers that are not negative, as integer-valued floats: x * 2**-exponent is between ½ and 1.

        Of zeros it is 0; for subnormal numbers off the host it is the exponent of the smallest normal number.
        """
        xp, tiny = self.xp, float(self.xp.finfo(x.dtype).smallest_normal)
        return xp.where(x == 0, 0, xp.floor(xp.log2(xp.where(x < tiny, tiny, x))) + 1)

    def power_of_two(self, exponent: Array) -> Array:
        """2**exponent, exactly, for integer-valued floats within ``largest_exponent``."""
        return self.xp.pow(self.xp.full_like(exponent, 2), exponent)

    def bits(self, x: Array) -> Array:
        """The bits of float32, unchanged, as int32."""
        return self.xp.asarray(self.to_numpy(x).view(np.int32), **self.device_option(x))

    def largest_exponent(self, x: Array) -> int:
        """Powers of two with exponents up to this, and down to its negative, are normal numbers of the dtype."""
        return layout(self.xp.finfo(x.dtype).bits)[1] - 1

    def eigvalsh(self, x: Array) -> Array:
        """Ascending eigenvalues of a stack of symmetric, finite matrices (…, n, n)."""
        return self.xp.linalg.eigvalsh(x)

    def sums_outside(self, x: Array) -> Array | None:  # noqa: ARG002
        """The sums of the cells (…, n, n) outside of the row and the column of each class, (…, n), from few operations.

        None where more operations on smaller arrays take less time.
        """
        return None

    def unstack(self, x: Array, *, axis: int) -> Sequence[Array]:
        """The parts of an array along an axis."""
        parts: Sequence[Array] = self.xp.unstack(x, axis=axis)
        return parts

    def of_matrices(self, function: str, *arrays: Array) -> Array:
        """A function of the standard's ``linalg``, of stacks of matrices with the same batch."""
        result: Array = getattr(self.xp.linalg, function)(*arrays)
        return result

    def has_operator(self, x: Array) -> bool:  # noqa: ARG002
        """Whether the library has a custom operator for the eigenvalues of such an array."""
        return False

    def has_kernels(self, x: Array) -> bool:  # noqa: ARG002
        """Whether the kernels of this package support such an array: a concrete array of PyTorch on a CUDA device."""
        return False

    def repeated(self, number: int, step: Callable[..., tuple[Array, ...]], state: tuple[Array, ...]) -> Any:
        """The state after so many steps, each of which computes the arrays of the next state."""
        for _ in range(number):
            state = step(*state)
        return state

    def looped(self, number: int, step: Callable[..., tuple[Array, ...]], state: tuple[Array, ...]) -> Any:
        """The state after many small steps, which a compiler may keep as a loop."""
        return self.repeated(number, step, state)

    def normal_cdf(self, x: Array) -> Array:
        """The probability that a normal variate is below x."""
        return self.on_host(np.vectorize(lambda z: math.erfc(-z / math.sqrt(2)) / 2, otypes=[float]), x)

    def normal_quantile(self, share: Array) -> Array:
        """The quantile of the normal distribution for a probability above 0 and below 1."""
        from statistics import NormalDist  # the import takes as long as that of all of ``_arrays``

        return self.on_host(np.vectorize(NormalDist().inv_cdf, otypes=[float]), share)

    def derivatives(
        self, function: Callable[[Array], list[Array]], x: Array, *, second: bool
    ) -> tuple[list[Array], list[Array], list[Array] | None]:
        """Values (B,) or (B, C) of tables (B, r, c), their derivatives by each cell, and second derivatives on request.

        Derivatives are (B, r c) or (B, C, r c); second derivatives are by the same cell twice. Only for libraries that
        have automatic differentiation.
        """
        raise NotImplementedError

    # Order ------------------------------------------------------------------------------------------------------------

    def sort_descending(self, keys: Array, *others: Array) -> list[Array]:
        """``keys`` (…, N) from the largest to the smallest, and the other arrays in that order. No key is NaN."""
        xp = self.xp
        order = xp.argsort(keys, axis=-1, descending=True)
        return [xp.take_along_axis(x, order, axis=-1) for x in (keys, *others)]

    def sort_with_labels(self, scores: Array, labels: Array) -> tuple[Array, Array, Callable[[Array], Array]]:
        """Scores (…, N) from the largest to the smallest, and their labels, booleans that become 0 and 1.

        The scores may be in the form of keys, equal where scores are, which the function turns back into scores. No
        score is NaN.
        """
        keys, labels = self.sort_descending(scores, labels)
        return keys, self.xp.astype(labels, self.widest_int(scores) or self.xp.int32), lambda keys: keys

    def take_along(self, x: Array, index: Array) -> Array:
        """The elements of (…, N) at these places (…, M) of the last axis."""
        return self.xp.take_along_axis(x, index, axis=-1)

    def running_sum(self, x: Array, axis: int = -1) -> Array:
        """The cumulative sums along an axis."""
        return self.xp.cumulative_sum(x, axis=axis)

    def sums_from_none(self, x: Array) -> Array:
        """The sums of the first 0, 1, ... and N elements along the last axis of (R, N), as (R, N + 1)."""
        none = self.xp.zeros((x.shape[0], 1), dtype=x.dtype, **self.device_option(x))
        return self.xp.concat([none, self.running_sum(x)], axis=-1)

    def running_maximum(self, x: Array) -> Array:
        """The cumulative maximum along the last axis; in log2(length) steps."""
        xp, step = self.xp, 1
        while step < x.shape[-1]:
            x = xp.concat([x[..., :step], xp.maximum(x[..., step:], x[..., :-step])], axis=-1)
            step *= 2
        return x

    def at_ends(self, is_end: Array, *arrays: Array) -> list[Array]:
        """Each element of (R, M) becomes the next end, or itself if it is an end; the last of each row is an end."""
        xp, length = self.xp, is_end.shape[-1]
        # Read from the end, each element takes the last end before it.
        index = xp.broadcast_to(self.class_index(length, is_end)[None, :], tuple(is_end.shape))
        before = self.running_maximum(xp.where(xp.flip(is_end, axis=-1), index, 0))
        ends = length - 1 - xp.flip(before, axis=-1)
        return [self.take_along(x, ends) for x in arrays]

    # Counting ---------------------------------------------------------------------------------------------------------

    def scatter_add(self, rows: Array, values: Array, length: int) -> Array:
        """Sum ``values`` (*B, S, K) into bins (*B, length, K) by ``rows`` (*B, S), all in [0, length).

        A single pass for the whole batch. K may be broadcast (strides of 0 are not copied where the library allows it).
        """
        xp = self.xp
        bins = self.class_index(length, rows)
        one_hot = xp.astype(bins[:, None] == rows[..., None, :], values.dtype)
        if self.is_integer(values):
            return xp.matmul(one_hot, values)
        # A NaN must not spread to other rows, and 0 times NaN is NaN.
        finite = xp.isfinite(values)
        sums = xp.matmul(one_hot, xp.where(finite, values, 0))
        return xp.where(xp.matmul(one_hot, xp.astype(~finite, values.dtype)) > 0, xp.nan, sums)

    def sum_of_products(self, a: Array, b: Array) -> Array:
        """Σ a[.., s, i] b[.., s, j] over the samples s: (B, S, n) and (B, S, n) to (B, n, n), in their dtype.

        A matrix product of float64, which no autocast and no TensorFloat-32 rounds; class by class where there is none.
        """
        xp, wide = self.xp, self.widest_float(a)
        if wide == xp.float64:
            product = xp.matmul(xp.matrix_transpose(xp.astype(a, wide)), xp.astype(b, wide))
            return xp.astype(product, a.dtype)
        return xp.stack([xp.sum(a[..., i : i + 1] * b, axis=-2) for i in range(a.shape[-1])], axis=-2)

    def count(self, bins: Array, batch: int, length: int, weights: Array | None, *, dtype: Any) -> Array:
        """The counts, or sums of weights, of the bins in [0, length) of each row of a batch: (batch * length,)."""
        xp = self.xp
        rows = xp.reshape(bins, (batch, math.prod(bins.shape) // max(batch, 1)))
        weights = xp.ones(bins.shape, dtype=dtype, **self.device_option(bins)) if weights is None else weights
        return xp.reshape(self.scatter_add(rows, xp.reshape(weights, rows.shape)[:, :, None], length), (-1,))

    def add_at(self, x: Array, index: Array, values: Array) -> Array:
        """A row (N,) with values (M,) added at these places (M,), which are in [0, N)."""
        result = self.to_numpy(x).copy()
        np.add.at(result, self.to_numpy(index), self.to_numpy(values))
        return self.xp.asarray(result, **self.device_option(x))

    def add_into(self, x: Array, index: Array, values: Array) -> None:
        """``add_at`` in place, in libraries with writable arrays."""
        raise NotImplementedError

    def set_at(self, x: Array, index: Array, values: Array) -> Array:
        """A row (N,) with values (M,) in place of those at these places (M,); values at equal places are equal."""
        result = self.to_numpy(x).copy()
        result[self.to_numpy(index)] = self.to_numpy(values)
        return self.xp.asarray(result, **self.device_option(x))

    def look_up(self, table: Array, index: Array) -> Array:
        """The entries of a row (N,) at these places, which are in [0, N)."""
        xp = self.xp
        return xp.reshape(xp.take(table, xp.reshape(index, (-1,)), axis=0), index.shape)

    def bordered(self, y_true: Array, y_pred: Array, n: int, *, is_pred_within: bool) -> Array:
        """The cells of label pairs in a flat grid of n + 2 by n + 2; labels below or above [0, n) are in its border.

        Predicted labels that are known to be in [-1, n] are not clipped.
        """
        columns = y_pred if is_pred_within else self.xp.clip(y_pred, -1, n)
        return self.xp.clip(y_true, -1, n) * (n + 2) + columns + (n + 3)

    def count_true(self, x: Array) -> Array:
        """The number of true elements along the last axis."""
        return self.xp.count_nonzero(x, axis=-1)

    def max_and_argmax(self, scores: Array) -> tuple[Array, Array]:
        """The largest entries along the last axis, which are NaN if any entry is, and their positions."""
        return self.xp.max(scores, axis=-1), self.xp.argmax(scores, axis=-1)

    def argmax_unless_nan(self, scores: Array, otherwise: int) -> Array:
        """The positions of the largest entries along the last axis; another number where any entry is NaN."""
        largest, position = self.max_and_argmax(scores)
        return self.xp.where(self.xp.isnan(largest), otherwise, position)


class InOneRow(Standard):
    """A library that counts in a single flat row of bins, without a loop over the batch."""

    def count(self, bins: Array, batch: int, length: int, weights: Array | None, *, dtype: Any) -> Array:
        """The counts, or sums of weights, of the bins in [0, length) of each row of a batch: (batch * length,)."""
        xp = self.xp
        if batch > 1:
            bins = xp.reshape(bins, (batch, -1))
            bins = bins + length * xp.astype(self.class_index(batch, bins), bins.dtype)[:, None]
        flat = bins if bins.ndim == 1 else xp.reshape(bins, (-1,))
        if weights is not None and weights.ndim != 1:
            weights = xp.reshape(weights, (-1,))
        counts = self._bincount(flat, weights, batch * length, dtype)
        return counts if counts.dtype == dtype else xp.astype(counts, dtype)

    def _bincount(self, bins: Array, weights: Array | None, length: int, dtype: Any) -> Array:
        raise NotImplementedError


def layout(bits: int) -> tuple[int, int, int]:
    """Bits of the mantissa, bias of the exponent and mask of the exponent's bits, in a float of this width."""
    return (23, 127, 0xFF) if bits == 32 else (52, 1023, 0x7FF)
