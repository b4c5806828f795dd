"""Shared functions for dask arrays: checks of chunks, and one task per block that makes several arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.base import tokenize

from matrics._engine.evaluation import as_stack

Axes = tuple[int, ...]


class Part(NamedTuple):
    """One of the arrays that a block makes."""

    path: tuple[int, ...]  # its position in the result of the block's function
    meta: Any  # an empty array of its kind, dtype and number of axes
    added: Mapping[int, int] = {}  # axes after those of the block, with their lengths


def per_block(
    function: Callable[..., Any],
    name: str,
    axes: Axes,
    *arguments: Any,
    parts: Sequence[Part],
    single: Axes = (),
    **options: Any,
) -> list[Any]:
    """Call a function once per block, and give each part of its result as a dask array.

    The function is called in one task, so a block is read once for any number of parts; each part is then taken
    from the result without a copy. A single part is fused into the same task. Blocks have the length 1 along the axes
    ``single``.
    """
    token = tokenize(name, axes, parts, single, arguments[::2], options)
    once = dict.fromkeys(single, 1)
    whole = da.blockwise(
        function,
        axes,
        *arguments,
        name=f"matrics-{name}-block-{token}",
        adjust_chunks=once,
        align_arrays=False,
        concatenate=False,  # which would copy the block; what has one chunk comes in lists of one element
        meta=np.empty((0,) * len(axes), object),
        dtype=object,
        **options,
    )
    return [
        da.blockwise(
            _take,
            (*axes, *part.added),
            whole,
            axes,
            name=f"matrics-{name}-{'-'.join(map(str, part.path))}-{token}",
            new_axes=dict(part.added),
            meta=part.meta,
            dtype=part.meta.dtype,
            path=part.path,
        )
        for part in parts
    ]


def _take(whole: Any, *, path: tuple[int, ...]) -> Any:
    for position in path:
        whole = whole[position]
    return whole


def unwrapped(block: Any) -> Any:
    """The array of a block that has one chunk along the axes that are not among the axes of the result."""
    while isinstance(block, list):
        (block,) = block
    return block


def at_block(place: tuple[int, ...]) -> str:
    """The beginning of a message about one block; positions within the block follow."""
    return f"block {place}: " if place else ""


def check_stack(cm: Any, name: str = "cm") -> Any:
    """A dask array (*B, n, n) whose matrices are whole in their chunks; anything else raises an error."""
    if not isinstance(cm, da.Array):
        raise TypeError(
            f"{name}: expected a dask array, got {type(cm).__module__}.{type(cm).__qualname__}; matrics.score and "
            "matrics.interval take other arrays, and dask.array.from_array(array, chunks=...) makes a dask array"
        )
    if any(map(math.isnan, cm.shape[-2:])):
        raise ValueError(
            f"{name}: expected class axes with known lengths, got shape {cm.shape}; "
            f"{name}.compute_chunk_sizes() finds them"
        )
    as_stack(stand_in(cm.dtype, cm.shape), name=name)
    check_whole(cm, name, (-2, -1), "classes")
    return cm


def check_whole(array: Any, name: str, axes: Axes, what: str) -> None:
    """Raise unless each of these axes has one chunk."""
    if any(array.numblocks[axis] > 1 for axis in axes):
        spelled = ", ".join(f"{axis}: -1" for axis in axes)
        raise ValueError(
            f"{name}: expected the axes of {what} whole in one chunk, got the chunks "
            f"{', '.join(str(array.chunks[axis]) for axis in axes)} along {', '.join(map(str, axes))}; "
            f"{name}.rechunk({{{spelled}}}) joins them"
        )


def stand_in(dtype: Any, shape: tuple[float, ...]) -> Any:
    """A NumPy array of a dtype and a shape without memory; 0 replaces lengths that dask does not know."""
    return np.broadcast_to(np.zeros((), dtype), tuple(0 if math.isnan(length) else int(length) for length in shape))


def empty_stack(cm: Any, batch: tuple[int, ...]) -> Any:
    """A stack of the same kind of array with another batch."""
    return np.zeros_like(cm._meta, shape=(*batch, *cm.shape[-2:]))


def empty_like(values: Any, number_of_axes: int) -> Any:
    """An empty array of the same kind with ``ndim`` axes."""
    return np.empty_like(values, shape=(0,) * number_of_axes)
