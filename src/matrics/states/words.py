"""The arrays of a running state: exact counts, in two words where a library has no 64-bit integers (default JAX)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from matrics.arrays import Array, Standard, as_arrays
from matrics.arrays.sizes import check_state_size
from matrics.counting.labels import label_dtype
from matrics.quoting import quoted
from matrics.typing import ArrayLike

# In default JAX the low word is below 2**16 after each step, so that 2**15 states can be added up leaf by leaf before
# it would wrap; the high word is in units of 2**16.
WORD = 16
MOST_DROPPED = 2**30 - 1


class Leaves(NamedTuple):
    """The arrays of a state: counts (*B, ...), dropped (*B,), and the high words of the counts, or an empty array."""

    counts: Array
    dropped: Array
    carried: Array


class TwoWords:
    """Integers as ``low + high * 2**16`` with the low word in [0, 2**16): exact to 2**47 in 32-bit integers."""

    def __init__(self, low: Array, high: Array) -> None:
        self.high = high + (low >> WORD)  # which rounds down, so that low may be negative
        self.low = low & (2**WORD - 1)

    def __add__(self, other: TwoWords) -> TwoWords:
        return TwoWords(self.low + other.low, self.high + other.high)

    def __sub__(self, other: TwoWords) -> TwoWords:
        return TwoWords(self.low - other.low, self.high - other.high)

    def __getitem__(self, key: Any) -> TwoWords:
        return TwoWords(self.low[key], self.high[key])

    def sum(self, axis: int, backend: Standard) -> TwoWords:
        """Sum over an axis of up to 2**23 entries: the low words by their bytes, whose sums stay below 2**31."""
        xp = backend.xp
        first, second = (xp.sum(part, axis=axis) for part in (self.low & 255, self.low >> 8))
        return TwoWords(first + ((second & 255) << 8), xp.sum(self.high, axis=axis) + (second >> 8))

    def to_float(self, backend: Standard) -> Array:
        """The numbers, rounded to float32."""
        xp = backend.xp
        return xp.astype(self.high, xp.float32) * float(2**WORD) + xp.astype(self.low, xp.float32)


def zeros(
    batch: tuple[int, ...],
    shape: tuple[int, ...],
    like: ArrayLike | None,
    dtype: Any,
    *,
    sizes: Mapping[str, Any],
    allow_large: bool,
    advice: str = "",
) -> Leaves:
    """Counts of this shape for each entry of a batch, all 0; integers unless a floating dtype is given.

    ``sizes`` are the arguments that make them large, for messages.
    """
    backend, (like,) = as_arrays(like=np.zeros(()) if like is None else like)
    xp = backend.xp
    if dtype is not None and dtype not in (xp.float32, xp.float64):
        raise TypeError(f"dtype: expected None for integer counts, float32 or float64 for weighted ones, got {dtype!r}")
    integer = label_dtype(like, backend)
    has_words = dtype is None and backend.widest_int(like) is None
    place = backend.device_option(like)
    size = (4 if dtype == xp.float32 else 8) * math.prod(batch) * math.prod(shape)
    check_state_size(size, {**sizes, "batch_shape": batch or None}, allow_large=allow_large, advice=advice)
    return Leaves(
        xp.zeros((*batch, *shape), dtype=integer if dtype is None else dtype, **place),
        xp.zeros(batch, dtype=integer, **place),
        xp.zeros((*batch, *shape) if has_words else (*batch, *shape[:-2], 0, 0), dtype=integer, **place),
    )


def check_batch(batch_shape: Iterable[int]) -> tuple[int, ...]:
    """The lengths of the axes of a batch, or ValueError."""
    batch = (batch_shape,) if isinstance(batch_shape, int) else tuple(batch_shape)
    if any(isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0 for size in batch):
        raise ValueError(f"batch_shape: expected lengths of axes, got {quoted(batch_shape)}")
    return tuple(int(size) for size in batch)


def has_words(state: Any) -> bool:
    """Whether the counts have two words."""
    return bool(state.carried.shape[-1] > 0)


def is_floating(state: Any) -> bool:
    """Whether the state is for weighted counts."""
    backend, (counts,) = as_arrays(counts=state.counts)
    return backend.is_float(counts)


def refuse_unexpected_weights(state: Any, sample_weight: Any) -> None:
    """Raise for weights where counts are integers."""
    if sample_weight is not None and not is_floating(state):
        raise TypeError(
            "sample_weight: expected None, as this state has integer counts; make it with "
            f"{type(state).__name__}.zeros(..., dtype=), float32 or float64, for weighted ones"
        )


def add(state: Any, counts: Array, dropped: Array | int, carried: Array | None, backend: Standard) -> Leaves:
    """The arrays of the state with these counts added."""
    xp = backend.xp
    if counts.dtype != state.counts.dtype:
        counts = xp.astype(counts, state.counts.dtype)
    counts = state.counts + counts
    if backend.widest_int(counts) is None:
        if backend.is_integer(counts) and not has_words(state):
            raise TypeError(
                "this state was made for 64-bit integers, which JAX does not have without jax_enable_x64: make it with "
                f"{type(state).__name__}.zeros(..., like=) of a JAX array"
            )
        most = MOST_DROPPED
        dropped = xp.clip(xp.clip(state.dropped, None, most) + xp.clip(dropped, None, most), None, most)
    elif not isinstance(dropped, int):
        dropped = state.dropped + dropped
    else:
        dropped = state.dropped
    if not has_words(state):
        return Leaves(counts, dropped, state.carried)
    whole = TwoWords(counts, state.carried if carried is None else state.carried + carried)
    return Leaves(whole.low, dropped, whole.high)


def merge(state: Any, other: Any) -> Leaves:
    """The arrays of the sum of two states of one class: the counts of all data that either has counted."""
    if not isinstance(other, type(state)):
        raise TypeError(f"expected a {type(state).__name__} to add, got {type(other).__name__}")
    backend, (mine, theirs) = as_arrays(state=state.counts, other=other.counts)
    if tuple(mine.shape) != tuple(theirs.shape):
        raise ValueError(
            f"expected states of the same classes and batch, got counts {tuple(mine.shape)} and {tuple(theirs.shape)}"
        )
    if is_floating(state) != is_floating(other) or has_words(state) != has_words(other):
        raise TypeError(f"expected states of the same kind of counts, got {mine.dtype} and {theirs.dtype}")
    return add(state, theirs, other.dropped, other.carried, backend)


def exact(state: Any) -> Array:
    """The counts as they are, or as 64-bit integers: NumPy's, if the library has none; float32 where none can be made.

    It is a copy where arrays can be written to: a state never changes.
    """
    backend, (counts, carried) = as_arrays(counts=state.counts, carried=state.carried)
    if not has_words(state):
        return backend.copied(counts)
    if backend.can_look(counts):
        return (backend.to_numpy(carried).astype(np.int64) << WORD) + backend.to_numpy(counts)
    return TwoWords(counts, carried).to_float(backend)
