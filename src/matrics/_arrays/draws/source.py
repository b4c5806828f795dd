"""The interface of a stream of random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from matrics._arrays import Array, Standard


class RandomSource(Protocol):
    """A stream of random numbers."""

    @property
    def backend(self) -> Standard:
        """The library of its arrays."""

    def split(self, number: int) -> list[RandomSource]:
        """Independent streams; the same seed gives the same streams."""

    def multinomial(self, totals: Array, shares: Array, num: int) -> Array:
        """How often each of k cells is drawn: totals (B,) and shares (B, k) give integers (num, B, k)."""

    def poisson(self, rates: Array, num: int) -> Array:
        """Poisson variates (num, *rates.shape)."""

    def gamma(self, shapes: Array, num: int) -> Array:
        """Standard gamma variates (num, *shapes.shape)."""

    def uniform(self, low: float, high: float, shape: tuple[int, ...]) -> Array:
        """Uniform numbers in [low, high)."""

    def collect(self, make: Callable[[RandomSource, int], list[Array]], num: int, at_once: int) -> list[Array]:
        """Concatenate the results of ``make`` for chunks of ``num`` draws along the first axis."""

    def asarray(self, values: Any) -> Array:
        """Numbers as an array of the library of the draws, in the widest floating dtype."""
