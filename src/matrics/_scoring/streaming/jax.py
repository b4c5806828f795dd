"""JAX's devices: a single device, or the devices of a sharding."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import jax
import numpy as np

from matrics._arrays.jax import JAX
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import scored
from matrics._scoring.streaming.lane import Lane
from matrics.typing import NumPyArray

Ticket = tuple[list[Any], Any]


# The cells are not donated: no result is as large, so no result could reuse their memory.
@functools.partial(jax.jit, static_argnums=(1, 2))
def _scored(cells: Any, metrics: tuple[Metric, ...], zero_division: float) -> Ticket:
    """The values of a block: the same program for all blocks, and for all calls with these metrics."""
    return scored(cells, JAX, [metric.bind() for metric in metrics], zero_division)


class JaxLane(Lane):
    """A lane that starts copies and programs without waiting for them: JAX runs them in order, besides Python.

    Its own memory for copies is its business. That of a block is not written to again, as a device that is the CPU may
    read it where it is.
    """

    ahead: ClassVar[int] = 1

    def __init__(self, device: Any, metrics: tuple[Metric, ...], zero_division: float) -> None:
        self._device, self._metrics, self._zero_division = device, metrics, zero_division
        devices = list(getattr(device, "device_set", [device]))
        self._shares = len(devices)
        if devices[0].platform == "cpu":  # larger blocks leave the cache
            self.block_bytes = self._shares * 2**22
        self._rows = 0

    def dtype_for(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """The dtype of the cells; without 64-bit numbers float32, as 32-bit integers would wrap."""
        native = dtype.newbyteorder("=") if dtype.itemsize <= 8 else np.dtype(np.float64)
        return native if jax.dtypes.canonicalize_dtype(native) == native else np.dtype(np.float32)

    def start(self, block: NumPyArray) -> Ticket:
        """The scores of a block. Every block has the size of the first, so the devices need a single program."""
        if not self._rows:
            self._rows = max(1, -(-len(block) // self._shares)) * self._shares
            _check_along_matrices(self._device, (self._rows, *block.shape[1:]))
        dtype = self.dtype_for(block.dtype)
        with np.errstate(all="ignore"):  # too large numbers become infinite, and so invalid
            if len(block) == self._rows:
                cells = np.ascontiguousarray(block, dtype)
            else:
                cells = np.zeros((self._rows, *block.shape[1:]), dtype)
                np.copyto(cells[: len(block)], block, casting="unsafe")
        values, valid = _scored(jax.device_put(cells, self._device), self._metrics, self._zero_division)
        with jax.transfer_guard_device_to_host("allow"):  # not detected by JAX 0.12
            for value in (*values, valid):
                value.copy_to_host_async()
        return values, valid

    def finish(self, ticket: Ticket) -> tuple[list[NumPyArray], NumPyArray]:
        """Fetch the results."""
        values, valid = jax.device_get(ticket)
        return values, np.flatnonzero(~valid)


def _check_along_matrices(device: Any, shape: tuple[int, ...]) -> None:
    """Raise an error for a sharding that would spread the cells of a matrix over devices."""
    if not isinstance(device, jax.sharding.Sharding):
        return
    try:
        fits = device.shard_shape(shape)[1:] == shape[1:]
    except (ValueError, AssertionError, IndexError):  # the errors of JAX for shapes that do not fit
        fits = False
    if not fits:
        raise ValueError(
            "device: expected a sharding only along the matrices, such as NamedSharding(mesh, PartitionSpec('data')), "
            f"got {device}"
        )
