"""What the Flax metrics are given, as arrays of JAX, and what they give, as Python's numbers."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from matrics.arrays import Array, fitting
from matrics.arrays.jax import JAX


def as_jax(name: str, values: Any) -> Array:
    """An array of JAX; of NumPy's integers beyond 32 bits default JAX would drop the upper half."""
    return jnp.asarray(fitting(name, values, JAX) if isinstance(values, np.ndarray) else values)


def one_of(**values: Any) -> Any:
    """The one value that is given."""
    given = [value for value in values.values() if value is not None]
    if len(given) != 1:
        raise TypeError(f"expected one of {' and '.join(values)}, got {len(given)}")
    return given[0]


def as_numbers(named: dict[str, Array]) -> dict[str, float]:
    """Scalar arrays as Python's numbers, in one transfer; of a dict JAX would sort the keys."""
    return dict(zip(named, map(float, jax.device_get(list(named.values()))), strict=True))
