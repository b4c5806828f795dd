"""A user's stack on the host, and its blocks in sequence."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from matrics._arrays.inputs import check_kind
from matrics._engine.evaluation import as_stack
from matrics.typing import NumPyArray

Index = int | slice


class BlockSource:
    """A stack ``(*B, n, n)`` that is read by slices. Each slice becomes a NumPy array.

    Parameters
    ----------
    stack
        As users hand it in.
    """

    dtype: np.dtype[Any]
    _convert: Callable[[Any], NumPyArray]

    def __init__(self, stack: Any) -> None:
        stack = _from_jax(stack)
        self._array, self._convert = stack, np.asarray
        if _is_sliced(stack):
            check_kind("stack", stack)
            shape = _shape(stack)
            self.dtype = (self._read(slice(0, 0)) if shape else np.asarray(stack)).dtype
            # The same checks, for an array of this shape and dtype that needs no memory.
            as_stack(np.broadcast_to(np.zeros((), self.dtype), shape), name="stack")
        else:
            backend, array = as_stack(stack, name="stack")
            if str(array.device) != "cpu":
                raise TypeError(
                    f"stack: expected an array on the host, got a tensor on {array.device}: matrics.score scores it "
                    "where it is"
                )
            array = backend.detached(array)
            view = backend.host_view(array)
            self._array, self._convert = (array, backend.to_numpy) if view is None else (view, np.asarray)
            shape = tuple(array.shape)
            self.dtype = self._read(slice(0, 0)).dtype
        self.batch, self.n = shape[:-2], shape[-1]
        self.count = math.prod(self.batch)

    def blocks(self, size: int) -> Iterator[tuple[int, NumPyArray]]:
        """Where each block starts in the flat batch, and its matrices (k, n, n): at most ``size``, and at first most.

        An empty stack has an empty block, so that the results have the right shapes.
        """
        batch = self.batch
        if not batch or not self.count:
            yield 0, self._convert(self._array).reshape(-1, self.n, self.n)
            return
        if isinstance(self._array, np.ndarray) and self._array.flags.c_contiguous:
            self._array, batch = self._array.reshape(-1, self.n, self.n), (self.count,)
        start = 0
        for index in parts(batch, size):
            block = self._checked(index, self._read(*index), batch).reshape(-1, self.n, self.n)
            yield start, block
            start += len(block)

    def _checked(self, index: tuple[Index, ...], block: NumPyArray, batch: tuple[int, ...]) -> NumPyArray:
        """Check that a block has all matrices of the declared shape, or some results would be missing."""
        rows = [part.stop - part.start for part in index if isinstance(part, slice)]
        expected = (*rows, *batch[len(index) :], self.n, self.n)
        if block.shape != expected:
            raise ValueError(
                f"stack: expected {expected} as the shape of the slice {index}, because the stack has the shape "
                f"{(*batch, self.n, self.n)}, got {block.shape}"
            )
        return block

    def _read(self, *index: Index) -> NumPyArray:
        """A part of the stack. Arrays of the standard require a tuple; some other objects do not accept it."""
        if hasattr(self._array, "__array_namespace__"):
            return self._convert(self._array[(*index, ...)])
        return self._convert(self._array[index[0] if len(index) == 1 else index])


def parts(batch: tuple[int, ...], size: int) -> Iterator[tuple[Index, ...]]:
    """Indices of consecutive parts of a batch, of at most ``size`` elements, which are as equal as can be."""
    length, row = batch[0], math.prod(batch[1:])
    if row > size:
        for i in range(length):
            yield from ((i, *rest) for rest in parts(batch[1:], size))
        return
    number = math.ceil(length / (size // row))
    step = math.ceil(length / number)
    for start in range(0, length, step):
        yield (slice(start, min(start + step, length)),)


def _is_sliced(stack: Any) -> bool:
    """Whether an array may not be in memory: a data set in a file, for instance."""
    torch = sys.modules.get("torch")
    if isinstance(stack, (np.ndarray, np.generic)) or (torch is not None and isinstance(stack, torch.Tensor)):
        return False
    try:
        return all(hasattr(stack, name) for name in ("shape", "dtype", "__getitem__"))
    except (RuntimeError, ValueError) as error:  # the attribute of h5py
        raise ValueError(
            f"stack: expected an array that can be read, got an array of a closed file ({error})"
        ) from error


def _shape(stack: Any) -> tuple[int, ...]:
    """The lengths of the axes, all of which must be known."""
    try:
        return tuple(operator.index(length) for length in stack.shape)
    except TypeError as error:
        raise ValueError(f"stack: expected a shape of known lengths, got {stack.shape}") from error


def _from_jax(stack: Any) -> Any:
    """The memory of an array of JAX if it is on a device of the host; other values unchanged."""
    jax = sys.modules.get("jax")
    if jax is None or not isinstance(stack, jax.Array):
        return stack
    if isinstance(stack, jax.core.Tracer):
        raise TypeError(
            "stack: expected values, got a tracer of JAX: score_blocks cannot be part of jit, vmap or grad; "
            "matrics.score can"
        )
    devices = stack.devices()
    if len(devices) > 1 or any(device.platform != "cpu" for device in devices):
        got = ", ".join(sorted(map(str, devices)))
        raise TypeError(
            f"stack: expected an array on the host, got an array of JAX on {got}: matrics.score scores it where it is"
        )
    return np.asarray(stack)
