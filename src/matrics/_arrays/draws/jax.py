"""Random numbers of JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from matrics._arrays import Array
from matrics._arrays.draws.source import RandomSource
from matrics._arrays.jax import JAX


class JaxSource:
    """A key of ``jax.random``; every draw splits a new key from it."""

    backend = JAX

    def __init__(self, key: Array) -> None:
        if not jnp.issubdtype(key.dtype, jax.dtypes.prng_key) and not (key.dtype == jnp.uint32 and key.ndim == 1):
            raise TypeError(f"rng: expected a key of jax.random.key(seed), got an array of {key.dtype} {key.shape}")
        if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) and key.ndim:
            raise ValueError(
                f"rng: expected a key of JAX, got {key.shape}; jax.vmap over keys gives a draw for each key"
            )
        self._key = key

    def _next(self) -> Array:
        self._key, key = jax.random.split(self._key)
        return key

    def split(self, number: int) -> list[RandomSource]:
        """A key for each stream."""
        return [JaxSource(key) for key in jax.random.split(self._next(), number)]

    def multinomial(self, totals: Array, shares: Array, num: int) -> Array:
        """See ``RandomSource``.

        XLA would spend minutes on folding constants while it compiles; the barrier prevents this.
        """
        totals, shares = _kept((totals, shares))
        # An empty matrix has no draws: its shares add up to 0, and are no distribution.
        distributions = jnp.where(totals[:, None] > 0, shares, jnp.eye(1, shares.shape[-1], dtype=shares.dtype))
        # Broadcast here, because shape= is the shape of the results before JAX 0.12, and of the totals from 0.12 on.
        totals, distributions = (jnp.broadcast_to(each, (num, *each.shape)) for each in (totals, distributions))
        return jax.random.multinomial(self._next(), totals, distributions, dtype=shares.dtype).astype(_integer())

    def poisson(self, rates: Array, num: int) -> Array:
        """See ``RandomSource``."""
        return jax.random.poisson(self._next(), _kept(rates), (num, *rates.shape)).astype(_integer())

    def gamma(self, shapes: Array, num: int) -> Array:
        """See ``RandomSource``."""
        shapes = _kept(shapes)
        return jax.random.gamma(self._next(), shapes, (num, *shapes.shape), shapes.dtype)

    def uniform(self, low: float, high: float, shape: tuple[int, ...]) -> Array:
        """See ``RandomSource``."""
        return jax.random.uniform(self._next(), shape, minval=low, maxval=high)

    def collect(self, make: Callable[[RandomSource, int], list[Array]], num: int, at_once: int) -> list[Array]:
        """See ``RandomSource``; in a loop of XLA, which compiles a single round of the loop."""
        rounds, rest = divmod(num, at_once)
        parts = []
        if rounds:
            looped = jax.lax.map(lambda key: make(JaxSource(key), at_once), jax.random.split(self._next(), rounds))
            parts.append([value.reshape((rounds * at_once, *value.shape[2:])) for value in looped])
        if rest:
            parts.append(make(self, rest))
        return [jnp.concatenate(part) for part in zip(*parts, strict=True)]

    def asarray(self, values: Any) -> Array:
        """See ``RandomSource``."""
        return jnp.asarray(values, jnp.result_type(float))


def _kept(arrays: Any) -> Any:
    """The same arrays, hidden from XLA's constant folding."""
    return jax.lax.optimization_barrier(arrays)  # type: ignore[no-untyped-call]


def _integer() -> Any:
    """The integer dtype: of 32 bits unless JAX is set up for 64."""
    return jnp.result_type(int)
