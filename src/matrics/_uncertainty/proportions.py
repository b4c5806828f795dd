"""Limits of a proportion by the methods with names."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._uncertainty.limits import wilson


def agresti_coull(share: Array, trials: Array, z: Any, backend: Standard) -> tuple[Array, Array]:
    """Limits by the normal distribution with z² / 2 successes and as many failures added; clipped to [0, 1]."""
    xp = backend.xp
    defined = trials > 0
    whole = xp.where(defined, trials, 1) + z * z
    middle = (xp.where(defined, share, 0) * trials + z * z / 2) / whole
    half_width = z * xp.sqrt(middle * (1 - middle) / whole)
    return tuple(xp.where(defined, xp.clip(middle + side * half_width, 0, 1), math.nan) for side in (-1, 1))


def clopper_pearson(share: Array, trials: Array, z: Any, backend: Standard) -> tuple[Array, Array]:
    """The exact limits: all proportions for which the number of successes is not improbable. Never too narrow."""
    return _by_beta(share, trials, z, backend, lower=(0.0, 1.0), upper=(1.0, 0.0))


def jeffreys(share: Array, trials: Array, z: Any, backend: Standard) -> tuple[Array, Array]:
    """Quantiles of the posterior with Jeffreys' prior, Beta(½, ½); 0 without successes, and 1 without failures."""
    return _by_beta(share, trials, z, backend, lower=(0.5, 0.5), upper=(0.5, 0.5))


#: Functions of a share, its number of trials and the normal quantile, which return limits.
METHODS: dict[str, Callable[[Array, Array, Any, Standard], tuple[Array, Array]]] = {
    "wilson": wilson,
    "agresti_coull": agresti_coull,
    "clopper_pearson": clopper_pearson,
    "jeffreys": jeffreys,
}
# The largest number of trials for which SciPy's quantiles of a Beta distribution are accurate.
MOST_TRIALS = 1e12
#: The methods that need SciPy.
BY_BETA = ("clopper_pearson", "jeffreys")


def _by_beta(
    share: Array, trials: Array, z: Any, backend: Standard, *, lower: tuple[float, float], upper: tuple[float, float]
) -> tuple[Array, Array]:
    """Quantiles of Beta distributions of successes and failures, with the numbers of ``lower`` and ``upper`` added."""
    special = _special()

    def limit(p: Array, number: Array, reach: Array, *, is_upper: bool) -> Array:
        tail = special.ndtr(-reach)
        hits = p * number
        # A product may have rounded a count, which is a whole number.
        hits = np.where(np.abs(hits - np.rint(hits)) < 1e-9 * np.maximum(number, 1), np.rint(hits), hits)
        added = upper if is_upper else lower
        a, b = hits + added[0], number - hits + added[1]
        quantile = special.betaincinv(np.maximum(a, 1e-300), np.maximum(b, 1e-300), 1 - tail if is_upper else tail)
        # Above MOST_TRIALS, Wilson's limits differ by less than the half sample that is added.
        half = 0.5 / np.maximum(number, 1)
        shifted = np.clip(p + half if is_upper else p - half, 0, 1)
        wide = wilson(shifted, number, reach, NUMPY)[int(is_upper)]
        quantile = np.where(number > MOST_TRIALS, wide, quantile)
        quantile = np.where((hits == number) if is_upper else (hits == 0), float(is_upper), quantile)
        return np.where(number > 0, quantile, math.nan)

    reach = z * backend.xp.ones_like(share)
    low = backend.on_host(lambda *arrays: limit(*arrays, is_upper=False), share, trials, reach)
    high = backend.on_host(lambda *arrays: limit(*arrays, is_upper=True), share, trials, reach)
    return low, high


def _special() -> Any:
    try:
        return importlib.import_module("scipy.special")
    except ImportError as error:
        raise ImportError('these limits need SciPy: python -m pip install "matrics[stats]"') from error
