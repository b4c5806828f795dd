"""Random numbers of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._arrays.draws.source import RandomSource
from matrics._quoting import quoted


class NumPySource:
    """A ``numpy.random.Generator``; its methods let other threads run."""

    backend = NUMPY

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator

    def split(self, number: int) -> list[RandomSource]:
        """Independent generators."""
        try:
            return [NumPySource(child) for child in self.generator.spawn(number)]
        except TypeError as error:  # its bit generator was created from a state, not from a seed
            raise TypeError(
                "rng: expected a generator that can spawn others: numpy.random.default_rng(seed)"
            ) from error

    def multinomial(self, totals: Array, shares: Array, num: int) -> Array:
        """See ``RandomSource``."""
        counts = totals.astype(np.int64)
        if len(counts) == 1:  # a tenth faster
            return self.generator.multinomial(counts[0], shares[0], size=num)[:, None, :]
        return self.generator.multinomial(counts, shares, size=(num, len(counts)))

    def poisson(self, rates: Array, num: int) -> Array:
        """See ``RandomSource``."""
        return self.generator.poisson(rates, size=(num, *rates.shape))

    def gamma(self, shapes: Array, num: int) -> Array:
        """See ``RandomSource``."""
        return self.generator.standard_gamma(shapes, size=(num, *shapes.shape))

    def uniform(self, low: float, high: float, shape: tuple[int, ...]) -> Array:
        """See ``RandomSource``."""
        if (low, high) == (0.0, 1.0):  # the same numbers in three quarters of the time
            return self.generator.random(shape)
        return self.generator.uniform(low, high, shape)

    def collect(self, make: Callable[[RandomSource, int], list[Array]], num: int, at_once: int) -> list[Array]:
        """See ``RandomSource``."""
        parts = [make(self, min(at_once, num - start)) for start in range(0, num, at_once)]
        return [np.concatenate(part) for part in zip(*parts, strict=True)]

    def asarray(self, values: Any) -> Array:
        """See ``RandomSource``."""
        return np.asarray(values, np.float64)


def seed_of(rng: Any) -> int:
    """An integer for all random numbers of a study: as given, or drawn by a generator of NumPy; new for None."""
    if rng is None or isinstance(rng, np.random.Generator):
        return int(np.random.default_rng(rng).integers(2**63))
    if isinstance(rng, bool) or not isinstance(rng, (int, np.integer)) or rng < 0:
        raise TypeError(
            f"rng: expected a seed (an integer from 0) or numpy.random.default_rng(seed), got {quoted(rng)}"
        )
    return int(rng)
