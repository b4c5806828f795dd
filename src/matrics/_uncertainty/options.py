"""The methods, their options, and errors for other values."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from matrics._arrays import Array, Standard
from matrics._arrays.sizes import check_draws
from matrics._errors import ArgumentError
from matrics._quoting import quoted

Method = Literal[
    "auto",
    "bootstrap",
    "bca",
    "posterior",
    "delta",
    "wilson",
    "agresti_coull",
    "clopper_pearson",
    "jeffreys",
    "log",
    "score",
]
#: The methods of comparisons; the other methods are for a single proportion or ratio.
MethodOfComparison = Literal["auto", "bootstrap", "bca", "posterior", "delta"]
SchemeOfInterval = Literal["multinomial", "rows", "poisson", "clusters"]

# The schemes of each method; the first is the default.
SCHEMES: dict[str, tuple[str, ...]] = {
    "auto": ("multinomial", "rows", "clusters"),
    "bootstrap": ("multinomial", "rows", "poisson", "clusters"),
    "bca": ("multinomial", "rows", "poisson", "clusters"),
    "posterior": ("multinomial", "rows"),
    "delta": ("multinomial", "rows", "clusters"),
    **dict.fromkeys(("wilson", "agresti_coull", "clopper_pearson", "jeffreys", "log", "score"), ()),
}
#: The methods for proportions, and those for ratios.
OF_PROPORTIONS, OF_RATIOS = ("wilson", "agresti_coull", "clopper_pearson", "jeffreys"), ("log", "score")
DRAWING = ("bootstrap", "bca", "posterior")
DEFAULT_NUM = 10_000


class Options(NamedTuple):
    """The options of an interval, with all defaults filled in."""

    level: float
    method: str
    scheme: str
    num: int


def check_level(level: Any) -> float:
    """The level as a number, checked to be above 0 and below 1."""
    is_number = isinstance(level, (int, float, np.number)) and not isinstance(level, bool)
    if not (is_number and 0 < level < 1 and 0.5 < (1 + level) / 2 < 1):  # to rounding
        raise ArgumentError("level", f"expected a number between 0 and 1, such as 0.95, got {quoted(level)}")
    return float(level)


def read_options(level: Any, method: Any, scheme: Any, *, prior: Any, num: Any, rng: Any, cluster_axis: Any) -> Options:
    """The options with defaults filled in; an option that the method would ignore raises an error."""
    level = check_level(level)
    if method not in get_args(Method):
        raise ArgumentError("method", f"expected one of {', '.join(map(repr, get_args(Method)))}, got {quoted(method)}")
    schemes = SCHEMES[method]
    takes = f"one of {', '.join(map(repr, schemes))}" if schemes else "None: it is about samples that are independent"
    if cluster_axis is not None and scheme is None:
        scheme = "clusters"
    if scheme is not None and scheme not in schemes:
        raise ArgumentError("scheme", f"expected for method={quoted(method)} {takes}; got {quoted(scheme)}")
    if (scheme == "clusters") != (cluster_axis is not None):
        raise ArgumentError(
            "cluster_axis",
            "expected the axis of the clusters together with scheme='clusters', such as 0 for a stack "
            f"(K, *B, n, n), got cluster_axis={quoted(cluster_axis)} and scheme={quoted(scheme)}",
        )
    draws = method in DRAWING
    for name, value in (("num", num), ("rng", rng)):
        if value is not None and not draws and method != "auto":
            raise ValueError(
                f"{name}: expected None, because method={quoted(method)} does not resample, got {quoted(value)}"
            )
    if prior is not None and method != "posterior":
        raise ArgumentError(
            "prior", f"expected None, as method={quoted(method)} has no prior; it belongs to 'posterior'"
        )
    scheme = scheme or "multinomial"
    return Options(level, method, scheme, DEFAULT_NUM if num is None else check_draws(num))


def clusters_first(array: Array, axis: Any, backend: Standard, *, classes: int = 2) -> Array:
    """The array with its axis of clusters, if it has such an axis, in front."""
    if axis is None:
        return array
    position = check_cluster_axis(axis, tuple(array.shape), classes=classes)
    return backend.xp.permute_dims(array, (position, *(k for k in range(array.ndim) if k != position)))


def check_cluster_axis(axis: Any, shape: tuple[int, ...], *, classes: int = 2) -> int:
    """An axis before the axes of the classes, counted from the front."""
    batch = len(shape) - classes
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)) or not -len(shape) <= axis < batch:
        raise ArgumentError(
            "cluster_axis", f"expected an axis before the axes of the classes, got {quoted(axis)} for shape {shape}"
        )
    position = int(axis) + len(shape) if axis < 0 else int(axis)
    if position >= batch:
        raise ArgumentError(
            "cluster_axis", f"expected an axis before the axes of the classes, got {quoted(axis)} for shape {shape}"
        )
    if shape[position] < 2:
        raise ArgumentError("cluster_axis", f"expected at least two clusters, got {shape[position]} in shape {shape}")
    return position
