"""The limits of floats: beyond these, sums and products of counts are rounded or leave the range."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np


@functools.cache
def rounds_from(dtype: Any) -> int:
    """The integer from which on floating-point sums and differences may be rounded."""
    return int(2 ** (np.finfo(dtype).nmant + 1))


@functools.cache
def _products_round_from(dtype: Any) -> int:
    return math.isqrt(rounds_from(dtype))


@functools.cache
def moderate_totals(dtype: Any) -> tuple[float, float]:
    """The two totals between which products of two margins stay in range."""
    limits = np.finfo(dtype)
    return float(limits.tiny**0.02), float(limits.max**0.4)


@functools.cache
def tiny(dtype: Any) -> float:
    """The smallest normal number."""
    return float(np.finfo(dtype).tiny)


@functools.cache
def least_scaled(dtype: Any) -> float:
    """The smallest count whose half, and whose product with a weight, have full precision."""
    limits = np.finfo(dtype)
    return float(limits.tiny * 2.0**limits.nmant)


def holds_products(dtype: Any, largest: float) -> bool:
    """Whether sums of products of integers are exact, if they are at most the square of ``largest``."""
    return largest < _products_round_from(dtype)


def product_dtype_of(dtype: Any, largest: float) -> Any:
    """The dtype in which products are exact, if all sums are exact."""
    return dtype if holds_products(dtype, largest) else np.float64
