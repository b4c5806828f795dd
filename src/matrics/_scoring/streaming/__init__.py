"""score_blocks(): stacks on the host or on a disk that are larger than the memory of the device that scores them."""

from __future__ import annotations

import contextlib
import math
import sys
import warnings
from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from numbers import Integral
from typing import Any

from matrics._catalogue.classes import Classes
from matrics._catalogue.naming import by_names, check_names
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import Invalid, check_options, frames_to_the_user
from matrics._progress import counted_loop
from matrics._quoting import quoted
from matrics._scoring.score import resolve
from matrics._scoring.streaming.lane import HostLane, Lane
from matrics._scoring.streaming.results import Results
from matrics._scoring.streaming.source import BlockSource

__all__ = ["score_blocks"]

_EXPECTED = "a device of PyTorch ('cuda:0', torch.device), a device or sharding of JAX, or None for the host"


def score_blocks(
    stack: Any,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    device: Any,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
    block_bytes: int | None = None,
) -> dict[str, Any]:
    """Many measures of a stack on the host, which a device scores block by block.

    A device holds two blocks at a time, however large the stack is. While it scores a block, the next block is read and
    copied to it, and the results of the previous block are copied back.

    Parameters
    ----------
    stack : array_like, shape (*B, n, n)
        Counts or soft counts; rows are true classes, columns predicted ones. A NumPy array, a memory map or a PyTorch
        tensor on the CPU; or any object with a shape and a dtype whose slices become NumPy arrays, such as a data set
        of h5py or zarr. At most a block is read at a time.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
    device : str, torch.device, jax.Device, jax.sharding.Sharding or None
        Where blocks are scored, which also decides by which library. A string (``"cuda:1"``) and a ``torch.device`` are
        PyTorch's. A JAX device such as ``jax.devices()[0]`` is JAX's, and a sharding spreads each block over its
        devices: ``NamedSharding(mesh, PartitionSpec("data"))`` along the matrices. None and PyTorch's ``"cpu"`` are
        the host: NumPy scores the blocks where they are.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and no
        other matrix is affected. ``"warn"`` names the first of them when all blocks are scored, ``"raise"`` those of
        the first block that has any. Neither waits for the device.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results. They score the
        blocks if no device does; otherwise they copy blocks to PyTorch's devices, and results.
    class_names : sequence of str, optional
        Names of the classes, in their order. With them the value of each class has its own key: ``recall/cat``.
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, a label of a data frame, and an index
        otherwise. Per-class measures without an average are values of this class. Without it they are values of class 1
        of two classes, and means over more (``macro``).
    block_bytes : int, optional
        The size of a block on the device: by default 64 MiB, or on the host 16 MiB and on JAX's CPU devices 4 MiB each,
        which their caches hold. The arrays computed from a block take several times as much memory of the
        device, for the whole catalogue some thirty times.

    Returns
    -------
    dict of str to numpy.ndarray
        On the host, keyed by metric as given: shape (*B,), or (*B, n) for ``:class`` and ``:one_vs_rest`` without
        ``class_names``. Besides these, the memory of the host that is needed does not depend on the size of the stack.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n), or changes while reading, a metric, option or average does not exist, the device
        is not there, or a sharding cuts matrices.
    TypeError
        The cells are not real numbers, ``stack`` is on a device already or traced, or ``device`` is none of the above.
    InvalidConfusionMatrix
        A matrix is invalid and ``invalid="raise"``.

    Notes
    -----
    Values are those of :func:`matrics.score` on the device, which differ from the host's by rounding. Integers are
    scored in the widest float of the device. By default JAX has 32 bits: integers and floats of 64 bits become float32,
    in which counts are exact to 2**24 and cells below 1e-38 are 0, and so are the results.
    ``jax.config.update("jax_enable_x64", True)`` avoids that.

    JAX compiles a program for all blocks; the last block is filled up with empty matrices. Measures of the group
    ``on_host`` cannot be part of the program. On PyTorch's devices nothing waits except the copies of results, and
    eigenvalues of more than 128 classes, for which PyTorch itself waits.

    Examples
    --------
    >>> import matrics
    >>> import numpy as np
    >>> stack = np.random.default_rng(0).integers(1, 50, (10_000, 3, 3))  # or np.load(file, mmap_mode="r")
    >>> scores = matrics.score_blocks(stack, ["mcc", "recall:class"], device=None, block_bytes=100_000)
    >>> scores["mcc"].shape, scores["recall:class"].shape
    ((10000,), (10000, 3))
    """
    check_options(zero_division, invalid, workers)
    wrong = isinstance(block_bytes, bool) or not isinstance(block_bytes, Integral | None)
    if wrong or (block_bytes is not None and block_bytes < 1):
        raise ValueError(f"block_bytes: expected a number of bytes of at least 1, got {quoted(block_bytes)}")
    source = BlockSource(stack)
    chosen = resolve(metrics, Classes.of(source.n, check_names(class_names, source.n), positive))
    lane = _lane(device, tuple(chosen.values()), _number(zero_division), workers)
    values = _stream(source, lane, invalid, int(block_bytes or lane.block_bytes))
    return by_names(dict(zip(chosen, values, strict=True)), chosen, class_names)


def _stream(source: BlockSource, lane: Lane, invalid: Invalid, block_bytes: int) -> list[Any]:
    """The results of all blocks, started in sequence; a lane may hold another block before it returns the first."""
    dtype = lane.dtype_for(source.dtype)
    size = max(1, block_bytes // (source.n**2 * dtype.itemsize))
    results = Results(source, dtype, lane.workers)
    started: deque[tuple[int, Any, Any]] = deque()

    def write() -> None:
        start, block, ticket = started.popleft()
        results.write(start, block, *lane.finish(ticket))
        loop.advance(len(block))
        if invalid == "raise":
            results.raise_if_invalid(start + len(block))

    with contextlib.closing(lane), counted_loop(source.count, nested=False) as loop:
        for start, block in source.blocks(size):
            started.append((start, block, lane.start(block)))
            if len(started) > lane.ahead:
                write()
        while started:
            write()
    if results.invalid and invalid == "warn":
        warnings.warn(results.described(source.count), RuntimeWarning, stacklevel=frames_to_the_user())
    return results.values()


def _number(zero_division: float) -> float:
    """The number as a float of Python. NaN is always the same object, as JAX would compile again for another object."""
    number = float(zero_division)
    return math.nan if math.isnan(number) else number


def _lane(device: Any, metrics: tuple[Metric, ...], zero_division: float, workers: int) -> Lane:
    """The lane of a device. The type of the device determines the library, without importing it."""
    if device is None or (isinstance(device, str) and device == "cpu"):
        return HostLane(metrics, zero_division, workers)
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if isinstance(device, str) or (torch is not None and isinstance(device, torch.device)):
        try:
            from matrics._scoring.streaming import torch as lanes
        except ModuleNotFoundError as error:
            raise ValueError(
                f"device: expected {_EXPECTED}, got {quoted(device)}, and PyTorch is not installed"
            ) from error
        place = lanes.device_of(device)
        if place.type == "cpu":
            return HostLane(metrics, zero_division, workers)
        return lanes.lane(place, metrics, zero_division, workers)
    if jax is not None and isinstance(device, (jax.Device, jax.sharding.Sharding)):
        from matrics._scoring.streaming.jax import JaxLane

        return JaxLane(device, metrics, zero_division)
    raise TypeError(f"device: expected {_EXPECTED}, got {type(device).__name__}: {quoted(device)}")
