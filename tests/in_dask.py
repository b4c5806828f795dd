"""What the tests of dask share: stacks in chunks, and chunks of unknown sizes."""

from __future__ import annotations

from typing import Any

import numpy as np


def in_chunks(stack: np.ndarray, chunks: Any) -> Any:
    """A stack as a dask array with its batch in these chunks."""
    import dask.array as da

    return da.from_array(stack, chunks=(*chunks, -1, -1))


def of_unknown_sizes(array: Any) -> Any:
    """The same array in chunks along its first axis whose sizes dask does not know."""
    import dask.array as da

    return array[da.from_array(np.ones(array.shape[0], bool), chunks=array.chunks[0])]


def refuse_to_compute(*_: Any, **__: Any) -> Any:
    """A scheduler, or a task, that must not run."""
    raise AssertionError("something was computed while the graph was built")
