"""Shared functions for dask arrays: checks of chunks, and a single task per block that makes several arrays."""

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
    """An array among the results of a block."""

    path: tuple[int, ...]  # the position of the array in the result of the block's function
    meta: Any  # an empty array of the same library, dtype and number of axes
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
    """The parts of the results of a function that is called once per block, each as a dask array.

    A single task calls the function, so a block is read once for any number of parts. Other tasks take the parts from
    the result without a copy. A single part is fused into the same task. Blocks have the length 1 along the axes
    ``single``.
    """
    token = tokenize(name, axes, parts, single, arguments[::2], options)
    unit_lengths = dict.fromkeys(single, 1)
    whole = da.blockwise(
        function,
        axes,
        *arguments,
        name=f"matrics-{name}-block-{token}",
        adjust_chunks=unit_lengths,
        align_arrays=False,
        concatenate=False,  # as it would copy the block; arrays in a single chunk come in lists of length 1
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
    """The array of a block that has a single chunk along the axes that the result does not have."""
    while isinstance(block, list):
        (block,) = block
    return block


def at_block(place: tuple[int, ...]) -> str:
    """The beginning of a message about a block; positions within the block follow."""
    return f"block {place}: " if place else ""


def check_stack(cm: Any, name: str = "cm") -> Any:
    """The dask array (*B, n, n), whose matrices are whole in their chunks; any other value raises an error."""
    if not isinstance(cm, da.Array):
        raise TypeError(
            f"{name}: expected a dask array, got {type(cm).__module__}.{type(cm).__qualname__}; use "
            "dask.array.from_array(array, chunks=...), or matrics.score and matrics.interval, which take other arrays"
        )
    if any(map(math.isnan, cm.shape[-2:])):
        raise ValueError(
            f"{name}: expected class axes with known lengths, got shape {cm.shape}; "
            f"call {name}.compute_chunk_sizes() first"
        )
    as_stack(stand_in(cm.dtype, cm.shape), name=name)
    check_whole(cm, name, (-2, -1), "classes")
    return cm


def check_whole(array: Any, name: str, axes: Axes, what: str) -> None:
    """Raise an error unless each of these axes has a single chunk."""
    if any(array.numblocks[axis] > 1 for axis in axes):
        spelled = ", ".join(f"{axis}: -1" for axis in axes)
        raise ValueError(
            f"{name}: expected the axes of {what} whole in a single chunk, got the chunks "
            f"{', '.join(str(array.chunks[axis]) for axis in axes)} along {', '.join(map(str, axes))}; "
            f"call {name}.rechunk({{{spelled}}}) first"
        )


def stand_in(dtype: Any, shape: tuple[float, ...]) -> Any:
    """A NumPy array of this dtype and shape that needs no memory; 0 replaces lengths that dask does not know."""
    return np.broadcast_to(np.zeros((), dtype), tuple(0 if math.isnan(length) else int(length) for length in shape))


def empty_stack(cm: Any, batch: tuple[int, ...]) -> Any:
    """A stack of zeros of the same array library, with another batch."""
    return np.zeros_like(cm._meta, shape=(*batch, *cm.shape[-2:]))


def empty_like(values: Any, number_of_axes: int) -> Any:
    """An empty array of the same library and dtype with ``number_of_axes`` axes."""
    return np.empty_like(values, shape=(0,) * number_of_axes)
