"""Arrays of any library on the host, and the clusters that samples are in."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrics.arrays import Array, as_arrays
from matrics.arrays.inputs import is_missing
from matrics.quoting import cut


def on_host(x: Any, name: str | None = None) -> Any:
    """An array of another library as one of NumPy, if its values are known; anything else unchanged.

    With the name of the argument, values that are not known raise an error.
    """
    if isinstance(x, np.ndarray) or not (hasattr(x, "__array_namespace__") or hasattr(x, "numel")):
        return x
    backend, (found,) = as_arrays(**{name or "x": x})
    return backend.known(name or "x", found) if name or backend.can_look(found) else x


def cluster_codes(clusters: Any, number: int) -> Array:
    """The cluster of each sample, by number; at least two."""
    names = np.asarray(on_host(clusters, "clusters"))
    if names.shape != (number,):
        raise ValueError(f"clusters: expected one for each sample, ({number},), got shape {names.shape}")
    missing = [k for k, name in enumerate(names.tolist()) if is_missing(name)]
    if missing:
        raise ValueError(f"clusters: expected a value for each sample, got {cut(names[missing[0]])} at {missing[0]}")
    try:
        found, codes = np.unique(names, return_inverse=True)
    except TypeError as error:  # they cannot be put in order
        kinds = sorted({type(name).__name__ for name in names.tolist()})
        raise TypeError(f"clusters: expected values of one kind, such as texts, got {', '.join(kinds)}") from error
    if found.size < 2:
        raise ValueError(f"clusters: expected at least two, got {found.size}")
    return codes
