"""Where random numbers come from: a small class per library, chosen once by the kind of ``rng``.

Each answers in the arrays of its library: how often the cells of a matrix are drawn, Poisson and gamma variates, and
integers and uniform numbers. Only public calls of the libraries are used.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from matrics._arrays.draws.source import RandomSource
from matrics._quoting import quoted

__all__ = ["RandomSource", "generator_of", "source_of"]


def source_of(rng: Any) -> RandomSource:
    """The stream of a generator, a key or a seed; anything else raises an error."""
    if isinstance(rng, np.random.Generator):
        from matrics._arrays.draws.numpy import NumPySource

        return NumPySource(rng)
    if rng is None or (isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0):
        from matrics._arrays.draws.numpy import NumPySource

        return NumPySource(np.random.default_rng(rng))
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch is not None and isinstance(rng, torch.Generator):
        from matrics._arrays.draws.torch import TorchSource

        return TorchSource(rng)
    if jax is not None and isinstance(rng, jax.Array):
        from matrics._arrays.draws.jax import JaxSource

        return JaxSource(rng)
    got = quoted(rng) if isinstance(rng, int) else f"{type(rng).__module__}.{type(rng).__qualname__}"
    raise TypeError(
        "rng: expected a seed (an integer from 0), numpy.random.default_rng(seed), a torch.Generator or a key of "
        f"jax.random.key(seed), got {got}"
    )


def generator_of(rng: Any) -> np.random.Generator:
    """NumPy's generator, of a seed or itself."""
    from matrics._arrays.draws.numpy import NumPySource

    source = source_of(rng)
    if not isinstance(source, NumPySource):
        raise TypeError(f"rng: expected a seed or numpy.random.default_rng(seed), got {quoted(rng)}")
    return source.generator
