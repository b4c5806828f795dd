"""The limits of floats: when sums and products of counts are rounded, or leave the range."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np


@functools.cache
def rounds_from(dtype: Any) -> int:
    """The integer from which on sums and differences may be rounded."""
    return int(2 ** (np.finfo(dtype).nmant + 1))


@functools.cache
def _products_round_from(dtype: Any) -> int:
    return math.isqrt(rounds_from(dtype))


@functools.cache
def moderate_totals(dtype: Any) -> tuple[float, float]:
    """Between these two totals products of two margins stay in range."""
    limits = np.finfo(dtype)
    return float(limits.tiny**0.02), float(limits.max**0.4)


@functools.cache
def tiny(dtype: Any) -> float:
    """The smallest number with all digits."""
    return float(np.finfo(dtype).tiny)


@functools.cache
def least_scaled(dtype: Any) -> float:
    """The smallest count of which half, and its product by a weight, have all digits."""
    limits = np.finfo(dtype)
    return float(limits.tiny * 2.0**limits.nmant)


def holds_products(dtype: Any, largest: float) -> bool:
    """Whether sums of products of integers are exact, if a product of sums is no more than this squared."""
    return largest < _products_round_from(dtype)


def product_dtype_of(dtype: Any, largest: float) -> Any:
    """The dtype of products, if all sums are exact."""
    return dtype if holds_products(dtype, largest) else np.float64
